"""What the loopback server sees, and every kind of reply it can give."""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import Any, Literal

CHARS_PER_TOKEN = 4


@dataclass(slots=True)
class Seen:
    """One request, as the server saw it. Tokens are what its usage reports: 0 where it wrote no answer."""

    time: float  # monotonic, seconds
    peer: tuple[str, int]
    model: str
    messages: list[dict[str, Any]]
    body: dict[str, Any]
    headers: dict[str, str]
    prompt_tokens: int
    completion_tokens: int = 0
    outcome: str = ""

    @property
    def text(self) -> str:
        return "\n".join(str(message["content"]) for message in self.messages)


@dataclass(frozen=True, slots=True)
class Reply:
    """What to do with one request. Without ``body`` a chat completion is written, of ``text`` or a short summary."""

    name: str = "ok"
    status: int = 200
    body: dict[str, Any] | str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    finish_reason: str | None = "stop"
    ending: Literal["whole", "closed", "cut", "hang"] = "whole"
    delay: float = 0.0
    raw: bytes | None = None  # the body, as it is
    pieces: int = 1  # that it is sent in, each after ``delay``


_MUST_SURVIVE = re.compile(r"Each must survive verbatim.*?\n(=====\S+=====)\n(.*?)\n\1\n", re.DOTALL)


def obedient(seen: Seen) -> Reply:
    """Answer as a model does that does as it is asked: what must survive is in its summary."""
    asked = _MUST_SURVIVE.search(seen.text)
    return Reply(text=f"## Results and values\n{asked[2]}") if asked else Reply()


def failed(status: int, message: str, code: str | None = None, **headers: str) -> Reply:
    body = {"error": {"message": message, "type": code or "error", "param": None, "code": code}}
    return Reply(f"http_{status}", status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def rate_limited(retry_after: str | None = None) -> Reply:
    headers = {} if retry_after is None else {"retry_after": retry_after}
    return replace(
        failed(429, "Rate limit reached for requests.", "rate_limit_exceeded", **headers), name="rate_limited"
    )


def rate_limited_until(seconds_from_now: float) -> Reply:
    return rate_limited(formatdate(time.time() + seconds_from_now, usegmt=True))


def server_error(status: int = 500) -> Reply:
    return failed(status, "The server had an error while processing your request.", "server_error")


def unknown_model(model: str = "nope") -> Reply:
    return failed(404, f"The model `{model}` does not exist or you do not have access to it.", "model_not_found")


def no_quota() -> Reply:
    return failed(429, "You exceeded your current quota, please check your plan.", "insufficient_quota")


def no_temperature() -> Reply:
    return failed(400, "Unsupported value: 'temperature' does not support 0.3 with this model.", "unsupported_value")


def no_max_tokens() -> Reply:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    return failed(400, message, "unsupported_parameter")


def hang() -> Reply:
    return Reply("hang", ending="hang")


def closed() -> Reply:
    return Reply("closed", ending="closed")


def cut() -> Reply:
    return Reply("cut", ending="cut")


def html() -> Reply:
    return Reply("html", body="<!doctype html><html><body><h1>Welcome to nginx!</h1></body></html>")


def null_choices() -> Reply:
    return Reply("null_choices", body={"id": "x", "object": "chat.completion", "choices": None})


_WORDS = [
    "time", "year", "people", "way", "day", "man", "thing", "woman", "life", "child", "world", "school",
    "state", "family", "student", "group", "country", "problem", "hand", "part", "place", "case", "week",
    "company", "system", "program", "question", "work", "number", "night", "point", "home", "water", "room",
    "mother", "area", "money", "story", "fact", "month", "right", "study", "book", "eye", "job", "word",
    "business", "issue", "side", "kind", "head", "house", "service", "friend", "father", "power", "hour",
    "game", "line", "end", "member", "law", "car", "city", "name", "team", "minute", "idea", "body",
]  # fmt: skip


def some_words(count: int) -> str:
    """Write so many words, most tokenizers' tokens, that do not say the same over and over."""
    return " ".join(_WORDS[number % len(_WORDS)] for number in range(count))


def saying(text: str, finish_reason: str | None = "stop", name: str = "saying") -> Reply:
    return Reply(name, text=text, finish_reason=finish_reason)


def empty() -> Reply:
    return saying("", name="empty")


def overlong(words: int = 20_000) -> Reply:
    return saying("blah " * words, name="overlong")


def truncated() -> Reply:
    return saying("## Goal\n- half a sent", "length", "truncated")


def usual_faults() -> list[Reply]:
    """One of everything that passes if it is tried again, quickly."""
    return [
        rate_limited(),
        rate_limited("0.05"),
        server_error(500),
        server_error(503),
        closed(),
        cut(),
        html(),
        null_choices(),
        empty(),
        overlong(),
        truncated(),
    ]


def completion(seen: Seen, reply: Reply) -> dict[str, Any]:
    """Write a chat completion, and what it costs into ``seen``."""
    text = summary_of(seen) if reply.text is None else reply.text
    seen.completion_tokens = tokens_of(text)
    return {
        "id": f"chatcmpl-{digest(seen.text)}",
        "object": "chat.completion",
        "created": 0,
        "model": seen.model,
        "choices": [
            {"index": 0, "finish_reason": reply.finish_reason, "message": {"role": "assistant", "content": text}}
        ],
        "usage": {
            "prompt_tokens": seen.prompt_tokens,
            "completion_tokens": seen.completion_tokens,
            "total_tokens": seen.prompt_tokens + seen.completion_tokens,
        },
    }


def summary_of(seen: Seen) -> str:
    """Write a short summary that depends on the turns alone: a digest, and the first paths in them."""
    turns = str(seen.messages[-1]["content"])
    paths = list(dict.fromkeys(re.findall(r"[\w./-]*/[\w-]+\.\w+", turns)))[:5]
    return "\n".join(
        ["## Goal", f"- request {digest(turns)}", "## Files touched", *(f"- {path}" for path in paths or ["none"])]
    )


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def tokens_of(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)
