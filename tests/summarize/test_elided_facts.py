"""What is elided of a long turn keeps the lines of what must survive: a model cannot say what it was not shown."""

from __future__ import annotations

import asyncio
import json

import pytest

from trajcompress import Compressor
from trajcompress.settings.summarizer_choice import SummarizerChoice
from trajcompress.summarize.base import SummaryRequest, Usage
from trajcompress.summarize.custom.load import load_summarizer
from trajcompress.summarize.custom.summarizer import CustomSummarizer
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.prompt import build_prompt
from trajcompress.transcript.trajectory import ToolCall, Turn

LINES = [f"def helper_{number}(self):  # step {number * 7}" for number in range(400)]
LONG = "\n".join(LINES)


def turn(role: str, text: str, **more) -> Turn:
    return Turn(role, text, {}, **more)


def shown(*region: Turn, facts: tuple[str, ...] = ()) -> str:
    """Return what the prompt shows of turns, and what it asks for below them."""
    return build_prompt(SummaryRequest("t", (), region, 1000, len, facts=facts)).user.partition("The turns to ")[2]


def test_a_line_that_tells_a_fact_stays_in_its_place_between_marks():
    text = shown(turn("tool", LONG), facts=("helper_123",))
    assert f"characters elided …]\n{LINES[123]}\n[… " in text
    assert text.index(LINES[0]) < text.index(LINES[123]) < text.index(LINES[399])
    assert LINES[124] not in text
    elided = [int(part.partition(" ")[0].replace(",", "")) for part in text.split("[… ")[1:]]
    assert sum(elided) == len(LONG) - 3_000 - len(LINES[123])


def test_what_stands_in_the_prompt_anyway_takes_no_line_of_another_turn():
    assert LINES[123] not in shown(turn("tool", LONG), turn("tool", "helper_123 fails"), facts=("helper_123",))
    elided = shown(turn("tool", LONG)).partition("Write the record")[0]
    assert shown(turn("tool", LONG), facts=("helper_2", "nowhere_77")).startswith(elided)


def test_it_stands_where_a_turn_told_it_last():
    old, new = (f"{LONG}\nport_{'x' * 9} = {port}\n{LONG}" for port in (1, 2))
    text = shown(turn("tool", old), turn("tool", new), facts=("port_xxxxxxxxx",))
    assert "port_xxxxxxxxx = 2\n" in text
    assert "port_xxxxxxxxx = 1\n" not in text


def test_of_a_long_line_stays_what_is_near():
    data = json.dumps([{"id": f"item_{number}", "price": number} for number in range(500)])
    text = shown(turn("tool", data), facts=("item_250",)).partition("The agent relies")[0]
    assert '{"id": "item_250", "price": 250}' in text
    assert len(text) < 3_600


@pytest.mark.parametrize(
    "told",
    [
        turn("assistant", "I write.", calls=(ToolCall("c", "write", json.dumps({"text": LONG})),)),
        turn("assistant", "I think so.", reasoning=LONG),
        turn("assistant", "", reasoning=LONG),
        turn("user", f"<output>\n{LONG}\n</output>\nGo on.", answers=(None,), in_text=True),
    ],
    ids=["arguments", "reasoning beside words", "reasoning alone", "observation"],
)
def test_whatever_of_a_turn_tells_it(told):
    assert LINES[123] in shown(told, facts=("helper_123",))
    assert LINES[123] not in shown(told)


def test_a_summariser_of_ones_own_reads_the_line_of_what_later_turns_use():
    seen = []

    def summarise(given):
        seen.append(given)
        return f"- the agent read helpers, and {given.facts[0]} is one of them"

    def call(number: int, **arguments) -> dict:
        function = {"name": "run", "arguments": json.dumps(arguments)}
        return {
            "role": "assistant",
            "content": "Next.",
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
        }

    messages = [{"role": "user", "content": "Mend the helpers."}]
    for number, result in enumerate(["ok", LONG.replace("helper_123", "odd_helper_name"), "ok " * 900, "ok"]):
        messages += [call(number, step=number), {"role": "tool", "tool_call_id": f"c{number}", "content": result}]
    messages += [call(9, cmd="grep odd_helper_name"), {"role": "tool", "tool_call_id": "c9", "content": "found"}]
    with Compressor(target_max_tokens=1_500, summarizer=summarise, prune="off") as compressor:
        assert compressor.compress(messages).metrics.outcome == "compressed"
    assert "odd_helper_name" in seen[0].facts
    assert "def odd_helper_name(self):  # step 861" in seen[0].turns


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ("port_8081, host_name_x, user_name_y", "it lists without what they mean: port_8081, host_name_x"),
        ("- the port is port_8081", "it left out: host_name_x"),
        ("- nothing", "it left out: port_8081, host_name_x"),
        ("- port_8081 is the port of host_name_x", None),
    ],
)
def test_a_summariser_of_ones_own_is_told_which_facts_are_absent_and_which_stand_bare(answer, note):
    seen = []

    def summarise(given):
        seen.append(given.note)
        return "- the port of host_name_x is port_8081, and it is open now"

    facts = ("port_8081", "host_name_x")
    told = turn("tool", "host_name_x listens on port_8081")
    request = SummaryRequest("t", (), (told,), 1000, len, facts=facts, answer=answer)
    loaded = load_summarizer(SummarizerChoice.parse(summarise))
    one = CustomSummarizer(loaded, limiter=RateLimiter(None, None, 4), redact_secrets=True, most_in_a_row=5)
    asyncio.run(one.summarize(request, Usage()))
    assert seen == [note]
