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
            ("user", "Thank you, please go on. " * 6),
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


def test_a_system_column_is_redacted_with_the_dataset(tmp_path):
    rows = [{"messages": [{"role": "user", "content": "Hi."}], "system": f"You may use {SECRET}."}]
    write_rows(tmp_path / "rows.jsonl", rows)
    for mode in ("egress", "dataset"):
        assert (
            run_here(
                "compress", "rows.jsonl", "-o", mode, "--redact", mode, "--output-format", "jsonl", cwd=tmp_path
            ).code
            == 0
        )
    (kept,), (cleaned,) = (read_rows(tmp_path / mode) for mode in ("egress", "dataset"))
    assert kept["system"] == rows[0]["system"]
    assert (SECRET in cleaned["system"], "[REDACTED:" in cleaned["system"]) == (False, True)
    (metrics,) = read_metrics(tmp_path / "dataset")
    assert metrics["redactions"] == 1


def test_a_secret_is_found_before_its_turn_is_cut_and_is_no_fact(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    password = "Zq7vKp2mNx9wLr4t"
    key = "NqVwYS81VP7Hb1DX8pPd5khxE3pyIgKp"
    steps = [{"role": "user", "content": "Connect."}, {"role": "assistant", "content": "I look."}]
    # An elided turn keeps its ends: the name of the password stands in the middle, and the value at the end.
    steps.append({"role": "user", "content": "x " * 2000 + "DB_PASSWORD=" + password})
    call = {"name": "login", "arguments": json.dumps({"api_key": key})}
    steps.append(
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": call}]}
    )
    steps.append({"role": "tool", "tool_call_id": "1", "content": "fine " * 400})
    steps += [{"role": "assistant", "content": f"Step {number} is done."} for number in range(8)]
    steps.append({"role": "assistant", "content": f"I used {password} and {key}."})
    write_rows(tmp_path / "rows.jsonl", [{"messages": steps}])
    args = ["rows.jsonl", "--target-max-tokens", "900", "--summary-target-tokens", "300", "--output-format", "jsonl"]
    with LoopbackServer() as server:
        asked = [*args, "--model", "m", "--base-url", server.base_url]
        assert run_here("compress", *asked, "-o", "called", cwd=tmp_path).code == 0
        sent = json.dumps([seen.messages for seen in server.seen])
    assert server.seen
    assert password not in sent
    assert key not in sent
    assert run_here("compress", *args, "-o", "offline", cwd=tmp_path).code == 0
    for folder in ("called", "offline"):
        (row,) = read_rows(tmp_path / folder)
        summary = next(turn["content"] for turn in row["messages"] if "[CONTEXT SUMMARY]:" in (turn["content"] or ""))
        assert password not in summary
        assert key not in summary
