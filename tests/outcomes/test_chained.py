"""What is told of commands that ran one after the other, and of how a program ended."""

from __future__ import annotations

from told import ran, read, said

from trajcompress.outcomes.steps import action_of
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.transcript.trajectory import Turn

_DRY_RUN = "\n".join(
    f"{name} {number}.0.1 (playwright {name.lower()} v{number})\n  Install location:    /cache/{name}-{number}\n"
    f"  Download url:        https://cdn.example.com/{name.lower()}/{number}/mac-arm64/archive-of-it.zip\n"
    for number, name in enumerate(("Chrome", "Firefox", "Webkit"), 146)
)


def _listing(*names: str) -> str:
    return "total 216\n" + "".join(f"-rw-r--r-- 1 cb staff 1248 Aug 17 15:50 {name}\n" for name in names)


def test_how_the_last_of_several_commands_ended_is_told():
    chain = ran('playwright install --dry-run; echo "---"; python3 -c "from playwright import launch; launch()"')
    for limit in (100, 150):
        assert said(f"{_DRY_RUN}---\nchromium launched OK", chain, limit).endswith("; chromium launched OK")
    listed = _listing("Makefile", "README.md", "ask.py", "recon.py", "docs", "fixtures", "tests", "tools")
    assert said(f"{listed}v25.8.2\n", ran("ls -la; node -v")).endswith("v25.8.2")
    assert not said(f"{listed}\n", ran("ls -la 'a; b'")).startswith("tools")


def test_a_line_of_each_part_is_told_where_lines_of_their_own_set_them_apart():
    chain = ran(
        'ls -la; echo "---package.json---"; cat package.json; echo "---node---"; node -v; echo "---which---"; x'
    )
    listed = _listing("Makefile", "README.md", "ask.py", "recon.py", "docs", "fixtures", "tests", "tools")
    told = said(f"{listed}---package.json---\n---node---\nv25.8.2\n---which---\nplaywright not found\n", chain)
    assert told.endswith("; … node: v25.8.2; which: playwright not found")
    assert "---" not in said(f"{listed}---node---\nv25.8.2\n---which---\n", chain)


def test_a_step_in_short_says_how_a_program_ended():
    printed = "\n".join(
        ["Test case 1: hourly frequency", *(f"step {n} of it went on" for n in range(12)), "All done"]
    )
    turns = [ran("python test_cases.py"), Turn("tool", printed, {}, answers=("c",))]
    action = action_of(turns[0], 0)
    assert len(read(printed, action, limit=300).said) > 80
    told = extract(SummaryRequest("t", (), tuple(turns), 150, len))
    assert "- python test_cases.py → Test case 1: hourly" in told
    assert told.splitlines()[2].endswith("; All done")


def test_a_script_that_is_written_and_run_is_told_by_how_it_ended():
    printed = "\n".join(
        ["Before the change:", *(f"row {n} of it" for n in range(40)), "SUCCESS: the day is a coordinate"]
    )
    command = "cat <<'EOF' > try.py\nprint(before)\nprint(after)\nEOF\npython try.py"
    turns = [ran(command), Turn("tool", printed, {}, answers=("c",))]
    told = extract(SummaryRequest("t", (), tuple(turns), 260, len))
    assert "SUCCESS: the day is a coordinate" in told
    assert "→ Before the change:" not in told
