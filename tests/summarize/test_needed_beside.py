"""What kept turns need of a step stands beside that step, where there is room for it, else at the end."""

from __future__ import annotations

from trajcompress.facts import Told
from trajcompress.summarize.extractive.fit import Line, Record, Section, fit
from trajcompress.summarize.extractive.left_out import Left

NEEDED = {"card_62766": Told("payment_id = card_62766", 1), "card_90748": Told("payment_id = card_90748", 5)}


def written(budget: int, needed: dict[str, Told] = NEEDED, tool: str = "get_user") -> list[str]:
    lines = tuple(
        Line(Section.STEPS, n, 4.0 - n, (f"{tool} {name} → name={name}" + ", and more" * more,), left=Left(tool))
        for n, (name, more) in enumerate((("ann", 0), ("bo", 0), ("cy", 30)))
    )
    return fit(Record(lines, needed, steps={1: 0, 3: 1, 5: 2}), budget, len).splitlines()[1:]


def test_it_stands_with_the_step_that_gave_it_whether_there_is_room_for_that_or_not():
    assert written(250) == [
        "Steps:",
        "- get_user ann → name=ann; … payment_id = card_62766",
        "- get_user bo → name=bo",
        "- get_user cy → … payment_id = card_90748",
    ]


def test_where_there_is_no_room_for_the_step_it_stands_at_the_end():
    lines = written(250, tool="get_all_that_is_known_of_a_user_and_of_the_orders")
    assert lines[lines.index("Needed later:") + 1 :] == ["- payment_id = card_62766", "- payment_id = card_90748"]


def test_what_no_step_gave_stands_at_the_end():
    needed = {"4711-B": Told("in a call: code = 4711-B")}
    assert written(250, needed)[-2:] == ["Needed later:", "- in a call: code = 4711-B"]
