"""Where a result is cut: between whole elements, under their headings, around what later turns take up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pruning import ASK, call, tokens
from trajectories import read, result

from trajcompress.compaction.text import elide_results
from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.middle import LEAST_CUT, cut_text
from trajcompress.redact import HOLDS_NONE

MARK = re.compile(r"\n\[… [\d,]+ characters elided …\]\n")

CODE = "\n".join(
    line
    for number in range(60)
    for line in (f"def step_{number}(value):", f"    doubled = value * {number}", "    return doubled", "")
)


def numbered(text: str, behind: str = "\t") -> str:
    return "\n".join(f"{number:6}{behind}{line}" for number, line in enumerate(text.split("\n"), 1))


def pieces(text: str) -> list[str]:
    return MARK.split(text)


def test_what_follows_a_mark_begins_with_an_outer_element_and_what_stands_before_it_ends_there():
    listings = [numbered(CODE, behind) for behind in ("\t", "→", " | ")]  # cat, Claude Code, Roo Code
    for text in (CODE, *listings, CODE.replace("\n", "\r\n")):
        for limit in range(900, 1_000, 10):
            head, end = pieces(cut_text(text, limit))
            assert re.match(r"(?:\s*\d+(?:[\t→]| \| ))?def step_", end)
            assert re.search(r"return doubled\s*(?:\d+(?:[\t→]| \| ))?\r?$", head)


def test_no_object_of_json_in_a_string_is_cut_in_two():
    entry = r"    {\n      \"name\": \"stop\",\n      \"distance\": 12\n    },\n"
    text = r"{\"stops\": [\n" + entry * 80 + r"    {\"name\": \"last\"}\n]}"
    for limit in range(700, 800, 10):
        head, end = pieces(cut_text(text, limit))
        assert head.endswith("},")
        assert end.startswith("    {")


def test_a_traceback_is_cut_between_its_frames():
    frames = "\n".join(f'  File "/app/part_{number}.py", line {number}, in run\n    go(step)' for number in range(60))
    text = f"Traceback (most recent call last):\n{frames}\nValueError: no gate"
    head, end = pieces(cut_text(text, 900))
    assert head.endswith("    go(step)")
    assert end.startswith('  File "')


def test_the_folder_of_files_that_stay_is_named():
    folders = [f"/srv/app/part_{n}:\n" + "\n".join(f"file_{n}_{k}.py" for k in range(30)) for n in range(40)]
    for blank in ("\n\n", "\r\n\r\n"):
        text = blank.join(folder.replace("\n", blank[: len(blank) // 2]) for folder in folders)
        short = cut_text(text, 900, {"file_17_20.py": 4.0})
        named, told = short.find("/srv/app/part_17:"), short.find("file_17_20.py")
        assert 0 <= named < told
        assert "part_" not in short[named + 20 : told]


def test_the_file_whose_change_stays_is_named():
    changes = [
        f"diff --git a/mod_{n}.py b/mod_{n}.py\n@@ -1,90 +1,90 @@\n"
        + "\n".join(f"+total_{n}_{k} = {k}" for k in range(90))
        for n in range(5)
    ]
    short = cut_text("\n".join(changes), 1_200, {"total_2_44": 4.0})
    assert short.find("diff --git a/mod_2.py") < short.find("+total_2_44 = 44")
    assert pieces(short)[-2].startswith("diff --git a/mod_4.py")


def test_lines_around_what_later_turns_take_up_stay_before_more_of_the_ends():
    text = numbered("\n".join(f"value_{number} = {number}" for number in range(600)))
    short = cut_text(text, 1_500, {"value_300": 4.0})
    around = next(piece for piece in pieces(short) if "value_300 " in piece)
    assert around.count("\n") >= max(piece.count("\n") for piece in pieces(short) if piece is not around)
    for number in range(295, 306):
        assert f"\n{number + 1:6}\tvalue_{number} = {number}\n" in f"\n{around}\n"


def test_a_line_that_stays_keeps_the_space_before_its_number():
    text = numbered(CODE)
    short = cut_text(text, 300, {"30": 4.0})
    assert all(line in text.split("\n") for piece in pieces(short) for line in piece.split("\n") if line)


def test_a_short_first_line_is_whole_or_not_there():
    text = "The file /srv/app/some/rather/long/folder/reader.py has been edited. Here it is:\n" + CODE
    for limit in range(100, 700, 7):
        head = pieces(cut_text(text, limit, {"step_31": 4.0}))[0]
        assert not head or head.startswith(text.partition("\n")[0])


def test_a_first_sentence_stays_though_it_names_a_long_path():
    done = "The file /workspace/some-project__some-project__1.0/src/package/folders/module_of_it.py has been edited."
    text = f"{done} Here's the result of running `cat -n` on a snippet of that file:\n{CODE}"
    assert cut_text(text, 240, {"step_31": 4.0}).startswith(done)


@given(st.text(alphabet="ab \n\\n\r:}]{.+-", min_size=300, max_size=3_000), st.integers(100, 900))
def test_what_stays_is_what_was_there(text: str, limit: int):
    short = cut_text(text, limit, {"ab": 4.0})
    assert len(short) <= max(len(text), limit) + LEAST_CUT
    gone = sum(int(number.replace(",", "")) for number in re.findall(r"\[… ([\d,]+) characters", short))
    kept = pieces(short)
    assert sum(map(len, kept)) + gone == len(text)
    at = 0
    for piece in kept:
        at = text.index(piece, at) + len(piece)


def test_short_results_are_cut_after_long_ones():
    short, long = "gate: open\n" * 60, "nothing to see here\n" * 400
    turns = read([ASK, call("run", "c0"), result("c0", short), call("run", "c1"), result("c1", long)]).turns
    after = elide_results(turns, range(len(turns)), 1_200, tokens)
    assert after[2] is turns[2]
    assert len(after[4].text) < 5_000
    assert len(elide_results(turns, range(len(turns)), 10**6, tokens)[2].text) <= 450


def test_an_end_begins_with_a_record_or_a_sentence_rather_than_with_a_word():
    records = "".join(f"('San Juan {number}',), " for number in range(200))
    _, end = pieces(cut_text(f"[{records}]", 900))
    assert end.startswith("('San Juan ")
    told = f"{'one word after another ' * 60}and so on. Now it ends with this, and with what else was said."
    _, end = pieces(cut_text(told, 250))
    assert end == "Now it ends with this, and with what else was said."


def test_a_mark_counts_what_passed_and_failed():
    cases = [f"case {number}\n{'✗ FAIL' if number == 20 else '✓ PASS'}\n" for number in range(40)]
    short = cut_text("".join(cases), 300)
    kept = short.count("✓ PASS\n")
    assert re.search(rf"elided, with 1 × ✗ FAIL, {39 - kept} × ✓ PASS …\]", short)


def test_what_stays_anyway_at_the_end_does_not_take_its_room_twice():
    lines = [f"line {number} of the report" for number in range(400)]
    for place in (330, 350, 370, 390):
        lines[place] = f"line {place} names fact_{place}"
    text = "\n".join(lines)
    keep = {f"fact_{place}": 4.0 for place in (330, 350, 370, 390)}
    for limit in (2_000, 4_000, 6_000):
        shorter = cut_text(text, limit, keep)
        assert abs(limit - len(shorter)) < 200
        assert all(fact in shorter for fact in keep)


def test_of_a_function_or_a_tool_that_later_turns_name_what_stands_below_it_stays():
    text = numbered(CODE)
    kept = cut_text(text, 1_500, {"step_31": 4.0})
    assert "def step_31(value):\n" in kept
    assert "doubled = value * 31\n" in kept
    assert "doubled = value * 30\n" not in kept
    tools = "\n".join(
        f"- server_name: files\n  tool_name: tool_{number}\n  tool_description: Does {number} in chunks of lines."
        for number in range(40)
    )
    kept = cut_text(tools, 1_200, {"tool_21": 4.0})
    assert "Does 21 in chunks of lines." in kept
    assert "Does 20 in chunks" not in kept


def test_a_note_with_which_a_tool_ends_stays_whole_or_goes():
    note = "<NOTE>Only a part of this was shown. Search within the file with grep before you open it again.</NOTE>"
    text = f"{CODE * 4}\n<response clipped>{note}"
    for limit in range(300, 2_000, 37):
        assert cut_text(text, limit).count(note) == cut_text(text, limit).count("</NOTE>")
    assert note in cut_text(text, 900)


def test_of_a_traceback_what_was_raised_stays():
    frames = "".join(f'  File "/a/b{number}.py", line {number}, in f\n    call({number})\n' for number in range(60))
    for behind in ("\n", " of {'message': '" + "x" * 900 + "'}\n", "\n" + "Then it went on.\n" * 60):
        text = f"Error of a message\nTraceback (most recent call last):\n{frames}web.BadRequestError: 400{behind}"
        for limit in (420, 700, 1_100):
            assert "\nweb.BadRequestError: 400" in cut_text(text, limit)
            assert len(cut_text(text, limit)) < limit + LEAST_CUT


def test_of_what_was_raised_no_half_of_a_secret_stays():
    key = "aB3dE6gH9j" * 30
    for words_before in range(0, 60, 3):
        why = f"{'no ' * words_before}key -----BEGIN PRIVATE KEY-----{key}-----END PRIVATE KEY-----"
        text = f"Traceback (most recent call last):\n{'  File x, line 1, in f' * 60}\nValueError: {why}\n{CODE * 3}"
        assert key[:10] not in cut_text(text, 700)


@pytest.mark.parametrize("write", [str, json.dumps, lambda text: json.dumps({"log": text})])
def test_nobody_looks_for_halves_of_secrets_where_there_are_none_and_none_stays_where_there_are(
    write: Callable[[str], str],
):
    lines = [f"{number}: it went on as before, and step_{number} was done" for number in range(200)]
    free, keep = write("\n".join(lines)), {"step_100": 4.0}
    assert cut(free, 1_200, keep, clean=HOLDS_NONE) == cut(free, 1_200, keep)
    assert "and step_100 was" in cut(free, 1_200, keep)
    key = "ghp_" + "aB3dE6gH9jKl0mNo" * 2 + "pQrS"
    lines[99] = f"99: it went on with {key}, and step_99 was done"
    assert key[:12] not in cut(write("\n".join(lines)), 1_200, keep)


def test_an_entry_of_a_list_in_which_the_end_begins_is_named():
    about = "\n".join(f"    field_{number}: (string) what is number {number} of it" for number in range(60))
    found = (f"- server_name: office\n  tool_name: {name}\n  inputschema:\n{about}" for name in ("read", "send"))
    tools = "\n".join(found)
    shorter = cut_text(tools, 900)
    head, named, tail = MARK.split(shorter)
    assert head.startswith("- server_name: office\n  tool_name: read\n")
    assert named == "- server_name: office\n  tool_name: send"
    assert tail.startswith("    field_")


def test_what_was_not_even_run_stays_said():
    refused = "Tool [write_to_file] was not executed because a tool has already been used in this message. Use one."
    details = f"<environment_details>\n{'# Open Tabs' * 30}\n</environment_details>"
    text = f"[read_file for 'a.py'] Result:\n{CODE}\n{refused}\n{details}"
    assert refused in cut_text(text, 700)


@pytest.mark.parametrize("used", ["src/export.py", "src/tab_1.py", "ACT"])
@pytest.mark.parametrize("tabs", [4, 12, 20])
def test_what_is_kept_of_a_text_leaves_no_half_of_the_note_by_which_it_ends(used: str, tabs: int):
    opened = "\n".join(f"src/tab_{number}.py" for number in range(tabs))
    note = f"# Visible Files\nsrc/export.py\n\n# Open Tabs\nsrc/export.py\n{opened}\n\n# Mode\nACT\n"
    lines = (f"line {number} of the file" for number in range(60))
    text = "\n".join(["saved to src/rates.py", *lines, "", f"<environment_details>\n{note}</environment_details>"])
    for limit in range(150, 900, 10):
        shorter = cut_text(text, limit, {used: 4.0})
        assert shorter.count("<environment_details>") == shorter.count("</environment_details>")


def test_no_short_line_is_cut_within_behind_what_is_quoted():
    block = [f"{n}:    row_{n} = read({n}, 'a file of many rows', checks=True, of=rows)" for n in range(287, 297)]
    below = [
        "297:        )",
        "-" * 49,
        "You either need to give the right lines of it, or to mend the code of your edit.",
    ]
    below.append("DO NOT run the same edit again. Running it again will lead to the same error.")
    text = "\n".join([*block, *below])
    for limit in range(600, 960):
        cut_lines = cut_text(text, limit, {"\n".join(block): 40.0}).split("\n")
        assert [line for line in cut_lines if line not in {*block, *below, ""} and "[… " not in line] == []


def test_a_file_among_several_that_are_shown_keeps_its_name():
    def shown(name: str) -> str:
        lines = "\n".join(f"{n} | {name}_{n} = {n}  # of the package" for n in range(60))
        return f"<file><path>pkg/{name}.py</path>\n<content>\n{lines}\n</content></file>"

    shorter = cut_text("\n".join(map(shown, ("one", "two", "three"))), 500, {"two_37": 9.0})
    assert "37 | two_37 = 37" in shorter
    assert "<file><path>pkg/two.py</path>\n" in shorter.partition("37 | two")[0]


@pytest.mark.parametrize(("opens", "closes"), [("```python", "```"), ("<diff>", "</diff>"), ("~~~yaml", "~~~")])
def test_of_a_block_that_is_cut_both_ends_stay_or_none(opens, closes):
    rules = "\n".join(f"{number}. What is told in rule {number} holds for each change." for number in range(9))
    code = "\n".join(f"total_{number} = total_{number - 1} + {number}" for number in range(1, 90))
    text = f"{rules}\nHere is what was changed:\n\n{opens}\n{code}\n{closes}\n\nSend it in as it is.\n{rules}"
    for text_of in (text, text.replace("\n", "\r\n"), f"{opens}\n{code}\n{closes}"):
        for limit in range(200, len(text_of) - LEAST_CUT, 40):
            lines = cut_text(text_of, limit, {"total_41": 4.0}).splitlines()
            assert lines.count(opens) + lines.count(closes) in {0, 2}
            assert (opens in lines) == (closes in lines)
