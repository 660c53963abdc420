"""Measure what real trainers see of rows that trajcompress wrote: nothing of trajcompress is imported.

    python scripts/eval_trainers.py --target trl RUN_DIR... --tokenizer DIR --envs DIR [--json FILE] [--list N]
    python scripts/eval_trainers.py --target trl --run FILE... --tokenizer DIR --envs DIR --limit 8000 [--extra "…"]

Each trainer's own loader runs in a virtual environment of its own (``trainers/environments.py``), made in ``--envs``
where it is not there. What it made of each row is compared with the row as it was read and with the run's metrics.

``loads``: the file loads without code of the user. Where it does not, ``loaded`` are the rows that do by themselves.
``equal``, ``less``, ``more``: rows whose ``compressed_tokens`` are those of the trainer, fewer, or more.
``hidden``: rows over the target by the trainer's tokens that are not ``still_over_limit``.
``words``: of the words of assistant turns that no summary replaced, those in the trained text; ``turns``: whole ones.
``calls``, ``values``: of their calls, names and scalar arguments that stand in the trained text.
``twice``: calls whose arguments are a JSON string within JSON. ``in loss``: summaries that are trained.
``mism.``: rows that verl takes only with ``ignore_input_ids_mismatch``.
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
from pathlib import Path
from typing import Any

from trainers.environments import ENVIRONMENTS, python_of
from trainers.judge import FAULTS, judge
from truth.rows import pairs_of

SCRIPTS = Path(__file__).resolve().parent
SETUPS = ("dataset_info.json", "axolotl.yaml", "axolotl.yml", "trl.json", "verl.yaml")
FORS = {"mistral-common": "mistral"}
"""Targets of ``--for`` that have another name than the package."""

COLUMNS = (
    *("file", "loads", "rows", "loaded", "mism.", "equal", "less", "more", "hidden", "words", "turns", "calls"),
    *("values", "twice", "in loss"),
)


def main() -> int:
    """Measure run folders, or make them first."""
    asked = _arguments()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for target in asked.target:
            python = python_of(target, asked.envs, asked.index)
            runs = _runs(asked, target, Path(folder))
            made: list[tuple[str, dict[str, Any], Counter[str]]] = []
            findings: list[dict[str, str]] = []
            for run in runs:
                made += measure(run, target, python, asked, findings)
            print(f"\n== {target}\n{table(made)}", flush=True)
            show(findings, asked.list)
            figures[target] = {
                "files": [{"file": name, **whole, **found} for name, whole, found in made],
                "findings": findings,
            }
    if asked.json:
        asked.json.write_text(json.dumps(figures, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


def measure(
    run: Path, target: str, python: Path, asked: argparse.Namespace, findings: list[dict[str, str]]
) -> list[tuple[str, dict[str, Any], Counter[str]]]:
    """Load the files of a run as the trainer does, and the figures of each."""
    settings = json.loads((run / "run.json").read_text(encoding="utf-8"))["settings"]
    limit = int(settings["compression.target_max_tokens"])
    wholes, rows = load(run, target, python, asked)
    tallies: dict[str, Counter[str]] = {name: Counter() for name in wholes}
    for pair in pairs_of(run, asked.inputs):
        if pair.after is None:
            continue
        place = tallies.setdefault(pair.source, Counter())
        line = rows[pair.source][place["rows"]]
        found, faults = judge(pair.before, pair.metrics, line, limit)
        place.update(found)
        findings += [{"row": pair.name, "figure": figure, "what": what} for figure, what in faults.items()]
    return [(name, wholes[name], tally) for name, tally in tallies.items()]


def load(
    run: Path, target: str, python: Path, asked: argparse.Namespace
) -> tuple[dict[str, dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """What the loader says of each input file, and of its rows in order."""
    setup = next((place / name for place in (run, run / "data") for name in SETUPS if (place / name).exists()), None)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "lines"
        files = sorted(path for path in (run / "data").iterdir() if path.suffix in {".parquet", ".jsonl"})
        command = [str(python), "-m", f"trainers.{target.replace('-', '_')}", *map(str, files)]
        command += ["--tokenizer", str(asked.tokenizer.absolute()), "--output", str(output)]
        command += ["--chat-template", str(asked.chat_template.absolute())] if asked.chat_template else []
        command += ["--assistant-only"] if asked.assistant_only else []
        command += ["--setup", str(setup)] if setup else []
        command += [part for option in asked.option for part in ("--option", option)]
        around = os.environ | {"PYTHONPATH": str(SCRIPTS), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        log = Path(folder) / "log"
        with log.open("wb") as said:
            done = subprocess.run(command, env=around, stdout=said, stderr=said, check=False)
        if done.returncode:
            raise SystemExit(f"the loader of {target} failed:\n{log.read_text(errors='replace')[-2000:]}")
        lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    wholes: dict[str, dict[str, Any]] = {}
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        stem = Path(line["file"]).name.rsplit("-", 1)[0]
        if "row" in line:
            rows.setdefault(stem, []).append(line)
        elif stem not in wholes or not line["loads"]:  # of parts the worst
            wholes[stem] = {"loads": line["loads"], "error": line["error"]}
    return wholes, rows


def table(made: list[tuple[str, dict[str, Any], Counter[str]]]) -> str:
    """The figures as text: a line for each file, and one for all."""
    total: Counter[str] = Counter()
    loads = 0
    lines: list[tuple[str, ...]] = [COLUMNS]
    for name, whole, found in made:
        total.update(found)
        loads += whole["loads"]
        lines.append((name[:28], "yes" if whole["loads"] else "NO", *_cells(found)))
    lines.append(("all", f"{loads}/{len(made)}", *_cells(total)))
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if not column else cell.rjust(width) for column, (cell, width) in enumerate(pairs)
        )
        for pairs in (list(zip(line, widths, strict=True)) for line in lines)
    )


def _cells(found: Counter[str]) -> tuple[str, ...]:
    plain = ("rows", "loaded", "mismatch", "tokens equal", "ours less", "ours more", "hidden over")
    shares = (
        ("words there", "words"),
        ("turns whole", "turns"),
        ("calls there", "calls"),
        ("values there", "values"),
    )
    return (
        *(str(found[name]) for name in plain),
        *(f"{found[there] / found[of]:.2%}" if found[of] else "-" for there, of in shares),
        str(found["encoded twice"]),
        f"{found['summary in loss']}/{found['summaries']}",
    )


def show(findings: list[dict[str, str]], most: int) -> None:
    """The first findings of each figure."""
    for figure in FAULTS:
        for finding in [finding for finding in findings if finding["figure"] == figure][:most]:
            print(f"[{figure}] {finding['row']}: {finding['what'][:300]}")


def _runs(asked: argparse.Namespace, target: str, folder: Path) -> list[Path]:
    """Run folders; where asked for one of all inputs, made here."""
    if not asked.run:
        return list(asked.paths)
    run = (asked.keep or folder) / target
    command = [sys.executable, "-m", "trajcompress", "compress", *map(str, asked.paths)]
    command += ["--for", FORS.get(target, target), "--tokenizer", str(asked.tokenizer), "-o", str(run)]
    command += ["--target-max-tokens", str(asked.limit), "--overwrite", "--quiet", *shlex.split(asked.extra)]
    print(" ".join(command), file=sys.stderr, flush=True)
    done = subprocess.run(command, check=False)
    if not (run / "metrics.parquet").exists():
        raise SystemExit(f"the run ended with {done.returncode}")
    return [run]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="run folders; with --run, inputs")
    parser.add_argument(
        "--target", action="append", required=True, choices=list(ENVIRONMENTS), help="may be repeated"
    )
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of the tokenizer")
    parser.add_argument("--envs", type=Path, required=True, help="folder of the trainers' environments")
    parser.add_argument("--index", help="further package index, such as one of torch without a GPU")
    parser.add_argument("--run", action="store_true", help="compress the inputs first")
    parser.add_argument("--limit", type=int, default=8000, help="tokens of a row at most, for --run")
    parser.add_argument("--extra", default="", help="further options of compress, in quotes")
    parser.add_argument("--keep", type=Path, help="folder to keep the runs of --run in")
    parser.add_argument("--inputs", type=Path, help="folder of the inputs, where they are not where the metrics say")
    parser.add_argument("--chat-template", type=Path, help="Jinja file for the trainer to use")
    parser.add_argument("--assistant-only", action="store_true", help="loss on assistant turns alone, for TRL")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of the loader")
    parser.add_argument("--json", type=Path, help="write all figures and findings here")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="print so many findings of each figure")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
