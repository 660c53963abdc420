"""What is run with each version: command lines that differ in what of the package they exercise."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

CONFIG = "settings.yaml"
SETTINGS = "summarization: {retry_delay: 0.001, max_retries: 2, max_failures_in_a_row: 1000000, timeout: 600}\n"
_STRICT = ("--prune", "all", "--fit", "strict")
_MODEL = ("-c", CONFIG, "--model", "loopback", "--max-concurrent-requests", "1", "--max-in-flight", "1")
_PATIENT = ("--per-trajectory-timeout", "86400")
_OFFLINE = {
    "default": (),
    "strict": _STRICT,
    "folded": ("--placement", "fold", "--for", "llama-factory", "--output-format", "jsonl", "--record"),
    "tail": ("--tail-tokens", "1500", "--prune", "safe", "--no-facts", "--redact", "dataset", "--no-save-over-limit"),
    "content": ("--count", "content", "--summary-target-tokens", "auto", "--max-passes", "1", "--fit", "strict"),
}
_CALLING = {
    "model": (),
    "model-strict": _STRICT,
    "model-options": (
        *("--focus", "files and tests", "--marks", "auto", "--for", "trl", "--placement", "human", "--prune", "safe"),
        *("--on-failure", "extractive", "--output-format", "jsonl", "--record", "--summary-target-tokens", "auto"),
    ),
    "model-chunks": ("--summarizer-context", "5000", "--last-n-turns", "2", "--no-facts"),
}
_PLANS = {"plan": (), "plan-strict": _STRICT}
NAMES = (*_OFFLINE, *_CALLING, *_PLANS)
QUICK = ("default", "strict", "model")


@dataclass(frozen=True, slots=True)
class Case:
    """One command line, but for inputs, output and the server; ``kind`` is what it leaves."""

    name: str
    options: tuple[str, ...]
    kind: str = "run"  # or "plan"
    calls: bool = False


def cases(tokenizer: str, targets: Sequence[int], chosen: Collection[str] = ()) -> Iterator[Case]:
    """Yield the cases of a tokenizer at each target: all of them, or those of the names in ``chosen``."""
    for target in targets:
        common = ("--tokenizer", tokenizer, "--target-max-tokens", str(target))
        for name, options in _OFFLINE.items():
            if not chosen or name in chosen:
                yield Case(f"{name} {target}", (*common, *options))
        for name, options in _CALLING.items():
            if not chosen or name in chosen:
                yield Case(f"{name} {target}", (*common, *_MODEL, *_PATIENT, *options), calls=True)
    sweep = ",".join(map(str, sorted(targets)))
    for name, options in _PLANS.items():
        if not chosen or name in chosen:
            yield Case(name, ("--tokenizer", tokenizer, "--sweep", sweep, *options), kind="plan")
