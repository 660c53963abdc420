"""What a run says about itself: ``run.json``, ``summary.json`` and the dataset card."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trajcompress.dataset.durable import write_durably
from trajcompress.dataset.rows import Source
from trajcompress.errors import InputError
from trajcompress.run.card import dataset_card
from trajcompress.run.folder import RunFolder, State
from trajcompress.run.totals import Totals
from trajcompress.settings import Settings
from trajcompress.tokens.counter import TokenCounter

_PACKAGES = ("trajcompress-cli", "transformers", "tokenizers", "fastokens", "pyarrow", "openai")
_FINGERPRINTED_WHOLE = 256 * 2**20
_BLOCK_BYTES = 2**18
_BLOCKS = 256

_WITHOUT_EFFECT_ON_ROWS = frozenset(
    {
        "output.dir",
        "output.overwrite",
        "output.log_file",
        "summarization.base_url",
        "summarization.api_key_env",
        "summarization.on_failure",
        "summarization.max_retries",
        "summarization.max_failures_in_a_row",
        "summarization.max_outage",
        "summarization.retry_delay",
        "summarization.timeout",
        "summarization.rpm",
        "summarization.tpm",
        "summarization.price_in",
        "summarization.price_out",
        "summarization.cache",
        "processing.num_workers",
        "processing.max_concurrent_requests",
        "processing.max_in_flight",
        "processing.per_trajectory_timeout",
        "processing.max_failed",
    }
)
"""Settings that a resumed run may change: they shape how it goes or, as ``on_failure``, what becomes of rows that are
yet to be done; not what comes out of a row that was."""


def describe_run(settings: Settings, sources: Sequence[Source], counter: TokenCounter) -> dict[str, Any]:
    """Return everything that shapes the outcome, as JSON values."""
    return {
        "settings": settings.flat(),
        "versions": {name: version(name) for name in _PACKAGES},
        "tokenizer": {
            "name": counter.tokenizer.name,
            "fingerprint": counter.tokenizer.fingerprint,
            "chat_template": counter.tokenizer.has_template,
        },
        "engine": counter.engine,
        "inputs": describe_inputs(sources),
    }


def describe_inputs(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return what is read: names, sizes, fingerprints, and how the files of its rows in ``data/`` begin."""
    return [_describe_input(source) for source in sources]


def differences(previous: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Say what shapes the outcome and is not as it was; empty where a run may be resumed."""
    before, after = previous.get("settings", {}), now["settings"]
    changed = [
        f"{key} was {before.get(key)!r}, is {after.get(key)!r}"
        for key in sorted((before.keys() | after.keys()) - _WITHOUT_EFFECT_ON_ROWS)
        if before.get(key) != after.get(key)
    ]
    if previous.get("tokenizer") != now["tokenizer"]:
        changed.append("the tokenizer is another")
    if any(each["name"] == "-" for each in now["inputs"]):
        changed.append("standard input may hold something else now")
    elif previous.get("inputs") != now["inputs"]:
        changed.append("the inputs are others or have changed")
    if previous.get("versions", {}).get("trajcompress-cli") != now["versions"]["trajcompress-cli"]:
        changed.append("trajcompress is another version")
    return changed


def write_run(folder: RunFolder, record: dict[str, Any], state: State) -> None:
    """Write ``run.json``."""
    _write_json(folder.run, {"state": state, **record})


def write_results(folder: RunFolder, record: dict[str, Any], totals: Totals) -> None:
    """Write ``summary.json`` and the dataset card."""
    _write_json(folder.summary, totals.as_dict())
    write_durably(folder.card, dataset_card(record, totals, folder.metrics).encode())


def _write_json(path: Path, value: dict[str, Any]) -> None:
    write_durably(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))


def _describe_input(source: Source) -> dict[str, Any]:
    fingerprint = _fingerprint(source.path) if source.path and source.path.is_file() else None
    return {
        "name": source.name,
        "kind": source.kind,
        "stem": source.stem,
        "size": source.size,
        "fingerprint": fingerprint,
    }


def _fingerprint(path: Path) -> str:
    """Return a digest of the size and the content of a file; of a very large one, of blocks spread over it.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        size = path.stat().st_size
        digest = hashlib.sha256(str(size).encode())
        with path.open("rb") as file:
            if size <= _FINGERPRINTED_WHOLE:
                while block := file.read(_BLOCK_BYTES):
                    digest.update(block)
            else:
                for number in range(_BLOCKS):
                    file.seek((size - _BLOCK_BYTES) * number // (_BLOCKS - 1))
                    digest.update(file.read(_BLOCK_BYTES))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return digest.hexdigest()[:16]
