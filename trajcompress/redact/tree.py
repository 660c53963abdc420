"""Redacting JSON-like values: messages, tool-call arguments, whole rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from trajcompress.redact.headers import cookies, credentials
from trajcompress.redact.keys import Proof, is_flag, secret_of
from trajcompress.redact.spans import mark
from trajcompress.redact.text import redact
from trajcompress.redact.values import Style, is_secret

_LEAST_NUMBER = 1000  # a password of digits; smaller numbers are counts and flags
_LABELS = ("name", "Name", "key", "Key", "element", "selector", "label", "field")
_LABELLED = frozenset({"value", "Value", "text"})  # {"name": "DB_PASSWORD", "value": ...}
_LONGEST_LABEL = 80
_LONGEST_COMMAND = 4096
_WORDS = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class RedactedValue:
    """A value without its secrets; ``count`` of them were found, ``kinds`` says how many of each kind."""

    value: Any
    count: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)


def redact_value(value: Any) -> RedactedValue:
    """Redact every string in a JSON-like value, those under a telling key also by that key.

    Keys stay as they are. The value is not changed in place: what holds no secret is returned as it is.

    Raises:
        RecursionError: the value is nested deeper than Python's recursion limit.
    """
    kinds: Counter[str] = Counter()
    clean = _walk(value, "", kinds)
    return RedactedValue(clean, kinds.total(), kinds)


def _walk(value: Any, name: str, kinds: Counter[str]) -> Any:
    """The value without its secrets, itself where it has none; ``name`` is the key that holds it."""
    if isinstance(value, str | int):
        return _leaf(value, name, kinds)
    if isinstance(value, dict):
        label = _label(value) if _LABELLED & value.keys() else ""
        fields = {
            key: _walk(item, label if key in _LABELLED and _follows(item, label) else str(key), kinds)
            for key, item in value.items()
        }
        return fields if any(fields[key] is not item for key, item in value.items()) else value
    if isinstance(value, list):
        items = [
            _walk(item, before if _is_flag(before) and not _is_flag(item) else name, kinds)
            for before, item in pairwise(["", *value])
        ]
        if len(items) > 1 and all(isinstance(item, str) for item in items):
            items = _arguments(items, kinds)
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def _label(fields: Mapping[Any, Any]) -> str:
    """The name of a secret that the fields beside a value promise, empty where they promise none."""
    labels = (fields.get(key) for key in _LABELS)
    words = (word for label in labels if isinstance(label, str) for word in _WORDS.findall(label[:_LONGEST_LABEL]))
    return next(filter(secret_of, words), "")


def _follows(value: Any, label: str) -> bool:
    """Whether a value is the secret of its label: beside one that is no environment variable may be any word."""
    secret = secret_of(label)
    if secret is None or label.isupper() or secret.proof in {Proof.HEADER, Proof.COOKIES}:
        return secret is not None
    return isinstance(value, str) and is_secret(value, secret.proof, Style.ASIDE)


def _arguments(items: list[str], kinds: Counter[str]) -> list[str]:
    """The arguments of a command without the secrets that they are only together."""
    if sum(map(len, items)) > _LONGEST_COMMAND:
        return items
    found = redact(json.dumps(items, ensure_ascii=False))
    if not found.count:
        return items
    try:
        together = json.loads(found.text)
    except ValueError:  # a mark took a quote with it
        return items
    if not isinstance(together, list) or [*map(type, together)] != [*map(type, items)]:
        return items
    kinds.update(found.kinds)
    return together


def _is_flag(argument: Any) -> bool:
    return isinstance(argument, str) and is_flag(argument) and " " not in argument


def _leaf(value: str | int, name: str, kinds: Counter[str]) -> str | int:
    secret = secret_of(name)
    if not isinstance(value, str):
        if secret and secret.proof is Proof.ANY and not isinstance(value, bool) and abs(value) >= _LEAST_NUMBER:
            kinds[secret.kind] += 1
            return mark(secret.kind)
        return value
    found = redact(value)
    if found.count == 0 and secret:
        named = _named(value, secret.kind, secret.proof)
        if named is not None:
            kinds[secret.kind] += 1
            return named
    kinds.update(found.kinds)
    return found.text if found.count else value


def _named(value: str, kind: str, proof: Proof) -> str | None:
    """A string under a telling key with a mark for the secret it is; None where it is none."""
    if proof in {Proof.HEADER, Proof.COOKIES}:
        span = (credentials if proof is Proof.HEADER else cookies)(value, 0)
        return f"{value[: span.start]}{span.mark}{value[span.end :]}" if span else None
    return mark(kind) if kind != "signature" and is_secret(value, proof, Style.QUOTED) else None
