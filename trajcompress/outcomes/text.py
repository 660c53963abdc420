"""Text in small steps: clip, make harmless, shorten, split into sentences.

All patterns are linear (bounded or possessive), and what is scanned is clipped first, so a turn of fifty megabytes
costs little more than one of twenty kilobytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX

HEAD_CHARS = 8_000
TAIL_CHARS = 4_000
_NEXT_LINE, _NEXT_SENTENCE = "; ", ". "
_BREAKS = (";", ":", ",", "{", "(", "[")
LEAST_CHARS = 24
"""No piece of a line is cut shorter."""

NO_OUTPUT = "no output"
"""What is told where nothing was printed."""

TRACEBACK = "Traceback (most recent call last)"
_OTHER_HEAD = late_re(  # as interpreters that others embed write it: frames stand below
    r"\bTraceback(?! \(most recent call last\))[^\n]{0,60}:[ \t]{0,8}(?=\n[ \t]{0,8}"
    r"File \"[^\"\n]{1,300}\", line \d)"
)
_ARRAY = late_re(r"(<\w{1,40}Array>)\n(?=\[)")
EMPTY = "None", "NaN", "NaT", "<NA>", "nan", "null", "NULL"
_EMPTY_ROW = late_re(rf"(?:[^\n:]{{0,24}}:)?\s{{0,40}}(?:{'|'.join(EMPTY)})(?: …)?\s{{0,20}}")
_EMPTY_CELLS = late_re(
    rf"(?<![\w.])({'|'.join(EMPTY)})(?:(?=[ \t|])[ \t]{{0,40}}+(?:\|[ \t]{{0,40}}+)?\1){{2,}}+(?![\w.])"
)

_PREFIX = SUMMARY_PREFIX.rstrip(":")
# A summary becomes a user turn: each of these would open a role, a call or a thought, or stand for an image.
_MARKUP = late_re(
    r"<[|｜][^<>|｜\n]{0,80}[|｜]>"
    r"|</?(?:s|unk|pad|bos|eos|mask|think|thinking|thought|answer|image|img|video|audio|scratchpad|tools?|observation"
    r"|reasoning|system|user|human|assistant|output|returncode|invoke)>"
    r"|</?(?:tool|function|im|start|end|begin|reserved|fim|extra|image|video|audio|vision)_\w{1,60}>"
    r"|</?(?:function|parameter|invoke)[= ][^<>\n]{0,80}>"
    r"|<(?<!\w<)/?[a-z]{1,20}(?:_[a-z0-9]{1,20}){1,4}>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS|THINK|BOS|EOS|IMG"
    r"|gMASK|sop|eop|MASK|CLS|SEP|PAD|UNK)\]"
    r"|\[\|[a-z]{1,20}\|\]|<</?SYS>>|" + re.escape(_PREFIX) + ":?|" + re.escape(SUMMARY_END)
)
_HALF_MARKUP = late_re(r"<(?=[|｜])")
_UNPRINTABLE = late_re(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b-\u200f\u2028-\u202e\ufeff]")
_BLOB = late_re(r"\S{120,}")
_SPACES = late_re(r"  +")
_FRAMED = "═"
_FRAME = dict.fromkeys(map(ord, "═║╔╗╚╝╠╣╦╩╬"))
_CONTROL = late_re(r"\x1b(?:\[[0-?]{0,30}[ -/]{0,3}[@-~]|[()]\w|[=>78])")
_COMMAND = late_re(r"\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)")  # to the terminal itself
_TITLE = late_re(  # of a window, set before a prompt; without its last byte it ends where that repeats it
    r"\x1b?\][012];(?:([\w.-]{1,40}@[\w.-]{1,60}): ?[^\x07\n]{0,200}?(?:\x07|(?=(?:\([\w.-]{1,40}\) |\[)?\1[: ]))"
    r"|[^\x07\n]{0,300}\x07)"
)
_ENVIRONMENTS, _LINE_CHARS = late_re(r"(?:\([\w.-]{1,40}\) ){0,4}"), 200  # their names go before all of a prompt
_OF_TITLE = ("]0;", "]1;", "]2;")
_MARK = late_re(r"\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m\[K")  # of grep around what it finds, without its first byte
_OF_MARK = "m[K"

_POINT_AT_END = late_re(r"(?:\A|\s)(\d{1,2})\.\Z")
_POINTS = late_re(r": 1\. ")
# A full stop ends a sentence only before a space and no small letter, and not behind the number of a first point; 。
# does anywhere.
_NUMBER_ALONE = late_re(r"\s*\d{1,3}(?:\s?[-–]\s?\d{1,3})?[.)]\s*")
_SENTENCE = late_re(
    r"(?:[^\n.!?。！？；]++|[.!?]++(?=[^\s]|[ \t]{1,4}[a-z])|(?<=: 1)\.(?=[ \t]))++[.!?。！？；]*+|[.!?。！？；]++"
)


def clip(text: str) -> str:
    """Keep what is worth reading of a long text: its head, its tail, and its last traceback."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    at = text.rfind(TRACEBACK, HEAD_CHARS, -TAIL_CHARS)
    middle = text[at : at + TAIL_CHARS] + "\n" if at >= 0 else ""
    cut = "" if text[-TAIL_CHARS - 1] == "\n" else "…"  # of its first line only the end is there
    return f"{text[:HEAD_CHARS]}\n{middle}{cut}{text[-TAIL_CHARS:]}"


_SPINNER = late_re("[\u2800-\u28ff]{1,200}")  # its signs, one written over the other


def uncoloured(text: str) -> str:
    """Take out terminal colours, with what else only a terminal reads, and the frames of boxes."""
    text = _CONTROL.sub("", text) if "\x1b" in text else text
    text = _TITLE.sub(_before_prompt, text) if holds_any(text, _OF_TITLE) else text
    text = _COMMAND.sub("", text) if "\x1b]" in text else text
    text = _MARK.sub("", text) if _OF_MARK in text else text
    text = text if text.isascii() else _SPINNER.sub("", text)
    return text.translate(_FRAME) if _FRAMED in text else text


def _before_prompt(title: re.Match[str]) -> str:
    """Return what stands for a title: where a prompt follows it, what was printed before has no line break."""
    before = title.string[max(title.start() - _LINE_CHARS, 0) : title.start()].rpartition("\n")[2]
    return "\n" if title[1] and not _ENVIRONMENTS.fullmatch(before) else ""


def with_usual_heads(text: str) -> str:
    """Begin each traceback as Python does, however a harness that runs code heads it."""
    return _OTHER_HEAD.sub(f"{TRACEBACK}:", text) if "Traceback" in text else text


def with_arrays_on_a_line(text: str) -> str:
    """Put the values of an array of pandas behind its kind, and not below: alone it says nothing."""
    return _ARRAY.sub(r"\1 ", text) if "Array>\n" in text else text


def is_empty_row(line: str) -> bool:
    """Whether a row, of which empty cells are told once, holds nothing but them, behind its name."""
    return _EMPTY_ROW.fullmatch(line) is not None


def with_empty_cells_told_once(text: str) -> str:
    r"""Tell three and more empty cells of a row, as pandas and openpyxl print them, as one; in code commas part them.

    >>> with_empty_cells_told_once("Row 4: Series\tNaN\tNaN\tNaN\t12")
    'Row 4: Series\tNaN …\t12'
    """
    return _EMPTY_CELLS.sub(r"\1 …", text) if holds_any(text, EMPTY) else text


def harmless(text: str) -> str:
    """Take out chat markup, the summary prefix, and what no tokenizer or terminal should be given."""
    text = _SPACES.sub(" ", _HALF_MARKUP.sub("< ", _MARKUP.sub(" ", _UNPRINTABLE.sub(" ", text))))
    # Once more, as what was taken out may have stood inside it.
    return text.replace(_PREFIX, " ").replace(SUMMARY_END, " ")


_DENIED = late_re(r"\s{0,2}(?:\w{1,12} )?(?:not|never|no longer|cannot|nor)\b")
_NUMBER_CHARS = 40
_NUMBER_BEGUN = late_re(  # a sign behind it, or before, is followed by digits
    r"[ \xa0]?(?:(?:[$€£¥][ \xa0]?)?\d(?:[\d.,'\u2019 \xa0\u202f]{0,30}\d)?([.,'\u2019])?|([$€£¥]))\Z"
)
_MORE_DIGITS, _NUMBER_GOES_ON = late_re(r"[ \xa0]?\d"), late_re(r"[.,]\d|['\u2019 \xa0\u202f]\d{3}(?!\d)")
_BEGUN = late_re(r"(?:[,;:]|[,;]? (?:and|but|or|which|that|because|as|so))? \w{1,12}\s?\Z")
_BEGUN_CHARS = 30
_MASK, _MASK_CHARS = "[REDACTED", 40
_KEY_BEGUN = late_re(r"(?<=[\w)\]}'\"])[ ,;(]{1,3}[\w.-]{1,40}=\Z")  # a value without which its key says nothing
_LAST_BREAK = late_re(r"[^\w](?=\w*\Z)")


def one_line(text: str) -> str:
    """Give a text on one line."""
    return " ".join(text.split())


def on_one_line(lines: Iterable[str]) -> str:
    """Join lines of code or text on one line, with a semicolon between those that have no sign of their own there."""
    said = ""
    for line in lines:
        said += f"{line_break(said)}{line}"
    return said


def line_break(said: str) -> str:
    """Return what stands for the line break behind something said."""
    return "" if not said else " " if said.endswith(_BREAKS) else "; "


def shorten(text: str, limit: int) -> str:
    """Cut between words if the end of one is near, with an ellipsis; at most ``limit`` characters.

    What is denied right behind the cut is not said at all: without its "not" it would say the contrary. Nor is a part
    of a number, or a key without its value.

    >>> shorten("The right is reserved to the board and has not been handed on.", 46)
    'The right is reserved to the board…'
    """
    cut = cut_words(text, limit)
    return f"{_KEY_BEGUN.sub('', cut[:-1])}…" if cut.endswith("=…") and len(text) > limit else cut


def cut_words(text: str, limit: int) -> str:
    """Cut as :func:`shorten` does, but for a key behind which its value does not stand."""
    if len(text) <= limit:
        return text
    cut = text[: max(limit - 1, 0)]
    if (text[len(cut)].isalnum() or text[len(cut)] == "_") and (end := _LAST_BREAK.search(cut, max(limit - 40, 1))):
        cut = cut[: end.start() + 1]
    whole = cut.rstrip()
    begun = _NUMBER_BEGUN.search(whole, max(len(whole) - _NUMBER_CHARS, 0))
    if begun and (_MORE_DIGITS if begun[1] or begun[2] else _NUMBER_GOES_ON).match(text, len(whole)):
        cut = whole[: begun.start()]
    if _DENIED.match(text, len(cut)) and (begun := _BEGUN.search(cut, max(len(cut) - _BEGUN_CHARS, 1))):
        cut = cut[: begun.start()]
    mark = cut.rfind("[", max(len(cut) - _MASK_CHARS, 1))
    if mark >= 0 and text.startswith(_MASK, mark) and "]" not in cut[mark:]:
        cut = cut[:mark]
    return cut.rstrip() + "…"


def shorten_amid(text: str, limit: int) -> str:
    """Cut what was one text of several lines, or sentences, so that its last one stays, if that is short.

    At most ``limit`` characters. Where a first line has no room beside the last it stays alone: no part of one is put
    to a part of another.

    >>> shorten_amid("Unexpected parameter 'phone_number' passed to the login API. Allowed are: ['username']", 75)
    "Unexpected parameter 'phone_number' passed to… Allowed are: ['username']"
    """
    if len(text) <= limit:
        return text
    first, _, others = text.partition(_NEXT_LINE)
    last = others.rpartition(_NEXT_LINE)[2] or first.rpartition(_NEXT_SENTENCE)[2]
    room = limit - len(last) - len(_NEXT_LINE)
    if len(last) > limit // 2 or (others and len(first) > room):
        begun, _, cut = shorten(text, limit).rpartition(_NEXT_LINE)
        return f"{begun}…" if begun and len(cut) < LEAST_CHARS else shorten(text, limit)
    return f"{shorten(text, room)}{_NEXT_LINE if others else ' '}{last}"


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where the sentences and lines of prose stand, of any script; the number of a point is no sentence."""
    found: list[tuple[int, int]] = []
    number: int | None = None  # where one begins
    for match in _SENTENCE.finditer(text):
        start, end = match.span()
        if number is None and _NUMBER_ALONE.fullmatch(text, start, end):
            number = start
            continue
        if not match[0].isspace():
            found.append((start if number is None else number, end))
        number = None
    return found if number is None else [*found, (number, len(text.rstrip()))]


def whole_sentences(text: str, limit: int) -> str:
    """Return the sentences that a text begins with, as many as have room; nothing where not one has."""
    if len(text) <= limit:
        return text
    end = 0
    for start, last in sentences(text[: limit + 1]):
        if last > limit - 2 or (end and text[end:start].strip()):
            break
        end = last
    said = text[:end].rstrip()
    if (number := _POINT_AT_END.search(said)) and (number[1] == "1" or f" {int(number[1]) - 1}. " in said):
        said = said[: number.start()].rstrip()  # of the point itself nothing is told
    if not said and (points := _POINTS.search(text, 0, limit)):
        said = text[: points.start() + 1]
    return f"{said} …" if said else ""


def joined(pieces: Sequence[str], limit: int) -> str:
    """Join pieces while there is room; the last one is cut."""
    said = ""
    for piece in pieces:
        room = limit - len(said) - 2 * bool(said)
        told = _BLOB.sub(_cut_blob, one_line(piece))
        if room < min(LEAST_CHARS, len(told)):  # what is short may be how all ended
            break
        said += line_break(said) + shorten(told, room)
    return said


def whole_pieces(pieces: Sequence[str], limit: int) -> str:
    """Join pieces of which a part says nothing: those that have room whole, of the first what has room."""
    first, *others = pieces or ("",)
    said = shorten(first, limit)
    for piece in others:
        said += f"; {piece}" if len(said) + len(piece) + 2 <= limit else ""
    return said


def _cut_blob(blob: re.Match[str]) -> str:
    return f"{blob[0][:LEAST_CHARS]}…"
