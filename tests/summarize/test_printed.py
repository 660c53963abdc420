"""What is told of what everyday commands print: the line that somebody would have written down."""

from __future__ import annotations

from pathlib import Path

import pytest
import told
from told import action

from trajcompress.summarize.extractive.outcome import read

PRINTED = Path(told.__file__).parent / "data" / "printed"
TELLS = {
    "ansible": ("No package matching 'nginxx' is available",),
    "apt": ("E: Unable to correct problems",),
    "cargo_build": ("error[E0502]: cannot borrow `v` as mutable", "(src/main.rs:6)"),
    "df": ("/dev/sda1 40G 39G 112M 100%",),
    "docker_build": ("No matching distribution found for flaskk==3.0.0",),
    "eslint": ("'total' is defined but never used", "3 problems (2 errors, 1 warning)"),
    "git_log": ("0000000 Fix the login page (0); 0000001 Fix the cart page (1)",),
    "git_push": ("! [rejected] main -> main (fetch first)",),
    "javac": ("src/Cart.java:14: error: cannot find symbol variable totl",),
    "kubectl_describe": ("Failed to pull image", "manifest unknown"),
    "nmap": ("22/tcp open ssh", "80/tcp open http Apache httpd 2.4.49", "3306/tcp open mysql"),
    "npm": ("unable to resolve dependency tree", 'peer react@"^17.0.0" from react-table@7.6.0'),
    "systemctl": ('[emerg] unknown directive "servr"',),
    "terraform_plan": ("Plan: 1 to add, 1 to change, 1 to destroy.",),
}
ASIDE = ("hint:", "A complete log", "Note: You didn't", "Please report")


@pytest.mark.parametrize("name", TELLS)
def test_the_line_of_a_command_tells_what_one_would_write_down(name):
    said = read((PRINTED / f"{name}.txt").read_text("utf-8"), action("bash", command="run it")).said
    assert [part for part in TELLS[name] if part not in said] == []
    assert [part for part in ASIDE if part in said] == []


def test_all_that_was_printed_is_tried():
    assert {path.stem for path in PRINTED.iterdir()} == set(TELLS)
