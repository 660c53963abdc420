"""What the loaders of rows with images share: their arguments, where images stand in tokens, the lines they write."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from trainers.lines import told

from images.colours import nearest

WINDOW = 10_000_000
"""Tokens of a row at most, where no run says so."""
PAGE = re.compile(r"page (\d+)")
BEHIND = 8
"""So many tokens behind an image tell of which page the words are."""

Load = Callable[[Path], Iterable[dict[str, Any]]]
"""Reads a file, or the folder of a run, as the trainer does: a result a row. Raises what the trainer raises."""


def arguments(about: str | None) -> argparse.Namespace:
    """Arguments that every loader takes."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files as made, and folders of runs")
    parser.add_argument("--processor", type=Path, required=True, help="folder of images.processor")
    parser.add_argument("--output", type=Path, required=True, help="JSON lines: one a path")
    return parser.parse_args()


def write_lines(asked: argparse.Namespace, load: Load) -> None:
    """Load each path, and write what the trainer made of it."""
    with asked.output.open("w", encoding="utf-8") as out:
        for path in asked.paths:
            print(f"loading {path.name}", file=sys.stderr, flush=True)
            line: dict[str, Any] = {"path": str(path), "error": None, "rows": []}
            try:
                line["rows"] = list(load(path))
            except Exception as raised:  # noqa: BLE001  whatever a trainer raises is its answer
                line["error"] = told(raised)
            out.write(json.dumps(line) + "\n")


def parts_of(path: Path) -> list[str]:
    """The files of a run, or the file itself."""
    return [str(part) for part in sorted((path / "data").iterdir())] if path.is_dir() else [str(path)]


def kind_of(file: str) -> str:
    """The builder of ``datasets`` for a file."""
    return "parquet" if file.endswith(".parquet") else "json"


def seen(processor: Any, ids: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Where a row's tokens have places for images, before which words, and which images come with it."""
    tokens = [int(token) for token in ids]
    pixels, grid = given.get("pixel_values"), given.get("image_grid_thw")
    return {
        "tokens": len(tokens),
        "places": list(_places(processor.tokenizer, tokens)),
        "pictures": [] if grid is None else list(_pictures(processor.image_processor, pixels, grid)),
    }


def _places(tokenizer: Any, tokens: list[int]) -> Iterator[tuple[int | None, int]]:
    """The page whose words follow a place, and how many tokens the place has."""
    pad = tokenizer.convert_tokens_to_ids("<|image_pad|>")
    start = None
    for at, token in enumerate([*tokens, -1]):
        if token == pad:
            start = at if start is None else start
        elif start is not None:
            found = PAGE.search(tokenizer.decode(tokens[at : at + BEHIND]))
            yield int(found[1]) if found else None, at - start
            start = None


def _pictures(processor: Any, pixels: Any, grid: Any) -> Iterator[tuple[int, int]]:
    """The page that an image is of, and how many tokens it takes."""
    at = 0
    for sizes in grid.tolist():
        patches = sizes[0] * sizes[1] * sizes[2]
        means = pixels[at : at + patches].float().reshape(patches, 3, -1).mean(dim=(0, 2)).tolist()
        at += patches
        scaled = zip(means, processor.image_std, processor.image_mean, strict=True)
        red, green, blue = ((value * spread + middle) * 255 for value, spread, middle in scaled)
        yield nearest((red, green, blue)), patches // processor.merge_size**2
