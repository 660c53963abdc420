"""Rows that the chat template refuses: told, judged as they are written, and kept from trainers that would stop."""

from __future__ import annotations

import json

from commands import conversation, read_metrics, read_rejected, read_rows, run_here


def test_a_row_that_the_template_refuses_as_it_was_read_was_invalid_in_the_input(desk, make_tokenizer):
    strict = make_tokenizer("{% for m in messages %}{{ m.content + '' }}{% endfor %}")
    asked, said = {"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}
    call = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    calls = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "a", "content": "a.txt"}
    desk.write("a.jsonl", [{"messages": [asked, said]}, {"messages": [asked, calls, answer, said]}])
    assert desk.compress("a.jsonl", "-o", "out", "--for", "trl", "--tokenizer", strict).code == 0
    found = [(row["input_faults"], row["output_faults"]) for row in read_metrics(desk.path("out"))]
    assert found == [(None, None), ("template_refuses", None)]


def test_a_row_that_the_template_refuses_stays_without_a_trainer_and_is_told_with_the_remedy(desk, make_tokenizer):
    """It is judged as it stands: what is counted is a form that nobody trains on, with text in the place of null."""
    strict = make_tokenizer("{% for m in messages %}{{ m.content + '' }}{{ m.tool_calls or '' }}{% endfor %}")
    call = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    calls = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "a", "content": "a.txt"}
    asked, said = {"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}
    rows = [{"messages": [asked, said]}, {"messages": [asked, calls, answer, said]}]
    desk.write("a.jsonl", rows)
    ran = desk.compress("a.jsonl", "-o", "out", "--tokenizer", strict)
    assert "refused by the chat template: 1 row as written" in ran.stderr
    assert "--for TRAINER" in ran.stderr
    metrics = read_metrics(desk.path("out"))
    faults = [(row["count_method"], row["input_faults"], row["output_faults"]) for row in metrics]
    assert faults == [("template", None, None), ("template", "template_refuses", "template_refuses")]
    assert json.loads(desk.path("out/summary.json").read_text())["template_refused"] == 1
    assert read_rows(desk.path("out")) == rows
    assert run_here("check", "out", "--json", cwd=desk.folder).json["violations"]["template_refuses"]["rows"] == 1
    audited = run_here("audit", "out", cwd=desk.folder).stdout
    assert "--for TRAINER writes rows in its form" in audited
    ran = desk.compress("a.jsonl", "-o", "trl", "--for", "trl", "--tokenizer", strict)
    assert "refused by the chat template" not in ran.stderr
    assert json.loads(desk.path("trl/summary.json").read_text())["template_refused"] == 0


def test_what_the_template_refuses_is_judged_in_the_row_as_written(desk, make_tokenizer):
    """A summary took the place of the turn that it refuses."""
    strict = make_tokenizer("{% for m in messages %}{{ m.content + '' }}{% endfor %}")
    row = conversation(2, 40)
    row["messages"][20] = {**row["messages"][20], "content": None}
    desk.write("a.jsonl", [row])
    options = ("--tokenizer", strict, "--target-max-tokens", "1200", "--prune", "off", "--fit", "lenient")
    ran = desk.compress("a.jsonl", "-o", "out", *options)
    (found,) = read_metrics(desk.path("out"))
    assert found["outcome"] == "compressed"
    assert (found["input_faults"], found["output_faults"]) == ("template_refuses", None)
    assert "refused by the chat template" not in ran.stderr
    assert "template_refuses" not in run_here("check", "out", cwd=desk.folder).stdout


def test_a_row_that_the_chat_template_refuses_would_stop_the_load_of_a_trainer(desk, make_tokenizer):
    once = (
        "{% for message in messages %}{% if message.tool_calls and message.tool_calls | length > 1 %}"
        "{{ raise_exception('one call at once') }}{% endif %}[{{ message.role }}]{{ message.content }}"
        "{% for call in message.tool_calls or [] %}{{ call.function.name }}{{ call.function.arguments }}{% endfor %}"
        "{% endfor %}"
    )
    calls = [
        {"id": name, "type": "function", "function": {"name": "ls", "arguments": '{"path": "x"}'}} for name in "ab"
    ]
    results = [{"role": "tool", "tool_call_id": name, "content": "hi"} for name in "ab"]
    asked, said = {"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}
    rows = [
        {"messages": [asked, {"role": "assistant", "content": "", "tool_calls": calls[:n]}, *results[:n], said]}
        for n in (1, 2)
    ]
    desk.write("a.jsonl", rows)
    named = ["--tokenizer", str(make_tokenizer(once))]
    for target in ("trl", "axolotl"):
        assert desk.compress("a.jsonl", "-o", target, "--for", target, *named).code == 0
        (rejected,) = read_rejected(desk.path(target))
        assert rejected["reason"] == "form_unfit"
        assert rejected["detail"] == "template_refuses: one call at once"
        assert run_here("check", target, cwd=desk.folder).code == 0
        assert desk.compress("a.jsonl", "-o", f"all-{target}", "--for", target, "--save-unfit", *named).code == 0
        assert len(read_rows(desk.path(f"all-{target}"))) == 2
    assert desk.compress("a.jsonl", "-o", "as-read", *named).code == 0
    assert read_rows(desk.path("as-read")) == rows
