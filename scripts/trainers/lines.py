"""What all loaders share: arguments, pieces of a file, the lines they write. Standard library and pyarrow only."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Load = Callable[[Path], Sequence[dict[str, Any] | None]]
"""Reads a file as the trainer does: one result a row, None for one that it drops. Raises what the trainer raises."""

NOT_TRAINED = -100
DROPPED = "dropped"


def arguments(about: str | None) -> argparse.ArgumentParser:
    """Arguments that every loader takes."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="Parquet or JSON lines")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of the tokenizer")
    parser.add_argument("--output", type=Path, required=True, help="JSON lines: one a row and one a file")
    parser.add_argument("--chat-template", type=Path, help="Jinja file to use in place of the tokenizer's")
    parser.add_argument("--assistant-only", action="store_true", help="loss on assistant turns alone")
    parser.add_argument("--setup", type=Path, help="what the run folder holds for this trainer")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of this trainer alone")
    return parser


def options(asked: argparse.Namespace) -> dict[str, str]:
    """The trainer's own options by name."""
    return dict(given.split("=", 1) for given in asked.option)


def write_lines(asked: argparse.Namespace, load: Load) -> None:
    """Load each file, and write a line for it and one for each of its rows."""
    with asked.output.open("w", encoding="utf-8") as out:
        for file in asked.files:
            print(f"loading {file.name}", file=sys.stderr, flush=True)
            rows, error = _results(file, load)
            whole = {"file": str(file), "loads": error is None, "error": error, "rows": len(rows)}
            for line in [whole] + [{"file": str(file), "row": number} | row for number, row in enumerate(rows)]:
                out.write(json.dumps(line) + "\n")


def forget_fingerprints() -> None:
    """Make ``datasets`` hash nothing for its cache: hashing a tokenizer takes seconds, for each map of each piece."""
    from datasets.fingerprint import Hasher

    Hasher.hash = classmethod(lambda _cls, _value: uuid.uuid4().hex)


def _results(file: Path, load: Load) -> tuple[list[dict[str, Any]], str | None]:
    """Rows of a file as lines; where it does not load as a whole, its pieces, down to the rows that do not."""
    try:
        lines = [_line(result) for result in load(file)]
        return lines, next((line["error"] for line in lines if line["error"] not in {None, DROPPED}), None)
    except Exception as raised:  # noqa: BLE001  whatever a trainer raises is its answer
        error = told(raised)
    whole = read_file(file)
    if len(whole) <= 1:
        return [{"loaded": False, "error": error}] * len(whole), error
    found = []
    with tempfile.TemporaryDirectory() as folder:
        # Quarters, not halves: where many rows fail, fewer loads.
        step = max(1, len(whole) // 4)
        for start in range(0, len(whole), step):
            piece = Path(folder) / f"{start}-{file.name}"
            write_piece(file, piece, start, start + step)
            found += _results(piece, load)[0]
    return found, error


def _line(result: dict[str, Any] | None) -> dict[str, Any]:
    if result is None:
        return {"loaded": False, "error": DROPPED}
    return {"loaded": "error" not in result, "error": None} | result


def told(error: BaseException) -> str:
    """An error in one short line; of a chain the cause, as wrappers say nothing."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:300]


def read_file(file: Path) -> Any:
    """Rows of a file: an Arrow table, or lines."""
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_table(file)
    return [line for line in file.read_bytes().splitlines(keepends=True) if line.strip()]


def write_piece(file: Path, piece: Path, start: int, end: int) -> None:
    """Write some rows of a file as a file of the same kind."""
    rows = read_file(file)
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(rows.slice(start, end - start), piece)
    else:
        piece.write_bytes(b"".join(rows[start:end]))


def result_of(tokenizer: Any, ids: Iterable[int], labels: Iterable[int] | None = None) -> dict[str, Any]:
    """The figures and texts of a tokenized row; without labels all is trained."""
    ids = [int(token) for token in ids]
    trained = [True] * len(ids) if labels is None else [int(label) != NOT_TRAINED for label in labels]
    return {
        "tokens": len(ids),
        "trained_tokens": sum(trained),
        "rendered": tokenizer.decode(ids, skip_special_tokens=False),
        "trained": trained_text(tokenizer, ids, trained),
    }


def trained_text(tokenizer: Any, ids: Sequence[int], trained: Sequence[bool]) -> str:
    """What is trained, as text: a new line where untrained or special tokens stand between."""
    special = set(tokenizer.all_special_ids)
    runs: list[list[int]] = [[]]
    for token, kept in zip(ids, trained, strict=True):
        if kept and token not in special:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    return "\n".join(tokenizer.decode(run, skip_special_tokens=False) for run in runs if run)
