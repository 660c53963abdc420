"""Rows as mistral-common puts them together: control tokens, and between them texts by themselves.

It renders no chat template. Each text is tokenized alone, and the control tokens are put around it by their ids. So
what is rendered here has a cut wherever one of them begins or ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from trajcompress.errors import TokenizerError
from trajcompress.json_values import parse_json
from trajcompress.settings.choices import ArgumentsAs, MistralVersion
from trajcompress.tokens.pieces import CUT
from trajcompress.transcript.trajectory import ToolCall, Trajectory, Turn

_CONTROL: dict[int, tuple[str, ...]] = {
    3: (
        *("[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
        *("[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    ),
    7: ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
    11: ("[ARGS]", "[CALL_ID]"),
}
"""Control tokens by the version that brought them."""
BOS, EOS = "<s>", "</s>"
_SYSTEM_APART, _CALLS_APART, _TOOLS_FIRST = 7, 11, 13
"""Versions from which on the system prompt is a turn, calls are no JSON, and tools stand with the first request."""
_JOINT = "\n\n"


@dataclass(frozen=True)
class MistralTemplate:
    """How mistral-common puts a row together for a version of the tokenizer, whose first token is ``bos``.

    ``prefixes``: the tokenizer sets a space before a text only where none is, and mistral-common always. ``lacks``:
    control tokens of the version that the tokenizer does not have, so that they are counted as text.
    """

    version: MistralVersion
    bos: str
    eos: str
    prefixes: bool = False
    lacks: tuple[str, ...] = ()

    @property
    def name(self) -> None:
        """None: it has no name that a trainer is told."""

    @property
    def is_bound(self) -> bool:
        """Whether it exceeds what is tokenized."""
        return bool(self.lacks)

    @property
    def title(self) -> str:
        """What it is called."""
        return f"mistral-common's {self.version}"

    @property
    def note(self) -> str:
        """What to say of counts by it."""
        if self.lacks:
            return (
                f"tokens are an upper bound of {self.title}: the tokenizer lacks {self.lacks[0]} (--mistral-version)"
            )
        return f"tokens are those of {self.title} (--mistral-version)"

    @property
    def source(self) -> str:
        """What tells it from others, as the text of a template does."""
        return self.title

    def renderings(self, trajectory: Trajectory) -> list[str]:
        """Return the row with a cut between what is tokenized by itself."""
        since = int(self.version[1:])
        turns = list(trajectory.turns)
        if trajectory.system is not None:
            turns.insert(0, Turn("system", trajectory.system, {"role": "system", "content": trajectory.system}))
        parts = self._parts(turns, trajectory.tools or (), since)
        return [CUT.join([self.bos, *(map(_prefixed, parts) if self.prefixes else parts)])]

    def takes_arguments_as(self) -> ArgumentsAs:
        """Return how calls hold their arguments: as text, as the API has them."""
        return "text"

    def system_with_tools(self, system: str | None, tools: list[dict[str, Any]]) -> str | None:  # noqa: ARG002
        """Return no system prompt with tools: it takes them in a column."""
        return None

    def gaps(self) -> list[str]:
        """Return nothing: all that may be cut is cut already."""
        return []

    def _parts(self, turns: Sequence[Turn], tools: Sequence[dict[str, Any]], since: int) -> Iterator[str]:
        runs = [(role, list(run)) for role, run in groupby(turns, key=lambda turn: turn.role)]
        system = _JOINT.join(turn.text for turn in turns if turn.role == "system" and turn.text)
        if since < _SYSTEM_APART:
            runs = [(role, run) for role, run in runs if role != "system"]
            if not runs or runs[0][0] != "user":
                runs.insert(0, ("user", []))
        asked = [place for place, (role, _) in enumerate(runs) if role == "user"]
        with_tools = (asked[0] if since >= _TOOLS_FIRST else asked[-1]) if asked else None
        for place, (role, run) in enumerate(runs):
            if role == "user":
                if place == with_tools and tools:
                    yield from _between("[AVAILABLE_TOOLS]", json.dumps(list(map(_tool, tools)), ensure_ascii=False))
                text = _joined(run)
                if since < _SYSTEM_APART and system and place == asked[-1]:
                    text = f"{system}{_JOINT}{text}"
                yield from _between("[INST]", text)
            elif role == "assistant":
                yield from self._assistant(run, since)
            else:
                for turn in run:
                    yield from _between("[SYSTEM_PROMPT]", turn.text) if role == "system" else _result(turn, since)

    def _assistant(self, run: Sequence[Turn], since: int) -> Iterator[str]:
        if text := _joined(run):
            yield _apart(text.rstrip(" "))
        calls = [call for turn in run for call in turn.calls if not call.in_text]
        yield from _calls(calls, since)
        yield self.eos


def mistral_template(tokenizer: Any, version: MistralVersion) -> MistralTemplate | None:
    """Return how rows are put together for a tokenizer; None where it is none of Mistral's.

    Raises:
        TokenizerError: it was made of a SentencePiece model, and splits texts otherwise than that does.
    """
    added = tokenizer.get_added_vocab()
    bos, eos = tokenizer.bos_token, tokenizer.eos_token
    if not bos or not eos or not added.keys() >= set(control_tokens("v3")):
        return None
    if _joins_spaces_first(tokenizer):
        raise TokenizerError(
            f"tokenizer {tokenizer.name_or_path}: transformers made it of a SentencePiece model, with merges in "
            "another order than mistral-common's, so that rows would be longer than counted; put that model beside "
            f"it (tokenizer.model.{version}) and pip install 'trajcompress-cli[mistral]'"
        )
    one, other = (tokenizer.encode(text, add_special_tokens=False) for text in ("a", " a"))
    lacks = tuple(token for token in control_tokens(version) if token not in added)
    return MistralTemplate(version, bos, eos, one == other, lacks)


def _joins_spaces_first(tokenizer: Any) -> bool:
    """Tell whether the first of its merges are of spaces, which have the lowest scores in Mistral's models."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    model = json.loads(backend.to_str())["model"] if backend else {}
    first = next(iter(model.get("merges", ())), "")
    return set(first if isinstance(first, str) else "".join(first)) - {" "} == {"\u2581"}


def control_tokens(version: MistralVersion) -> tuple[str, ...]:
    """Return the control tokens that a version of the tokenizer has beside those of the ends of a row."""
    since = int(version[1:])
    return tuple(token for first, tokens in _CONTROL.items() if first <= since for token in tokens)


def _calls(calls: Sequence[ToolCall], since: int) -> Iterator[str]:
    if since >= _CALLS_APART:
        for call in calls:
            yield from ("[TOOL_CALLS]", _apart(call.name))
            yield from ("[CALL_ID]", _apart(call.id)) if call.id and since < _TOOLS_FIRST else ()
            yield from ("[ARGS]", _apart(json.dumps(_value(call.arguments), ensure_ascii=False)))
    elif calls:
        made = [
            {"name": call.name, "arguments": _value(call.arguments)} | ({"id": call.id} if call.id else {})
            for call in calls
        ]
        yield from ("[TOOL_CALLS]", _apart(json.dumps(made, ensure_ascii=False)))


def _result(turn: Turn, since: int) -> Iterator[str]:
    call_id = turn.answers[0] if turn.answers else None
    if since < _SYSTEM_APART:
        made = {"content": _value(turn.text), "call_id": call_id}
        yield from _between("[TOOL_RESULTS]", json.dumps(made, ensure_ascii=False))
    elif since >= _TOOLS_FIRST:
        yield from _between("[TOOL_RESULTS]", turn.text)
    else:
        yield from ("[TOOL_RESULTS]", _apart(call_id or ""), "[TOOL_CONTENT]", _apart(turn.text), "[/TOOL_RESULTS]")


def _value(text: str) -> Any:
    """Return what JSON text says; the text itself where it is none."""
    try:
        return parse_json(text or "{}")
    except ValueError:
        return text


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool definition with the keys that mistral-common reads, in its order."""
    given = tool.get("function")
    function = given if isinstance(given, dict) else tool
    named = {"name": function.get("name"), "description": function.get("description") or ""}
    return {"type": "function", "function": named | {"parameters": function.get("parameters")}}


def _prefixed(text: str) -> str:
    """Return text whose first space is tokenized by itself, as the space before it is."""
    return f" {CUT}{text[1:]}" if text.startswith(" ") else text


def _joined(run: Sequence[Turn]) -> str:
    return _JOINT.join(turn.text for turn in run if turn.text)


def _between(opens: str, text: str) -> tuple[str, str, str]:
    return opens, _apart(text), f"[/{opens[1:]}"


def _apart(text: str) -> str:
    """Return text in which no control token stands: here it would be one token, and it is words there."""
    if "[" not in text and "</s>" not in text and "<s>" not in text:
        return text
    for token in (BOS, EOS, *(token for tokens in _CONTROL.values() for token in tokens)):
        text = text.replace(token, f"{token[:1]}{CUT}{token[1:]}")
    return text
