"""What of a long request is quoted: how it begins, then what binds, in whole points."""

from __future__ import annotations

from summed_up import ask, say, section

from trajcompress.outcomes.text import sentences
from trajcompress.summarize.extractive import extract

PLAN = """Implement the following plan:

# Rivers, a page

## Context
Build a page about the rivers of the north for children, from scratch.

## Order
1. Create `css/`
2. Write `rivers.css`
3. Write the page
{more}
## Verification
- Every river has a picture
- Never load more than 12 pictures at once
"""


def quoted(number_of_points: int, budget: int) -> str:
    more = "".join(
        f"{n}. Write about river number{n}, its towns, its lakes and its bridges\n"
        for n in range(4, number_of_points)
    )
    text = extract(ask([say("user", PLAN.format(more=more)), say("assistant", "I begin.")], head=(), budget=budget))
    return section(text, "Requests")


def test_a_long_request_is_quoted_from_what_it_begins_with_and_with_what_binds():
    for budget in (120, 300, 900):
        said = quoted(60, budget)
        assert said.startswith(
            '- "Implement the following plan: … Build a page about the rivers of the north for children'
        )
        assert "- Never load more than 12 pictures at once" in said
        assert "##" not in said


def test_a_point_is_quoted_with_its_number_and_no_number_alone():
    said = quoted(40, 700)
    assert "39. Write about river number39, its towns, its lakes and its bridges" in said
    assert "39. …" not in said
    text = "First:\n1. Create it. Then go.\n2. Run it! There are 12.\n3."
    assert [text[start:end].strip() for start, end in sentences(text)] == [
        *("First:", "1. Create it.", "Then go.", "2. Run it!", "There are 12.", "3."),
    ]


def test_a_long_request_stays_in_force_where_what_follows_only_says_to_go_on():
    more = "".join(f"{n}. Write about river number{n}, its towns and its bridges\n" for n in range(4, 30))
    turns = [say("user", PLAN.format(more=more)), say("assistant", "That is my plan for all of it, point by point.")]
    last = section(extract(ask([*turns, say("assistant", "I begin.")], head=(), budget=900)), "Requests")
    turns += [say("user", "So do it, please."), say("assistant", "I begin.")]
    said = section(extract(ask(turns, head=(), budget=900)), "Requests")
    assert said.startswith(last)
    assert len(last) > 900
    assert len(section(extract(ask(turns, head=(), budget=1_500)), "Requests")) > 1_500
