"""Of a long request what the person wants is quoted, and not what they paste; of a long reply what was found."""

from __future__ import annotations

import pytest
from summed_up import ask, call, result, say, section

from trajcompress.outcomes.text import sentences, shorten
from trajcompress.summarize.extractive import extract
from trajcompress.summarize.extractive.quoting import binding_sentences

PASTED = """Rewrite the tests. Assume that the use of the library is wrong. Save them when you are done.

Context:
The tests have been written:

```javascript
// No approval for the second token, and not for the first
expect(await exchange.add(1, 2)).to.not.equal(10);
let only = 5; // must be 5
```
"""


def test_what_is_asked_goes_before_what_is_pasted():
    quoted = binding_sentences(PASTED, 110)
    assert quoted == "Rewrite the tests. Assume that the use of the library is wrong. Save them when you are done. …"
    assert "javascript" not in binding_sentences(PASTED, 300)


def test_a_request_of_code_alone_is_quoted_by_that():
    assert "expect" in binding_sentences("```\nexpect(1).to.equal(2)\nexpect(2).to.equal(3)\n```", 60)


def test_a_label_is_quoted_with_what_stands_below_it_or_not_at_all():
    text = "Do it today. Two things are not to be touched:\n- the first of the rooms upstairs\n- the last of them all"
    assert binding_sentences(text, 50) == "Do it today. … - the last of them all"
    assert binding_sentences(text, 130).startswith("Do it today. Two things are not to be touched: - the first")


def test_the_numbers_of_points_are_no_sentence():
    text = "Merge these:\n5–8. The ones on where it is, and when.\n9. Keep this."
    assert [text[start:end].strip() for start, end in sentences(text)][1:] == [
        "5–8. The ones on where it is, and when.",
        "9. Keep this.",
    ]


def test_what_is_denied_behind_a_cut_is_left_out_with_its_beginning():
    said = "The right is reserved to the board and has not been handed on to anybody else."
    for limit in range(12, len(said)):
        short = shorten(said, limit)
        assert len(short) <= limit
        assert not short.endswith(("has…", "and…"))


def test_no_mark_of_a_secret_is_cut():
    call = "curl -s -u administrator:[REDACTED:password] http://localhost/x/y"
    for limit in range(12, len(call)):
        assert shorten(call, limit).count("[") == shorten(call, limit).count("]")


@pytest.mark.parametrize("total", ["6 204,19", "6,204.19", "6.204,19", "$ 6204.19", "6'204.19"])
def test_no_part_of_a_number_is_told(total):
    text = f"The total comes to {total} and more."
    told = {shorten(text, limit) for limit in range(8, len(text))}
    assert {each for each in told if any(map(str.isdigit, each))} <= {each for each in told if total in each}
    assert "The total comes to…" in told


def test_of_code_that_is_pasted_alone_the_beginning_is_quoted():
    code = "\n".join(f"const part{n} = make({n}, 'not before {n}');" for n in range(40))
    turns = (say("user", code), say("assistant", "I have read it, and it is fine."))
    told = section(extract(ask(turns, budget=400)), "Requests")
    assert told.strip().startswith('- "const part0 = make(0,')
    assert len(told) < 200
    assert " … " not in told


@pytest.mark.parametrize("before", ["", "This is what I have now."])
def test_what_is_said_beside_pasted_code_without_fences_is_quoted(before):
    code = "\n".join(f"const part{n} = make({n}, 'not before {n}');" for n in range(400))
    turns = (say("user", f"{before}\n{code}\nWhy is it slow?"), say("assistant", "I have read it, and it is fine."))
    told = section(extract(ask(turns, budget=400)), "Requests").strip()
    assert told.startswith(f'- "{before} const part0'.replace('" ', '"'))
    assert told.endswith('… Why is it slow?"')
    assert len(told) < 200


def test_of_a_request_with_much_fenced_code_the_words_beside_it_are_quoted():
    code = "\n".join(f"const part{n} = make({n}, 'not before {n}');" for n in range(40))
    first = "I read the files of the first delivery, from the oldest to the newest."
    asked = f"{first} Re-write part 7 for the new interface."
    turns = (say("user", f"{asked}\n```js\n{code}\n```"), say("assistant", "I have read it, and it is fine."))
    assert section(extract(ask(turns, budget=400)), "Requests").strip() == f'- "{asked}"'
    assert binding_sentences(asked, 90) == "… Re-write part 7 for the new interface."


def test_of_a_request_for_which_there_is_little_room_the_task_is_begun():
    task = (
        "Create a simple page in the folder web that reads the results from results.json and prints them in a table."
    )
    asked = f"{task} It should show each error. At most three columns."
    assert (
        binding_sentences(asked, 80, begin=False)
        == "Create a simple page in the folder web that reads the results from results.json…"
    )
    assert binding_sentences(f"I have a page. {asked}", 80, begin=False).endswith("At most three columns.")


def test_the_same_call_before_and_behind_a_request_is_two_steps():
    ran = (call(1, "bash", command="make"), result(1, "built"))
    turns = [*ran, *ran, say("user", "And now with the new key."), *ran]
    steps = extract(ask(turns)).splitlines()
    assert steps[1:] == [
        "Steps:",
        "- make ×2 → built",
        "Requests:",
        '- "And now with the new key."',
        "Steps:",
        "- make → built",
    ]


def test_of_a_reply_figures_are_quoted_before_what_it_opens_with():
    offered = "I have looked at each of the three files that you named, from the first to the last line of them. " * 4
    region = (say("user", "Which fail?"), say("assistant", f"Perfect! {offered}247 rows lack an owner."))
    assert section(extract(ask(region)), "Replies").endswith('247 rows lack an owner."')
    assert "Perfect" not in extract(ask(region))


def test_of_a_reply_with_tables_the_titles_are_quoted_and_no_rows():
    rows = "".join(f"| {n} | the river number {n} | shown |\n" for n in range(60))
    table = f"| # | River | State |\n|---|---|---|\n{rows}"
    plan = f"---\n\n## Plan for the page of the rivers\n\nEach has its picture.\n\n{table}\n---\n"
    region = (
        say("user", "How do you do it?"),
        say("assistant", plan),
        say("user", "Do it so."),
        say("assistant", "I do."),
    )
    replies = section(extract(ask(region)), "Replies")
    assert "## Plan for the page of the rivers" in replies
    assert "|" not in replies
    assert "---" not in replies


@pytest.mark.parametrize("asked", ["Please start implementing the plan.", "Implementa este plan", "请按这个计划做"])
def test_a_reply_is_quoted_where_a_person_asks_for_what_it_has_planned(asked: str):
    plan = say("assistant", "I write each river's page first, then a map of all of them, then the index of towns.")
    runs = [turn for n in range(12) for turn in (call(n, "bash", command=f"make part_{n}"), result(n, f"made {n}"))]
    region = (say("user", "How do you do it?"), plan, say("user", asked), *runs)
    assert "then a map of all of them" in section(extract(ask(region, budget=120)), "Replies")
    other = (say("user", "How do you do it?"), plan, say("user", "Now name the towns."), *runs)
    assert "Replies" not in extract(ask(other, budget=120))
