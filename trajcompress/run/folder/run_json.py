"""``run.json``: the settings, inputs and versions that shape a run; written, and compared before one is resumed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import version
from typing import Any, get_args

from trajcompress.dataset.cutting import Part
from trajcompress.dataset.durable import write_durably
from trajcompress.dataset.rows import Source
from trajcompress.dataset.sources import Found
from trajcompress.dataset.standing import fingerprint_of
from trajcompress.dataset.storage.location import Location, open_binary
from trajcompress.dataset.storage.parquet import read_schema
from trajcompress.metrics.files import read_totals
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder.card import dataset_card
from trajcompress.run.folder.counter_facts import CounterFacts
from trajcompress.run.folder.run_folder import RunFolder, State
from trajcompress.run.folder.starters import TEMPLATE, starter_files
from trajcompress.settings import Settings
from trajcompress.settings.choices import ArgumentsAs
from trajcompress.summarize.custom.load import load_summarizer
from trajcompress.wording import counted, printable

_NAMED = 5  # of inputs that have changed
_OF_DATA = frozenset({".parquet", ".jsonl"})
_FORMAT = 4
"""Of what a run leaves for itself to go on with: manifests, metrics of parts, keys of summaries."""
_PACKAGES = ("trajcompress-cli", "transformers", "tokenizers", "gigatoken", "fastokens", "pyarrow", "openai")

_WITHOUT_EFFECT_ON_ROWS = frozenset(
    {
        "tokenizer.chat_template",  # its text is in the tokenizer's fingerprint
        "output.dir",
        "output.overwrite",
        "output.log_file",
        "summarization.base_url",
        "summarization.api_key_env",
        "summarization.on_failure",
        "summarization.max_retries",
        "summarization.max_failures_in_a_row",
        "summarization.max_outage",
        "summarization.max_cost",
        "summarization.retry_delay",
        "summarization.timeout",
        "summarization.rpm",
        "summarization.tpm",
        "summarization.price_in",
        "summarization.price_out",
        "summarization.price_cached",
        "summarization.batch",
        "summarization.batch_wait",
        "summarization.batch_fallback",
        "summarization.cache",
        "processing.engine",
        "processing.ray_address",
        "processing.num_workers",
        "processing.max_concurrent_requests",
        "processing.max_in_flight",
        "processing.per_trajectory_timeout",
        "processing.max_failed",
        "processing.retry_failed",
    }
)
"""Settings that a resumed run may change: they shape how it goes or, as ``on_failure``, what becomes of rows that are
yet to be done; not what comes out of a row that was."""

_OF_WHO_SUMMARISES = frozenset(
    f"summarization.{name}"
    for name in (
        "summarizer", "model", "fallback_model", "temperature", "context_tokens", "facts", "focus", "batch",
    )
)  # fmt: skip
"""Settings that may differ for rows that are tried again."""
_DEFAULTS = {"processing.part_size": "64MB", "processing.retry_failed": False}
"""What settings are in runs of versions that did not have them."""


def describe_run(settings: Settings, found: Found, parts: Sequence[Part], facts: CounterFacts) -> dict[str, Any]:
    """Return everything that shapes the outcome, and what was left out of the inputs, as JSON values."""
    stems = {source.stem for source in found.sources}
    return {
        "format": _FORMAT,
        "settings": settings.flat(),
        "versions": {name: version(name) for name in _PACKAGES},
        "tokenizer": facts.tokenizer,
        "form": facts.form,
        "engine": facts.engine,
        "summarizer": _identity(settings),
        "inputs": describe_inputs(found.sources),
        "packs": sorted({part.stem for part in parts} - stems),
        "left_out": [left.as_dict() for left in found.left_out],
    }


def is_of_earlier_version(previous: dict[str, Any], now: dict[str, Any]) -> bool:
    """Tell whether another version left a run so that this one cannot go on with it."""
    return previous.get("state") != "complete" and previous.get("format") != now["format"]


def arguments_in(run_json: dict[str, Any]) -> ArgumentsAs:
    """Return how the calls of a run's rows hold their arguments."""
    form = run_json.get("form")
    given = form.get("arguments") if isinstance(form, dict) else None
    return next((each for each in get_args(ArgumentsAs) if each == given), "text")


def describe_inputs(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return what is read: names, sizes, fingerprints, and how the files of its rows in ``data/`` begin."""
    return [_describe_input(source) for source in sources]


def differences(previous: dict[str, Any], now: dict[str, Any], *, retries: bool = False) -> list[str]:
    """Say what shapes the outcome and is not as it was; empty where a run may be resumed.

    Where it only ``retries`` failed rows, another may write their summaries, and in another way.
    """
    free = _WITHOUT_EFFECT_ON_ROWS | (_OF_WHO_SUMMARISES if retries else frozenset())
    before, after = {**_DEFAULTS, **previous.get("settings", {})}, now["settings"]
    changed = [
        f"{key} was {before.get(key)!r}, is {after.get(key)!r}"
        for key in sorted((before.keys() | after.keys()) - free)
        if before.get(key) != after.get(key)
    ]
    if what := _changed_tokenizer(previous.get("tokenizer") or {}, now["tokenizer"]):
        changed.append(f"{what} is another")
    if not retries and (was := previous.get("summarizer")) and (now_is := now["summarizer"]) and was != now_is:
        changed.append(f"the summariser was {was}, is {now_is}")
    changed += changed_inputs(previous, now["inputs"])
    if previous.get("versions", {}).get("trajcompress-cli") != now["versions"]["trajcompress-cli"]:
        changed.append("trajcompress is another version")
    return changed


def as_retried(previous: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return what ``run.json`` says of a run whose failed rows are tried again: its settings, and what differs."""
    before, after = {**_DEFAULTS, **previous["settings"]}, now["settings"]
    other = {key: after[key] for key in sorted(_OF_WHO_SUMMARISES) if before.get(key) != after.get(key)}
    retried = [*previous.get("retried", ()), *([other] if other else ())]
    kept = {"settings": previous["settings"], "summarizer": previous.get("summarizer")}
    return {**now, **kept, **({"retried": retried} if retried else {})}


def _identity(settings: Settings) -> str | None:
    """Return name and version of the summariser, where it is not ours."""
    chosen = settings.summarization
    return load_summarizer(chosen.summarizer).identity if chosen.summarizer and chosen.is_custom else None


def _changed_tokenizer(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    if before.get("name") == now["name"] and before.get("template_digest") != now["template_digest"]:
        return f"the chat template ({now['template_origin'] or 'none now'})"
    return "the tokenizer" if any(before.get(key) != now[key] for key in ("name", "fingerprint")) else None


def same_input(noted: dict[str, Any], now: dict[str, Any]) -> bool:
    """Tell whether an input is as it was noted; one that has no fingerprint there is known by its size alone."""
    if noted.get("fingerprint") is None:
        now = {**now, "fingerprint": None}
    return noted == now


def changed_inputs(previous: dict[str, Any], now: Sequence[dict[str, Any]]) -> list[str]:
    """Name the inputs that are not as they were, or did not stay so while they were read."""
    changed = list(_changed_inputs(previous, now))
    more = len(changed) - _NAMED
    return changed if more <= 0 else [*changed[:_NAMED], f"and {counted(more, 'input')} more"]


def _changed_inputs(previous: dict[str, Any], now: Sequence[dict[str, Any]]) -> Iterator[str]:
    noted = previous["inputs"] if isinstance(previous["inputs"], list) else []
    before = {str(each.get("name")): each for each in noted if isinstance(each, dict)}
    names = [each["name"] for each in now]
    for name, what in previous.get("changed_inputs", {}).items():
        yield f"{printable(name)} {what} while it was read"
    for each in now:
        name, then = printable(each["name"]), before.get(each["name"])
        if each["size"] is None and each["kind"] != "hub":
            yield f"{'standard input' if name == '-' else name} may hold something else now"
        elif then is None:
            yield f"{name} is a new input"
        elif not same_input(then, each):
            yield f"{name} has changed since"
    for name in before.keys() - names:
        yield f"{printable(name)} is no input any more"
    if sorted(before) == sorted(names) and list(before) != names:
        yield "the inputs are in another order"


def write_run(folder: RunFolder, run_json: dict[str, Any], state: State) -> None:
    """Write ``run.json``."""
    _write_json(folder.run, {"state": state, **run_json})


def write_results(folder: RunFolder, run_json: dict[str, Any]) -> Totals:
    """Write ``summary.json`` and the dataset card, and return the totals: what the metrics add up to."""
    totals = read_totals(folder.metrics)
    changed = run_json.get("changed_inputs", {})
    caveat = run_json["tokenizer"].get("caveat")
    _write_json(folder.summary, {**totals.as_dict(), "count_caveat": caveat, "changed_inputs": changed})
    settings = {**run_json["settings"], TEMPLATE: run_json["tokenizer"].get("trainer_template")}
    data: dict[str, Location] = {each.name: each for each in folder.data.iterdir() if each.suffix in _OF_DATA}
    starters = starter_files(settings, {name: _columns_of(data[name]) for name in sorted(data)})
    for name, text in starters.items():
        write_durably(folder.path / name, text.encode())
    segments = folder.segments if folder.segments.is_file() else None
    write_durably(folder.card, dataset_card(run_json, totals, folder.metrics, starters, segments).encode())
    return totals


def _columns_of(data: Location) -> Collection[str]:
    """Return the columns of a data file, of JSON lines those of the first; none of one that somebody broke."""
    try:
        if data.suffix == ".parquet":
            return frozenset(read_schema(data).names)
        with open_binary(data) as file:
            return frozenset(json.loads(file.readline()))
    except (OSError, ValueError, TypeError):
        return frozenset()


def _write_json(path: Location, value: dict[str, Any]) -> None:
    write_durably(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))


def _describe_input(source: Source) -> dict[str, Any]:
    return {
        "name": source.name,
        "kind": source.kind,
        "stem": source.stem,
        "size": source.size,
        "fingerprint": fingerprint_of(source),
    }
