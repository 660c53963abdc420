"""What a run has to know of the tokenizer that its rows are counted by, be it loaded here or elsewhere."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trajcompress.settings import Settings
from trajcompress.tokens.counter import TokenCounter


class CounterFacts(Struct, frozen=True):
    """What ``run.json`` says of the tokenizer, the form of rows and the engine, and what is said of it to people."""

    tokenizer: dict[str, Any]
    form: dict[str, Any] | None
    engine: str
    notes: tuple[str, ...]


def facts_of(counter: TokenCounter, settings: Settings) -> CounterFacts:
    """Return the facts of a counter."""
    tokenizer = counter.tokenizer
    described = {
        "name": tokenizer.name,
        "fingerprint": tokenizer.fingerprint,
        "chat_template": tokenizer.has_template,
        "template_origin": tokenizer.template_origin if tokenizer.has_template else None,
        "template_digest": tokenizer.template_digest,
        "trainer_template": tokenizer.trainer_template,
        "caveat": tokenizer.caveat,
    }
    form = {"arguments": counter.arguments_wanted()} if settings.compression.form == "target" else None
    return CounterFacts(described, form, counter.engine, tuple(tokenizer.notes))
