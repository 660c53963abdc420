"""Whether what JSON holds under ``error`` says that something failed: it may be a count, a path, a type, or none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trajcompress.outcomes.compact import is_empty
from trajcompress.outcomes.text import one_line
from trajcompress.processes.late_patterns import late_re

ERRORS = ("error", "errors", "exception")
"""Under which a result has why it failed."""

WHY = late_re(
    r"(?:^|_|[a-z](?=[A-Z]))(?:message|msg|details?|description|reason|issue|errors?|cause|fault)$", re.IGNORECASE
)
"""Keys of why something failed."""

FAILING = late_re(
    r"err(?:or|\b|_)|fail|exception|fault\b|invalid|\bno[t_]?\b|_not_|not[A-Z_]|n't\b|\bun(?:able|auth|avail|known"
    r"|expected|process|reach|support)|denied|forbid|refus|reject|declin|time[ds]?[ _-]?out|missing|limit|exceed"
    r"|expire|conflict|already|abort|\bbad[ _]|cannot|\bmust\b|required|wrong|corrupt|crash|killed|panic|fatal"
    r"|\boom\b|quota|too many|insufficient|duplicate|\bbusy|blocked|locked|violat|illegal|malformed|mismatch"
    r"|incorrect",
    re.IGNORECASE,
)
"""Words by which a text says that something failed."""

_READ_CHARS = 300
_LEVELS = 5  # that an error is nested
_NOTHING = late_re(
    r"\W{0,9}(?:no(?:ne|thing)?|nil|null|n/?a|ok(?:ay)?|success\w{0,9}|succeeded|false|true|pass(?:ed)?|clean|undefined|成功"
    r"|(?:no|0|zero|without) (?:errors?|exceptions?|issues?|problems?)(?: \w{1,20}){0,3})?\W{0,9}",
    re.IGNORECASE,
)
_PATH = late_re(
    r"(?:[a-z]{2,9}://|[~.]{0,2}/|[A-Za-z]:\\)\S*|\S+\.(?:log|txt|html?|json|ya?ml|csv|png|svg|php|tpl|ejs|vue)"
    r"|#[0-9a-fA-F]{3,8}"
)
_TYPE = late_re(
    r"(?:(?:tiny|small|medium|big|long)?(?:int|text|blob)(?:eger)?\d{0,3}|str(?:ing)?|uint\d{0,3}|n?(?:var)?char"
    r"|bool(?:ean)?|float\d{0,3}|double|decimal|numeric|number|object|array|list|dict|map|any|jsonb?|date(?:time)?|time"
    r"|timestamp\w{0,3}|uuid|bytes|binary|enum|mixed|void)(?:\([\d, ]{1,12}\))?(?:\[\]|\?)?"
    r"(?: ?\| ?\w{1,20}| (?:not null|null|default|primary|references|with(?:out)? time)\b.*)*",
    re.IGNORECASE,
)
_WIDE = late_re(r"[^\x00-\x7f]{2}")  # scripts that need no spaces
_WORD = late_re(r"[^\W\d_]{3}|[^\x00-\x7f]{2}")
_CODE = late_re(r"[A-Za-z]{1,8}[-_]?\d{2,9}|[A-Z][A-Z_\d]{3,60}|(?:\w{1,60}\.)?\w{0,60}(?:Error|Exception|Fault)")
_CODES = frozenset({"code", "errorcode", "status", "statuscode", "errno", "errcode", "httpstatuscode", "httpcode"})
_TITLES = frozenset({"type", "title", "code", "errorcode", "kind"})
_DONE_FROM, _DONE_TO = 200, 299  # as HTTP has them
_OF_FAILURE = frozenset({"status", "code", "success", "ok", "timestamp", "statuscode", "message", "msg"})
_CONTEXT = frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "id request requested asked input params parameters args arguments query path method url uri instance"
        " documentationurl docs help helpurl link links stack stacktrace traceback trace version jsonrpc time date"
        " httpstatuscode httpcode errorcode errno errcode details detail reason"
    ).split()
)
_STEP_TYPE = late_re(r"(?:kind|type) \w{0,40}_(?:observation|result|output|failure)")
_IDS = ("requestid", "traceid", "debugid", "correlationid")


def plain_key(key: str) -> str:
    """Return a key as it reads in any of its spellings.

    >>> plain_key("statusCode") == plain_key("status_code")
    True
    """
    return key.lower().replace("_", "").replace("-", "")


def is_number(value: Any) -> bool:
    """Whether a value is a number: a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def reads_as_error(text: str, *, alone: bool = False) -> bool:
    """Whether a text is a message of an error or its code.

    Args:
        text: what stands under ``error``.
        alone: nothing but it is there to be told, so that a plain word is one as well.

    >>> [reads_as_error(text) for text in ("no such user", "E404", "none", "success", "/var/log/error.log", "text")]
    [True, True, False, False, False, False]
    """
    text = one_line(text[:_READ_CHARS])
    if _NOTHING.fullmatch(text) or _PATH.fullmatch(text) or _TYPE.fullmatch(text):
        return False
    if _CODE.fullmatch(text):
        return True
    if _WORD.search(text) is None:
        return False
    return alone or " " in text or any(each.search(text) for each in (FAILING, _WIDE))


def is_error(value: Any, *, alone: bool = False, levels: int = _LEVELS) -> bool:
    """Whether a value says that something failed, and why: counts, zeros, files and types are data."""
    if isinstance(value, str):
        return reads_as_error(value, alone=alone)
    if isinstance(value, list):
        return levels > 0 and any(
            is_error(item, alone=alone, levels=levels - 1) for item in value if isinstance(item, str | dict)
        )
    return isinstance(value, dict) and levels > 0 and _is_error(value, levels - 1)


def _is_error(held: Mapping[str, Any], levels: int) -> bool:
    """Whether an object is an error: it has a code that is not 0, or a message; or it has one for each field."""
    codes = [item for key, item in held.items() if plain_key(key) in _CODES and is_number(item)]
    if any(code == 0 or _DONE_FROM <= code <= _DONE_TO for code in codes):
        return False
    if any(isinstance(held.get(key), str) and _TYPE.fullmatch(held[key][:_READ_CHARS]) for key in ("type", "Type")):
        return False  # a parameter, as schemas have them
    told = {key: item for key, item in held.items() if WHY.search(key) or plain_key(key) in _TITLES}
    if codes or any(is_error(item, alone=True, levels=levels) for item in told.values()):
        return True
    return bool(held) and all(
        isinstance(each, str | list) and is_error(each, levels=levels) for each in held.values()
    )


def beside_error(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a result holds besides why it failed and what was asked."""
    held: dict[str, Any] = {}
    for key, item in data.items():
        plain = plain_key(key)
        of_error = plain in _OF_FAILURE or plain in _CONTEXT or plain.endswith(_IDS) or key in ERRORS
        says_why = isinstance(item, str) and (WHY.search(key) or _STEP_TYPE.fullmatch(f"{key} {item[:_READ_CHARS]}"))
        if not (is_empty(item) or of_error or says_why):
            held[key] = item
    return held


def error_in(data: Mapping[str, Any]) -> Any:
    """Return what an object says of its failure: an error, or a number of one where all else belongs to that."""
    alone = not beside_error(data)
    for key in ERRORS:
        value = data.get(key)
        if is_error(value, alone=alone):
            return value
        if alone and key != "errors" and (value is True or (is_number(value) and value)):
            return value
    return None
