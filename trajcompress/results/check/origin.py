"""Faults that rows of a run's dataset had in its input, told from those that came with the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.errors import InputError
from trajcompress.results.check.of_input import RunInputs
from trajcompress.results.check.rules import Fault, Rules


class Origin:
    """Judges the rows of the inputs by the same rules.

    A fault was in the input where its row has as many of the kind, or would if the chat template did not refuse it.
    ``refused`` is called once with the reason why inputs cannot be read again, and may raise; from then on nothing is
    said of where faults come from.
    """

    def __init__(self, runs: Sequence[RunInputs], refused: Callable[[str], None]) -> None:
        self._runs = runs
        self._refused = refused
        self._input: Source | None = None
        self.given_up = False

    def new(
        self, source: Source, read: Row | Unreadable, faults: Sequence[Fault], rules: Rules
    ) -> list[Fault] | None:
        """Return the faults of a row that its input did not have; None where nobody can say.

        ``rules`` are for the rows of inputs alone, and are shown each of them where they compare rows.
        """
        if self.given_up or source.path is None:
            return None
        run = next((run for run in self._runs if run.has(source.path)), None)
        if run is None:
            return None
        if not faults and not (self._input is None or rules.compares):
            return []
        try:
            of, row = run.find(source.path, read.index)
        except InputError as error:
            self.given_up = True
            self._refused(str(error))
            return None
        if of is not self._input:
            self._input = of
            rules.begin(of)
        had = rules.of_input(row, run.options, faults) if faults or rules.compares else []
        return _without(faults, had)


def _without(faults: Sequence[Fault], had: Sequence[Fault]) -> list[Fault]:
    """Leave out as many faults of each kind as there were, the same ones first."""
    left = Counter(kind for kind, _, _ in had)
    same = Counter((kind, detail) for kind, _, detail in had)
    kept: list[Fault] = []
    for kind, turn, detail in faults:
        if same[kind, detail] > 0 and left[kind] > 0:
            same[kind, detail] -= 1
            left[kind] -= 1
        else:
            kept.append((kind, turn, detail))
    new = []
    for fault in kept:
        if left[fault[0]] > 0:
            left[fault[0]] -= 1
        else:
            new.append(fault)
    return new
