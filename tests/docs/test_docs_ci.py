"""The workflow and the gate of ``docs/examples``, run by bash as CI and a hook would run them."""

from __future__ import annotations

import json

import pytest
import yaml
from commands import conversation, make_desk
from documented import ROOT, blocks, run_in

EXAMPLES = ROOT / "docs" / "examples"
GATE = str(EXAMPLES / "gate.sh")
WORKFLOW = yaml.safe_load((EXAMPLES / "trajectories.yml").read_text())
STEPS = WORKFLOW["jobs"]["fit"]["steps"]
TOO_LONG = {
    "id": "the-bad-one",
    "messages": [
        {"role": "user", "content": "Read this log."},
        {"role": "assistant", "content": "It says: " + "error in module seven " * 3000},
    ],
}


def row(number, **columns):
    made = conversation(number, **columns)
    calls = iter(range(100))
    for message, after in zip(made["messages"], made["messages"][1:], strict=False):
        if after["role"] == "tool":  # OpenAI's form, as the gate checks it
            call = f"call_{next(calls)}"
            function = {"name": "shell", "arguments": '{"command": "ls"}'}
            message["tool_calls"] = [{"id": call, "type": "function", "function": function}]
            after["tool_call_id"] = call
    return made


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    desk = make_desk(tmp_path, make_tokenizer)
    desk.path("data").mkdir()
    desk.write("data/good.jsonl", [row(0), row(1, steps=2)])
    return desk


@pytest.fixture
def settings(desk):
    """What the gate's settings are here, as the environment of a hook would have them."""
    return {
        "TRAJCOMPRESS_TOKENIZER": desk.tokenizer,
        "TRAJCOMPRESS_TARGET_MAX_TOKENS": "2000",
        "TRAJCOMPRESS_SUMMARY_TARGET_TOKENS": "300",
        "TMPDIR": str(desk.path("tmp")),
    }


def gate(desk, settings, *arguments):
    desk.path("tmp").mkdir(exist_ok=True)
    return run_in(desk.folder, GATE, *arguments, **settings)


def test_the_gate_passes_good_rows(desk, settings):
    ran = gate(desk, settings, "openai", "data/")
    assert ran.returncode == 0, (ran.stdout, ran.stderr)
    assert not any(desk.path("tmp").iterdir())


def test_the_gate_stops_bad_rows_and_names_them(desk, settings):
    desk.write("data/bad.jsonl", [row(2), TOO_LONG])
    desk.path("data/broken.jsonl").write_text('{"messages": [\n')
    ran = gate(desk, settings, "openai", "data/")
    assert ran.returncode == 1, ran.stderr
    assert "the-bad-one" in ran.stdout
    assert "bad.jsonl:line 2" in ran.stdout
    assert "broken.jsonl:line 1" in ran.stdout
    assert "row-2" not in ran.stdout.partition("Rows behind the gates that failed")[2]
    assert not any(desk.path("tmp").iterdir())


def test_the_gate_says_how_it_is_used(desk, settings):
    ran = gate(desk, settings)
    assert ran.returncode != 0
    assert "usage: gate.sh TRAINER INPUT..." in ran.stderr


def run_workflow(desk):
    """Run the steps as the runner does: each by bash -e; after a failure only those that are for ``always()``."""
    codes, printed = {}, {}
    for step in STEPS:
        command = step.get("run", "")
        if not command or command.startswith("pip install"):
            continue
        if any(codes.values()) and step.get("if") != "always()":
            continue
        summary = str(desk.path("step-summary.md"))
        ran = run_in(desk.folder, "bash", "-e", "-c", command, GITHUB_STEP_SUMMARY=summary, OPENAI_API_KEY="")
        codes[step["name"]], printed[step["name"]] = ran.returncode, ran.stdout + ran.stderr
    return codes, printed


@pytest.fixture
def repository(desk):
    sections = {
        "tokenizer": {"name": desk.tokenizer},
        "compression": {"target_max_tokens": 2000, "summary_target_tokens": 300},
    }
    desk.path("trajcompress.yaml").write_text(json.dumps(sections))
    return desk


def test_the_workflow_passes_a_good_dataset(repository):
    codes, printed = run_workflow(repository)
    assert codes == dict.fromkeys(["Fit", "Summary", "Gates", "Check for the trainer"], 0), printed
    assert "compressed" in repository.path("step-summary.md").read_text()


def test_the_workflow_stops_a_bad_row_with_an_annotation(repository):
    repository.write("data/bad.jsonl", [TOO_LONG])
    codes, printed = run_workflow(repository)
    assert codes == {"Fit": 0, "Summary": 0, "Gates": 1}, printed
    assert "::error" in printed["Gates"]
    assert "the-bad-one" in printed["Gates"]
    assert "the-bad-one" in repository.path("step-summary.md").read_text()


def test_summaries_are_saved_whatever_the_gates_say():
    cache = {step["uses"]: step for step in STEPS if "cache" in step.get("uses", "")}
    save, restore = cache["actions/cache/save@v4"], cache["actions/cache/restore@v4"]
    assert save["if"] == "always()"
    assert save["with"]["key"] == restore["with"]["key"]
    assert restore["with"]["key"].startswith(restore["with"]["restore-keys"])
    fit = next(step["run"] for step in STEPS if step.get("name") == "Fit")
    assert f"--cache {save['with']['path']} " in fit


def test_the_snippets_of_the_page_are_yaml():
    snippets = [yaml.safe_load(block.text) for block in blocks(ROOT / "docs" / "ci.md", "yaml")]
    assert snippets[1]["repos"][0]["hooks"][0]["entry"] == "docs/examples/gate.sh axolotl"
