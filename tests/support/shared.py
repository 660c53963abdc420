"""Trajectories and tokenizers for tests: made ones for everybody, and real ones where they lie beside the project."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

from made_tokenizers import MADE_CHAT_TOKENIZERS, MADE_FAMILIES, MADE_TOKENIZERS, ROWS, made_tokenizer

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "data"
"""Long trajectories of our own."""

SHARED = ROOT.parent / "shared"
HAS_SHARED = (SHARED / "data").is_dir() and (SHARED / "tokenizers").is_dir()

SHARED_TOKENIZERS = ("qwen3", "deepseek-v3", "smollm2", "mistral-v3", "minilm-bert") if HAS_SHARED else ()
SHARED_CHAT_TOKENIZERS = ("qwen3", "deepseek-v3", "smollm2") if HAS_SHARED else ()
TOKENIZERS = (*MADE_TOKENIZERS, *SHARED_TOKENIZERS)
CHAT_TOKENIZERS = (*MADE_CHAT_TOKENIZERS, *SHARED_CHAT_TOKENIZERS)
_SHARED_FAMILIES = {"qwen3": "qwen3", "deepseek-v3": "deepseek3", "smollm2": "smollm2", "mistral-v3": "mistral"}
FAMILIES = tuple((MADE_FAMILIES | (_SHARED_FAMILIES if HAS_SHARED else {})).items())
"""Tokenizers, each with what LLaMA-Factory calls the template of its family."""
LIKE_QWEN3 = ("like-qwen3", *(["qwen3"] if HAS_SHARED else []))

SOURCES = ("made", "shared") if HAS_SHARED else ("made",)
_PARQUET = {"loss-sharegpt.parquet": "openhands-sharegpt", "two-columns.parquet": "functions-sharegpt"}


def tokenizer_folder(name: str) -> Path:
    return SHARED / "tokenizers" / name if name in SHARED_TOKENIZERS else made_tokenizer(name)


@cache
def load_cached(name: str | None):
    """Load a tokenizer once for all tests; None is the built-in one."""
    from trajcompress.tokens.tokenizer import load_tokenizer

    return load_tokenizer(None if name is None else str(tokenizer_folder(name)))


@cache
def rows_of(source: str) -> Path:
    """Return the folder of trajectories of a source: the short made ones, of every shape, or the real ones."""
    if source == "shared":
        return SHARED / "data"
    folder = Path(tempfile.mkdtemp(prefix="made-rows-"))
    atexit.register(shutil.rmtree, folder)
    for path in ROWS.iterdir():
        shutil.copy(path, folder)
    for name, of in _PARQUET.items():
        _write_parquet(folder / name, ROWS / f"{of}.jsonl")
    return folder


def files_of(source: str) -> list[str]:
    """Return the names of a source's files, which are known before any is made."""
    names = [*_PARQUET, *(path.name for path in ROWS.iterdir())] if source == "made" else []
    names += [path.name for path in (SHARED / "data").iterdir() if path.suffix != ".md"] if source == "shared" else []
    return sorted(names)


_TEXT_FILES = ("swe-agent", "react", "tags-in-text")
_CALL_FILES = ("calls-openai", "languages")  # several calls at once, which some templates refuse
_REAL_FILES = ("swe-agent-demos", "livemcpbench", "intercode", "webdancer")
RENDERED = [(name, "made", file) for name in MADE_CHAT_TOKENIZERS for file in _TEXT_FILES]
RENDERED += [(name, "made", file) for name in ("chatml", "strict-roles") for file in _CALL_FILES]
RENDERED += [(name, "shared", file) for name in SHARED_CHAT_TOKENIZERS for file in _REAL_FILES]
"""Tokenizers, and files whose rows their chat templates take."""

ROW_FILES = [(source, name) for source in SOURCES for name in files_of(source)]


def _write_parquet(path: Path, of: Path) -> None:
    """Write rows as tables have them: structs, a loss for each turn, a second column of messages in the prompt."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    turn = pa.struct([("from", pa.string()), ("value", pa.string()), ("loss", pa.bool_())])
    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    schema = pa.schema(
        [
            ("item_id", pa.string()),
            ("conversations", pa.list_(turn)),
            ("prompt", pa.list_(message)),
            ("reward_model", pa.struct([("style", pa.string()), ("ground_truth", pa.list_(pa.float32()))])),
            ("step", pa.int16()),
        ]
    )
    rows = []
    for number, line in enumerate(of.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        rows.append(
            {
                "item_id": row["id"],
                "conversations": [turn | {"loss": turn["from"] == "gpt"} for turn in row["conversations"]],
                "prompt": [{"role": "user", "content": row["conversations"][0]["value"]}],
                "reward_model": {"style": "rule", "ground_truth": [0.1, number]},
                "step": number,
            }
        )
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
