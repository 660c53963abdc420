"""Edits by numbers of lines, as of SWE-agent: what they replace, what they bring in, what stays of one that fails."""

from __future__ import annotations

from trajectories import read

from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.rejected_edits import without_original
from trajcompress.facts.ledger import FactLedger

NEW = ["needed = [", "    'Rows',", "]", "if 'Pixels' in ds:", "    needed.append('Sign')"]
RULE = "-" * 49


def shown(lines: int, first: int = 1, changed: dict[int, str] | None = None) -> str:
    listed = (f"{at}:{(changed or {}).get(at, f'    value_{at} = {at}')}" for at in range(first, first + lines))
    return "\n".join([f"[File: /repo/a.py ({lines} lines total)]", *listed])


def rejected(why: str = "unmatched ')'") -> str:
    new = dict(enumerate(NEW, 20))
    return (
        "Your proposed edit has introduced new syntax error(s). Please understand the fixes and retry.\n\n"
        f"ERRORS:\n- E999 SyntaxError: {why}\n\nThis is how your edit would have looked if applied\n{RULE}\n"
        f"{shown(60, changed=new)}\n{RULE}\n\n"
        f"This is the original code before your edit\n{RULE}\n{shown(60)}\n{RULE}\n"
        "Your changes have NOT been applied. Please fix your edit command and try again.\nDO NOT re-run it."
    )


def row(answer: str) -> FactLedger:
    edit = "\n".join(["I mend it.", "```", "edit 20:22", *NEW, "end_of_edit", "```"])
    turns = [
        "Mend it.",
        "I look.\n```\nopen a.py 20\n```",
        f"{shown(60)}\nbash-$",
        edit,
        f"{answer}\nbash-$",
        "Done.",
    ]
    roles = ("user", "assistant")
    return FactLedger(read([{"role": roles[at % 2], "content": text} for at, text in enumerate(turns)]).turns)


def test_the_lines_that_an_edit_replaces_are_quoted_where_they_were_shown():
    assert list(row("[File: /repo/a.py updated]").quoted(2)) == [
        "20:    value_20 = 20\n21:    value_21 = 21\n22:    value_22 = 22"
    ]


def test_the_lines_that_an_edit_brings_in_stay_in_what_is_shown_of_it():
    new = dict(enumerate(NEW, 20))
    ledger = row(f"{shown(62, changed=new)}\nFile updated. Review the changes.")
    told = "\n".join(f"{number}:{line}" for number, line in new.items())
    assert told in ledger.wanted(4)
    assert told in cut(ledger.turns[4].text, 900, ledger.wanted(4))
    assert "File updated. Review the changes." in cut(ledger.turns[4].text, 900, ledger.wanted(4))


def test_of_an_edit_that_was_not_applied_the_code_before_it_goes_first():
    whole = rejected()
    shorter = cut(whole, 2_200)
    assert shorter.startswith(whole[: whole.index(RULE)])
    assert "20:needed = [\n21:    'Rows',\n" in shorter
    assert "This is the original code before your edit\n" + RULE + "\n[… " in shorter
    assert "Your changes have NOT been applied" in shorter
    assert without_original(whole, len(whole), {}) == whole


def test_why_it_was_not_and_that_it_was_not_stay_however_little_does():
    shorter = cut(rejected("unexpected indent"), 500)
    assert "- E999 SyntaxError: unexpected indent\n" in shorter
    assert "Your changes have NOT been applied" in shorter
    assert len(shorter) < 900


def test_where_a_later_call_quotes_the_code_before_it_stays():
    whole = rejected()
    block = "41:    value_41 = 41\n42:    value_42 = 42"
    assert without_original(whole, 900, {block: 5.0}) == whole
    assert without_original(whole, 900, {"value_41": 5.0}) != whole


def test_the_tags_around_what_a_harness_left_out_of_an_output_stay_paired():
    body = "\n".join(f"compiling part {number} of many" for number in range(80))
    tags = "</output_head>\n<elided_chars>\n9000 characters elided\n</elided_chars>\n<output_tail>"
    shorter = cut(f"<output_head>\n{body}\n{tags}\n{body}\n</output_tail>", 700)
    for tag in ("output_head", "elided_chars", "output_tail"):
        assert shorter.count(f"<{tag}>") == shorter.count(f"</{tag}>") == 1
