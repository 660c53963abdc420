"""Measure whether ``trajcompress check`` and a trainer's own code agree on rows as they are: one verdict a row each.

    python scripts/eval_check.py --target trl data/*.jsonl --tokenizer DIR --envs DIR [--json FILE] [--list N]

The trainer is wrong on a row where its loader raises, drops the row, or leaves out words or calls of it (thoughts in
``<think>`` apart, of which ``check`` has a note); ``check`` says so where it has a violation. Violations of the
``PROTOCOL`` are of the transcript itself, which trainers do not look at: rows with these alone are counted apart.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from eval_trainers import FORS, load
from trainers.environments import ENVIRONMENTS, python_of
from trainers.judge import encoded_twice, stands
from trainers.said import ASSISTANT, assistant_turns
from truth.rows import calls, messages, read, role, text

PROTOCOL = frozenset(
    {"orphan_tool_result", "unanswered_tool_call", "duplicate_tool_call_id", "tool_result_id_mismatch"}
    | {"arguments_not_json", "empty_trajectory"}
)
NOTES = frozenset({"types_differ"})
"""What stands between rows, not in one."""
IMAGES = frozenset({"image", "image_url", "input_image", "audio", "input_audio"})
READ = ("messages", "conversations", "tools", "system")
ABOUT = frozenset({"type", "id", "tool_use_id", "signature", "cache_control"})
"""Keys of a block whose values say nothing to a model."""
THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


def main() -> int:
    """Judge each row of each file twice, and count where the verdicts differ."""
    asked = _arguments()
    python = python_of(asked.target, asked.envs, asked.index)
    total: Counter[str] = Counter()
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        run = _as_read(asked.paths, Path(folder) / "run", asked.target)
        rows = {part.name.rsplit("-", 1)[0]: read(part) for part in (run / "data").iterdir()}
        _, loaded = load(run, asked.target, python, asked)
        checked = _checked(run, asked)
    for file in asked.paths:
        tally: Counter[str] = Counter()
        stem = file.name.split(".")[0]
        for place, (row, line) in enumerate(zip(rows[stem], loaded[stem], strict=True)):
            trainer, kinds = _wrong(row, line), checked.get((stem, place), frozenset())
            name = _verdict(trainer, kinds)
            tally[name] += 1
            if name != "agree":
                found.append(
                    {"row": f"{file.name}#{place}", "verdict": name, "trainer": trainer, "check": sorted(kinds)}
                )
        print(f"{file.name[:32]:32} {dict(tally)}", flush=True)
        total.update(tally)
    print(f"{'all':32} {dict(total)}")
    for each in found[: asked.list]:
        print(each)
    if asked.json:
        asked.json.write_text(json.dumps({"total": total, "found": found}, indent=1), encoding="utf-8")
    return 0


def _verdict(trainer: str | None, kinds: frozenset[str]) -> str:
    if bool(trainer) == bool(kinds):
        return "agree"
    if trainer:
        return "check alone passes"
    return "protocol alone" if kinds <= PROTOCOL else "check alone fails"


def _as_read(files: Iterable[Path], run: Path, target: str) -> Path:
    """Put the rows into a run folder as they are, so that the loader finds files of its own kind."""
    (run / "data").mkdir(parents=True)
    for file in files:
        place = run / "data" / f"{file.name.split('.')[0]}-00000{file.suffix}"
        if target != "verl" or not _as_parquet(file, place.with_suffix(".parquet")):
            place.write_bytes(file.read_bytes())
    if target == "axolotl":
        # What the check takes for granted: it is told of no other column than its default.
        (run / "axolotl.yaml").write_text("datasets: [{type: chat_template}]\n", encoding="utf-8")
    return run


def _as_parquet(file: Path, place: Path) -> bool:
    """Write what trainers read of a file as Parquet, the only one that verl reads; False where it is no table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    given = read(file)
    names = [name for name in READ if any(row.get(name) is not None for row in given)]
    rows = [{name: row.get(name) for name in names} for row in given]
    try:
        pq.write_table(pa.Table.from_pylist(rows), place)
    except pa.ArrowException:
        return False
    return True


def _checked(run: Path, asked: argparse.Namespace) -> dict[tuple[str, int], frozenset[str]]:
    """The kinds of violations that ``check`` finds in each row, by its file and place."""
    data = sorted(map(str, (run / "data").iterdir()))
    command = [sys.executable, "-m", "trajcompress", "check", *data, "--for", FORS.get(asked.target, asked.target)]
    command += ["--json", "--examples", "1000000"]
    if asked.target != "mistral-common":  # which renders no chat template
        command += ["--tokenizer", str(asked.tokenizer)]
    command += ["--chat-template", str(asked.chat_template)] if asked.chat_template else []
    command += ["--assistant-only"] if asked.assistant_only else []
    command += asked.extra.split()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    kinds: dict[tuple[str, int], set[str]] = {}
    for kind, of in json.loads(done.stdout)["violations"].items():
        for example in of["examples"] if kind not in NOTES else ():
            place = (Path(example["file"]).name.rsplit("-", 1)[0], example["row"])
            kinds.setdefault(place, set()).add(kind)
    return {place: frozenset(of_row) for place, of_row in kinds.items()}


def _wrong(row: dict[str, Any], line: dict[str, Any]) -> str | None:
    """What a trainer makes of a row that is not the row, if anything."""
    if not line["loaded"]:
        return str(line["error"])
    if line.get("mismatch"):
        return "it raises without ignore_input_ids_mismatch"
    return _lost_words(row, line) or _lost_calls(row, line)


def _in_blocks(message: dict[str, Any]) -> Iterator[str]:
    """The values in blocks of content beside text, images and thoughts, such as a vendor's calls."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and "text" not in block:
            kinds = {str(name).lower() for name in (block.get("type"), *block)}
            if IMAGES.isdisjoint(kinds) and not any("thinking" in kind or "reasoning" in kind for kind in kinds):
                yield from _values(block)


def _values(block: Any) -> Iterator[str]:
    if isinstance(block, dict):
        for key, value in block.items():
            yield from _values(value) if key not in ABOUT else ()
    elif isinstance(block, list):
        for value in block:
            yield from _values(value)
    elif isinstance(block, str) and block.strip():
        yield block


def _lost_words(row: dict[str, Any], line: dict[str, Any]) -> str | None:
    """The first turn whose words, or the names of whose calls, are not there behind those of the one before it."""
    rendered, trained = _squeezed(line["rendered"]), _squeezed(line["trained"])
    at = at_trained = 0
    for index, message in enumerate(messages(row)):
        is_assistant = role(message).lower() in ASSISTANT
        words = "" if role(message) == "function_call" else text(message)
        if is_assistant:
            words = THOUGHT.sub(" ", words)
            at_trained = _after(words, trained, at_trained)
        # A system prompt may come late: Mistral's v3 has it with the last request.
        late = role(message) == "system" and words.strip()
        at = min(at, _after(words, rendered, 0)) if late else _after(words, rendered, at)
        if at < 0 or at_trained < 0:
            return f"turn {index} ({role(message)}) is not there: {words.strip()[:80]!r}"
        for _, name, _ in calls(message) if is_assistant else ():
            at = _after(name, rendered, at)
            if at < 0:
                return f"turn {index} lacks its call of {name}"
        for value in _in_blocks(message):
            at = _after(value, rendered, at)
            if at < 0:
                return f"turn {index} lacks of a block {value[:80]!r}"
    return None


def _lost_calls(row: dict[str, Any], line: dict[str, Any]) -> str | None:
    """The first call that is not trained with its values, or is encoded twice."""
    for turn in assistant_turns(row):
        for call in turn.calls:
            missing = [value for value in (call.name, *call.values) if not stands(value, line["trained"])]
            if missing:
                return f"call {call.name} lacks {missing[0][:80]!r}"
            if encoded_twice(call, line["trained"]):
                return f"call {call.name} is encoded twice"
    return None


def _after(words: str, squeezed: str, at: int) -> int:
    """Where words end in a text without white space from a place on, as they are or escaped; -1 where nowhere."""
    forms = {
        _squeezed(form) for form in (words, json.dumps(words)[1:-1], json.dumps(words, ensure_ascii=False)[1:-1])
    }
    ends = [found + len(form) for form in forms if (found := squeezed.find(form, at)) >= 0]
    return min(ends, default=-1)


def _squeezed(words: str) -> str:
    return "".join(words.split())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE", help="rows as they are")
    parser.add_argument("--target", required=True, choices=list(ENVIRONMENTS))
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of the tokenizer")
    parser.add_argument("--envs", type=Path, required=True, help="folder of the trainers' environments")
    parser.add_argument("--index", help="further package index, such as one of torch without a GPU")
    parser.add_argument("--chat-template", type=Path, help="Jinja file to use in place of the tokenizer's")
    parser.add_argument("--assistant-only", action="store_true", help="loss on assistant turns alone, for TRL")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of the loader")
    parser.add_argument("--extra", default="", help="further options of check, in quotes")
    parser.add_argument("--json", type=Path, help="write the rows on which they differ here")
    parser.add_argument("--list", type=int, default=20, metavar="N", help="print so many of them")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
