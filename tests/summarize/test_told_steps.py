"""What a record says of single steps is so: which call, what came of it, and what stands at the end."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from summed_up import ask, call, result, say, section, words
from trajectories import read

from trajcompress.facts import Told
from trajcompress.facts.taken import words_used
from trajcompress.outcomes.text import whole_sentences
from trajcompress.summarize.extractive import extract
from trajcompress.summarize.extractive.fit import ASKED, Line, Record, Section, fit


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("git checkout -- src/a.py", "- b.py"),
        ("cd /repo && git restore ./src/a.py", "- b.py"),
        ("git checkout src", "- b.py"),
        ("git stash", ""),
        ("git reset --hard && make", ""),
        ("git checkout -- b.py && pytest", "- src/a.py"),
        ("git checkout -b src/a.python", "- src/a.py\n- b.py"),
        ("git stash pop", "- src/a.py\n- b.py"),
    ],
)
def test_a_file_whose_changes_were_taken_back_is_not_called_changed(command, left):
    edits = [call(name, "str_replace", path=name, old_str="a", new_str="b") for name in ("src/a.py", "b.py")]
    made = [result(name, f"The file {name} has been edited.") for name in ("src/a.py", "b.py")]
    undone = [
        call("u", "bash", command=command),
        result("u", "1 failed, 2 passed in 0.10s" if "pytest" in command else "Done"),
    ]
    text = extract(ask([edits[0], made[0], edits[1], made[1], *undone]))
    assert (section(text, "Files changed") if left else text.partition("Files changed")[1]) == left


def changed(*commands):
    steps = [(call(n, "bash", command=command), result(n, "ok")) for n, command in enumerate(commands)]
    return extract(ask([turn for step in steps for turn in step])).partition("Files changed:\n")[2]


@pytest.mark.parametrize(
    "command",
    [
        "awk '$3 > 0.5 {print $1}' data.tsv",
        'sqlite3 app.db "select name from t where price > 19.99"',
        "SELECT name FROM t WHERE price > 19.99",
        "curl -s http://localhost > /dev/null && echo up",
        "grep -rn '<div>foo.bar' src",
        "jq '.[]|select(.score > 0.5)' a.json",
        "git commit -am 'a > b.c'",
    ],
)
def test_a_sign_that_compares_or_is_quoted_writes_no_file(command):
    assert changed(command) == ""


@pytest.mark.parametrize("command", ["echo hi > out.txt", "bash -c 'echo hi > out.txt'", "./make 'a>b' > out.txt"])
def test_a_file_that_a_command_writes_is_changed(command):
    assert changed(command) == "- out.txt"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("sed -i 's/a/b/' x.py src/y.py", ["x.py", "src/y.py"]),
        ("sed -i '' 's/a/b/' x.py", ["x.py"]),
        ("sed -i.bak -E 's/a b/c/' x.py y.py && make", ["x.py", "y.py"]),
        ("sed -i -e 's/a/b/' -e '/c.d/d' x.py y.py", ["x.py", "y.py"]),
        ("sed -i s/a/b/ x.py", ["x.py"]),
        ("touch a.txt b.txt Makefile", ["a.txt", "b.txt"]),
        ("rm -rf build/a.o build/b.o", ["build/a.o (removed)", "build/b.o (removed)"]),
        ("make | tee build.log", []),
        ("tee -a a.log b.log < in.txt", ["a.log", "b.log"]),
    ],
)
def test_each_file_that_a_command_names_is_changed(command, files):
    assert changed(command) == "\n".join(f"- {file}" for file in files)


def test_a_file_that_was_written_and_removed_is_called_removed():
    assert changed("echo hi > out.txt", "rm out.txt", "echo ho > b.txt") == "- out.txt (removed)\n- b.txt"


def test_that_a_file_was_removed_does_not_count_as_a_change_of_it():
    assert (
        changed("echo hi > a.txt", "rm a.txt", "echo ho > a.txt", "rm b.txt")
        == "- a.txt (2 times)\n- b.txt (removed)"
    )


@pytest.mark.parametrize(("edits", "left"), [(1, ""), (2, "- a.py"), (3, "- a.py (2 times)")])
def test_an_edit_that_was_undone_does_not_count(edits, left):
    made = {"path": "a.py", "command": "str_replace", "old_str": "a", "new_str": "b"}
    steps = [
        (call(n, "editor", **{**made, "old_str": f"a{n}"}), result(n, "The file a.py has been edited."))
        for n in range(edits)
    ]
    undone = (
        call("u", "editor", path="a.py", command="undo_edit"),
        result("u", "Last edit to a.py undone successfully."),
    )
    text = extract(ask([turn for step in (*steps, undone) for turn in step]))
    assert text.partition("Files changed:\n")[2] == left


def test_the_whole_path_of_what_is_not_there_is_told():
    paths = "org/site/DocumentType.java", "src/main/java/org/site/DocumentType.java"
    region = [
        turn
        for n, path in enumerate(paths)
        for turn in (
            call(n, "read_range_of_a_file_in_the_project", path=path, project="site", start_line=1, end_line=50),
            result(n, f"Error: [Errno 2] No such file or directory: '{path}'"),
        )
    ]
    steps = section(extract(ask(region)), "Steps")
    assert all(steps.count(f"'{path}'") == 1 for path in paths)


def test_a_search_that_found_nothing_says_so():
    found = "The following matches were found:\n{}\nThe search also matched the following file names:"
    steps = section(extract(ask([call(1, "search", words="systemId"), result(1, found)])), "Steps")
    assert steps.strip() == "- search systemId → The following matches were found: {}"


def test_a_list_that_is_begun_does_not_pass_for_all_of_it():
    region = []
    for n in range(30):
        files = "\n".join(f"./package_{n}/checkers/of_some_kind/module_{k}.py" for k in range(12))
        region += [call(n, "bash", command=f"grep -rl name_{n} package_{n}"), result(n, files)]
    steps = [line for line in section(extract(ask(region, budget=400)), "Steps").splitlines() if "→" in line]
    assert steps
    assert all("…" in line for line in steps)


def test_a_record_that_is_told_in_short_ends_behind_a_whole_value():
    home = {"street": "825 Laurel Lane", "suite": "Suite 595", "city": "Houston"}
    region = []
    for n in range(12):
        record = {"name": f"Ann Lee {n}", "home": home, "remarks": [f"it is said {'again ' * 9}that {n}"] * 4}
        region += [call(n, "get_user", id=f"u_{n}"), result(n, json.dumps(record))]
    steps = [line for line in section(extract(ask(region, budget=260)), "Steps").splitlines() if "→" in line]
    assert "- get_user u_3 → name=Ann Lee 3, …" in steps


def test_a_list_that_is_told_in_short_does_not_end_with_how_many_go_before():
    region = []
    for n in range(12):
        bills = [{"number": f"INV-{k}", "due": 990 * (k == 40), "total": 100 + k} for k in range(60)]
        region += [call(n, "list_bills", of=f"q_{n}"), result(n, json.dumps({"bills": bills}))]
    steps = [line for line in section(extract(ask(region, budget=360)), "Steps").splitlines() if "→" in line]
    assert steps
    assert all("→ [… 40 more; (number=INV-40, due=990" in line for line in steps)


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (60, "Here are some options: …"),
        (90, "Here are some options: 1. **F10**: OSL to FCO, 112 dollars …"),
        (120, "Here are some options: 1. **F10**: OSL to FCO, 112 dollars 2. **F20**: OSL to CIA, 138 dollars …"),
    ],
)
def test_a_reply_that_lists_options_does_not_end_with_the_number_of_one(limit, told):
    points = (
        "1. **F10**: OSL to FCO, 112 dollars 2. **F20**: OSL to CIA, 138 dollars 3. **F30**: by train, 90 dollars"
    )
    assert whole_sentences(f"Here are some options: {points}. Please choose.", limit) == told
    assert whole_sentences("There are 5. Then it says no more of them, and no less.", 30) == "There are 5. …"


def test_of_a_script_written_and_run_at_once_both_are_named():
    wrote = "cat > src/new.py <<'EOF'\nprint(1)\nEOF\npytest src/new.py"
    failed = "ImportError: cannot import name 'foo' from 'src.new'"
    steps = section(extract(ask([call(1, "bash", command=wrote), result(1, failed)])), "Steps")
    assert "cat > src/new.py <<'EOF'; pytest src/new.py" in steps


def test_calls_of_one_text_that_have_one_answer_are_one_step():
    asked = json.dumps({"actions": [{"name": "find", "args": {"airline": name}} for name in ("A1", "A2")]})
    found = 'Results: [{"airline": "A1", "ok": false}, {"airline": "A2", "ok": true, "price": 181}]'
    acts = [{"role": "assistant", "content": asked}, {"role": "user", "content": found}]
    turns = read([{"role": "user", "content": "go"}, *acts * 3]).turns
    steps = section(extract(ask(turns[1:3], head=())), "Steps")
    assert steps.count("→") == 1
    assert "find A1; A2 → " in steps
    assert "181" in steps


def test_an_edit_is_told_with_what_became_of_it_and_its_file_once():
    edit = {"command": "str_replace", "path": "/src/a.py", "old_str": "total = 0", "new_str": "total = 1"}
    made = extract(ask([call(1, "editor", **edit), result(1, "The file /src/a.py has been edited.")]))
    assert section(made, "Steps").endswith("«total = 1» → has been edited\n")
    failed = extract(ask([call(1, "editor", **edit), result(1, "No match for total = 0 was found in /src/a.py.")]))
    assert section(failed, "Steps").endswith("→ No match for total = 0 was found in /src/a.py.")
    count = "Successfully wrote to /src/a.py (164 lines)"
    assert section(extract(ask([call(1, "editor", **edit), result(1, count)])), "Steps").endswith(
        "a.py (164 lines)\n"
    )


def test_what_failed_says_why_also_where_steps_are_told_in_short():
    why = "app.core.exceptions.ConfigurationError: the setting INSTALLED_APPS is asked for and not there"
    printed = f"{why}\n{'It may be set in a file. ' * 9}"
    region = [turn for n in range(20) for turn in (call(n, "bash", command=f"./check_{n}"), result(n, printed))]
    steps = section(extract(ask(region, budget=500)), "Steps").splitlines()
    assert len(steps) > 5
    assert all(why in step for step in steps if " more steps" not in step)


def test_what_is_needed_of_a_record_is_told_with_its_step_also_where_that_is_told_in_short():
    who = {"name": {"first": "Ann", "last": "Lee"}, "address": {"street": "825 Laurel Lane", "city": "Houston"}}
    cards = {f"card_{n}918{n}": {"source": "card", "amount": 100 + n} for n in range(9)}
    region = [call(0, "get_user", id="ann_1"), result(0, json.dumps({**who, "cards": cards}))]
    for n in range(1, 20):
        region += [call(n, "bash", command=f"./check_{n}"), result(n, f"all is well with {n} " * 40)]
    text = extract(replace(ask(region, budget=220), facts=("card_39183",)))
    step = next(line for line in section(text, "Steps").splitlines() if "get_user" in line)
    assert "card_39183=(source=card, amount=103)" in step
    assert "Needed later" not in text


def test_room_goes_to_many_steps_in_full_before_one_that_is_very_long():
    def step(place: int, score: float, size: int) -> Line:
        return Line(Section.STEPS, place, score, (f"ran {place} and saw {'more ' * size}", f"ran {place}"))

    lines = (step(0, 6.0, 120), *(step(place, 5.0, 6) for place in range(1, 12)))
    text = fit(Record(lines), 220, words)
    assert "- ran 0\n" in text
    assert text.count("more more") >= 11
    assert "… " not in text


def test_what_people_ask_is_told_in_full_before_any_step_is():
    asked = Line(Section.REQUESTS, 0, ASKED, (f"Please {'do this and ' * 30}rest.", "Please do this…"))
    steps = (Line(Section.STEPS, n, 9.0, (f"ran {n} and saw {'more ' * 6}", f"ran {n}")) for n in range(1, 12))
    assert "rest." in fit(Record((asked, *steps)), 220, words)


def test_what_is_asked_last_is_told_before_what_is_needed_besides():
    lines = (
        Line(Section.REQUESTS, 0, ASKED, ('"Book both, and tell me what each of them costs before you do."',)),
        Line(Section.REQUESTS, 4, ASKED + 3, ('"Yes, please go ahead and book the two rooms that you found."',)),
        *(Line(Section.STEPS, at, 4.0, (f"get_room {at} → room {at} is free",)) for at in range(1, 4)),
    )
    needed = {f"R-{number}": Told(f"room_id = R-{number}") for number in range(4410, 4418)}
    text = fit(Record(lines, needed), 60, words)
    assert "Yes, please go ahead" in text
    assert "R-4410" in text


def test_what_is_needed_is_not_told_again_with_more_words():
    needed = {"W-73": "order = W-73", "5796": "order = W-73, item = 5796", "W-90": "order = W-90"}
    text = fit(Record((), {fact: Told(line) for fact, line in needed.items()}), 200, words)
    assert text.splitlines()[-3:] == ["Needed later:", "- order = W-73, item = 5796", "- order = W-90"]


def test_what_came_of_a_step_is_not_cut_where_little_is_left_of_it():
    region = []
    for at in range(10, 40):
        said = f"You open the drawer {at}. The drawer {at} is open. In it, you see nothing."
        region += [call(at, "act", order=f"open drawer {at}"), result(at, said)]
    steps = section(extract(ask(region, budget=750)), "Steps")
    assert steps.count("you see nothing.") >= 25


CODE = [f"    value_{n} = read(event, {n}) or default({n})" for n in range(90)]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines_that_a_kept_edit_replaces_are_told_whole_before_what_others_show(ends):
    shown = [call(0, "view", path="a.py"), result(0, ends.join(CODE))]
    for n in range(1, 8):
        shown += [call(n, "grep", pattern=f"event_{n}"), result(n, f"def event_{n}(state): pass\n" * 40)]
    tail = [
        call(9, "edit", path="a.py", old="\n".join(CODE[40:47]), new="    pass"),
        result(9, "The file was edited."),
    ]
    asked = replace(ask(shown, budget=330), taken=lambda: words_used((), shown, tail))
    told = section(extract(asked), "Steps")
    assert " ".join(line.strip() for line in CODE[40:47]) in told
    assert "value_60" not in told


def test_a_step_that_tells_little_is_told_in_short_although_there_is_room():
    lines = (
        Line(Section.STEPS, 0, 1.0, (f"ls → {'a_file ' * 40}", "ls → a_file; …")),
        Line(Section.STEPS, 1, 5.0, ("make → no rule", "make → …")),
        Line(Section.STEPS, 2, 1.0, (f"cat → {'a_line ' * 40}", "cat → a_line; …"), worth=20.0),
    )
    text = fit(Record(lines), 400, words)
    assert "- ls → a_file; …\n- make → no rule\n" in text
    assert "a_line a_line" in text


def test_the_first_failure_of_a_run_and_what_failed_otherwise_are_no_steps_that_are_only_counted():
    def ran(number: int, said: str):
        return call(number, "bash", command="python reproduce.py"), result(number, said)

    errors = [f"Traceback (most recent call last):\nKeyError: '{name}'" for name in ("first", "second", "third")]
    region = [*ran(0, errors[0])]
    for n in range(1, 30):
        region += [
            call(n, "grep", pattern=f"event_{n}", path=f"src/module_{n}.py"),
            result(n, f"def event_{n}(): ...\n" * 9),
        ]
        region += ran(100 + n, errors[1]) if n == 14 else ()
    text = section(extract(ask([*region, *ran(200, errors[2])], budget=160)), "Steps")
    assert " more steps" in text
    assert [name for name in ("first", "second", "third") if f"KeyError: '{name}'" in text] == [
        "first",
        "second",
        "third",
    ]


def test_a_short_step_of_an_edit_says_its_change_before_what_stands_around_it():
    region = []
    for n in range(9):
        new = [f"prepare_the_next_step({n}, {k})" for k in range(9)]
        written = "\n".join(new)
        edit = call(
            n, "edit", command="str_replace", path=f"/repo/src/module_{n}.py", old_str="a = 1", new_str=written
        )
        shown = f"3\tZONE_{n} = 'eu-zone-{n}1'\n" + "".join(f"{k}\t{line}\n" for k, line in enumerate(new, 4))
        region += [edit, result(n, f"The file /repo/src/module_{n}.py has been edited.\n{shown}")]
    steps = section(
        extract(replace(ask(region, budget=220), facts=tuple(f"eu-zone-{n}1" for n in range(9)))), "Steps"
    )
    assert "«prepare_the_next_step(8, 0); prepare_the_next_step(8, 1);…» → has been edited" in steps


def test_what_came_of_an_action_that_cannot_be_read_is_a_step_and_no_reply():
    moves = [("ALICE GOES LEFT NOW and Bob stays", "Feedback: both of them stand at cube 1 now.")]
    moves += [("BOB SWEEPS UP THAT and Alice waits", "Feedback: cube 1 lies in the dustpan of Bob.")]
    region = []
    for said, came in moves:
        region += [say("assistant", said), say("user", came, answers=(None,), in_text=True)]
    text = extract(ask([*region, say("user", "Go on, please."), say("assistant", "It is all done, I think.")]))
    assert section(text, "Steps").splitlines() == [f"- … → {came}" for _, came in moves]
    assert section(text, "Replies") == '- "It is all done, I think."'
