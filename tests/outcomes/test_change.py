"""What is told of an edit."""

import json
from typing import Any

import pytest

from trajcompress.outcomes.action.change import CHANGE_CHARS, brought_in
from trajcompress.outcomes.steps import action_of, label_of, steps_of
from trajcompress.transcript.trajectory import ToolCall, Turn


def test_an_edit_is_told_as_its_new_lines_of_code_and_not_as_comments_or_imports():
    old = "def area(side):\n    return side"
    new = (
        'import math\n# Squares only.\ndef area(side):\n    """Say how large.\n\n    Of squares.\n    """\n'
        "    if side < 0:\n        raise ValueError(side)\n    return side * side"
    )
    told = brought_in({"path": "a.py", "old_str": old, "new_str": new})
    assert told == "if side < 0: raise ValueError(side); return side * side (+5 lines)"


def test_an_edit_of_comments_alone_is_told_as_these():
    assert brought_in({"old_str": "# one\n", "new_str": "# two\n"}) == "# two"
    assert brought_in({"old_str": "# one\na = 1\n", "new_str": "# one\n"}) == "-a = 1"


def test_long_edits_are_told_in_whole_lines():
    new = "\n".join(f"value_{n} = compute_the_value({n})" for n in range(40))
    told = brought_in({"old_str": "x", "new_str": new})
    assert len(told) <= CHANGE_CHARS + 20
    assert told.endswith("compute_the_value(8) (+31 lines)")


def test_edits_of_a_list_a_diff_and_blocks_to_replace_are_told_as_well():
    edits = [{"oldText": "a = 1", "newText": "a = 2"}, {"oldText": "b = 1", "newText": "b = 3"}]
    assert brought_in({"path": "x.py", "edits": edits}) == "a = 2 … b = 3"
    assert brought_in({"patch": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n b = 1\n"}) == "a = 2"
    block = "<<<<<<< SEARCH\na = 1\nb = 1\n=======\na = 2\nb = 1\n>>>>>>> REPLACE\n"
    assert brought_in({"path": "x.py", "diff": block}) == "a = 2"
    block = "------- SEARCH\na = 1\nb = 1\n=======\na = 2\nb = 1\n+++++++ REPLACE\n"
    assert brought_in({"path": "x.py", "diff": f"{block}\n{block.replace('a', 'c')}"}) == "a = 2 … c = 2"


def test_lines_between_which_others_stand_are_told_apart():
    old = "def call(self):\n    return None\n\n    self.send()"
    new = (
        "def call(self):\n    if not self.headers:\n        return None\n\n    # Of old ones.\n"
        "    if self.key is None:\n        # Of nobody.\n        self.key = KEY\n    self.send()"
    )
    told = "if not self.headers: … if self.key is None: self.key = KEY (+2 lines)"
    old = old.replace("    return", "        return")
    assert brought_in({"old_str": old, "new_str": new}) == told
    diff = "@@ -1,3 +1,4 @@\n-a = 1\n+a = 2\n+b = 2\n c = 1\n+d = 2\n@@ -90 +91,2 @@\n+e = 2\n"
    assert brought_in({"diff": diff}) == "a = 2; b = 2 … d = 2 … e = 2"
    blocks = "<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n"
    assert brought_in({"diff": blocks + blocks.replace("a", "b")}) == "a = 2 … b = 2"
    assert brought_in({"content": "import os\na = 1\ntry:\n    b()\nexcept OSError:\n    c()"}) == (
        "a = 1 … b(); except OSError: c() (+2 lines)"
    )


def test_lines_of_code_that_begin_as_the_header_of_a_diff_does_are_told():
    header = "--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n"
    assert brought_in({"patch": f"{header} int i;\n+++i;\n"}) == "++i;"
    assert brought_in({"patch": f"{header}--- every row\n+select 2\n--- a/y.sql\n+++ b/y.sql\n"}) == "select 2"
    assert brought_in({"patch": f"{header} int i;\n---i;\n"}) == "---i;"


def test_a_step_of_an_edit_has_room_for_what_it_brings_in_beside_its_file():
    new = "def total(prices):\n    return sum(price.amount for price in prices if price.currency == 'EUR')"
    edit = {"path": "/srv/shop/totals/of_all_baskets.py", "old_str": "pass", "new_str": new}
    call = ToolCall("c", "str_replace", json.dumps(edit))
    action = action_of(Turn("assistant", "", {}, calls=(call,)), 0)
    told = "def total(prices): return sum(price.amount for price in prices if price.currency == 'EUR')"
    assert label_of(action, "", change_chars=CHANGE_CHARS) == f"str_replace …/of_all_baskets.py «{told}»"


def test_what_an_edit_brings_in_is_found_in_linear_time():
    for text in (
        "#" * 1_000_000,
        "@@\n" * 300_000,
        '"""\n' * 250_000,
        "+" * 1_000_000,
        "a\n" * 500_000,
        " \n" * 500_000,
    ):
        assert len(brought_in({"old_str": "x", "new_str": text})) <= CHANGE_CHARS + 20
        assert len(brought_in({"diff": text})) <= CHANGE_CHARS + 20


def labels(*steps: tuple[str, dict[str, Any], str]) -> list[str]:
    """What steps are called that run one after the other, each with its result."""
    turns = []
    for number, (name, arguments, result) in enumerate(steps):
        call = ToolCall(f"c{number}", name, json.dumps(arguments))
        turns.append(Turn("assistant", "", {}, calls=(call,)))
        turns.append(Turn("tool", result, {}, answers=(call.id,)))
    return [label_of(step.action, step.name) for step in steps_of(turns)]


CODE = (
    "def total(prices):\n    rate = 2\n    found = [price * rate for price in prices]\n    found.sort()\n"
    "    print(found)\n    return sum(found)"
)


@pytest.mark.parametrize(
    "shown",
    [
        CODE,
        "\n".join(f"{at:6}\t{line}" for at, line in enumerate(CODE.splitlines(), 1)),
        "\n".join(f"{at:3} | {line}" for at, line in enumerate(CODE.splitlines(), 1)),
        "\n".join(f"{at:5}→{line}" for at, line in enumerate(CODE.splitlines(), 1)),
        json.dumps({"content": CODE}),
    ],
)
def test_of_a_file_that_is_written_whole_after_a_look_at_it_the_change_is_told(shown: str):
    written = {"path": "shop.py", "content": CODE.replace("rate = 2", "rate = 1")}
    told = labels(("read_file", {"path": "shop.py"}, shown), ("write_file", written, "Done."))
    assert told[1] == "write_file shop.py «… rate = 1»"


def test_of_a_file_that_is_written_anew_values_that_changed_are_told_first():
    before = "def area(x):\n    side = x\n    blocks = 256\n    return side * side * blocks"
    after = "def area(x, y):\n    side = x + y\n    blocks = 512\n    return side * side * blocks"
    sent = [{"filename": "a.py", "data": text} for text in (before, after)]
    told = labels(*(("save_file", each, "null") for each in sent))
    assert told[1] == "save_file a.py «… blocks = 512 … def area(x, y): side = x + y»"


def test_of_a_document_that_is_written_its_headings_are_told():
    text = "# Tides\n\nOf all ports.\n\n## Brest\n\n4.5 m\n\n## Cuxhaven\n\n2.9 m\n"
    (told,) = labels(("Write", {"file_path": "docs/tides.md", "content": text}, "Done."))
    assert told == "Write docs/tides.md «# Tides; ## Brest; ## Cuxhaven»"


def test_of_code_that_is_sent_again_the_change_is_told():
    sent = [{"code": CODE.replace("2", rate)} for rate in "213"]
    told = labels(*(("python", each, "No module named shop") for each in sent))
    assert told[0].startswith("python def total(prices): rate = 2")
    assert told[1:] == ["python … rate = 1", "python … rate = 3"]
    other = "import os\nfor name in os.listdir():\n    print(name)\n    print(os.stat(name).st_size)"
    assert "os.listdir" in labels(("python", sent[0], ""), ("python", {"code": other}, ""))[1]


def test_what_ends_a_block_stands_before_what_follows_it():
    new = "const event = {\n  type: 'blur',\n};\nhandle(event);\n"
    told = brought_in({"path": "a.js", "old_str": "x", "new_str": new})
    assert told == "const event = { type: 'blur', }; handle(event);"
    assert brought_in({"path": "a.js", "new_str": "if (a) {\n  b();\n}\n"}) == "if (a) { b(); (+1 line)"
