"""What README shows as printed by the main job is what the main job prints."""

from __future__ import annotations

import re

from commands import run_here
from documented import ROOT, blocks


def test_the_main_job_prints_what_readme_shows(tmp_path):
    shown = next(block.text for block in blocks(ROOT / "README.md", "text"))
    (tmp_path / "data").symlink_to(ROOT / "data")
    ran = run_here("compress", "data/", "--output", "out/", cwd=tmp_path)
    assert ran.code == 0, ran.stderr
    assert _without_folder(ran.stderr + "\n" + ran.stdout) == _without_folder(shown)


def test_what_readme_says_of_these_tokens_is_what_it_shows():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (written,) = re.findall(r"^tokens +[\d,]+ → ([\d,]+)$", text, re.MULTILINE)
    (said,) = re.findall(r"hold [\d,]+ tokens, not ([\d,]+),", text)
    assert said == f"{round(int(written.replace(',', '')), -3):,}"


def _without_folder(printed: str) -> list[str]:
    """Return its lines but the last, with single spaces, as how wide a table is depends on the terminal."""
    return [" ".join(line.split()) for line in printed.splitlines() if line.strip() and line.strip() != "out/"]
