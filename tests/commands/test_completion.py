"""Completion in the shells: asked the way each shell asks, and in those that are installed by the shell itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import commands
import pytest
from forked import COMMAND

TARGETS = ["template", "trl", "axolotl", "llama-factory", "verl", "openai", "mistral"]
PATH = {"PATH": f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"}
ASKED = [
    (["compress", "--for", ""], TARGETS),
    (["check", "--for", "l"], ["llama-factory"]),
    (["compress", "--output-f"], ["--output-format"]),
    (["config", "i"], ["init"]),
    (["compress", "--config", ""], []),  # a file, which the shell knows better
]
CASES = pytest.mark.parametrize(("words", "offered"), ASKED, ids=" ".join)


def shell(name: str, *arguments: str, home: Path, **variables: str) -> str:
    environment = commands.environment({**PATH, **variables, "HOME": str(home)})
    done = subprocess.run(
        [name, *arguments], env=environment, cwd=home, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def script(name: str, home: Path) -> str:
    """What the command says when it is asked in that shell."""
    variables = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", "HOME": str(home)}
    return commands.run_command("--show-completion", name, cwd=home, env=variables).stdout


@CASES
def test_bash_offers(tmp_path, words, offered):
    asking = """
        eval "$(trajcompress --show-completion)"
        COMP_WORDS=(trajcompress "$@") COMP_CWORD=$#
        _trajcompress_completion trajcompress
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    shown = shell("bash", "--norc", "-c", asking, "bash", *words, home=tmp_path, SHELL="/bin/bash")
    assert shown.split() == offered


@pytest.mark.wants("fish")
def test_fish_offers(tmp_path):
    (tmp_path / "complete.fish").write_text(script("fish", tmp_path))
    for words, offered in ASKED:
        line = " ".join(["trajcompress", *words])
        shown = shell("fish", "--no-config", "-c", f"source complete.fish; complete -C '{line}'", home=tmp_path)
        names = [each.split("\t")[0] for each in shown.splitlines()]
        assert sorted(names) == sorted(offered or ["complete.fish"]), words


@CASES
@pytest.mark.parametrize("name", ["zsh", "fish"])
def test_what_the_functions_of_other_shells_ask_for(tmp_path, name, words, offered):
    asked = {
        "_TRAJCOMPRESS_COMPLETE": f"complete_{name}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": " ".join(["trajcompress", *words]),
    }
    assert asked.keys() - {"_TYPER_COMPLETE_FISH_ACTION"} <= set(script(name, tmp_path).replace("=", " ").split())
    shown = commands.run_here(cwd=tmp_path, env=asked).stdout
    for word in offered:
        assert word in shown
    if not offered:
        assert shown.split() == (["_files"] if name == "zsh" else [])


def test_it_is_installed_where_bash_looks(tmp_path):
    shell("bash", "--norc", "-c", "trajcompress --install-completion; true", home=tmp_path, SHELL="/bin/bash")
    shown = shell("bash", "--rcfile", ".bashrc", "-i", "-c", "complete -p trajcompress", home=tmp_path)
    assert "_trajcompress_completion" in shown


def test_the_help_says_how(tmp_path):
    assert "trajcompress --install-completion" in commands.run_here("--help", cwd=tmp_path).stdout
