"""Sums of events tell what the events of each row tell."""

from __future__ import annotations

import random

import pytest

from trajcompress.run.progress.counts import Counts
from trajcompress.run.workers.folded_events import FoldedEvents


def events(rows):
    """Yield events of rows that overlap, some of which fail."""
    chance = random.Random(3)  # noqa: S311 - repeatable
    steps = []
    for row in range(rows):
        at = {"source_file": "a", "source_row": row}
        outcome = chance.choice(["compressed", "unchanged", "failed", "rejected"])
        begin = chance.random() * rows
        steps.append((begin, "taken", at | {"size": chance.randrange(1000)}))
        steps += [(begin + chance.random(), "planned", at) for _ in range(chance.randrange(3))]
        steps.append((begin + 1, "done", at | {"passes": chance.randrange(3), "outcome": outcome}))
    ordered = sorted(steps, key=lambda step: step[0])
    return [
        (event, figures if event == "planned" else figures | {"bytes_read": place})
        for place, (_, event, figures) in enumerate(ordered)
    ]


@pytest.mark.parametrize("each_s", [0.0, 60.0])
@pytest.mark.parametrize("keeps_planned", [False, True])
def test_counts_of_sums_are_those_of_the_events(each_s, keeps_planned):
    plain, folded, sent = Counts(0.0, 2000), Counts(0.0, 2000), []

    def send(event, figures):
        sent.append(event)
        folded.take(event, figures, 9.0)

    emit = FoldedEvents(send, each_s, keeps_planned=keeps_planned)
    of_rows = [*events(200), ("called", {"result": "answered"})]
    for event, figures in of_rows:
        plain.take(event, figures, 9.0)
        emit(event, **figures)
    emit.flush()
    assert folded == plain
    assert sent.count("planned") == keeps_planned * sum(event == "planned" for event, _ in of_rows)
    if each_s:
        assert len(sent) < 0.6 * len(of_rows)
    assert "called" in sent
