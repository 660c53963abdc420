"""Patches of apply_patch: which files they change, as a tool's argument, its text, or given to a command."""

from __future__ import annotations

import pytest

from trajcompress.outcomes.action.actions import describe
from trajcompress.outcomes.steps import label_of

PATCH = """*** Begin Patch
*** Add File: src/rows.py
+import csv
+def load(path):
+    return [*csv.reader(open(path))]
*** Update File: docs/old.md
*** Move to: docs/new.md
@@ # Rows
-They are read.
+They are read once.
*** Delete File: setup.cfg
*** End Patch"""


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("apply_patch", PATCH),
        ("apply_patch", {"input": PATCH}),
        ("apply_patch", {"patchText": PATCH}),
        ("shell", {"command": ["apply_patch", PATCH]}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"]}),
        ("bash", {"command": f"cd /repo && apply_patch <<'EOF'\n{PATCH}\nEOF"}),
    ],
)
def test_a_patch_changes_the_files_that_it_names(name, given):
    action = describe(name, given)
    assert (action.kind, action.changes) == ("change", ("src/rows.py", "docs/new.md", "setup.cfg"))
    assert action.moves == (("docs/old.md", "docs/new.md"),)
    assert action.change.startswith("def load(path): return")
    assert "They are read once." in action.change
    assert label_of(action, name, 300).startswith("apply_patch src/rows.py, docs/new.md, setup.cfg")


@pytest.mark.parametrize(
    "given",
    [
        {"command": f"cat > fix.patch <<'EOF'\n{PATCH}\nEOF"},
        {"command": 'grep -rn "*** Begin Patch" src'},
        {"input": "*** Begin Patch\n*** End Patch"},
    ],
)
def test_what_only_holds_a_patch_or_its_words_changes_none_of_its_files(given):
    assert "src/rows.py" not in describe("bash", given).changes
    assert describe("bash", given).moves == ()


@pytest.mark.parametrize("key", ["filePath", "AbsolutePath", "relative_path", "file_path"])
def test_a_file_of_windows_is_named_by_its_name(key):
    action = describe("read", {key: r"C:\work\tracker\.github\workflows\ci.yml"})
    assert label_of(action, "read", 30) == r"read …\ci.yml"


def test_lines_that_are_written_as_words_are_told():
    asked = describe(
        "Inspect Script Lines", {"script_name": "train.py", "start_line_number": "1", "end_line_number": "90"}
    )
    assert label_of(asked, "", 60) == "Inspect Script Lines train.py (lines 1-90)"
