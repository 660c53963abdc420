"""Rows streamed from the hub, or by any builder that ``datasets`` knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trajcompress.dataset.arrow_rows import BATCH_ROWS, one_line, rows_of_batches
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.errors import HubUnreachableError, InputError
from trajcompress.hub import reach_hub

if TYPE_CHECKING:  # datasets and pyarrow take more than a second to import
    import pyarrow as pa


def hub_source(name: str, split: str) -> Source:
    """The source for a split of a data set: a hub id, or a folder that ``datasets.load_dataset`` reads.

    Nothing is looked up yet.

    Raises:
        InputError: the name or the split is empty.
    """
    if not name.strip() or not split.strip():
        raise InputError("a dataset needs a name and a split: --dataset NAME --split train")
    stem = re.sub(r"[^\w.-]+", "-", f"{name}-{split}").strip(".-")
    return Source(f"hub:{name}[{split}]", stem or "dataset", "hub", None, None, dataset=name, split=split)


def read_hub(source: Source) -> Iterator[Row | Unreadable]:
    """Stream the rows.

    Raises:
        InputError: the data set or its split cannot be had, or a part of it cannot be fetched or read.
    """
    return rows_of_batches(_batches(source), source=source.name, start=0)


def _batches(source: Source) -> Iterator[pa.RecordBatch]:
    if not Path(source.dataset or "").exists():
        try:
            reach_hub()
        except HubUnreachableError as error:
            raise InputError(f"dataset {source.dataset}: {error}; name files, or a folder that holds it") from error
    import datasets

    try:
        stream = datasets.load_dataset(source.dataset, split=source.split, streaming=True)
        # As Arrow, images stay bytes and JSON columns text; decoded by datasets, large numbers would be rounded.
        for table in stream.with_format("arrow").iter(batch_size=BATCH_ROWS):
            yield from table.to_batches()
    except Exception as error:  # builders raise whatever their files, the network or the hub make them raise
        raise InputError(
            f"cannot read split {source.split!r} of dataset {source.dataset!r}: {one_line(error)}; "
            "check the name, the split and the network"
        ) from error
