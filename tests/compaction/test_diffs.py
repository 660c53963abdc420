"""What new files hold goes out of a diff before the changes of others do."""

from __future__ import annotations

import pytest

from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.diffs import without_new_files


def changed(name: str, lines: int) -> str:
    hunk = "".join(f"-    old = {number}\n+    new = {number}\n" for number in range(lines))
    head = f"diff --git a/{name} b/{name}\nindex b13bfe7..b832cf7 100644\n--- a/{name}\n+++ b/{name}\n"
    return f"{head}@@ -1 +1 @@\n{hunk}"


def brought_in(name: str, lines: int) -> str:
    body = "".join(f"+print({number})\n" for number in range(lines))
    head = (
        f"diff --git a/{name} b/{name}\nnew file mode 100644\nindex 0000000..a51d980\n--- /dev/null\n+++ b/{name}\n"
    )
    return f"{head}@@ -0,0 +1,{lines} @@\n{body}\\ No newline at end of file\n"


def test_scripts_go_before_the_change_that_they_tried_out():
    text = f"<diff>\n{brought_in('try.py', 60)}{changed('src/a.py', 12)}{brought_in('again.py', 60)}</diff>"
    shorter = cut(text, 1_000)
    assert changed("src/a.py", 12) in shorter
    assert "diff --git a/try.py b/try.py\nnew file mode 100644\n" in shorter
    assert "print(" not in shorter
    assert shorter.count("characters elided") == 2
    assert len(shorter) <= 1_000


def test_no_more_goes_than_must():
    text = brought_in("try.py", 60) + changed("src/a.py", 12) + brought_in("again.py", 60)
    shorter = without_new_files(text, len(text) - 100, {})
    assert shorter.endswith(changed("src/a.py", 12) + brought_in("again.py", 60))
    assert shorter.count("characters elided") == 1


@pytest.mark.parametrize(
    "text",
    [
        brought_in("a.py", 60) + brought_in("b.py", 60),
        changed("a.py", 60),
        "new file mode 100644\n" * 60,
    ],
)
def test_where_they_are_all_that_there_is_they_stay(text):
    assert without_new_files(text, 100, {}) == text


def test_what_later_calls_quote_stays():
    text = brought_in("try.py", 60) + changed("src/a.py", 12)
    assert without_new_files(text, 100, {"+print(7)\n+print(8)\n": 9.0}) == text
    assert without_new_files(text, 100, {"print": 2.0}) != text


def test_what_later_turns_need_and_a_new_file_alone_tells_stays():
    text = brought_in("try.py", 60) + changed("src/a.py", 12)
    assert without_new_files(text, 100, {"print(33)": 9.0}) == text
    assert without_new_files(text, 100, {"try.py": 9.0}) != text, "its name stays"


INSTRUCTIONS = "".join(f"{number}. Before you go on please carefully follow this step.\n" for number in range(1, 13))
AROUND = "".join(f"     unchanged_before_{number}()\n" for number in range(9))


def test_what_is_changed_stays_of_a_diff_before_what_stands_around_it():
    hunks = f"@@ -10,22 +10,23 @@ def run():\n{AROUND}-    old = 1\n+    new = 2\n+    newer = 3\n{AROUND}"
    head = "diff --git a/src/a.py b/src/a.py\nindex b13bfe7..b832cf7 100644\n--- a/src/a.py\n+++ b/src/a.py\n"
    text = f"Thank you for your work.\n\n{INSTRUCTIONS}\n<diff>\n{head}{hunks}{brought_in('try.py', 60)}\n</diff>"
    shorter = cut(text, 420)
    assert shorter.startswith("Thank you for your work.")
    assert "diff --git a/src/a.py b/src/a.py\n" in shorter
    assert "-    old = 1\n+    new = 2\n+    newer = 3\n" in shorter
    assert len(shorter) <= 420


def test_of_a_long_change_the_first_new_lines_stay():
    text = f"{INSTRUCTIONS}{changed('src/a.py', 1)}{changed('src/b.py', 0)}"
    text += "".join(f"-    left_{number}()\n" for number in range(30))
    text += "".join(f"+    added_{number}()\n" for number in range(30)) + f" \n{AROUND * 4}"
    shorter = cut(text, 700)
    assert "-    old = 0\n+    new = 0\n" in shorter
    assert "diff --git a/src/b.py b/src/b.py\n" in shorter
    assert "+    added_0()\n+    added_1()\n" in shorter
    assert "left_" not in shorter


def test_lines_of_a_list_are_no_changes():
    text = f"Shopping:\n{AROUND * 3}- milk\n+ bread\n{AROUND * 3}"
    assert "- milk" not in cut(text, 300)
