"""The line that is left of a cleared observation."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pruning import ASK, END, LISTING, call, real_rows
from told import action, bare_line, lines_of, result_line
from trajectories import read, result

from trajcompress.compaction.text import ResultLines, prune, prune_steps
from trajcompress.compaction.text.line import LINE_CHARS, bare_repeat, is_line
from trajcompress.facts import facts_kept
from trajcompress.facts.taken import STRONG
from trajcompress.formats.rewrite import result_texts
from trajcompress.outcomes.asked import FAILED_CHARS
from trajcompress.transcript.summary_marks import is_cleared_line
from trajcompress.transcript.trajectory import Region

TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(["src/a.py:3: x = 1", "Error: no", "12 passed in 3s", "x" * 150, "", "订单 A-77", "[a]"])
    ).map("\n".join),
    st.dictionaries(st.text(max_size=8), st.text(max_size=90) | st.integers(), max_size=9).map(json.dumps),
)
SHORTEST = 60 + 100 + 40  # of the label, of what is said, and of the size and what stands between
BARE = 32 + 80 + 10
PATHS = [f"src/some/long/folder/file_{number}.py" for number in range(40)]
VALUES = st.lists(st.from_regex(r"[a-z]{3,8}_[0-9]{1,5}", fullmatch=True), max_size=30, unique=True)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.text(max_size=100), VALUES)
@example("\n" * 5_000_000, "x" * 100, [])
@example("value_1 " * 5, "x" * 100, ["value_1"])
def test_a_line_is_one_line_short_and_known_for_one(text, path, needed):
    did = action("read_file", path=path)
    line = result_line(text, None, did, needed)
    assert len(line) <= LINE_CHARS == 260 or needed
    assert "\n" not in line
    assert is_line(line)
    assert is_line(f" {line}\n")


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.text(max_size=100), VALUES)
def test_the_shortest_line_is_one_of_them_and_tells_what_is_needed_too(text, path, needed):
    did = action("read_file", path=path)
    line, shortest = (result_line(text, None, did, needed, shortest=shortest) for shortest in (False, True))
    assert is_line(shortest)
    assert "\n" not in shortest
    assert len(shortest) <= max(len(line), SHORTEST) or needed
    assert facts_kept(needed, shortest) == facts_kept(needed, line)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.text(max_size=100), VALUES)
@example("\n".join(PATHS), "x", PATHS)
def test_a_bare_line_is_known_for_a_line_and_tells_what_is_needed_too(text, path, needed):
    did = action("read_file", path=path)
    bare = bare_line(text, None, did, needed)
    assert is_line(bare)
    assert "\n" not in bare
    assert len(bare) <= BARE or needed
    assert facts_kept(needed, bare) == facts_kept(needed, result_line(text, None, did, needed))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("...\n3 failed, 12 passed in 0.31s", "[bash → 3 failed, 12 passed in 0.31s …]"),
        ("cat: notes.txt: No such file or directory", "[bash → cat: notes.txt: No such file or directory …]"),
        ("", "[bash → no output …]"),
        (
            "Exception: Unexpected parameter 'phone_number' passed to the login. Allowed are: ['username', 'key']",
            "[bash → Exception: Unexpected parameter 'phone_number… Allowed are: ['username', 'key'] …]",
        ),
        (  # no part of one line is put to a part of another
            "Error: 'Index' object has no attribute '_with_freq' of its base\n2023-01-01 02:00 0.01\nno more",
            "[bash → Error: 'Index' object has no attribute '_with_freq' of its base …]",
        ),
    ],
)
def test_a_bare_line_says_the_first_that_matters(text, line):
    assert bare_line(text, "bash") == line


def test_a_bare_line_names_the_file_where_there_is_no_room_for_the_call():
    viewed = action("str_replace_editor", command="view", path="/testbed/pkg/base.py", view_range=[60, 75])
    assert bare_line("    60\tdef get(self):", None, viewed).startswith("[base.py (lines 60-75) → 60 def get(self):")
    assert bare_line("a.py", None, action("view", path="a.py")).startswith("[view a.py → ")


def test_a_bare_line_for_what_came_before_leaves_its_call_to_the_turn_above():
    line = "[show a.txt → the same result as this call gave before; with 12; 60 lines, 2,639 characters]"
    assert bare_repeat(line) == "[the same result as this call gave before; with 12 …]"
    assert is_line(bare_repeat(line))
    for other in ("[ls → a.py; 12 lines]", "[x → fails as before: no y; 9 characters]", bare_repeat(line)):
        assert bare_repeat(other) == other


def test_the_shortest_line_names_the_file_by_its_name_and_says_the_first_that_matters():
    did = action("str_replace_editor", command="view", path="/testbed/pylint/checkers/base/name_checker/checker.py")
    text = "\n".join(f"{number:6}\tdef step_{number}(self, value, *, limit=None):" for number in range(1, 60))
    line, shortest = (result_line(text, None, did, shortest=shortest) for shortest in (False, True))
    assert line.startswith("[str_replace_editor view …/checker.py → 1 def step_1(self")
    assert shortest.startswith("[str_replace_editor view …/checker.py → 1 def step_1(self")
    assert shortest.endswith("; 59 lines]")  # three that are told are not all
    assert is_cleared_line(shortest)
    assert len(shortest) <= SHORTEST
    assert len(shortest) < len(line)


@settings(max_examples=100, deadline=None)
@given(VALUES.filter(lambda values: len(values) > 1))
def test_what_later_turns_use_stands_in_the_line_with_its_words(values):
    first, second = values[:2]
    text = "\n".join(
        [*(f"nothing of note in line {n}" for n in range(40)), f"the id is {first}, as found", *["more"] * 40]
    )
    for body in (
        f"{text}\nand {second} comes last\n{text}",
        json.dumps({"a": "x " * 300, "b": [{"the id": first}], "c": second}),
    ):
        did = action("lookup", key="k")
        line = result_line(body, None, did, (first, second))
        assert facts_kept((first, second), line) == (first, second)
        assert f"the id is {first}" in line or f"the id={first}" in line


def test_many_values_share_the_line_in_fewer_words():
    values = [f"handler_{n}" for n in range(8)]
    text = "".join(
        f"    def {value}(self, request, response, and_some_more_arguments):\n        ...\n" for value in values
    )
    did = action("read_file", path="src/app.py")
    line = result_line(text, None, did, values[:6])
    assert facts_kept(values, line)[: len(values[:6])] == tuple(values[:6])


@pytest.mark.parametrize(
    "text",
    [
        "[read_file src/a.py: 212 lines, 8,031 characters; with x]",
        "[read_file src/a.py: 212 lines, 8,031 characters]",
        "[run_tests: Ran 2 tests, FAILED (failures=1), 45 lines, 925 characters]",
        "[same result as a later call: read_file b.py, 4,447 characters]",
        "[tool result: 9 characters; with src/a.py, src/b.py]",
        "[read_file src/a.py → class Reader:; 212 lines, 8,031 characters]",
    ],
)
def test_lines_of_this_version_and_earlier_ones_are_known(text):
    assert is_line(text)
    assert not is_line(text[:-1])
    assert not is_line(f"{text}\nand more")


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("Observation: ", ""),
        ("OBSERVATION:\n", "\n(Open file: /a.py)\n(Current directory: /)\nbash-$"),
        ("<returncode>0</returncode>\n<output>\n", "\n</output>"),
        ("<tool_response>\n", "\n</tool_response>"),
        ("EXECUTION RESULT of [run]:\n", ""),
        ("The output of the OS:\n\n", ""),
        ("New Terminal Output:\n\n", ""),
        ("Execution output of [execute_bash]:\nExit code: 0\nExecution output:\n", ""),
        ("Call id: call_4\nObservation:\nExecution logs:\n", "\nLast output from code snippet:\nNone"),
    ],
)
def test_the_wrapper_of_the_protocol_stays(begin, end):
    asks = {"role": "assistant", "content": "I look.\n```bash\ncat src/a.py\n```"}
    shown = [{"role": "user", "content": f"{begin}{n}\n{LISTING}{end}"} for n in range(3)]
    turns = read([ASK, *(message for each in shown for message in (asks, each)), END]).turns
    after = prune(turns, prune_steps(ResultLines(turns, Region(1, len(turns) - 1)))).turns
    for before, turn in zip(turns[2:-1:2], after[2:-1:2], strict=True):
        if turn is before:
            continue
        assert turn.text.startswith(begin.rstrip())
        assert turn.text.endswith(end)
        assert is_line(turn.text[len(begin) : len(turn.text) - len(end)])
    assert after[2] is not turns[2]


def test_a_person_s_words_beside_a_result_stay():
    content = [
        {"type": "tool_result", "tool_use_id": "a", "content": LISTING},
        {"type": "text", "text": "Go on, please."},
    ]
    turns = read([ASK, call(path="a.py"), {"role": "user", "content": content}, END]).turns
    after = prune(turns, prune_steps(ResultLines(turns, Region(1, 3)))).turns
    assert after[2].text.endswith("\nGo on, please.")
    assert is_line(after[2].text.removesuffix("\nGo on, please."))


def test_a_line_holds_no_secret_and_no_half_of_one():
    key = "ghp_" + "aB3dE6gH9jKl0mNo" * 2 + "pQrS"
    for text in (f"GITHUB_TOKEN={key}\n" + "ok\n" * 200, "ok " * 45 + key + "\n" + "ok\n" * 200):
        (turn,) = (
            prune(turns, prune_steps(ResultLines(turns, Region(1, 3)))).turns[2]
            for turns in [read([ASK, call("run", command=f"echo {key}"), result(text=text), END]).turns]
        )
        assert is_line(turn.text)
        assert not any(key[at : at + 12] in turn.text for at in range(4, len(key) - 12))


def test_half_a_call_is_not_taken_for_one_that_holds_a_secret():
    code = 'answer = apis.notes.login("' + "a.long.name@" + 'example.org", "hu45nterX22")\nprint(answer)'
    turns = read([ASK, call("python", code=code), result(text="ok\n" * 200), END]).turns
    line = prune(turns, prune_steps(ResultLines(turns, Region(1, 3)))).turns[2].text
    assert 'login("a.long.name@example.org"' in line
    assert "hu45nterX22" not in line


MORE = FAILED_CHARS  # for the reason of an error, and what is used beside it


def test_no_line_of_a_real_row_is_longer_than_what_it_replaces(rows_folder):
    lines = 0
    for turns in real_rows(rows_folder):
        after = prune(turns, prune_steps(ResultLines(turns, Region(1, len(turns))), arguments=False))
        for index in after.changed:
            for before, line in zip(result_texts(turns[index]), result_texts(after.turns[index]), strict=True):
                assert line == before or (
                    len(line) <= LINE_CHARS + MORE and len(line) < len(before) and is_line(line)
                )
                lines += line != before
    assert lines


def test_commands_that_differ_at_their_ends_are_told_apart():
    begin = "cd /workspace/a-project && python -m pytest --strict-markers -q --durations=10 --maxfail=3"
    lines = lines_of(*[(call("bash", command=f"{begin} tests/unit/test_{name}.py"), LISTING) for name in ("a", "b")])
    assert ["test_a.py" in line for line in lines] == [True, False]
    assert ["test_b.py" in line for line in lines] == [False, True]
    assert all(line.startswith("[python -m pytest") for line in lines)


def test_no_argument_that_all_calls_are_given_names_one_whose_turn_is_kept():
    texts = [f"src/module_{n}.py:{n}: word of the sources\n" * 9 for n in range(6)]
    tools = ("find", "grep", "read")
    lines = lines_of(
        *[(call(tools[n % 3], project="Math", word=f"w{n}"), text) for n, text in enumerate(texts)],
    )
    assert [line[: line.index(" →")] for line in lines] == [f"[{tools[n % 3]} word=w{n}" for n in range(6)]


REFUSED = "Your fix did not target all of the lines. Here is a list of them: [33, 37]. " + "A template follows. " * 9


def test_what_a_long_line_begins_with_is_told_beside_what_is_needed_of_it():
    text = f'{REFUSED}["4", "FAULT_OF_OMISSION"] {"and so on " * 30}\n'
    line = result_line(text, "write_fix", None, taken={"FAULT_OF_OMISSION": STRONG})
    assert line.startswith("[write_fix → Your fix did not target all of the lines. ")
    assert "FAULT_OF_OMISSION" in line


def test_a_line_of_a_file_that_is_needed_is_not_begun_before_it_is_told():
    name = "OrderBookOfManyVenues(WithLimits, WithFees, WithCurrencies)"
    shown = "\n".join([f"   421\tclass {name}:", *(f"   {n}\t    x_{n} = {n}" for n in range(422, 460))])
    line = result_line(shown, "view", action("view", path="a.py"), ("WithCurrencies",), shortest=True)
    assert line.count("421 class") == 1
    assert name in line


def test_a_file_that_was_edited_is_named_once_and_what_was_written_stands_in_its_call():
    path = "/workspace/a-project__a-project__1.0/src/package/of/many/folders/and/more/folders/module.py"
    edit = call("str_replace_editor", command="str_replace", path=path, old_str="x = 1", new_str="x = limit(2)")
    text = (
        f"The file {path} has been edited. Here's the result of running `cat -n` on a snippet:\n" + "  12\tx\n" * 60
    )
    (line,) = lines_of((edit, text))
    assert line.startswith("[str_replace_editor str_replace …/module.py → The file …/module.py has been edited; ")
    assert "workspace" not in line
    did = action("str_replace_editor", command="str_replace", path=path)
    assert "The file …/module.py has been edited; " in result_line(text, "x", did, shortest=True)


def test_an_outcome_does_not_begin_with_the_command_itself():
    command = "find . -name '*.py' -newer setup.cfg"
    printed = f"cd /work && {command}\n" + "".join(f"./src/module_{n}.py\n" for n in range(40))
    (line,) = lines_of((call("bash", command=f"cd /work && {command}"), printed))
    assert line.startswith(f"[{command} → ./src/module_0.py; ")


@pytest.mark.parametrize(
    "prompt", ["root@box:/app#", "(base) me@host:~/a b$", "[me@host app]#", "bash-5.1$", "me@mac ~ %"]
)
def test_no_prompt_of_a_shell_is_told(prompt):
    built = "".join(f"gcc -c part_{n}.c -o part_{n}.o\n" for n in range(30))
    (line,) = lines_of((call("terminal", command="make all"), f"{prompt} make all\n{built}{prompt} "))
    assert line.startswith("[make all → gcc -c part_0.c -o part_0.o; ")
    assert "part_29.o; 32 lines" in line


@pytest.mark.parametrize(
    "last",
    ["me@host.org: 5%", "me@x.org: 97 %", "bob@x.com: see issue #", "me@b.com the owner$", "al@x.org paid 30 $"],
)
def test_a_last_line_that_only_looks_like_one_is_told(last):
    (line,) = lines_of((call("terminal", command="mail"), "from\n" * 90 + last))
    assert f"; {last}; " in line


def test_of_a_command_that_printed_nothing_neither_echo_nor_prompt_is_told():
    text = "root@box:/app# mkdir -p out\nroot@box:/app# "
    line = result_line(text, "t", action("bash", command="mkdir -p out"))
    assert line.startswith("[mkdir -p out → no output; ")


def test_what_a_harness_adds_below_each_result_is_not_told_of_one():
    footer = (
        "[The command completed with exit code 0.]\n[Current working directory: /app]\n"
        "[Python interpreter: /usr/bin/python]\n[Command finished with exit code 0]"
    )
    text = "".join(f"x_{n} = {n}\n" for n in range(90)) + footer
    line = result_line(text, "t", action("bash", command="cat part.py"))
    assert line.startswith("[cat part.py → x_0 = 0; x_1 = 1; x_2 = 2; … x_89 = 89; ")


def test_commands_that_begin_by_going_to_a_folder_are_called_by_what_follows():
    (line,) = lines_of((call("bash", command="cd /app\npytest tests/test_a.py"), LISTING))
    assert line.startswith("[pytest tests/test_a.py: ")


def test_a_figure_alone_is_an_answer_however_many_results_are_one():
    footer = "(You have {} steps left and {} chances to propose solution left)"
    prose = "Something was printed in between, and it says little. " * 9
    steps = [(call("run", code=f"print({n})"), f"{3 * n}\n{prose}\n{footer.format(n, n)}") for n in range(8, 13)]
    for n, line in enumerate(lines_of(*steps), 8):
        assert line.startswith(f"[print({n}) → {3 * n}; ")
        assert "steps left" not in line


def test_what_page_after_page_begins_with_tells_nothing_of_one():
    begin = "Here is a screenshot of the page. The viewport shows {}% of it, from the top, as seen in the browser.\n"
    pages = [
        begin.format(n) + f"{place} opened in 19{n}0\n" + "a further line of the page\n" * 9
        for n, place in enumerate(("Oslo", "Lima", "Rome", "Cairo"))
    ]
    lines = lines_of(*[(call("browse", page=str(n)), page) for n, page in enumerate(pages)])
    assert lines[0].startswith("[browse 0 → Oslo opened in 1900; 11 lines")
    assert lines[3].startswith("[browse 3 → Cairo opened in 1930; 11 lines")
