"""Notes on how rows are read: in which format, which role names mean which roles, and what stands in plain text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.compaction.loss_marks import marks_not_read, unread_marks
from trajcompress.formats.adapter import explain_format, explain_roles
from trajcompress.run.rows.output_rows import ADDED_COLUMNS
from trajcompress.run.rows.per_turn import look_like_it
from trajcompress.run.rows.row import Accepted, Parsed
from trajcompress.settings import Settings
from trajcompress.settings.choices import Role, Target
from trajcompress.transcript.text_protocol import (
    beginnings_of,
    explain_text_protocol,
    has_text_protocol,
    merged_beginnings,
)
from trajcompress.wording import counted, printable

_MOST_LINES = 20
"""Files may be many, and hostile rows name a role each; ways of reading that are new have as many more."""
_MOST_COLUMNS = 1_000
_ROWS_TO_BELIEVE = 20
"""In so many rows a column must look as if it held a value per turn, until that is said."""
_CALLS_HIDDEN = (
    "its tool calls are counted, but in no token of a trainer's: the chat template shows none; --chat-template FILE "
    "takes one that does"
)
_ROWS_TO_TELL = 1000
"""So many rows of a source, or all, are read before its format is said: of one that is mixed a line says all."""


class HowRead(Struct, frozen=True):
    """How rows of one source that follow each other were read.

    ``formats`` say in which format, each with its number of rows, ``texts`` what else, each once. ``of_protocol`` of
    the ``rows`` are a text-protocol agent's, whose observations have these ``beginnings``, each so often.
    ``per_turn`` are columns that in all of them are lists as long as the turns, ``columns`` those that any has.
    """

    source: str
    formats: dict[str, int]
    texts: tuple[str, ...]
    rows: int = 1
    of_protocol: int = 0
    beginnings: dict[str, int] = {}
    per_turn: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()

    def with_more(self, more: HowRead) -> HowRead:
        """Return how these and more rows of the source were read."""
        return replace(
            self,
            formats=_summed(self.formats, more.formats),
            texts=_kept(self.texts, more.texts),
            rows=self.rows + more.rows,
            of_protocol=self.of_protocol + more.of_protocol,
            beginnings=_with_more_beginnings(self.beginnings, more.beginnings),
            per_turn=self.per_turn & more.per_turn,
            columns=_few(self.columns, more.columns),
        )


def how_read(
    source: str, row: Accepted, role_map: Mapping[str, Role], target: Target, *, hides_calls: bool = False
) -> HowRead:
    """Return how one row was read: what names its format and roles is what the input holds, not what is written.

    The ``target`` may not read its marks; ``hides_calls``: the chat template shows none.
    """
    trajectory = row.trajectory
    formats, texts = {explain_format(row.read): 1}, tuple(explain_roles(row.read, role_map))
    if hides_calls and any(turn.raw.get("tool_calls") for turn in trajectory.turns):
        texts = (*texts, _CALLS_HIDDEN)
    if marks := unread_marks(row.read.turns, target):
        texts = (*texts, marks_not_read(marks, target))
    how = HowRead(source, formats, texts, per_turn=look_like_it(trajectory), columns=frozenset(trajectory.row))
    if not has_text_protocol(trajectory.turns):
        return how
    return replace(how, of_protocol=1, beginnings=beginnings_of(trajectory.turns))


class Collected:
    """How the rows of a part are read, kept for who explains it."""

    def __init__(self, role_map: Mapping[str, Role], target: Target, *, hides_calls: bool = False) -> None:
        self._role_map = role_map
        self._target: Target = target
        self._hides_calls = hides_calls
        self._how: list[HowRead] = []

    def explain(self, parsed: Parsed) -> None:
        """Keep how a row was read."""
        if not isinstance(parsed.made, Accepted):
            return
        how = how_read(parsed.source.name, parsed.made, self._role_map, self._target, hides_calls=self._hides_calls)
        if self._how and self._how[-1].source == how.source:
            self._how[-1] = self._how[-1].with_more(how)
        else:
            self._how.append(how)

    def end_source(self) -> None:
        """Do nothing: the rows of a source may go on elsewhere."""

    def take(self) -> list[HowRead]:
        """Return what was kept, and begin anew."""
        how, self._how = self._how, []
        return how


def build_explainer(settings: Settings, note: Callable[[str], None], *, hides_calls: bool = False) -> Explainer:
    """Return what explains how rows are read; ``hides_calls``: to a chat template that shows none."""
    output = settings.output
    named = dict.fromkeys(output.columns or (), "--columns")
    named |= dict.fromkeys(output.per_turn_columns or (), "--per-turn-column")
    named = {name: option for name, option in named.items() if name not in ADDED_COLUMNS}
    looks_for_per_turn = output.per_turn_columns is None
    return Explainer(
        note,
        settings.input.role_map,
        settings.compression.target,
        named,
        looks_for_per_turn=looks_for_per_turn,
        hides_calls=hides_calls,
    )


class Explainer:
    """Notes how the rows of each source are read, of many sources only what is new; ``role_map`` needs no note.

    Marks are noted that the ``target`` does not read.
    What needs all rows of a source to be said comes at its end: also which columns that options ``named`` no row has.
    ``looks_for_per_turn``: columns are named that look as if they held a value for each turn.
    """

    def __init__(
        self,
        note: Callable[[str], None],
        role_map: Mapping[str, Role],
        target: Target,
        named: Mapping[str, str] = MappingProxyType({}),
        *,
        looks_for_per_turn: bool = False,
        hides_calls: bool = False,
    ) -> None:
        self._note = note
        self._role_map = role_map
        self._target: Target = target
        self._named = named
        self._columns: frozenset[str] = frozenset()
        self._looks_for_per_turn = looks_for_per_turn
        self._hides_calls = hides_calls
        self._per_turn: frozenset[str] = frozenset()
        self._source = ""
        self._said_of_it: set[str] = set()
        self._formats: Counter[str] = Counter()
        self._format_texts: tuple[str, ...] = ()
        self._texts: tuple[str, ...] = ()
        self._said: set[str] = set()
        self._lines = 0
        self._rows = self._of_protocol = 0
        self._beginnings: dict[str, int] = {}

    def explain(self, parsed: Parsed) -> None:
        """Say how a row was read, if that is new."""
        if isinstance(parsed.made, Accepted):
            how = how_read(
                parsed.source.name, parsed.made, self._role_map, self._target, hides_calls=self._hides_calls
            )
            self.add(how)

    def add(self, how: HowRead) -> None:
        """Say how some more rows were read, as far as that is new."""
        if how.source != self._source:
            self.end_source()
            self._source, self._said_of_it = how.source, set()
        for text, rows in how.formats.items():
            self._formats[text.partition(":")[0]] += rows
        self._format_texts = _kept(self._format_texts, how.formats)
        self._texts = _kept(self._texts, how.texts)
        self._beginnings = _with_more_beginnings(self._beginnings, how.beginnings)
        self._per_turn = self._per_turn & how.per_turn if self._rows else how.per_turn
        self._columns = _few(self._columns, how.columns) if self._rows else how.columns
        self._rows += how.rows
        self._of_protocol += how.of_protocol
        if self._rows >= _ROWS_TO_TELL and len(self._formats) == 1:
            self._tell()

    def end_source(self) -> None:
        """Say what is to be said of all rows of the source: of several formats one line, and the text protocol."""
        if len(self._formats) > 1:
            (first, most), *others = self._formats.most_common()
            named = ", ".join([f"{first} {counted(most, 'row')}", *(f"{name} {more:,}" for name, more in others)])
            self._say(f"several formats: {named}", f"several formats: {', '.join(sorted(self._formats))}")
        self._tell()
        self._formats.clear()
        if self._of_protocol:
            text = explain_text_protocol(self._of_protocol, self._rows, self._beginnings)
            leading = min(self._beginnings, key=lambda begin: (-self._beginnings[begin], begin))
            self._say(text, f"text protocol: {leading}")
        if self._looks_for_per_turn and self._per_turn and self._rows >= _ROWS_TO_BELIEVE:
            named = ", ".join(sorted(self._per_turn))
            self._say(
                f"columns as long as the turns in each of {self._rows:,} rows: {named}; if they hold a value per "
                f"turn, --per-turn-column {','.join(sorted(self._per_turn))} keeps them in step",
                f"per turn: {named}",
            )
        for name in self._named if self._rows else ():
            if name not in self._columns:
                there = ", ".join(map(repr, sorted(self._columns)[:_MOST_LINES]))
                more = ", …" if len(self._columns) > _MOST_LINES else ""
                text = f"no row has the column {name!r}, which {self._named[name]} names; there are {there}{more}"
                self._say(text, f"no column {name!r}")
        self._rows = self._of_protocol = 0
        self._beginnings = {}

    def _tell(self) -> None:
        """Say in which format the rows are, where it is one, and what else is to be said of them so far."""
        formats = self._format_texts if len(self._formats) == 1 else ()
        for text in (*formats, *self._texts):
            if text not in self._said_of_it:
                self._say(text, text)
        self._format_texts = self._texts = ()

    def _say(self, text: str, way: str) -> None:
        """Say a line; ``way`` is what of it other sources may have in common with this one."""
        if self._lines >= (_MOST_LINES if way in self._said else 2 * _MOST_LINES):
            return
        self._said_of_it.add(way)
        self._said.add(way)
        self._lines += 1
        self._note(f"{printable(self._source)}: {text}")
        if self._lines == _MOST_LINES:
            self._note("from here on files are named only where their rows are read in another way")


def _few(some: frozenset[str], more: frozenset[str]) -> frozenset[str]:
    """Return all of some columns; hostile rows name one each."""
    return some if more <= some or len(some) >= _MOST_COLUMNS else some | more


def _with_more_beginnings(some: dict[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return merged_beginnings(some, more.items()) if more else some


def _kept(kept: tuple[str, ...], texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts to be said, each once and no more than will be."""
    new = [text for text in texts if text not in kept]
    return (*kept, *dict.fromkeys(new))[: 2 * _MOST_LINES] if new else kept


def _summed(formats: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Add up rows by format; of more ways to say one than will be said, the rows count under its name alone."""
    summed = dict(formats)
    for text, rows in more.items():
        known = text if text in summed or len(summed) < 2 * _MOST_LINES else text.partition(":")[0]
        summed[known] = summed.get(known, 0) + rows
    return summed
