"""``docs/reference.md`` is made from the command line, and the command line explains itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from typer.main import get_command
from typer.testing import CliRunner

from trajcompress.cli import app
from trajcompress.cli.grouped_help import GROUPS

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_reference.py"
spec = importlib.util.spec_from_file_location("make_reference", SCRIPT)
make_reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_reference)


def test_every_command_and_option_has_help():
    assert make_reference.undocumented() == []


def test_the_page_is_what_the_command_line_says():
    page = make_reference.PAGE.read_text(encoding="utf-8")
    assert page == make_reference.reference(), "stale: run python scripts/make_reference.py"


def test_the_page_holds_defaults_and_keys():
    page = make_reference.reference()
    assert "| `--target-max-tokens N` | Rows above this are compressed to it. | `15250` |" in page
    assert "`compression.target_max_tokens` |" in page
    assert "## trajcompress config init\n" in page


def test_help_has_every_option_in_a_group_but_those_of_all_commands():
    commands = get_command(app).commands
    flags = {flag for parameter in commands["compress"].params for flag in parameter.opts if flag.startswith("--")}
    grouped = [flag for group in GROUPS.values() for flag in group]
    assert sorted(grouped) == sorted(flags - {"--output", "--config", "--quiet", "--json", "--debug"})
    for name in ("compress", "plan"):
        shown = CliRunner().invoke(app, [name, "--help"]).output
        titles = [title for title in GROUPS if f"\n{title}:\n" in shown]
        assert titles == list(GROUPS)
        assert shown.index("\nOptions:\n") < shown.index("--config") < shown.index(f"\n{titles[0]}:\n")
