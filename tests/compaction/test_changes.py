"""Where a change is cut: in the files that it brings in rather than in those that it finds."""

from __future__ import annotations

from time import process_time

from trajcompress.compaction.text.cut import cut

FOUND = """diff --git a/src/frame.py b/src/frame.py
index 1a..2b 100644
--- a/src/frame.py
+++ b/src/frame.py
@@ -10,4 +10,4 @@ def width(frame):
     first = frame.first
-    return first
+    return first or 0
"""
BINARY = """diff --git a/{0}.bin b/{0}.bin
new file mode 100644
index 00..7e
Binary files /dev/null and b/{0}.bin differ
"""
NEW = """diff --git a/try_{0}.py b/try_{0}.py
new file mode 100644
index 00..3c
--- /dev/null
+++ b/try_{0}.py
@@ -0,0 +1,60 @@
"""


def change(found: str = FOUND) -> str:
    one, other = ("".join(f'+print("line {number} of {what}")\n' for number in range(60)) for what in "ab")
    binary = "".join(map(BINARY.format, ("one", "two", "three")))
    return f"{binary}{found}{NEW.format('a')}{one}{NEW.format('b')}{other}</diff>\n"


def test_new_files_are_cut_before_those_that_a_change_finds_and_named_where_that_is_enough():
    for ends in ("\n", "\r\n"):
        text = change().replace("\n", ends)
        short = cut(text, 1_000)
        assert FOUND.replace("\n", ends) in short
        assert f"try_b.py{ends}new file mode 100644{ends}"[: -len("\n")] in short
        assert len(short) <= 1_000
        assert short.endswith(f" …]\n</diff>{ends}")
    short = cut(change(), 500)
    assert FOUND in short
    assert "one.bin" not in short
    assert len(short) <= 500


def test_of_a_file_that_a_change_finds_stays_what_it_changes():
    around = "".join(f"     line {number} stays as it is\n" for number in range(60))
    found = FOUND.replace("     first =", f"{around}     first =") + around
    assert "-    return first\n+    return first or 0" in cut(change(found), 600)


def test_a_change_of_new_files_alone_is_cut_like_any_text():
    assert "tried" in cut(NEW.format("a") + "+x = 'tried'\n" * 100, 500)


def test_changes_are_cut_in_linear_time():
    begin = process_time()
    head = "diff --git a b\n"
    for text in (
        head * 60_000,
        f"{head}new file mode 1\n" * 30_000,
        "diff --git " * 90_000,
        f"{head}+x\n{head}" * 30_000,
    ):
        cut(text, 5_000)
    assert process_time() - begin < 5
