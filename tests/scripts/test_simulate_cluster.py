"""The simulation of a cluster says what is the bound, and nothing else is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "simulate_cluster.py"


def simulate(*options):
    return subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True, check=False)


def test_twice_the_workers_take_half_the_time_while_nothing_is_the_bound():
    seconds = []
    for workers in ("50", "100"):
        ran = simulate("--workers", workers, "--input-tb", "0.1", "--part-mb", "10")
        assert ran.returncode == 0, ran.stdout
        seconds.append(int(re.search(r"committed after\s+([\d,]+) s", ran.stdout)[1].replace(",", "")))
    assert 1.8 < seconds[0] / seconds[1] < 2.1


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        (["--message-s", "0.1"], "the driver is busy"),
        (["--row-end-s", "0.001"], "the end takes"),
        (["--rpm", "120000"], "leases take"),
        (["--gets-per-part", "5000"], "reads a second"),
    ],
)
def test_what_is_the_bound_is_named(options, bound):
    ran = simulate("--workers", "100", "--input-tb", "0.1", *options)
    assert ran.returncode == 1
    assert f"BOUND: {bound}" in ran.stdout or bound in ran.stdout
