"""A run for reports: calls with faults, rows that fit, rows that do not, and rows that are out to harm a page."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import loopback_replies as replies
import runs
from loopback import LoopbackServer

EVIL_FILE = """x"><img src=x onerror=alert(1)><script>alert(2)<!--.jsonl"""
EVIL_TEXT = (
    "</pre></li></details></main></body><script>alert(3)</script><svg onload=alert(4)>"
    '<img src="http://127.0.0.1:9/pixel" onerror=alert(5)><iframe src=http://127.0.0.1:9></iframe>'
    "<style>*{display:none}</style><meta http-equiv=refresh content=0;url=http://127.0.0.1:9>"
    "<!-- {{ 7 * 7 }} {% raw %} ]]> \0 \x1b[2J \x07 \x9b \u202e \u2028 \ufeff &lt; &#0;"
)
SECRET = "AKIAQ3EGRDTVX5T7MZPW"
_PRICES = ("--price-in", "2", "--price-out", "8")


def make_run(folder: Path) -> Path:
    """Compress into ``folder / "out"``."""
    rows = [commands.conversation(number, steps=2 if number % 4 == 3 else 12) for number in range(9)]
    harmful = commands.conversation(90)
    harmful["messages"][1]["content"] += f" {SECRET} {EVIL_TEXT}"
    harmful["messages"][-2]["content"] = EVIL_TEXT * 30  # protected, so the row stays over the target
    uncountable = commands.conversation(91)
    uncountable["messages"][2]["content"] += "\ud800"
    commands.write_rows(folder / "rows.jsonl", rows)
    commands.write_rows(folder / EVIL_FILE, [harmful, uncountable])
    with (folder / EVIL_FILE).open("a") as file:
        file.write(json.dumps({"messages": EVIL_TEXT}) + "\n")
    place = runs.Place(folder, runs.small_tokenizer())
    with LoopbackServer([None, replies.server_error(), None]) as server:
        command = place.calling(server.base_url, ["rows.jsonl", EVIL_FILE], "out", *_PRICES)
        ran = commands.run_here(*command, cwd=folder, env={"OPENAI_API_KEY": "sk-test"})
    assert (folder / "out" / "metrics.parquet").exists(), ran
    return folder / "out"
