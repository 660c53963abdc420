"""Measure whether compressed rows are true, from the input and the output alone: nothing of trajcompress is imported.

    python scripts/eval_truth.py RUN_DIR... --tokenizer DIR [--json FILE] [--list N]
    python scripts/eval_truth.py --run path/to/data --tokenizer DIR --targets 8000,15250 [--extra "--prune all"]

Who is who in a row, what ran and what came of it is a table of this script's own, by source file, made by reading
the rows: see ``truth/who.py``. A row is a text row where actions and results are text of ordinary turns, else a tool
row. Only rows over the target count. Each figure is a share with its counts and the 95 % interval (Wilson).

``claim``: of what the output says, what is so. ``result``: of ``LEFT → RIGHT`` (and ``LEFT: RIGHT`` among results,
where LEFT is an action and RIGHT stands in some result), RIGHT came of LEFT. ``ran``: LEFT is an action of the row.
``goal``: what is quoted as goal or task was said by a person (a demonstration is nobody's). ``request``: so was what
is quoted as request, constraint or unanswered question. ``changed``: a file called changed was changed. ``cleared``:
what a kept result was cleared or cut to is its own and its action's.
``clean rows``: rows with a summary or changed turns, all of whose claims are so.
``goal in force``: rows with a summary where the request in force at its end stands in it, or in a kept turn.
``probe``: of what the row with its middle cut to the target no longer answers (``truth/probes.py``), what is answered
by the run, and by two scripts at the same size (``truth/baselines.py``): bare marks, and one good line each.
``assistant tokens``: of those of the rows, what stands in assistant turns word for word.
    ``last commands with result`` leaves out actions that only read a file; ``value with object`` asks for figures and
    ids that later turns use or the agent wrote; a number of lines is no answer, words of the result are.
``quoted``: of the values, and the runs of words, that a kept turn of the agent takes from results, and nobody else
    said before (``truth/quoted.py``), what stands in another turn or the summary. ``in another form``: of dates,
    times and figures that the turn writes in its own way, as `Feb 21, 2020` for `2020-02-21` (``truth/forms.py``).
``fit``, ``over has a reason``: rows no longer over; of those that are over, those with a reason.
``full``: of rows changed and fitting, those that fill at least 80 % of the target, or that lack nothing but encoded
    data and results that were given before.
``counts agree``: rows whose tokens in the metrics are within 2 % of transformers' count.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from truth.baselines import CUT, LINE, MARK, NAMES, shorten
from truth.claims import KINDS as CLAIMS
from truth.claims import Finding, Judge
from truth.forms import rewritten, values
from truth.left import Doc
from truth.probes import KINDS as PROBES
from truth.probes import lost
from truth.quoted import Told, quotes
from truth.rows import Pair, pairs_of
from truth.sections import Output, read_output
from truth.sizes import MARKS, Sizes
from truth.tally import Tally
from truth.who import Story, tell
from truth.words import words

RUN = "run"
QUOTED = ("quoted value", "quoted words", "quoted in another form")
FULL = 0.8
BULK = re.compile(
    r"→ the same result as [^\n]{1,400} (?:before|last); |→ fails as before"
    r"|\[… (?:[\d,]+ (?:encoded|NUL)|as in the (?:first turns|call), [\d,]+) characters elided …\]"
    r"|\[… (?:the same (?:line|words) [\d,]+ times|[\d,]+) more "
)
NEAR = 0.02


def main() -> int:
    """Measure runs, or make them first."""
    asked = _arguments()
    sizes = Sizes(asked.tokenizer)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for run, target in _runs(asked, Path(folder)):
            tally, findings = measure(run, target, sizes, asked.inputs)
            print(f"\n== {run.name}, target {target}\n{tally.table()}", flush=True)
            _show(findings, asked.list)
            figures[f"{run.name}@{target}"] = {"target": target, "figures": tally.figures(), "findings": findings}
    if asked.json:
        asked.json.write_text(json.dumps(figures, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


def measure(run: Path, target: int, sizes: Sizes, inputs: Path | None = None) -> tuple[Tally, list[dict[str, Any]]]:
    """All figures of a run, and the findings that speak against it."""
    tally = Tally()
    findings: list[dict[str, Any]] = []
    for measure_, ways in [("rows over the target", [RUN])] + [(f"claim {kind}", [RUN]) for kind in CLAIMS]:
        for way in ways:
            tally.add(measure_, way, "all", 0, 0)
    source = ""
    for pair in pairs_of(run, inputs):
        if pair.source != source:
            source = pair.source
            print(f"{run.name}: {source}", file=sys.stderr, flush=True)
        if (pair.metrics["original_tokens"] or 0) > target and pair.after is not None:
            findings += _row(pair, target, sizes, tally)
    return tally, findings


def _row(pair: Pair, target: int, sizes: Sizes, tally: Tally) -> list[dict[str, Any]]:
    """Measure a row."""
    story = tell(pair.source, pair.before)
    group = story.group
    output = read_output(story, pair.after or {}, pair.metrics)
    over = (pair.metrics["compressed_tokens"] or 0) > target
    tally.add("rows over the target", RUN, group, 1)
    tally.add("fit", RUN, group, not over)
    if over:
        tally.add("over has a reason", RUN, group, bool(pair.metrics["reason"]))
    elif pair.metrics["was_compressed"]:
        all_bulk = not output.summary and all(BULK.search(turn.text) for turn in output.changed)
        tally.add("full", RUN, group, all_bulk or pair.metrics["compressed_tokens"] >= FULL * target)
    counted = sizes.row(pair.after or {})
    tally.add("counts agree", RUN, group, abs(counted - pair.metrics["compressed_tokens"]) <= NEAR * counted)
    spoken = sum(sizes.text(turn.whole) for turn in story.turns if turn.assistant)
    tally.add("assistant tokens", RUN, group, _kept(story, output, sizes), spoken)
    fixed = sizes.row(pair.before) - sum(sizes.text(turn.whole) + MARKS for turn in story.turns)
    shorts = {name: shorten(name, story, sizes.text, max(0, fixed), target) for name in NAMES}
    for name, short in shorts.items():
        tally.add("assistant tokens", name, group, short.kept, spoken)
        tally.add("fit", name, group, short.tokens <= target)
    found = [_said(pair, finding) for finding in _claims(story, output, tally)]
    docs = {RUN: Doc(output.texts), MARK: Doc(shorts[MARK].texts), LINE: Doc(shorts[LINE].texts)}
    for probe in lost(story, Doc(shorts[CUT].texts)):
        for way, doc in docs.items():
            answered = probe.answered(doc)
            tally.add(f"probe {probe.kind}", way, group, answered)
            tally.add("probe of any kind", way, group, answered)
            if way == RUN and not answered:
                found.append(
                    {"row": pair.name, "kind": f"probe {probe.kind}", "text": probe.what, "why": "not answered"}
                )
    found += _quoted(pair, story, output, tally)
    if output.summary:
        good = _goal(story, output, pair)
        tally.add("goal in force", RUN, group, good)
        if not good:
            found.append(
                {
                    "row": pair.name,
                    "kind": "goal in force",
                    "text": "",
                    "why": "the request in force is not in the row",
                }
            )
    return found


def _claims(story: Story, output: Output, tally: Tally) -> Iterator[Finding]:
    wrong = 0
    for finding in Judge(story).judge(output):
        tally.add(f"claim {finding.kind}", RUN, story.group, finding.ok)
        if not finding.ok:
            wrong += 1
            yield finding
    if output.summary or output.changed:
        tally.add("clean rows", RUN, story.group, not wrong)


def _quoted(pair: Pair, story: Story, output: Output, tally: Tally) -> Iterator[dict[str, Any]]:
    told = Told([text for text in output.texts if not output.assistant[text]])
    for place, kind, taken in quotes(story, set(output.assistant)):
        stands = told.tells(taken)
        tally.add(f"quoted {kind}", RUN, story.group, stands)
        if not stands:
            what = f"turn {place}: {' '.join(taken)}"
            yield {"row": pair.name, "kind": f"quoted {kind}", "text": what, "why": "told nowhere else"}
    told_values = {value for text in output.texts if not output.assistant[text] for value, _ in values(text)}
    for place, written, value in rewritten(story, set(output.assistant)):
        tally.add("quoted in another form", RUN, story.group, value in told_values)
        if value not in told_values:
            what = f"turn {place}: {written}"
            yield {"row": pair.name, "kind": "quoted in another form", "text": what, "why": "told nowhere else"}


def _kept(story: Story, output: Output, sizes: Sizes) -> int:
    """Assistant tokens that stand in the output: whole turns, and the lines left of those that were cut."""
    spoken = Counter(output.assistant)
    changed = {turn.turn: turn.text for turn in output.changed}
    kept = 0
    for index, turn in enumerate(story.turns):
        if not turn.assistant:
            continue
        same = turn.whole.strip()
        whole = next((text for text in (turn.whole, same) if spoken[text]), None)
        if whole is not None:
            spoken[whole] -= 1
            kept += sizes.text(turn.whole)
        elif index in changed:
            lines = Counter(turn.whole.splitlines()) & Counter(changed[index].splitlines())
            kept += sizes.text("\n".join(lines.elements())) if lines else 0
    return kept


def _goal(story: Story, output: Output, pair: Pair) -> bool:
    """Whether the request in force where the summary ends is in the output."""
    end = pair.metrics["region_end_idx"] or len(story.turns)
    asked = [index for index, turn in enumerate(story.turns[:end]) if turn.kind == "request"]
    if not asked or asked[-1] in output.kept:
        return True
    start = words(story.turns[asked[-1]].text)[:14]
    return not start or Doc([output.summary]).within([start], 20)


def _said(pair: Pair, finding: Finding) -> dict[str, Any]:
    return {"row": pair.name, "kind": f"claim {finding.kind}", "text": finding.text, "why": finding.why}


def _show(findings: list[dict[str, Any]], most: int) -> None:
    """The first findings of each kind, no more than three of a row."""
    for kind in [
        *(f"claim {kind}" for kind in CLAIMS),
        "goal in force",
        *(f"probe {kind}" for kind in PROBES),
        *QUOTED,
    ]:
        shown: Counter[str] = Counter()
        for finding in findings:
            if finding["kind"] == kind and shown.total() < most and shown[finding["row"]] < 3:  # noqa: PLR2004
                shown[finding["row"]] += 1
                print(f"[{kind}] {finding['row']}: {finding['text'][:400]!r}\n    {finding['why']}")


def _runs(asked: argparse.Namespace, folder: Path) -> Iterator[tuple[Path, int]]:
    """Run folders with their targets; made here where asked for."""
    if not asked.run:
        for run in asked.paths:
            settings = json.loads((run / "run.json").read_text(encoding="utf-8")).get("settings", {})
            yield run, asked.target or int(settings["compression.target_max_tokens"])
        return
    targets = [asked.target] if asked.target else [int(target) for target in asked.targets.split(",")]
    for target in targets:
        run = (asked.keep or folder) / f"target-{target}"
        command = [
            sys.executable,
            "-m",
            "trajcompress",
            "compress",
            *map(str, asked.paths),
            "--tokenizer",
            str(asked.tokenizer),
        ]
        command += [
            "--target-max-tokens",
            str(target),
            "-o",
            str(run),
            "--overwrite",
            "--quiet",
            *shlex.split(asked.extra),
        ]
        print(" ".join(command), file=sys.stderr, flush=True)
        done = subprocess.run(command, check=False)
        if not (run / "metrics.parquet").exists():
            raise SystemExit(f"the run ended with {done.returncode}")
        yield run, target


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="run folders; with --run, inputs")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of the tokenizer, for transformers")
    parser.add_argument("--run", action="store_true", help="compress the inputs first, once for each target")
    parser.add_argument("--target", type=int, help="target of the runs; else what run.json says")
    parser.add_argument("--targets", default="8000,15250", help="targets of --run")
    parser.add_argument("--extra", default="", help="further options of compress, in quotes")
    parser.add_argument("--keep", type=Path, help="folder to keep the runs of --run in")
    parser.add_argument("--inputs", type=Path, help="folder of the inputs, where they are not where the metrics say")
    parser.add_argument("--json", type=Path, help="write all figures and findings here")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="print so many findings of each kind")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
