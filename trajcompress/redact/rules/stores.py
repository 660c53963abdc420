"""What is secret by its place, whatever its name: the data of a Kubernetes Secret, of Vault."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.context import answer_of, answers_to
from trajcompress.redact.keys import Proof
from trajcompress.redact.known import Line
from trajcompress.redact.spans import Span
from trajcompress.redact.values import Style, is_placeholder, is_secret

_LEASE = "lease_duration"  # of what Vault prints, which has data, too
_DEPTHS = ("", "\\", "\\\\\\")  # of JSON in JSON
STORES = (
    *(b"kind: secret", b"== data ==", _LEASE.encode(), b"recovery codes", b"backup codes", b"scratch codes"),
    *(f'kind{slashes}":{blank}{slashes}"secret'.encode() for slashes in _DEPTHS for blank in ("", " ")),
)
"""What a text is searched for that may be part of a store."""
ASKS_STORES = (b"get secret",)
"""What a text is searched for that may ask for what one holds, and nothing else."""

_BREAK = r"(?:\r?\n|\\+r\\+n|\\+n)"
_QUOTE = r"\\*[\"']"
_NAME = rf"(?:{_QUOTE})?(?P<key>[\w.-]{{1,128}})(?:{_QUOTE})?:[ \t]*"
_REST = r"(?:(?!\\+n)[^\n])*"  # of a line
_NUMBER = r"(?:[ ]*\d{1,6}(?:\t|\\+t))?+"  # as cat -n prints it
_MAP = late_re(rf"(?:(?<![\w.-])|(?<=\\[nrt]))(?P<name>data|stringData)(?:{_QUOTE})?:[ \t]*(?P<json>\{{)?")
_BEFORE_MAP = late_re(rf"(?:\A|{_BREAK}|[\"'{{,\s]){_NUMBER}(?P<indent>[ \t-]*)(?:{_QUOTE})?\Z")
_IN_YAML = late_re(
    rf"{_BREAK}{_NUMBER}(?P<indent>[ \t]+)(?:{_NAME}(?:{_QUOTE})?(?P<value>[^\s\"'\\]{{1,40000}}))?{_REST}"
)
_IN_JSON = late_re(rf"(?:[\s,]|\\+[nrt])*{_NAME}{_QUOTE}(?P<value>[^\s\"'\\]{{0,40000}}){_QUOTE}")
_ROW = late_re(rf"{_BREAK}(?P<key>[\w.-]{{1,128}}) {{2,60}}(?P<value>[^\s\"'\\]{{1,512}}) *(?={_BREAK}|[\"\r]|\Z)")
_HEADER = late_re(rf" ?=+{_BREAK}Key +Value *{_BREAK}-+ +-+ *(?={_BREAK})")
_TITLE = late_re(rf"(?:(?:(?!\\+n)[^\n]){{0,120}}[:)*])?[ \t]*(?={_BREAK})")
_CODE = late_re(
    rf"(?:{_BREAK}){{1,3}}[ \t]*(?:[-*•]|\d{{1,2}}[.)])?[ \t]*(?=[\w-]{{0,12}}\d)"
    rf"(?P<code>(?:[A-Za-z0-9]{{4,12}}-){{1,3}}[A-Za-z0-9]{{4,12}}|[A-Za-z0-9]{{8,16}})[ \t]*(?={_BREAK}|\\*[\"']|\Z)"
)
_PUBLIC = late_re(
    r"(?:.*[_.-])?(?:user(?:name)?|login|host(?:name)?|port|namespace|region|name|db|database|email|type|ttl|endpoint"
    r"|version|scheme|crt|cert|pub|bucket|env|level)",
    re.IGNORECASE,
)
"""Names of what stands beside secrets, and is none."""
_ASKS = late_re(r"\bget\s+secrets?\b[^\n]*(?:jsonpath|template)")
_LINE = late_re(r"^(?P<key>[A-Za-z_.][\w.-]{0,127})[:=][ \t]?(?P<value>[^\s\"']{3,4000})$", re.MULTILINE)
_ITEM = late_re(rf"{_NAME}{_QUOTE}(?P<value>[\w+/=-]{{4,40000}}){_QUOTE}")
_KIND, _VERSION = "kind", "apiVersion"  # of a manifest; the version begins it
_OTHERS = (_KIND, _LEASE, "\n---", "\\n---")  # what begins or ends another manifest, or is none
_WINDOW = 20_000  # characters on either side of its kind in which a manifest's data stands
_LONGEST_INDENT = 60
_LEAST_TEXT = 3
_LONGEST_STAND_IN = 40
_LEAST_BINARY = 16
_NEAR = 500  # characters after a lease in which its data begins
_MOST = 200


def store_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets of stores in a text; ``places`` are where ``STORES`` start and end."""
    read: dict[str, int] = {}  # up to where, for stores of each sort: what is none of one may be of another
    for start, end in places:
        sort = text[start].lower()
        done = read.get(sort, 0)
        if start < done:
            continue
        if sort == "=":
            yield from _rows(text, end)
        elif sort == "k":
            begin, stop = _manifest(text, start, end)
            for at, value, is_held in _held(text, (max(begin, done), stop), start):
                read[sort] = at + len(value)
                if is_held:
                    yield Span(at, at + len(value), "secret")
        else:
            find = _of_vault if sort == "l" else _codes
            for span in find(text, end):
                read[sort] = span.end
                yield span


def stored_later(texts: Sequence[str], places: Iterable[int]) -> Iterator[Line]:
    """The lines with secrets that answer who asks a Kubernetes Secret for its data alone.

    Args:
        texts: what each turn says and calls.
        places: the turns that have one of ``ASKS_STORES``.
    """
    for text in answers_to(_ASKS, texts, places):
        answer = answer_of(text)
        for found in islice(chain(_ITEM.finditer(text), _ITEM.finditer(answer), _LINE.finditer(answer)), _MOST):
            if not _PUBLIC.fullmatch(found["key"]) and _is_held(found["value"], encoded=found.re is _ITEM):
                start, end = found.span("value")
                span = Span(start - found.start(), end - found.start(), "secret")
                yield Line(found[0], (span,))


def _held(text: str, manifest: tuple[int, int], kind: int) -> Iterator[tuple[int, str, bool]]:
    """Where the values of a Secret begin, those, and whether they are secret; after its kind may stand another's.

    Whose data it is that stands between two kinds is not always to be told: then either may be the Secret's.
    """
    begin, stop = manifest
    neighbour = text.startswith((_KIND, _LEASE), begin)
    found_before = False
    for found in _MAP.finditer(text, begin, stop):
        if found.start() > kind and found_before:
            return
        is_own = found.start() < kind and (not neighbour or text.find(_VERSION, begin, found.start()) >= 0)
        for key, at, value in _entries(text, found, stop):
            found_before |= is_own
            yield at, value, not _PUBLIC.fullmatch(key) and _is_held(value, encoded=found["name"] == "data")


def _manifest(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the manifest begins and ends that tells its kind there: at its neighbours at the latest."""
    begin, stop = max(0, start - _WINDOW), min(len(text), end + _WINDOW)
    for other in _OTHERS:
        begin = max(begin, text.rfind(other, begin, start))
        after = text.find(other, end, stop)
        stop = after if after >= 0 else stop
    return begin, stop


def _entries(text: str, found: re.Match[str], stop: int) -> Iterator[tuple[str, int, str]]:
    """The names in a map, and where their values begin, and those."""
    before = _BEFORE_MAP.search(text, max(0, found.start() - _LONGEST_INDENT), found.start())
    if before is None:
        return
    pattern = _IN_JSON if found["json"] else _IN_YAML
    at = found.end()
    while entry := pattern.match(text, at, stop):
        if not found["json"] and len(entry["indent"]) <= len(before["indent"].replace("-", " ")):
            return
        if entry["value"]:
            yield entry["key"], entry.start("value"), entry["value"]
        at = entry.end()


def _is_held(value: str, *, encoded: bool) -> bool:
    """Whether what a Secret holds is one: in Base64, or as it is."""
    if not encoded:
        return is_secret(value, Proof.ANY, Style.BARE)
    try:
        data = base64.b64decode(value, validate=True)
    except ValueError:
        return False
    try:
        text = data.decode().strip()
    except UnicodeDecodeError:
        return len(data) >= _LEAST_BINARY
    return len(text) >= _LONGEST_STAND_IN or "\n" in text or (len(text) >= _LEAST_TEXT and not is_placeholder(text))


def _of_vault(text: str, at: int) -> Iterator[Span]:
    """The secrets in the JSON that Vault prints: in the innermost map of data."""
    for found in islice(_MAP.finditer(text, at, at + _NEAR), 2):
        for key, start, value in _entries(text, found, at + _WINDOW):
            if not _PUBLIC.fullmatch(key) and _is_held(value, encoded=False):
                yield Span(start, start + len(value), "secret")


def _codes(text: str, at: int) -> Iterator[Span]:
    """The codes below a title, each of which stands for a second factor once."""
    title = _TITLE.match(text, at)
    at = title.end() if title else len(text)
    while row := _CODE.match(text, at):
        at = row.end()
        yield Span(*row.span("code"), "secret")


def _rows(text: str, at: int) -> Iterator[Span]:
    """The secrets of the table that Vault prints."""
    header = _HEADER.match(text, at)
    at = header.end() if header else len(text)
    while row := _ROW.match(text, at):
        at = row.end()
        if not _PUBLIC.fullmatch(row["key"]) and is_secret(row["value"], Proof.ANY, Style.BARE):
            yield Span(*row.span("value"), "secret")
