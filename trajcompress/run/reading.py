"""The rows that a run takes, read with notes on how: in which format, and which role names mean which roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trajcompress.dataset.rows import Source
from trajcompress.formats.adapter import explain_format, explain_roles
from trajcompress.forms.form import Form
from trajcompress.run.build import build_format_options
from trajcompress.run.row import Accepted, Parsed, parse_rows
from trajcompress.run.selection import Start, build_selection, select_rows
from trajcompress.settings import Settings
from trajcompress.settings.choices import Role
from trajcompress.transcript.text_protocol import beginning_of, explain_text_protocol, has_text_protocol
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.wording import printable

_MOST_LINES = 20
"""Files may be many, and hostile rows name a role each; ways of reading that are new have as many more."""


@dataclass(slots=True)
class Reading:
    """The rows that settings select of all inputs, in order.

    ``source`` is that of the last row, ``bytes_read`` how far reading has come; ``cut_short`` says that :meth:`stop`
    has left rows. ``form`` is that which rows take. ``read_through`` is called with each source once its last row
    that is wanted was read, ``note`` with lines on how rows are read.
    """

    settings: Settings
    sources: Sequence[Source]
    read_through: Callable[[Source], None]
    note: Callable[[str], None] | None = None
    form: Form | None = None
    source: Source | None = field(default=None, init=False)
    bytes_read: int = field(default=0, init=False)
    cut_short: bool = field(default=False, init=False)
    _asked_to_stop: bool = field(default=False, init=False)

    @property
    def total_bytes(self) -> int | None:
        """The size of all inputs, None where that of one is unknown."""
        sizes = [source.size for source in self.sources]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def stop(self) -> None:
        """Give no more rows."""
        self._asked_to_stop = True

    def rows(self, start: Start | None = None) -> Iterator[Parsed]:
        """Read and parse each row, from ``start`` on."""
        explainer = Explainer(self.note, self.settings.input.role_map) if self.note else None
        selection = build_selection(self.settings, self.sources)
        items = select_rows(
            self.sources, selection, start or Start(), self._set_bytes_read, read_through=self.read_through
        )
        for parsed in parse_rows(items, build_format_options(self.settings), self.form):
            if self._asked_to_stop:
                self.cut_short = True
                return
            if explainer:
                explainer.explain(parsed)
            self.source = parsed.source
            yield parsed
        if explainer:
            explainer.end_source()

    def _set_bytes_read(self, count: int) -> None:
        self.bytes_read = count


class Explainer:
    """Notes how the rows of each source are read, of many sources only what is new; ``role_map`` needs no note.

    What needs all rows of a source to be said comes at its end.
    """

    def __init__(self, note: Callable[[str], None], role_map: Mapping[str, Role]) -> None:
        self._note = note
        self._role_map = role_map
        self._source = ""
        self._said_of_it: set[str] = set()
        self._said: set[str] = set()
        self._lines = 0
        self._rows = self._of_protocol = 0
        self._begin = ""

    def explain(self, parsed: Parsed) -> None:
        """Say how a row was read, if that is new."""
        if not isinstance(parsed.made, Accepted):
            return
        trajectory, source = parsed.made.trajectory, parsed.source.name
        if source != self._source:
            self.end_source()
            self._source, self._said_of_it = source, set()
        for text in (explain_format(trajectory), *explain_roles(trajectory, self._role_map)):
            if text not in self._said_of_it:
                self._say(text, text)
        self._count(trajectory)

    def end_source(self) -> None:
        """Say what is to be said of all rows of the source."""
        if self._of_protocol:
            text = explain_text_protocol(self._of_protocol, self._rows, self._begin)
            self._say(text, f"text protocol: {self._begin}")
        self._rows = self._of_protocol = 0

    def _count(self, trajectory: Trajectory) -> None:
        self._rows += 1
        if has_text_protocol(trajectory.turns):
            if not self._of_protocol:
                self._begin = beginning_of(trajectory.turns)
            self._of_protocol += 1

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
