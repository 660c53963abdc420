"""Planning parts: rows are read and planned, many at once, and added up part by part."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from trajcompress.planning.figures import PlanFigures
from trajcompress.planning.rows import PlannedRow, RowPlanner
from trajcompress.run.build.components import row_threads
from trajcompress.run.loop.pipeline import process_in_order
from trajcompress.run.loop.reading import Item, PieceBegin, PieceEnd
from trajcompress.run.rows.row import Parsed
from trajcompress.summarize.off_loop import OffLoop

PartDone: TypeAlias = Callable[[int, PlanFigures], None]
"""Takes the number of a part and what its rows add up to."""
_Planned: TypeAlias = tuple[Item, list[PlannedRow]]


def plan_parts(
    items: Iterator[Item],
    planner: RowPlanner,
    part_done: PartDone,
    moved: Callable[[int], None],
    *,
    max_bytes: int,
) -> None:
    """Plan all rows among ``items``, of which ``max_bytes`` are held at once.

    ``moved`` is called with how many of a part that is under way have been planned.

    Raises:
        EngineMismatchError: counts of the whole plan are in doubt.
    """
    with ThreadPoolExecutor(row_threads(planner.settings[0], planner.counter), "count") as counting:
        asyncio.run(_PartPlanner(planner, OffLoop(counting), part_done, moved).run(items, max_bytes))


class _PartPlanner:
    def __init__(
        self, planner: RowPlanner, off_loop: OffLoop, part_done: PartDone, moved: Callable[[int], None]
    ) -> None:
        self._planner = planner
        self._off_loop = off_loop
        self._part_done = part_done
        self._moved = moved
        self._part = 0
        self._figures = self._no_rows()

    def _no_rows(self) -> PlanFigures:
        return PlanFigures.of([each.compression.target_max_tokens for each in self._planner.settings])

    async def run(self, items: Iterator[Item], max_bytes: int) -> None:
        """Plan all rows."""
        await process_in_order(
            items,
            self._process,
            self._consume,
            size_of=lambda item: item.size if isinstance(item, Parsed) else 0,
            max_in_flight=self._planner.settings[0].processing.max_in_flight,
            max_bytes=max_bytes,
            ends_batch=lambda item: isinstance(item, PieceEnd),
        )

    async def _process(self, item: Item) -> _Planned:
        return item, await self._off_loop(self._planner.plan, item) if isinstance(item, Parsed) else []

    async def _consume(self, done: Sequence[_Planned]) -> None:
        for item, planned in done:
            match item:
                case PieceBegin():
                    self._part = item.part.number
                case Parsed():
                    self._figures.add(item, planned, self._part)
                case PieceEnd(is_last=True):
                    self._part_done(self._part, self._figures)
                    self._figures = self._no_rows()
        self._moved(self._figures.rows)
