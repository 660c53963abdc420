"""The made rows as files: JSON lines with places of the pictures, and Parquet with the pictures themselves."""

from __future__ import annotations

import json
from pathlib import Path

from images.colours import PAGES, colour, png
from images.rows import PARQUET, Made, files


def write_files(folder: Path) -> dict[Path, list[Made]]:
    """Draw the pictures, and write each file; its rows by its place."""
    (folder / "pictures").mkdir(parents=True)
    pictures = [folder / "pictures" / f"{page}.png" for page in range(PAGES)]
    for page, place in enumerate(pictures):
        place.write_bytes(png(colour(page)))
    written = {}
    for name, made in files(pictures).items():
        place = folder / f"{name}.jsonl"
        place.write_text("".join(json.dumps(each.row) + "\n" for each in made), encoding="utf-8")
        written[place] = made
        if name in PARQUET:
            _write_parquet(place.with_suffix(".parquet"), made)
            written[place.with_suffix(".parquet")] = made
    return written


def _write_parquet(place: Path, made: list[Made]) -> None:
    """Write rows as ``datasets`` writes a column of images."""
    from datasets import Dataset, Image, List, disable_progress_bars

    disable_progress_bars()
    rows = [
        each.row | {"images": [{"bytes": Path(image).read_bytes(), "path": None} for image in each.row["images"]]}
        for each in made
    ]
    Dataset.from_list(rows).cast_column("images", List(Image())).to_parquet(place)
