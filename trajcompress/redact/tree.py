"""Redacting JSON-like values: messages, tool-call arguments, whole rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from msgspec import Struct, field

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import Proof, is_flag, secret_of
from trajcompress.redact.known import NONE_KNOWN, Known
from trajcompress.redact.row import redact_turns
from trajcompress.redact.rules.headers import cookies, credentials
from trajcompress.redact.spans import MARK, mark, with_digest
from trajcompress.redact.text import Redacted, redact
from trajcompress.redact.values import Style, is_secret

_LEAST_NUMBER = 1000  # a password of digits; smaller numbers are counts and flags
_LABELS = ("name", "Name", "key", "Key", "element", "selector", "label", "field", "target", "locator", "placeholder")
_LABELLED = frozenset(
    {"value", "Value", "text", "content", "input", "data", "keys"}
)  # {"name": "DB_PASSWORD", "value": ...}
_LONGEST_LABEL = 80
_LONGEST_COMMAND = 4096
_WORDS = late_re(r"[\w.-]+")


_OF_IDS = late_re(r"(?:\w+_)?(?:id|uuid)")
_UNSAID = frozenset({"role", "from", "type", "id", "tool_call_id"})  # of a message
_LEAST_KEY = 16  # characters of a key that may be a secret itself


class RedactedValue(Struct, frozen=True):
    """A value without its secrets; ``count`` of them were found, ``kinds`` says how many of each kind."""

    value: Any
    count: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)


class RedactedRow(Struct, frozen=True):
    """The columns of a row, and its messages, without their secrets; ``count`` of them were found."""

    row: dict[str, Any]
    messages: list[Any]
    count: int


def redact_value(value: Any) -> RedactedValue:
    """Redact every string in a JSON-like value, those under a telling key also by that key.

    Keys stay as they are, but for those that are secrets themselves. Ids get marks with a digest, and so stay
    distinct. The value is not changed in place: what holds no secret is returned as it is.

    Raises:
        RecursionError: the value is nested deeper than Python's recursion limit.
    """
    walk = _Walk(NONE_KNOWN)
    clean = walk(value)
    return RedactedValue(clean, walk.kinds.total(), walk.kinds)


def redact_row(row: dict[str, Any], messages_field: str, messages: list[Any]) -> RedactedRow:
    """Redact a whole row: what one message or column tells to be a secret is taken out of all others.

    Args:
        row: its columns.
        messages_field: the column that holds the messages, which stays as it is.
        messages: what it holds.

    Raises:
        RecursionError: a value is nested deeper than Python's recursion limit.
    """
    columns = {name: value for name, value in row.items() if name != messages_field}
    walk = _Walk(NONE_KNOWN)
    clean = walk(messages), walk(columns)
    _, known = redact_turns([list(_strings(message)) for message in messages], walk.secrets)
    if known:
        walk = _Walk(known)
        clean = walk(messages), walk(columns)
    if not walk.kinds:
        return RedactedRow(row, messages, 0)
    return RedactedRow({name: clean[1].get(name, row[name]) for name in row}, clean[0], walk.kinds.total())


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        items = (item for key, item in value.items() if key not in _UNSAID) if isinstance(value, dict) else value
        for item in items:
            yield from _strings(item)


class _Walk:
    """Redacts values; gathers what it found."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self.kinds: Counter[str] = Counter()
        self.secrets: list[tuple[str, str]] = []

    def __call__(self, value: Any, name: str = "") -> Any:
        """Return the value without its secrets, itself where it has none; ``name`` is the key that holds it."""
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, int):
            return self._number(value, name)
        if isinstance(value, dict):
            return self._fields(value)
        if isinstance(value, list):
            return self._items(value, name)
        return value

    def _fields(self, value: dict[Any, Any]) -> dict[Any, Any]:
        label = _label(value) if _LABELLED & value.keys() else ""
        fields = {
            self._key(key): self(item, label if key in _LABELLED and _follows(item, label) else str(key))
            for key, item in value.items()
        }
        same = fields.keys() == value.keys() and all(fields[key] is item for key, item in value.items())
        return value if same else fields

    def _key(self, key: Any) -> Any:
        if not isinstance(key, str) or len(key) < _LEAST_KEY:
            return key
        found = redact(key, self._known)
        self.kinds.update(found.kinds)
        return with_digest(found.text, key) if found.count else key

    def _items(self, value: list[Any], name: str) -> list[Any]:
        items = [
            self(item, before if _is_flag(before) and not _is_flag(item) else name)
            for before, item in pairwise(["", *value])
        ]
        if len(items) > 1 and all(isinstance(item, str) for item in items):
            items = self._arguments(items)
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value

    def _arguments(self, items: list[str]) -> list[str]:
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
        self._found(found)
        return together

    def _text(self, value: str, name: str) -> str:
        found = redact(value, self._known)
        if found.count == 0 and (secret := secret_of(name)) and not MARK.search(value):
            named = _named(value, secret.kind, secret.proof)
            if named is not None:
                self.kinds[secret.kind] += 1
                self.secrets.append((value, secret.kind))
                return named
        self._found(found)
        if not found.count:
            return value
        return with_digest(found.text, value) if _OF_IDS.fullmatch(name) else found.text

    def _number(self, value: int, name: str) -> int | str:
        secret = secret_of(name)
        if secret and secret.proof is Proof.ANY and not isinstance(value, bool) and abs(value) >= _LEAST_NUMBER:
            self.kinds[secret.kind] += 1
            return mark(secret.kind)
        return value

    def _found(self, found: Redacted) -> None:
        self.kinds.update(found.kinds)
        self.secrets += found.secrets


def _label(fields: Mapping[Any, Any]) -> str:
    """The name of a secret that the fields beside a value promise, empty where they promise none."""
    labels = (fields.get(key) for key in _LABELS)
    unmarked = (MARK.sub("", label[:_LONGEST_LABEL]) for label in labels if isinstance(label, str))
    words = (word for label in unmarked for word in _WORDS.findall(label))
    return next(filter(secret_of, words), "")


def _follows(value: Any, label: str) -> bool:
    """Whether a value is the secret of its label: beside one that is no environment variable may be any word."""
    secret = secret_of(label)
    if secret is None or label.isupper() or secret.proof in {Proof.HEADER, Proof.COOKIES}:
        return secret is not None
    return isinstance(value, str) and is_secret(value, secret.proof, Style.ASIDE)


def _is_flag(argument: Any) -> bool:
    return isinstance(argument, str) and is_flag(argument) and " " not in argument


def _named(value: str, kind: str, proof: Proof) -> str | None:
    """A string under a telling key with a mark for the secret it is; None where it is none."""
    if proof in {Proof.HEADER, Proof.COOKIES}:
        span = (credentials if proof is Proof.HEADER else cookies)(value, 0)
        return f"{value[: span.start]}{span.mark}{value[span.end :]}" if span else None
    return mark(kind) if kind != "signature" and is_secret(value, proof, Style.QUOTED) else None
