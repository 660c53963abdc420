"""What is told of what everyday commands print: the line that somebody would have written down."""

from __future__ import annotations

from pathlib import Path

import pytest
import told
from told import action, read, said

PRINTED = Path(told.__file__).parent / "data" / "printed"
TELLS = {
    "ansible": ("No package matching 'nginxx' is available",),
    "apt": ("E: Unable to correct problems",),
    "black": ("3 files would be reformatted",),
    "cargo_build": ("error[E0502]: cannot borrow `v` as mutable", "(src/main.rs:6)"),
    "coverage": ("36 passed in 2.11s", "FAIL Required test coverage of 85% not reached"),
    "df": ("/dev/sda1 40G 39G 112M 100%",),
    "dig": ("MX 10 mail1.acme.test.", "MX 20 mail2.acme.test."),
    "docker_build": ("No matching distribution found for flaskk==3.0.0",),
    "docker_compose": ("Bind for 0.0.0.0:8000 failed: port is already allocated",),
    "eslint": ("'total' is defined but never used", "3 problems (2 errors, 1 warning)"),
    "gdb": ("Program received signal SIGSEGV, Segmentation fault.",),
    "git_bisect": ("77b2ea0cc6e0b5a8fd1d6a3f2f4f4ed4b5c60a52 is the first bad commit cart: cache the rates",),
    "git_log": ("0000000 Fix the login page (0); 0000001 Fix the cart page (1)",),
    "git_merge": ("CONFLICT (content): Merge conflict in src/cart.py",),
    "git_push": ("! [rejected] main -> main (fetch first)",),
    "git_rebase": ("ould not apply 4f2a1c9... tune", "CONFLICT (modify/delete): app/old.py deleted in HEAD"),
    "javac": ("src/Cart.java:14: error: cannot find symbol variable totl",),
    "kubectl_describe": ("Failed to pull image", "manifest unknown"),
    "linker": ("undefined reference to `parse_config(char const*)'",),
    "mysql": ("ERROR 1452 (23000) at line 14: Cannot add or update a child row",),
    "nmap": ("22/tcp open ssh", "80/tcp open http Apache httpd 2.4.49", "3306/tcp open mysql"),
    "npm": ("unable to resolve dependency tree", 'peer react@"^17.0.0" from react-table@7.6.0'),
    "strace": ('"/etc/app/config.yml", O_RDONLY) = -1 EACCES (Permission denied)', "exit code 1"),
    "systemctl": ('[emerg] unknown directive "servr"',),
    "terraform_apply": ("Error: creating RDS DB Instance (shop)", "DBSubnetGroupDoesNotCoverEnoughAZs"),
    "terraform_plan": ("Plan: 1 to add, 1 to change, 1 to destroy.",),
    "terraform_replace": (
        "Plan: 2 to add, 0 to change, 1 to destroy.",
        "aws_elasticache_cluster.sessions must be replaced",
    ),
    "time": ("converged after 2900 steps, final energy -120.7900 kJ/mol",),
    "valgrind": ("65,536 bytes in 4,096 blocks are definitely lost", "copy_cell (cells.c:40)"),
}
ASIDE = ("hint:", "A complete log", "Note: You didn't", "Please report")


@pytest.mark.parametrize("name", TELLS)
def test_the_line_of_a_command_tells_what_one_would_write_down(name):
    said = read((PRINTED / f"{name}.txt").read_text("utf-8"), action("bash", command="run it")).said
    assert [part for part in TELLS[name] if part not in said] == []
    assert [part for part in ASIDE if part in said] == []


def test_all_that_was_printed_is_tried():
    assert {path.stem for path in PRINTED.iterdir()} == set(TELLS)


def test_a_heading_is_no_outcome_where_prose_stands_below_it_and_the_first_sentence_is_told_whole():
    answer = "Based on what the page holds, the photo shows **tomato soup with red beans**, and no shakshuka."
    page = f"# Photo Content Analysis\n\n{answer}\n\n## Details\n\n" + "Its colours are warm, as is the light. " * 9
    told = read(page, action("WebFetch", url="https://photos.org/1", prompt="What is shown?")).said
    assert answer in told
    assert "Analysis" not in told
    assert read("# Shop\n\n## Fruit\n- apples\n" + "- pears\n" * 30, None).said.startswith("# Shop")


def test_between_two_lines_of_code_the_end_of_a_block_is_told():
    rest = "\n".join(f"int of_{number};" for number in range(60))
    source = f"while (c->next != NULL) {{\n  c = c->next;\n}}\nc->next = new_node;\n{rest}"
    said = read(source, action("exec", command="sed -n '1,90p' list.c")).said
    assert said.startswith("while (c->next != NULL) { c = c->next; }; c->next = new_node;")


def test_a_warning_of_an_installed_package_is_told_without_where_that_is():
    place = "/srv/venv/lib/python3.12/site-packages/torch/cuda/__init__.py:187"
    long = "The driver is too old, and has been for a year: get a newer one, or an older build of the library. " * 3
    printed = f"{place}: UserWarning: {long}\n  return count() > 0\ntorch=2.12, cuda=False"
    said = read(printed, action("exec", command="python a.py"), later={"UserWarning": 2.0}).said
    assert "UserWarning: The driver" in said
    assert "site-packages" not in said
    assert "cuda=False" in said


def test_the_values_of_an_array_stand_with_what_says_whose_they_are():
    printed = "Unique values: <StringArray>\n['M', 'F']\nLength: 2, dtype: str\n" + "of no use\n" * 40
    assert "Unique values: <StringArray> ['M', 'F']" in said(printed, limit=60)


def test_parts_of_a_text_stand_in_its_order_under_their_titles():
    rows = ("\n".join(f"Row {n}:\t{name}{n}\tx" for n in range(1, 30)) for name in "ab")
    sheets = "\n\n".join(f"Sheet {n} rows:\n{each}" for n, each in enumerate(rows, 1))
    told = read(sheets, action("exec", command="python show.py"), taken={"b4": 9.0, "a7": 9.0}, most=400).said
    stand = [told.index(part) for part in ("Sheet 1 rows:", "Row 7: a7 x", "Sheet 2 rows:", "Row 4: b4 x")]
    assert stand == sorted(stand)
