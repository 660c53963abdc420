"""Results of which not all that is used has room."""

from __future__ import annotations

import pytest
from compressing import POLICY, run
from msgspec.structs import replace
from pruning import call
from trajectories import read, result

from trajcompress.tokens.counter import TokenCounter

STRICT = replace(POLICY, fit="strict")
ASK = {"role": "user", "content": "Mend it."}


@pytest.mark.parametrize("target", [400, 540])
def test_where_not_all_that_is_used_has_room_some_of_it_stays_and_not_the_ends_alone(
    counter: TokenCounter, target: int
):
    shown = "\n".join([*[f"first {number} of these" for number in range(30)], "limit_of_parts = 417", *["more"] * 60])
    steps = [
        message for each in "abcd" for message in (call(call_id=each), result(each, shown.replace("417", each * 3)))
    ]
    used = {"role": "assistant", "content": "So " + ", ".join(f"limit_of_parts = {each * 3}" for each in "abcd")}
    turns, row = run(counter, read([ASK, *steps, used]), policy=replace(STRICT, target_max_tokens=target))
    assert (row.reason, row.still_over_limit) == ("elided", False)
    assert any("limit_of_parts" in turn.text for turn in turns if turn.role == "tool")
