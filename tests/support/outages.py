"""Runs against endpoints that fail, with little patience."""

from __future__ import annotations

from raw_endpoint import refusal

KEY = "sk-proj-9aB8cD7eF6gH5iJ4kL3mN2"
ROWS = 8
OUTAGE_S = 0.6
"""How long an outage may last here; a run that never had an answer stops after 0.3 s of failures."""
QUICK = f"summarization: {{retry_delay: 0.02, timeout: 5, max_outage: {OUTAGE_S}, max_failures_in_a_row: 4}}"
HTML = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
DOWN = refusal(500, "the GPU has left")


def compress(calling, base_url, out, *more, rows="a.jsonl", env=None):
    options = (
        "-o",
        out,
        "--model",
        "m",
        "--base-url",
        base_url,
        "-c",
        "quick.yaml",
        "--json",
        "--max-in-flight",
        "6",
    )
    return calling.compress(rows, *options, *more, env={"OPENAI_API_KEY": KEY, **(env or {})})
