r"""The letter of an escape in a regular expression is no part of the name behind it; that of a path of Windows is.

Nor is a path behind a variable of the shell a fact.
"""

from __future__ import annotations

import pytest

from trajcompress.facts.candidates import candidates


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"\b_proc_gnusparse_00\b", "_proc_gnusparse_00"),
        (r'{"pattern": "\\bread_and_discard\\b"}', "read_and_discard"),
        (r"grep -nE '\bread_lines|\Bskip_blank\(' src", "skip_blank"),
        (r"(?:\bread_lines|\wx)", "read_lines"),
        (r"^\sread_lines", "read_lines"),
        (r"rg '\Aread_lines\s*='", "read_lines"),
        (r"C:\build_tools\b.txt", "build_tools"),
        (r"type \build_tools\notes.txt", "build_tools"),
        (r"type src\build_tools\base_x.py", "build_tools"),
        (r"ls ..\sub_folder", "sub_folder"),
        (r"Directory: C:\\Users\\me\\data_set\\x.csv", "data_set"),
    ],
)
def test_what_stands_behind_a_backslash(text, found):
    names = [name for name in candidates(text) if "_" in name and "base" not in name]
    assert found in names
    assert not [name for name in names if name != found and name.endswith(found[1:])]


@pytest.mark.cpu_seconds(10)  # quadratic time would take minutes
@pytest.mark.parametrize("text", [r"\b" * 300_000, ("\\" * 4 + "s" + "a" * 90) * 20_000, r" \bx" * 200_000])
def test_text_of_many_backslashes_is_read_in_linear_time(text):
    candidates(text)


def test_a_path_behind_a_variable_of_the_shell_is_no_fact():
    assert not {"HOME/.local/bin"} & set(candidates('export PATH="$HOME/.local/bin:$PATH" && ls $PWD/build/out.txt'))
    assert "/srv/home/HOME/.local/bin" in candidates("see /srv/home/HOME/.local/bin")
