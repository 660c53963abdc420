"""Rows as they were and as a run left them: JSON lines and Parquet, paired by the run's own metrics."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PART = re.compile(r"^(?P<stem>.*)-\d{5}$")
COLUMNS = ("messages", "conversations")


@dataclass(frozen=True)
class Pair:
    """A row before and after, with what the run says of it."""

    source: str
    index: int
    before: dict[str, Any]
    after: dict[str, Any] | None
    metrics: dict[str, Any]

    @property
    def name(self) -> str:
        """How a finding names the row."""
        return f"{self.source}#{self.index}"


def read(path: Path) -> list[dict[str, Any]]:
    """All rows of a file: Parquet, JSON lines or an array, packed or not."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return list(pq.read_table(path).to_pylist())
    packed = path.read_bytes()
    text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode()
    if path.name.removesuffix(".gz").endswith(".json"):
        return list(json.loads(text))
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def pairs_of(run: Path, inputs: Path | None = None) -> Iterator[Pair]:
    """Each row of the run's metrics, with its row of the input and of the dataset."""
    written: dict[str, list[dict[str, Any]]] = {}
    for part in sorted((run / "data").iterdir()):
        named = PART.match(part.name.split(".")[0])
        if named and part.suffix in {".parquet", ".jsonl"}:
            written.setdefault(named["stem"], []).extend(read(part))
    sources: dict[str, list[dict[str, Any]]] = {}
    taken: dict[str, int] = {}
    for row in read(run / "metrics.parquet"):
        file = Path(row["source_file"])
        stem = file.name.split(".")[0]
        if row["source_file"] not in sources:
            sources[row["source_file"]] = read(inputs / file.name if inputs else file)
        after = None
        if row["in_dataset"]:
            place = taken.get(stem, 0)
            taken[stem] = place + 1
            after = written[stem][place]
        before = sources[row["source_file"]][row["source_row"]]
        if after is not None and before.get("id") != after.get("id"):
            raise SystemExit(f"{run}: the rows of {file} are not in the order of the metrics")
        yield Pair(stem, row["source_row"], before, after, row)


def messages(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The turns of a row; Parquet may hold each as JSON."""
    found: Any = next((row[column] for column in COLUMNS if row.get(column)), [])
    found = json.loads(found) if isinstance(found, str) else found
    return [json.loads(turn) if isinstance(turn, str) else turn for turn in found]


def role(message: dict[str, Any]) -> str:
    """The role as written."""
    return str(message.get("role") or message.get("from") or "")


def text(message: dict[str, Any]) -> str:
    """What a turn says, its parts joined; calls are not in it."""
    content = message.get("content")
    content = message.get("value") if content is None else content
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") if isinstance(part, dict) else str(part) for part in content)
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    return content or ""


def calls(message: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Id, name and flattened arguments of each call that a turn makes by fields."""
    found = list(message.get("tool_calls") or [])
    if message.get("function_call"):
        found.append({"function": message["function_call"]})
    if role(message) == "function_call":
        value = _loads(text(message))
        found += [{"function": call} for call in (value if isinstance(value, list) else [value])]
    made = []
    for raw in found:
        call = _loads(raw) if isinstance(raw, str) else raw
        function = (call.get("function") or call) if isinstance(call, dict) else call
        if isinstance(function, dict):
            made.append((str(call.get("id") or ""), str(function.get("name") or ""), flat(function.get("arguments"))))
        else:
            made.append(("", "", str(function)))
    return made


def flat(value: Any) -> str:
    """Arguments as text: keys and values, nothing escaped."""
    value = _loads(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        return "\n".join(f"{key}={flat(item)}" for key, item in value.items() if item is not None)
    if isinstance(value, list):
        return " ".join(flat(item) for item in value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return str(value)


def _loads(value: str) -> Any:
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, (dict, list)) else value
