"""What a model answered: read strictly, then cleaned of everything that is not the summary."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX

MAX_BODY_BYTES = 8 * 2**20
"""Far more than the longest summary with all its thinking; whoever sends more is not heard out."""
_TEXTS = {"text", "output_text"}  # types of parts that are the answer; thoughts have others
_MAX_COUNT = 2**40  # tokens; a server that counts more has miscounted


class _Part(msgspec.Struct):
    type: Any = "text"
    text: Any = None
    refusal: Any = None


class _Message(msgspec.Struct):
    content: str | list[_Part | str] | None = None
    refusal: Any = None
    tool_calls: Any = None
    function_call: Any = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: Any = None  # some servers number their reasons


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: Any = None


class Answer(msgspec.Struct, frozen=True):
    """One chat completion. Token counts are None where the server gives none; ``calls``: it asks for a tool.

    ``cached_tokens`` are those of the prompt that the server found in its cache of prefixes; of secrets in the text
    ``redactions`` became marks.
    """

    text: str
    finish_reason: str | None
    refusal: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    calls: bool = False
    cached_tokens: int | None = None
    redactions: int = 0


async def read_body(chunks: AsyncIterator[bytes]) -> bytes:
    """Read the body of a response, but not much beyond :data:`MAX_BODY_BYTES`."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            break
    return bytes(body)


def read_answer(body: bytes) -> Answer:
    """Read the body of a chat completion.

    Raises:
        ValueError: it is none (HTML, an error sent as a success, no choices).
    """
    if len(body) > MAX_BODY_BYTES:
        raise ValueError(f"it is longer than {MAX_BODY_BYTES:,} bytes")
    try:
        completion = msgspec.json.decode(body, type=_Completion)
    except (ValueError, RecursionError):
        completion = msgspec.json.decode(_encodable(body), type=_Completion)
    if not completion.choices:
        raise ValueError("the answer holds no choices")
    choice = completion.choices[0]
    message = choice.message
    content, refusal = message.content, message.refusal
    if isinstance(content, list):
        parts = [_Part(text=part) if isinstance(part, str) else part for part in content]
        content = "".join(_text(part.text) for part in parts if _text(part.type) in _TEXTS)
        refusal = _text(refusal) or "".join(_text(part.refusal) for part in parts)
    cost = completion.usage if isinstance(completion.usage, dict) else {}
    return Answer(
        content or "",
        _text(choice.finish_reason) or None,
        _text(refusal) or None,
        _count(cost.get("prompt_tokens")),
        _count(cost.get("completion_tokens")),
        calls=bool(message.tool_calls or message.function_call),
        cached_tokens=_count(_cached(cost)),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _cached(cost: dict[str, Any]) -> Any:
    """Return what a server says of its cache of prefixes, as OpenAI does or as DeepSeek does."""
    details = cost.get("prompt_tokens_details")
    return details.get("cached_tokens") if isinstance(details, dict) else cost.get("prompt_cache_hit_tokens")


def _encodable(body: bytes) -> bytes:
    """Return JSON without what strict readers refuse: a byte order mark, bytes that are no UTF-8, half an emoji."""
    try:
        value = json.loads(body.decode("utf-8-sig", "replace"))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _count(value: Any) -> int | None:
    """Return a count of tokens, None where it cannot be one."""
    return int(value) if type(value) in {int, float} and 0 <= value < _MAX_COUNT else None


_THOUGHT = late_re(r"<think(?:ing)?>|\[THINK\]|◁think▷|<seed:think>", re.IGNORECASE)
_THOUGHT_END = late_re(r"</think(?:ing)?>|\[/THINK\]|◁/think▷|</seed:think>", re.IGNORECASE)
_FENCE = late_re(r"\A```(?:markdown|md|text)?[ \t]*\n(.*?)\n?```\Z", re.IGNORECASE | re.DOTALL)
_PREFIX = late_re(
    r"(?<![*_`])[*_`]*\[\s*context[\s_]+summary\s*:?\s*\][*_`]*(?:\s*[:\uff1a][*_`]*)?[ \t]*", re.IGNORECASE
)
_HEADING = late_re(r"[\s#>*_]*context[ _]summary[*_]*[ \t]*(?:[:\uff1a][*_]*|(?=\n)|\Z)", re.IGNORECASE)
_END = late_re(r"(?<![*_`])[*_`]*\[\s*end[\s_]+of[\s_]+context[\s_]+summary\s*\][*_`]*", re.IGNORECASE)
_EMPTY_MARKUP = late_re(r"(?:[ \t]*+[#>*_`-]*+[ \t]*+\n)++|\s++")
_CONTROL = late_re(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_UNSEEN = late_re(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]"
    "|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+"
)
"""What steers a terminal or hides text: controls, directions of writing, tags that are no flag's."""
_MOST_NESTED = 8  # prefixes within each other; whoever writes more means no good


def clean_summary(text: str) -> str:
    """Turn a model's answer into a summary: no thoughts, no fence, :data:`SUMMARY_PREFIX` once, at the start.

    Returns an empty text where nothing is left. Cleaning a clean summary changes nothing.
    """
    body = strip_thoughts(text)
    body = (_CONTROL if body.isascii() else _UNSEEN).sub("", body).strip()
    if fenced := _FENCE.match(body):
        body = fenced[1]
    body = strip_prefixes(body)
    return f"{SUMMARY_PREFIX}\n{body}" if any(character.isalnum() for character in body) else ""


def strip_thoughts(text: str) -> str:
    """Remove what a thinking model thought aloud, also where only one of the two tags was sent."""
    said, at = [], 0
    while (begun := _THOUGHT.search(text, at)) and (ended := _THOUGHT_END.search(text, begun.end())):
        said.append(text[at : begun.start()])
        at = ended.end()
    left = "".join([*said, text[at:]])
    *_, last = (0, *(end.end() for end in _THOUGHT_END.finditer(left)))  # an opening tag is part of some templates
    left = left[last:]
    return "" if _THOUGHT.match(left.lstrip()) else left


def strip_prefixes(text: str) -> str:
    """Remove every form of the prefix, in brackets anywhere and as a heading at the start, and of the end marker.

    Linear in the text, which may be a row's: prefixes that come about as others are removed are removed a few times,
    then their brackets become others.
    """
    for _ in range(_MOST_NESTED):
        before, text = text, _without_headings(_END.sub("", _PREFIX.sub("", text)))
        if text == before:
            return text
    return _without_headings(text.replace("[", "("))


def _without_headings(text: str) -> str:
    """Leave out headings, and markup that stands for nothing, at the start; and white space at both ends."""
    at = 0
    while (found := _HEADING.match(text, at) or _EMPTY_MARKUP.match(text, at)) and found.end() > at:
        at = found.end()
    return text[at:].strip()
