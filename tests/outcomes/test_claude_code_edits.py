"""What Claude Code's terminal says of an edit, as its exports have it, without what the call was given."""

from __future__ import annotations

from told import read

from trajcompress.outcomes.action.actions import describe

UPDATED = """Updated src/needs.txt with 2 additions and 1 removal
        7    wheel
        8 -  pydantic==1.10
        8 +  pydantic>=2.0,<3.0
        9 +  pydantic-settings>=2.0
       10    yarn"""
REJECTED = "User rejected write to src/settings.py\n" + "\n".join(f"{n:9} +  line_{n} = {n}" for n in range(1, 30))


def test_an_update_is_told_with_the_lines_that_it_brought_in_and_those_that_went():
    told = read(UPDATED, describe("Update", {"file_path": "src/needs.txt"}))
    assert told.said == (
        "Updated src/needs.txt with 2 additions and 1 removal; "
        "+pydantic>=2.0,<3.0; +pydantic-settings>=2.0; -pydantic==1.10"
    )
    assert not told.failed
    gone = "Updated src/needs.txt with 1 removal\n        7    wheel\n        8 -  pydantic==1.10"
    assert read(gone, describe("Update", {"file_path": "src/needs.txt"})).said.endswith("; -pydantic==1.10")


def test_what_its_call_says_of_an_update_is_not_said_again():
    did = describe(
        "Update", {"file_path": "src/needs.txt", "old_string": "pydantic==1.10", "new_string": "pydantic>=2"}
    )
    assert read(UPDATED, did).said == "Updated src/needs.txt with 2 additions and 1 removal"


def test_a_write_that_was_rejected_says_so_though_it_shows_the_file():
    told = read(REJECTED, describe("Write", {"file_path": "src/settings.py"}))
    assert told.failed
    assert told.said.startswith("User rejected write to src/settings.py")
