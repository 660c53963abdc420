"""Columns of metrics as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Numbers: TypeAlias = npt.NDArray[np.float64]
    Flags: TypeAlias = npt.NDArray[np.bool_]


def numbers(batch: pa.RecordBatch, name: str) -> Numbers:
    """Return a column of numbers; nan where there is none."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    values: Numbers = pc.fill_null(batch[name].cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False)
    return values


def numbers_if_any(batch: pa.RecordBatch, name: str) -> Numbers:
    """Return a column of numbers that metrics of earlier versions lack: all nan then."""
    import numpy as np

    return numbers(batch, name) if name in batch.schema.names else np.full(batch.num_rows, np.nan)


def flags(batch: pa.RecordBatch, name: str) -> Flags:
    """Return a column of flags; False where there is none."""
    import pyarrow.compute as pc

    values: Flags = pc.fill_null(batch[name], fill_value=False).to_numpy(zero_copy_only=False)
    return values
