"""Measure where trainers see the images of rows that trajcompress wrote: nothing of trajcompress is imported.

    python scripts/eval_images.py --tokenizer DIR --envs DIR [--target trl] [--json FILE] [--as-made]

Rows are made, in each the pictures of up to 19 pages, each of one colour, and behind each the words of its page
(``images/rows.py``). They are compressed by the command line, a file at a time. Each trainer's own loader, in its own
environment (``trainers/environments.py``), then reads them as made and as compressed, with a small processor of
Qwen3-VL's kind (``images/processor.py``); the colours of the pixels and the tokens behind each place say where images
stand.

``as made``: of the files as made, those that load, and those of which each image stands before the words of its page.
``rejected``: files of which compress wrote no row, or not each; a line says why.
``load``, ``right``: the same of the files that were written; a line for each that is not. Words that went take their
image with them, and others keep it.
``images``: of the images that have to be there, those of the files that are right.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from images.files import write_files
from images.judge import expected, faults, loads
from images.rows import Made, Shown
from trainers.environments import add_images, python_of
from truth.rows import read

SCRIPTS = Path(__file__).resolve().parent
TARGETS = ("trl", "llama-factory", "axolotl", "verl")
COLUMNS = ("trainer", "files", "as made: load", "right", "compressed: rejected", "load", "right", "images")

Wanted = dict[Path, list[list[Shown]]]
"""Of each file or run where the images of each row have to stand."""


def main() -> int:
    """Make rows, compress them for each trainer, and have its loader read both."""
    asked = _arguments()
    lines: list[tuple[str, ...]] = [COLUMNS]
    findings: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = (asked.keep or Path(temporary)).absolute()
        made = write_files(folder / "made")
        processor = _processor(folder, asked)
        for target in asked.target or TARGETS:
            runs, refused = compress(made, folder / target, target, processor, asked)
            as_made = {file: [list(row.shown) for row in rows] for file, rows in made.items()}
            loaded = load([*as_made, *runs], target, processor, asked)
            before, told_before = count(as_made, loaded)
            after, told_after = count(runs, loaded)
            said = {"as made": told_before, "rejected": refused, "compressed": told_after}
            findings += [{"trainer": target, "of": of, "what": what} for of, told in said.items() for what in told]
            figures = (len(made), before["load"], before["right"], len(refused), after["load"], after["right"])
            lines.append((target, *map(str, figures), f"{after['images right']}/{after['images']}"))
    print(table(lines))
    for each in findings:
        if asked.as_made or each["of"] != "as made":
            print(f"[{each['trainer']}, {each['of']}] {each['what'][:200]}")
    if asked.json:
        shown = {"table": [dict(zip(_names(), line, strict=True)) for line in lines[1:]], "findings": findings}
        asked.json.write_text(json.dumps(shown, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


def compress(
    made: dict[Path, list[Made]], folder: Path, target: str, processor: Path, asked: argparse.Namespace
) -> tuple[Wanted, list[str]]:
    """A run for each file: what its rows have to show; and the files that were not written whole, with the reason."""
    wanted: Wanted = {}
    refused = []
    for file, rows in made.items():
        run = folder / file.name.replace(".", "-")
        command = [sys.executable, "-m", "trajcompress", "compress", str(file), "--for", target, "-o", str(run)]
        command += ["--tokenizer", str(processor), "--target-max-tokens", str(asked.limit)]
        if target == "llama-factory" and file.suffix == ".parquet":
            command += ["--output-format", "parquet"]  # its JSON lines hold places, no bytes
        command += ["--num-workers", "1", "--overwrite", "--quiet", *shlex.split(asked.extra)]
        print(f"compressing {file.name} for {target}", file=sys.stderr, flush=True)
        done = subprocess.run(command, check=False)
        if not (run / "metrics.parquet").exists():
            raise SystemExit(f"the run ended with {done.returncode}")
        written = [row for part in sorted((run / "data").iterdir()) for row in read(part)]
        if len(written) == len(rows):
            wanted[run] = [expected(row.shown, after) for row, after in zip(rows, written, strict=True)]
        else:
            refused.append(f"{file.name}: {_reason(run)}")
    return wanted, refused


def _reason(run: Path) -> str:
    first = json.loads((run / "rejected.jsonl").read_text(encoding="utf-8").splitlines()[0])
    return f"{first['reason']}: {first['detail']}"


def load(
    paths: Iterable[Path], target: str, processor: Path, asked: argparse.Namespace
) -> dict[Path, dict[str, Any]]:
    """What the loader of a trainer says of each file and run."""
    python = python_of(target, asked.envs, asked.index)
    add_images(python, asked.index)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "lines"
        module = f"images.{target.replace('-', '_')}"
        _run(python, module, [*map(str, paths), "--processor", str(processor), "--output", str(output)])
        lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    return {Path(line["path"]): line for line in lines}


def _processor(folder: Path, asked: argparse.Namespace) -> Path:
    """The folder of a small processor and model, made where TRL is installed."""
    python = python_of("trl", asked.envs, asked.index)
    add_images(python, asked.index)
    made = folder / "processor"
    _run(python, "images.processor", [str(asked.tokenizer.absolute()), str(made)])
    return made


def _run(python: Path, module: str, given: list[str]) -> None:
    around = os.environ | {"PYTHONPATH": str(SCRIPTS), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    print(f"running {module}", file=sys.stderr, flush=True)
    with tempfile.TemporaryFile() as log:
        done = subprocess.run([str(python), "-m", module, *given], env=around, stdout=log, stderr=log, check=False)
        log.seek(0)
        if done.returncode:
            raise SystemExit(f"{module} failed:\n{log.read().decode(errors='replace')[-2000:]}")


def count(wanted: Wanted, loaded: dict[Path, dict[str, Any]]) -> tuple[Counter[str], list[str]]:
    """How many files load and are right, with their images, and a line for each that is not."""
    found: Counter[str] = Counter()
    told = []
    for path, rows in wanted.items():
        images = sum(map(len, rows))
        error = loads(loaded[path])
        wrong = [f"does not load: {error}"] if error else faults(rows, loaded[path])
        found["images"] += images
        found["load"] += not error
        found["right"] += not wrong
        found["images right"] += 0 if wrong else images
        told += [f"{path.name}: {wrong[0]}"] if wrong else []
    return found, told


def table(lines: list[tuple[str, ...]]) -> str:
    """The figures as text."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines)


def _names() -> tuple[str, ...]:
    """The columns by names that differ."""
    return (*COLUMNS[:3], "as made: right", "compressed: rejected", "compressed: load", "compressed: right", "images")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of one of Qwen3's tokenizers")
    parser.add_argument("--envs", type=Path, required=True, help="folder of the trainers' environments")
    parser.add_argument("--target", action="append", choices=TARGETS, help="may be repeated; all unless given")
    parser.add_argument("--index", help="further package index, such as one of torch without a GPU")
    parser.add_argument("--limit", type=int, default=15000, help="tokens of a row at most")
    parser.add_argument("--extra", default="", help="further options of compress, in quotes")
    parser.add_argument("--keep", type=Path, help="new folder to keep the rows, the processor and the runs in")
    parser.add_argument("--json", type=Path, help="write the table and all findings here")
    parser.add_argument("--as-made", action="store_true", help="say, too, what is wrong with files as made")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
