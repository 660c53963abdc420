"""The inputs that runs share: by their names, or by their content where a run read it under another name. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trajcompress.dataset.sources import STDIN


@dataclass(frozen=True, slots=True)
class NamedInputs:
    """The inputs of one run that have rows; ``fingerprints`` are those of them whose content is known."""

    names: Sequence[str]
    fingerprints: Mapping[str, str]


def numbered(runs: Sequence[NamedInputs]) -> list[dict[str, int]]:
    """Return for each run the number of each of its inputs, the same number for the same input in every run."""
    by_name: dict[str, int] = {}
    by_content: dict[str, int] = {}
    numbers = []
    for run in runs:
        of_run: dict[str, int] = {}
        taken = {by_name[name] for name in run.names if name in by_name}
        for name in run.names:
            content = run.fingerprints.get(name)
            number = by_name.get(name)
            if number is None and content is not None and by_content.get(content) not in taken:
                number = by_content.get(content)
            of_run[name] = len(by_name) if number is None else number
            taken.add(of_run[name])
            by_name.setdefault(name, of_run[name])
            if content is not None:
                by_content.setdefault(content, of_run[name])
        numbers.append(of_run)
    return numbers


def from_stdin(runs: Sequence[NamedInputs]) -> tuple[int, ...]:
    """Return the places of the runs that read standard input, where others did not: it has no fingerprint."""
    which = tuple(at for at, run in enumerate(runs) if STDIN in run.names)
    return which if len(which) < len(runs) else ()


def changed(runs: Sequence[NamedInputs]) -> tuple[str, ...]:
    """Return the names under which runs read something else."""
    contents: dict[str, set[str]] = {}
    for run in runs:
        for name in run.names:
            if (content := run.fingerprints.get(name)) is not None:
                contents.setdefault(name, set()).add(content)
    return tuple(name for name, known in contents.items() if len(known) > 1)
