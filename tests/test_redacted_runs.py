"""Nothing secret leaves the machine, and the dataset is altered only when that is asked for."""

import json

import pytest
from commands import read_metrics, read_rows, run_here, write_rows
from loopback import LoopbackServer
from loopback_replies import saying

SECRET = "sk-proj-4f9Kx2LmQ8vTz7RwYb3NcJd6"  # made up


def row():
    steps = [("user", "Deploy it."), ("assistant", "I read the settings."), ("user", f"OPENAI_API_KEY={SECRET}")]
    for number in range(30):
        steps += [
            ("assistant", f"Step {number} is to check host{number}.example."),
            ("user", f"host{number}: fine " * 9),
        ]
    steps += [("assistant", "All hosts are fine."), ("user", "Then go on."), ("assistant", "Done.")]
    return {"messages": [{"role": role, "content": content} for role, content in steps]}


@pytest.fixture
def compressed(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    write_rows(tmp_path / "rows.jsonl", [row()])

    def run(*options):
        """Compress with a model that repeats what it was sent."""

        def repeat(seen):
            texts = [message["content"] for message in seen.messages]
            line = next(line for text in texts for line in text.splitlines() if "OPENAI_API_KEY" in line)
            return saying(f"## Results\n- {line}")

        with LoopbackServer(repeat) as server:
            args = ["rows.jsonl", "-o", "out", "--output-format", "jsonl", "--target-max-tokens", "900"]
            options = ("--summary-target-tokens", "200", "--model", "m", "--base-url", server.base_url, *options)
            ran = run_here("compress", *args, *options, cwd=tmp_path)
            assert ran.code == 0, ran.stderr
            sent = json.dumps([seen.messages for seen in server.seen])
        (metrics,) = read_metrics(tmp_path / "out")
        return sent, json.dumps(read_rows(tmp_path / "out")), metrics

    return run


def test_by_default_secrets_are_kept_out_of_requests_and_summaries(compressed):
    sent, dataset, metrics = compressed()
    assert SECRET not in sent
    assert "[REDACTED:" in sent
    assert SECRET not in dataset, "its only mention was summarised away"
    assert metrics["outcome"] == "compressed"
    assert metrics["redactions"] >= 1


def test_redaction_can_be_off(compressed):
    sent, dataset, metrics = compressed("--redact", "off")
    assert SECRET in sent
    assert SECRET in dataset
    assert metrics["redactions"] == 0


@pytest.mark.parametrize(("mode", "holds"), [("egress", True), ("dataset", False)])
def test_rows_that_fit_are_altered_only_where_the_dataset_is_redacted(tmp_path, mode, holds):
    write_rows(tmp_path / "rows.jsonl", [row()])
    args = ["rows.jsonl", "-o", "out", "--redact", mode, "--output-format", "jsonl"]
    assert run_here("compress", *args, cwd=tmp_path).code == 0
    assert (SECRET in json.dumps(read_rows(tmp_path / "out"))) is holds
    (metrics,) = read_metrics(tmp_path / "out")
    assert metrics["outcome"] == "skipped_under_target"
    assert metrics["redactions"] == (0 if holds else 1)
