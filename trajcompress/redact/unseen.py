"""The characters that nobody sees: those of Unicode's property Default_Ignorable_Code_Point, and controls.

They are given by the standard and not gathered, so that a key is found whichever of them stands in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

_IGNORABLE = (  # DerivedCoreProperties.txt of Unicode 16
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
_LIKE_THEM = ((0xFFF9, 0xFFFB), (0x2800, 0x2800))
"""Anchors of annotations, which the property leaves to be shown where they mean nothing; and the empty pattern of
Braille, a blank that is no white space."""
_CONTROLS_IN_ASCII = ((0x00, 0x07), (0x0B, 0x0C), (0x0E, 0x1A), (0x1C, 0x1F), (0x7F, 0x7F))
_IN_ASCII = bytes(code for first, last in _CONTROLS_IN_ASCII for code in range(first, last + 1))
_OTHER_CONTROLS = ((0x80, 0x9A), (0x9C, 0x9F))
"""Category Cc, but for tabs and line ends, and for what a terminal acts on together with what follows."""
_RANGES = (*_CONTROLS_IN_ASCII, *_OTHER_CONTROLS, *_IGNORABLE, *_LIKE_THEM)
_IN_EMOJI = (0xFE0E, 0xFE0F)  # texts are full of them, before a blank and what ends a phrase
_GOES_ON = b"abcdefghijklmnopqrstuvwxyz0123456789_+/=-.:@#$%&!?~^"  # what may follow within a secret
_PLANE_14 = b"\xf3\xa0"  # what is in UTF-8 in each from E0000 to E0FFF, and in no other character
_BEYOND_BMP_IN_JSON = (*(rf"\udb4{digit}".encode() for digit in range(4)), rb"\ud82f", rb"\ud834")
_BMP_END, _PLANE_14_START = 0x10000, 0xE0000


UNSEEN = f"[{''.join(rf'{chr(first)}-{chr(last)}' for first, last in _RANGES)}]"
"""A pattern of each as it is."""


def may_hold_unseen(text: str) -> bool:
    """Whether one of them may stand in a text, which is quicker to see than where."""
    return not text.isascii() or len(text.encode().translate(None, _IN_ASCII)) < len(text)


def _each(ranges: Iterable[tuple[int, int]]) -> list[int]:
    return [code for first, last in ranges for code in range(first, last + 1)]


def _written() -> str:
    """Return a pattern of all as JSON writes them, behind the backslash."""
    low = [f"{code:04x}" for code in _each(_RANGES) if code < _BMP_END]
    by_start = (
        f"{start}[{''.join(code[3] for code in codes)}]" for start, codes in groupby(low, lambda code: code[:3])
    )
    pairs = r"db4[0-3]\\+ud[c-f][0-9a-f]{2}|d82f\\+udca[0-3]|d834\\+udd7[3-9a]"
    return rf"(?i:u(?:{'|'.join(by_start)}|{pairs}))"


WRITTEN_UNSEEN = _written()
"""A pattern of each as JSON writes it, behind the backslash."""


def needles() -> list[bytes]:
    """What a text in UTF-8, in lower case, is searched for: where one of them stands."""
    found = [_PLANE_14, *_BEYOND_BMP_IN_JSON]
    for code in _each(_RANGES):
        forms = [chr(code).encode()] if code < _PLANE_14_START else []
        if code < _BMP_END:
            forms.append(rf"\u{code:04x}".encode())
        # A lone NUL stands between texts that are searched together.
        ends = [bytes([begin]) for begin in _GOES_ON] if code in _IN_EMOJI or code == 0 else [b""]
        found += (form + end for form in forms for end in ends)
    return found
