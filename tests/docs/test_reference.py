"""``docs/reference.md`` is made from the command line, and the command line explains itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from typer.main import get_command
from typer.testing import CliRunner

from trajcompress.cli import app
from trajcompress.settings.declare import Group

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_reference.py"
spec = importlib.util.spec_from_file_location("make_reference", SCRIPT)
make_reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_reference)


def test_every_command_and_option_has_help():
    assert make_reference.undocumented() == []


def test_the_pages_are_what_the_command_line_says():
    page = make_reference.PAGE.read_text(encoding="utf-8")
    assert page == make_reference.reference(), "stale: run python scripts/make_reference.py"
    defaults = make_reference.DEFAULTS.read_text(encoding="utf-8")
    assert defaults == make_reference.defaults(), "stale: run python scripts/make_reference.py"


def test_the_page_holds_defaults_and_keys():
    page = make_reference.reference()
    assert "| `--target-max-tokens N` | Rows above this are compressed to it. | `15250` |" in page
    assert "`compression.target_max_tokens` |" in page
    assert "## trajcompress config init\n" in page


def test_help_has_every_option_in_a_group_but_those_of_all_commands():
    command = get_command(app).commands["compress"]
    alone = {each.opts[0] for each in command.params if each.param_type_name == "option" and not each.rich_help_panel}
    assert alone == {"--output", "--config", "--quiet", "--json", "--debug"}
    for name in ("compress", "plan"):
        shown = CliRunner().invoke(app, [name, "--help"]).output
        titles = [title for title in Group if f"\n{title}:\n" in shown]
        assert titles == list(Group)
        assert shown.index("\nOptions:\n") < shown.index("--config") < shown.index(f"\n{titles[0]}:\n")


def test_plan_takes_what_it_has_use_for_as_compress_does():
    commands = get_command(app).commands
    taken = {name: {each.name: each.help for each in commands[name].params} for name in ("compress", "plan")}
    shared = {name: taken["plan"][name] for name in taken["plan"].keys() - {"sweep", "compare", "inputs", "as_json"}}
    assert shared.items() <= taken["compress"].items()
    assert {"target_max_tokens", "model", "redact"} <= shared.keys()
    assert not {"output", "cache", "overwrite"} & shared.keys()


def test_the_readme_says_of_a_plan_what_its_help_says():
    readme = (SCRIPT.parents[1] / "README.md").read_text(encoding="utf-8")
    for text in (readme, get_command(app).commands["plan"].help):
        assert "close, not a bound" in " ".join(text.split())
