"""Rows of JSON lines and of JSON files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trajcompress.dataset.json_messages import TURN_KEYS, UNFINISHED, column_of_messages, row_of_messages
from trajcompress.dataset.json_split import BracketScanner, ValueSplitter
from trajcompress.dataset.json_text import JsonTextError, parse_json, parse_row
from trajcompress.dataset.packed import unnamed_compression
from trajcompress.dataset.rows import CutText, Row, RowText, Source, Unreadable, raw_text
from trajcompress.dataset.streams import BOM, ByteStream, Progress, read_from

_WRAPPERS = frozenset({"data", "dataset", "examples", "instances", "items", "records", "rows", "samples", "train"})
_LONGEST_KEY = 256
_OPEN_LIST = ord("[")
_COMMA = ord(",")


def read_jsonl(source: Source, progress: Progress | None = None, first: int = 0) -> Iterator[Row | Unreadable]:
    """Read one row from each line that is not blank; rows before row ``first`` are passed over unparsed.

    Raises:
        InputError: the file cannot be opened or read.
    """
    if (unnamed := unnamed_compression(source)) is not None:
        if first == 0:
            yield unnamed
        return
    stream = ByteStream(source, progress)
    index = 0
    rest: Unreadable | None = None
    for line, raw in enumerate(_lines(stream), start=1):
        if not raw.strip():
            continue
        if index >= first or stream.damage:
            row = parse_row(_without_return(raw), source=source.name, index=index, line=line)
            if stream.damage and not isinstance(row, Row):
                # Only the last line comes after the damage is known: what was read of it before the break.
                rest = Unreadable(source.name, index, line, *stream.damage, raw_text(raw))
                break
            if index >= first:
                yield row
        index += 1
    else:
        if stream.damage:
            rest = Unreadable(source.name, index, None, *stream.damage, "")
    if rest and rest.index >= first:
        yield rest


class LineRange:
    """The lines that begin within a range of bytes of an uncompressed file of JSON lines.

    Ranges that cover a file give each of its rows once, wherever they are cut: no more is read than the range's own
    bytes, and the end of its last line. ``lines`` is how many there are, once :meth:`rows` has come to its end.
    """

    def __init__(self, source: Source, begin: int, end: int) -> None:
        """Take the file, the first byte of the range, and the first behind it."""
        self.lines = 0
        self._source = source
        self._begin = begin
        self._end = end

    def rows(self, *, index: int = 0, line: int = 0, progress: Progress | None = None) -> Iterator[Row | Unreadable]:
        """Read its rows, ``index`` being the number of rows before it, and ``line`` that of lines.

        ``progress`` is called now and then with up to which byte of the file has been read.

        Raises:
            InputError: the file cannot be opened or read.
        """
        number = line
        for number, raw in enumerate(
            _lines(_of_range(self._source, self._begin, self._end, progress)), start=line + 1
        ):
            if raw.strip():
                yield parse_row(_without_return(raw), source=self._source.name, index=index, line=number)
                index += 1
        self.lines = number - line

    def count(self) -> tuple[int, int]:
        """Return how many rows and how many lines there are, at the speed at which line ends are found."""
        rows = lines = 0
        has_text = has_bytes = False  # of the line that has not ended yet
        for chunk in _of_range(self._source, self._begin, self._end):
            *ends, rest = chunk.split(b"\n")
            for text in ends:
                rows += has_text or _has_text(text)
                has_text = has_bytes = False
            lines += len(ends)
            has_text, has_bytes = has_text or _has_text(rest), has_bytes or bool(rest)
        return rows + has_text, lines + has_bytes


def _has_text(line: bytes) -> bool:
    return bool(line) and not line.isspace()


def _of_range(source: Source, begin: int, end: int, progress: Progress | None = None) -> Iterator[bytes]:
    """Give the lines that begin within the range: of one that reaches into it nothing, of one that reaches out all.

    The byte before the range tells whether a line begins with it.
    """
    if begin >= end:
        return
    at = max(0, begin - 1)
    within = begin == 0
    for read in read_from(source, at, progress):
        at += len(read)
        chunk = read.removeprefix(BOM) if at == len(read) else read
        if not within:
            if not (cut := chunk.find(b"\n") + 1):
                if at >= end:
                    return
                continue
            chunk = chunk[cut:]
            if at - len(chunk) >= end:
                return
            within = True
        start = at - len(chunk)
        if at >= end and (last := chunk.find(b"\n", max(0, end - 1 - start)) + 1):
            yield chunk[:last]
            return
        if chunk:
            yield chunk


def read_json(source: Source, progress: Progress | None = None) -> Iterator[Row | Unreadable]:
    """Read the rows of a JSON file, one at a time however the file holds them.

    That is: an array of rows; an object with the rows in its only list, under a usual name such as ``data`` or
    ``rows``; JSON lines in spite of the file's name; an array of messages, which is one row; or else each object at
    the top level is a row.

    Raises:
        InputError: the file cannot be opened or read.
    """
    if (unnamed := unnamed_compression(source)) is not None:
        yield unnamed
        return
    if _holds_lines(_text(ByteStream(source))):
        yield from read_jsonl(source, progress)
        return
    stream = ByteStream(source, progress)
    if (column := column_of_messages(_text(ByteStream(source)))) is not None:
        text = RowText()
        for part in _text(stream):
            text.add(part)
        yield row_of_messages(source, text.take(), column, stream.damage)
        return
    wrapped = _wrapped_rows(source)
    chunks = _text(stream) if wrapped is None else _skipping(_text(stream), wrapped)
    values = ValueSplitter(chunks, first_array_only=wrapped is not None)
    index = -1
    for index, raw in enumerate(values):
        yield parse_row(raw, source=source.name, index=index)
    if stream.damage:
        yield Unreadable(source.name, index + 1, None, *stream.damage, raw_text(values.tail))
    elif values.unfinished:
        yield Unreadable(source.name, index + 1, None, "truncated_input", UNFINISHED, raw_text(values.tail))


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    text = RowText()
    for chunk in chunks:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            text.add(end)
            yield text.take()
        text.add(rest)
    if last := text.take():
        yield last


def _without_return(raw: bytes) -> bytes:
    return raw if isinstance(raw, CutText) else raw.removesuffix(b"\r")


def _text(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks from the first byte on that is not white space."""
    rest = iter(chunks)
    for chunk in rest:
        if start := chunk.lstrip():
            yield start
            yield from rest


def _skipping(chunks: Iterable[bytes], count: int) -> Iterator[bytes]:
    for chunk in chunks:
        if count < len(chunk):
            yield chunk[count:]
        count = max(0, count - len(chunk))


def _holds_lines(text: Iterator[bytes]) -> bool:
    """Whether text is JSON lines: its first line is an object, or breaks off in a string, and others follow."""
    scanner = BracketScanner()
    first_line_ended = False
    for position, chunk in enumerate(text):
        if position == 0 and not chunk.startswith(b"{"):
            return False
        if first_line_ended:
            if chunk.strip():
                return True
            continue
        line, newline, rest = chunk.partition(b"\n")
        for _ in scanner.scan(line):
            pass
        if newline:
            first_line_ended = True
            if scanner.depth > 0 and not scanner.in_string:
                return False
            if rest.strip():
                return True
    return False


def _wrapped_rows(source: Source) -> int | None:
    """Where the array of rows begins in an object that only wraps it; None where the object is itself a row."""
    lists = _lists_of_object(_text(ByteStream(source)))
    if len(lists) != 1:
        return None
    ((key, offset),) = lists
    if key not in _WRAPPERS:
        return None
    elements = ValueSplitter(_skipping(_text(ByteStream(source)), offset), first_array_only=True)
    first = _parse_or_none(next(iter(elements), b""))
    return offset if isinstance(first, dict) and first.keys().isdisjoint(TURN_KEYS) else None


def _lists_of_object(text: Iterator[bytes]) -> list[tuple[str, int]]:
    """The key and the offset of each array among the members of the one object that text is."""
    scanner = BracketScanner()
    lists: list[tuple[str, int]] = []
    done = 0
    member = b""
    for chunk in text:
        if done == 0 and not chunk.startswith(b"{"):
            return []
        begin = 0
        for at, byte in scanner.scan(chunk):
            if scanner.depth == 0:
                alone = not chunk[at + 1 :].strip() and not any(map(bytes.strip, text))
                return lists if alone else []
            if byte == _OPEN_LIST:
                key = _parse_or_none((member + chunk[begin:at]).strip().removesuffix(b":"))
                lists.append((str(key), done + at))
            if byte == _COMMA or scanner.base == 0:
                member, begin = b"", at + 1
            scanner.base = 1
        member = (member + chunk[begin:])[:_LONGEST_KEY]
        done += len(chunk)
    return lists


def _parse_or_none(raw: bytes) -> object:
    try:
        return parse_json(raw)
    except JsonTextError:
        return None
