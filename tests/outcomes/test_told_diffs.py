"""What is told of a diff: the lines that it brings in, or takes out, and no header."""

from __future__ import annotations

import pytest
from told import read

from trajcompress.outcomes.action.actions import describe
from trajcompress.outcomes.reports.edits import lines_of_diff

DIFF = """diff --git a/src/forms.py b/src/forms.py
index 17a5bdb..38be1f2 100644
--- a/src/forms.py
+++ b/src/forms.py
@@ -56,9 +56,9 @@ class ReadOnlyField(Field):

     def __init__(self, *args, **kwargs):
         kwargs.setdefault("required", False)
+        kwargs.setdefault("disabled", True)
         super().__init__(*args, **kwargs)

-    def bound_data(self, data, initial):
-        return initial
"""
OTHER = DIFF.replace("src/forms.py", "src/admin.py").replace("disabled", "hidden")
CHUNK = "**Chunk 1**\nLines added: 1, lines removed: undefined\n\n```diff\n@@ -140,4 +140,5 @@\n {}\n```"


def test_a_diff_is_told_by_the_lines_that_it_brings_in_and_then_by_those_that_it_takes_out():
    did = describe("bash", {"command": "git diff src/forms.py"})
    gone = "-def bound_data(self, data, initial): -return initial"
    assert read(DIFF, did).said == f'+kwargs.setdefault("disabled", True); {gone}'
    assert read("\n".join(line for line in DIFF.splitlines() if not line.startswith("+ ")), did).said == gone


def test_lines_behind_a_diff_are_none_of_it():
    listing = "total 8\n-rw-r--r-- 1 root root 40 Nov 30 09:21 forms.py"
    assert lines_of_diff(f"{DIFF}{listing}") == lines_of_diff(DIFF)


def test_each_file_of_a_diff_is_named_where_there_are_several():
    gone = ["-def bound_data(self, data, initial):", "-return initial"]
    assert lines_of_diff(DIFF + OTHER) == [
        *('src/forms.py: +kwargs.setdefault("disabled", True)', *gone),
        *('src/admin.py: +kwargs.setdefault("hidden", True)', *gone),
    ]


def test_an_edit_that_is_shown_as_a_diff_is_told_by_what_it_brought_in():
    did = describe("search_replace", {"file_path": "src/forms.py"})
    told = read(CHUNK.format("     strips = found\n+    if strips is None:\n         return"), did)
    assert told.said == "+if strips is None:"
    assert did.changes == ("src/forms.py",)


@pytest.mark.parametrize(
    "text",
    [
        "no diff\nat all",
        f"Please review it.\n{'1. Do what is said here.' * 30}\n{DIFF}",
        f"commit 17a5bdb38be1f2\nAuthor: Maya Lin <maya@example.org>\nDate: today\n\n    {'Mend it. ' * 9}\n\n{DIFF}",
        "--- a\n+++ b\n",
        "@@ -1 +1 @@",
    ],
)
def test_a_text_that_is_no_diff_is_told_as_it_was(text: str):
    assert lines_of_diff(text) == []
