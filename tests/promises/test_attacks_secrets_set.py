"""Secrets in the labelled set are gone and look-alikes stand, as a user who runs the command would see it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "eval_redact.py"
AT_LEAST = ("--fail-under-recall", "99", "--fail-under-precision", "97")


def test_secrets_of_the_set_are_gone_and_look_alikes_stand():
    ended = subprocess.run([sys.executable, SCRIPT, *AT_LEAST], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
