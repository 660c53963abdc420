"""The same trajectory in another protocol is compressed as the same trajectory, and read again as what it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import pytest
from chats import real_rows_with_calls
from compressing import POLICY, run
from labelled import LabelledRow
from msgspec.structs import replace
from msgspec.structs import replace as struct_replace
from protocol_rows import protocol_rows
from protocols import PROTOCOLS, in_protocol, interrupted
from shared import SOURCES, load_cached, rows_of
from steps import calls_tools, messages_of

from trajcompress.compaction.previous_summary import read_summary
from trajcompress.compaction.text import ResultLines, elide_results, prune, prune_steps
from trajcompress.compaction.text.line import LINE_CHARS, is_line
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.formats.rewrite import result_texts
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.observations import is_request, said_beside
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX
from trajcompress.transcript.text_protocols.observation_parts import in_observation
from trajcompress.transcript.tool_groups import tool_groups
from trajcompress.transcript.trajectory import Region, Trajectory, Turn

_FINAL = "Thought: I now know the final answer Final Answer: "
_MADE = ("calls-openai", "legacy-calls", "functions-sharegpt")


def _read(row: dict[str, Any]) -> Trajectory:
    return read_trajectory(row, "row", FormatOptions())


@cache
def _rows(source: str) -> list[dict[str, Any]]:
    """Return the rows with tool roles whose words are all text: no protocol writes thoughts and pictures."""
    if source == "shared":
        rows = list(real_rows_with_calls())
    else:
        paths = [rows_of(source) / f"{name}.jsonl" for name in _MADE]
        rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if calls_tools(row) and _is_plain(_read(row).turns)]


@dataclass(frozen=True)
class _Original:
    """A row with tool roles, and what is said of it, which is the same whatever it is compared with."""

    row: dict[str, Any]

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        return _read(self.row).turns

    @cached_property
    def lines(self) -> dict[int, str]:
        return _lines(self.turns)

    @cached_property
    def lines_without_words(self) -> dict[int, str]:
        """The lines of the turns without what the agent says beside its calls: bare commands leave that out."""
        return _lines(tuple(struct_replace(turn, text="") if turn.calls else turn for turn in self.turns))

    @cached_property
    def told(self) -> dict[str, set[str]]:
        return _told(self.turns)


@cache
def _originals(source: str) -> list[_Original]:
    return [_Original(row) for row in _rows(source)]


def _is_plain(turns: tuple[Turn, ...]) -> bool:
    text = all(isinstance(turn.raw.get("content", turn.raw.get("value")) or "", str) for turn in turns)
    return text and not any(turn.reasoning or turn.images or "</think>" in turn.text for turn in turns)


def _pairs(
    source: str, protocol: str, *, one_in: int = 3
) -> Iterator[tuple[_Original, LabelledRow, tuple[Turn, ...]]]:
    """Yield rows with tool roles, and the same in a protocol, where all of its turns are read as what they are.

    Excluded besides are rows with a call that nothing answers, which is none in a text protocol. Of the real rows,
    which are many, each stands in one of so many protocols.
    """
    first = list(PROTOCOLS).index(protocol) % one_in
    originals = _originals(source)
    for original in originals[first::one_in] if source == "shared" else originals:
        written = in_protocol(original.row, protocol)
        read = _read(written.row).turns
        as_is = all(
            (truth.kind == "observation") == bool(turn.answers) and (truth.kind == "action") == bool(turn.calls)
            for turn, truth in zip(read, written.truth, strict=True)
        )
        if as_is and len(original.turns) == len(messages_of(original.row)):
            yield original, written, read


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", SOURCES)
def test_tool_groups_are_those_of_the_row_with_tool_roles(source, protocol):
    compared = 0
    for original, written, read in _pairs(source, protocol):
        turns = original.turns
        tools = {index for index, turn in enumerate(turns) if turn.calls or turn.answers}
        groups: list[set[int]] = []
        for start, end in tool_groups(read):
            group = {at for truth in written.truth[start:end] for at in truth.sources} & tools
            # Parallel calls are a turn each, all of one source.
            if groups and groups[-1] & group:
                groups[-1] |= group
            else:
                groups.append(group)
        assert groups == [set(range(start, end)) & tools for start, end in tool_groups(turns)]
        compared += len(groups)
    assert compared > 20


def _lines(turns: tuple[Turn, ...]) -> dict[int, str]:
    steps = [
        step
        for step in prune_steps(ResultLines(turns, Region(0, len(turns))), arguments=False)
        if step.kind == "old_result"
    ]
    return {
        index: result_texts(turn)[0]
        for index, turn in enumerate(prune(turns, steps).turns)
        if any(step.index == index for step in steps)
    }


def _came(line: str) -> str:
    """Return what a line says behind the call."""
    return line.partition(" → ")[2] or line.rpartition(": ")[2]


def _comparable(text: str, protocol: str) -> bool:
    """Whether the line of a result is that of its text alone.

    Not where the result itself ends as some protocol's observations do, or in white space, which is the wrapper's
    too; nor where it is written as JSON, which is longer, and near the length from which on results are cleared.
    """
    near = protocol == "tags/named" and len(text) < 2 * LINE_CHARS
    return not near and text == text.strip() and in_observation(text) == (0, len(text), "")


_SIZE = re.compile(r"(?:[\d,]+ lines, )?[\d,]+ characters\]\Z")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_cleared_observation_says_the_same_in_every_protocol(source, protocol):
    same = other = 0
    for original, written, read in _pairs(source, protocol, one_in=1):
        turns, after = original.turns, _lines(read)
        before = original.lines_without_words if protocol == "bare" else original.lines
        for index, truth in enumerate(written.truth):
            if truth.kind != "observation" or len(truth.sources) != 1:
                continue
            (at,) = truth.sources
            if len(turns[at].answers) != 1 or not _comparable(turns[at].text, protocol):
                continue
            expected, line = before.get(at), after.get(index)
            if expected is None or line is None:
                assert expected is line or protocol == "tags/named"  # what is longer as JSON is cleared sooner
                continue
            if protocol == "tags/named":  # its JSON has other sizes
                expected, line = _SIZE.sub("", expected), _SIZE.sub("", line)
            if _came(expected) == _came(line):
                same += 1
            else:
                other += 1
    assert same > 10 or (source, protocol) == ("made", "tags/named")
    # An outcome is read by what the call does, and code or words in brackets may hide that.
    assert other <= 0.01 * (same + other)


def _told(turns: tuple[Turn, ...]) -> dict[str, set[str]]:
    """Return what the built-in summary of turns says by section, of steps what came of them."""
    text = extract(SummaryRequest("row", (), turns, 200_000, lambda text: len(text) // 4))
    sections: dict[str, set[str]] = {}
    name = ""
    for line in text.splitlines()[1:]:
        if line.startswith("- "):
            said = line.removeprefix("- ").replace(_FINAL, "")
            sections.setdefault(name, set()).add(said)
        else:
            name = line
    return sections


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "react/input"])
@pytest.mark.parametrize("source", SOURCES)
def test_a_region_has_the_same_summary_but_for_the_wording_of_calls(source, protocol):
    """Not of ``react/input``, whose replies have words of their own before them, and are cut elsewhere."""
    same = other = 0
    for original, _, read in _pairs(source, protocol):
        before, after = original.told, _told(read)
        for name in before.keys() | after.keys():
            cut = (lambda line: line.partition(" → ")[2]) if any(" → " in x for x in before.get(name, ())) else str
            one, two = ({cut(line) for line in told.get(name, ())} for told in (before, after))
            same += len(one & two)
            other += max(len(one - two), len(two - one))
    assert same > 20
    # A wrapper's exit code is told, too, and steps whose calls are cut to the same words are one.
    assert other <= 0.05 * same, (same, other)


# A compressed row is read as what it was

POLICY_FIRST = replace(POLICY, clear_observations=True, fit="strict", keep_observations=1)


@cache
def _counter() -> TokenCounter:
    return TokenCounter(load_cached(None))


@cache
def _long_rows(source: str) -> list[dict[str, Any]]:
    sized = [(len(json.dumps(row)), row) for row in _rows(source)]
    rows = [row for size, row in sorted(sized, key=lambda each: each[0]) if size < 150_000]
    return rows[-200 :: max(1, min(200, len(rows)) // 12)]


def _kind(turn: Turn) -> tuple[bool, bool, bool]:
    return bool(turn.answers), bool(turn.calls), is_request(turn)


def _compressed(trajectory: Trajectory, target: int) -> tuple[Turn, ...] | None:
    policy = replace(POLICY_FIRST, target_max_tokens=target, summary_size=max(target // 5, 40))
    return run(_counter(), trajectory, policy=policy)[0]


def _assert_read_as_it_was(turns: tuple[Turn, ...], again: tuple[Turn, ...]) -> None:
    assert len(turns) == len(again)
    for index, (before, after) in enumerate(zip(turns, again, strict=True)):
        summary = read_summary(again, index)
        if summary and summary.own_turn:
            assert not after.answers
            assert not after.calls
            continue
        assert _kind(before) == _kind(after), after.text[:200]
        assert SUMMARY_PREFIX not in said_beside(after)
        assert SUMMARY_END not in said_beside(after)


def _cleared(turns: tuple[Turn, ...]) -> list[str]:
    return [text for turn in turns if turn.answers for text in result_texts(turn) if is_line(text)]


def _compress_twice(row: dict[str, Any]) -> int:
    """Compress a row to a target and then to a tighter one; return how many times it could be."""
    trajectory = _read(row)
    done, before = 0, _cleared(trajectory.turns)
    for share in (0.6, 0.6):
        turns = _compressed(trajectory, int(_counter().count(trajectory).tokens * share))
        if turns is None:
            break
        done += 1
        written = _read(replace_turns(trajectory, turns))
        _assert_read_as_it_was(turns, written.turns)
        assert not any(f"→ {old[:60]}" in line for old in before for line in _cleared(written.turns))
        before = _cleared(written.turns)
        trajectory = written
    return done


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_compressed_row_is_read_as_its_original_was(source, protocol):
    done = 0
    for row in _long_rows(source):
        done += _compress_twice(in_protocol(row, protocol).row)
        done += _compress_twice(in_protocol(interrupted(row, every=2), protocol, person="same").row)
    assert done >= 5


def test_a_compressed_row_of_a_further_protocol_is_read_as_its_original_was():
    assert sum(_compress_twice(row.row) for row in protocol_rows()) >= 10


# What a person says in the turn of an observation


@cache
def _spoken(source: str, protocol: str) -> list[tuple[Turn, ...]]:
    rows = [in_protocol(interrupted(row, every=2), protocol, person="same").row for row in _long_rows(source)]
    if protocol == "react":
        rows += [row.row for row in protocol_rows()]
    return [_read(row).turns for row in rows]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", SOURCES)
def test_what_a_person_says_beside_an_observation_stays(source, protocol):
    heard = shorter = 0
    for turns in _spoken(source, protocol):
        cleared = prune(turns, prune_steps(ResultLines(turns, Region(0, len(turns))))).turns
        cut = elide_results(turns, range(len(turns)), 10**9, lambda text: len(text) // 4)
        for before, *after in zip(turns, cleared, cut, strict=True):
            if said := said_beside(before):
                heard += 1
                shorter += any(turn is not before for turn in after)
                assert all(said_beside(turn) == said for turn in after)
                assert all(said in turn.text for turn in after)
    assert heard > 5
    assert shorter > 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_summary_quotes_what_a_person_says_beside_an_observation(source, protocol):
    quoted = 0
    for turns in _spoken(source, protocol):
        requests = _told(turns).get("Requests:", set())
        for turn in turns:
            if said := " ".join(said_beside(turn).split()):
                assert any(said[:60] in request for request in requests), said
                quoted += 1
    assert quoted > 5
