"""What a search for inputs passed over, in one line, so that nothing is skipped without a word."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct, field

from trajcompress.wording import counted, printable

_WORDS: dict[str, tuple[str, str]] = {
    "hidden_files": ("hidden file", "hidden files"),
    "hidden_folders": ("hidden folder", "hidden folders"),
    "empty_runs": ("run with no row in its dataset", "runs with no row in their datasets"),
    "run_folders": ("run folder of trajcompress", "run folders of trajcompress"),
    "descriptions": ("file that describes a dataset", "files that describe datasets"),
    "pipes": ("pipe (FIFO)", "pipes (FIFO)"),
    "sockets": ("socket", "sockets"),
    "devices": ("device", "devices"),
    "broken_links": ("link that leads nowhere", "links that lead nowhere"),
    "empty_files": ("empty file", "empty files"),
    "seen_already": ("further name of what is read already", "further names of what is read already"),
}
_SUFFIXES = 5
_SUFFIX_CHARS = 12


class LeftOut(Struct):
    """What was left out of one place; ``suffixes`` counts files by theirs, which nothing here reads."""

    place: str
    kinds: Counter[str] = field(default_factory=Counter)
    suffixes: Counter[str] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.kinds or self.suffixes)

    def add(self, kind: str, number: int = 1) -> None:
        """Count what was left out for one reason."""
        if number:
            self.kinds[kind] += number

    def add_file(self, name: str) -> None:
        """Count a file that is of no kind that can be read."""
        suffix = f".{name.rpartition('.')[2]}" if "." in name.lstrip(".") else ""
        self.suffixes[suffix.lower() if len(suffix) <= _SUFFIX_CHARS else ""] += 1

    def __str__(self) -> str:
        """Return the line for people."""
        return f"left out of {printable(self.place)}: {self.contents()}"

    def contents(self) -> str:
        """Return what was left out, in words."""
        words = [_in_words(number, kind) for kind, number in self.kinds.items()]
        if number := self.suffixes.total():
            named = [printable(each) for each, _ in self.suffixes.most_common(_SUFFIXES) if each]
            more = ", …" if len(self.suffixes) > _SUFFIXES else ""
            shown = f" ({', '.join(named)}{more})" if named else ""
            words.append(
                f"{counted(number, 'file')} with {'another suffix' if number == 1 else 'other suffixes'}{shown}"
            )
        return ", ".join(words)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        suffixes = {"other_suffixes": dict(self.suffixes.most_common())} if self.suffixes else {}
        return {"place": self.place, **self.kinds, **suffixes}


def _in_words(number: int, kind: str) -> str:
    one, many = _WORDS[kind]
    return f"{number:,} {one if number == 1 else many}"
