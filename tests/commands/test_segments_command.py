"""``compress --mode segments`` as a user runs it: rows, columns, figures, resume, shards, retry, wrong options."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import pyarrow.parquet as pq
import pytest
import runs
from commands import Desk, conversation, read_metrics, read_rows
from loopback import LoopbackServer, Reply
from made_tokenizers import made_tokenizer

from trajcompress.run.past.push import write_public_metrics

SEGMENTS = ("--mode", "segments")
TOLD = "Modules of the parser were read one by one, and each raised its own error. " * 8
KEYS = ("trajectory_id", "segment", "segments", "kind")


def segments_of(folder: Path) -> list[dict]:
    return pq.read_table(folder / "segments.parquet").to_pylist()


def said(rows: list[dict]) -> list[str]:
    return [turn["content"] for row in rows for turn in row["messages"] if turn["role"] == "assistant"]


@pytest.fixture
def rows() -> list[dict]:
    return [conversation(0, 30, reward=0.5), conversation(1, 2, reward=1.0), conversation(2, 24, reward=0.0)]


def test_rows_figures_and_columns_agree(desk: Desk, rows):
    desk.write("a.jsonl", rows)
    assert desk.compress("a.jsonl", "-o", "out", *SEGMENTS).code == 0
    out = desk.path("out")
    written, metrics, segments = read_rows(out), read_metrics(out), segments_of(out)
    assert [row["rows_written"] for row in metrics][1] == 1
    assert metrics[0]["rows_written"] > 1 < metrics[2]["rows_written"]
    assert len(written) == len(segments) == sum(row["rows_written"] for row in metrics)
    assert [[row[key] for key in KEYS] for row in written] == [[row[key] for key in KEYS] for row in segments]
    assert [row["segment"] for row in written] == [n + 1 for row in metrics for n in range(row["rows_written"])]
    assert [row["reward"] for row in written] == [
        row["reward"] for row, each in zip(rows, metrics, strict=True) for _ in range(each["rows_written"])
    ]
    assert said(written) == said(rows)
    for row, each in zip(metrics, ("row-0", "row-1", "row-2"), strict=True):
        of_row = [segment for segment in segments if segment["trajectory_id"] == each]
        assert row["compressed_tokens"] == sum(segment["tokens"] for segment in of_row)
        assert row["max_row_tokens"] == max(segment["tokens"] for segment in of_row) <= commands.TARGET
    assert metrics[0]["assistant_tokens_kept"] == metrics[0]["assistant_tokens_original"]
    summary = json.loads(desk.path("out/summary.json").read_text())
    assert summary["compressed_tokens"] == sum(row["compressed_tokens"] for row in metrics)
    card = desk.path("out/README.md").read_text()
    assert f"| rows written | {len(written)} |" in card
    assert "became several rows, their segments" in card
    assert "never summarised" not in card
    over = [
        line for line in card[card.index("target: 2,000") :].splitlines()[1:] if line.lstrip()[:2] in {"up", "ov"}
    ]
    assert over
    assert all(line[50:].split()[:1] in ([], ["0"]) for line in over)


def test_compressing_again_what_was_written_changes_nothing(desk: Desk, rows):
    desk.write("a.jsonl", rows)
    desk.compress("a.jsonl", "-o", "out", *SEGMENTS)
    ran = desk.compress("out/data", "-o", "again", *SEGMENTS)
    assert ran.code == 0
    assert commands.read_lines(desk.path("again")) == commands.read_lines(desk.path("out"))
    assert {row["outcome"] for row in read_metrics(desk.path("again"))} == {"skipped_under_target"}


@pytest.mark.parametrize("written", ["parquet", "jsonl"])
def test_shards_merged_and_workers_write_the_bytes_of_one_run(desk: Desk, rows, written):
    desk.write("a.jsonl", rows * 3)
    whole = ("a.jsonl", *SEGMENTS, "--part-size", "8KB", "--output-format", written)
    desk.compress(*whole, "-o", "whole")
    for number in (1, 2):
        assert desk.compress(*whole, "-o", f"s{number}", "--shard", f"{number}/2").code == 0
    merged = commands.run_here("merge", "s1", "s2", "-o", "merged", cwd=desk.folder)
    assert merged.code == 0, merged.stderr
    assert desk.compress(*whole, "-o", "workers", "--num-workers", "2").code == 0
    expected = {name: text for name, text in commands.files_of(desk.path("whole")).items() if "data/" in name}
    for other in ("merged", "workers"):
        files = commands.files_of(desk.path(other))
        assert {name: text for name, text in files.items() if "data/" in name} == expected
        assert segments_of(desk.path(other)) == segments_of(desk.path("whole"))


def test_killed_at_ten_points_and_resumed_it_is_the_same_and_nothing_is_paid_twice(desk: Desk, rows, tmp_path):
    desk.write("a.jsonl", rows)
    with LoopbackServer(lambda seen: Reply(text=f"{runs.prompt_digest(seen)}: {TOLD}")) as server:
        model = ["--model", "m", "--base-url", server.base_url, "--max-concurrent-requests", "1"]
        command = ["compress", *desk.options, "a.jsonl", *SEGMENTS, *model]
        runs.killed_at_steps(desk.folder, *command, "-o", "whole", steps=[runs.NEVER])
        paid = len(server.seen)
        killed = runs.killed_at_steps(
            desk.folder, *command, "-o", "out", steps=[1, 2, 4, 6, 9, 12, 16, 20, 25, 30, runs.NEVER]
        )
        assert killed[0]
        assert not killed[-1]
        assert paid <= len(server.seen) - paid <= paid + sum(killed)  # one call at most is under way at each kill
    assert commands.read_lines(desk.path("out")) == commands.read_lines(desk.path("whole"))
    assert segments_of(desk.path("out")) == segments_of(desk.path("whole"))


def test_a_row_whose_summary_fails_is_kept_and_can_be_tried_again(desk: Desk, rows):
    desk.write("a.jsonl", rows)
    broken = [True]

    def answer(seen) -> Reply:
        refuses = broken[0] and "of build 2 " in str(seen.messages)
        return Reply(text="I'm sorry, but I can't help with that.") if refuses else Reply(text=TOLD)

    with LoopbackServer(answer) as server:
        command = ("a.jsonl", *SEGMENTS, "--model", "m", "--base-url", server.base_url, "-o", "out")
        assert desk.compress(*command, env={"OPENAI_API_KEY": "sk-test"}).code == 1
        failed = read_metrics(desk.path("out"))[2]
        assert (failed["outcome"], failed["rows_written"]) == ("failed", 1)
        assert read_rows(desk.path("out"))[-1]["messages"] == rows[2]["messages"]
        before = len(server.seen)
        broken[0] = False
        ran = desk.compress(*command, "--retry-failed", env={"OPENAI_API_KEY": "sk-test"})
    assert ran.code == 0, ran.stderr
    metrics = read_metrics(desk.path("out"))
    assert metrics[2]["rows_written"] > 1
    assert len(server.seen) - before == metrics[2]["rows_written"] - 1
    assert said(read_rows(desk.path("out"))) == said(rows)
    assert len(segments_of(desk.path("out"))) == sum(row["rows_written"] for row in metrics)


def test_on_failure_extractive_that_summary_alone_is_extractive(desk: Desk, rows):
    desk.write("a.jsonl", rows[:1])

    def answer(seen) -> Reply:
        is_first = "each raised its own error" not in str(seen.messages)
        return Reply(text=TOLD if is_first else "I'm sorry, but I can't help with that.")

    with LoopbackServer(answer) as server:
        command = ("a.jsonl", *SEGMENTS, "--model", "m", "--base-url", server.base_url, "-o", "out")
        ran = desk.compress(*command, "--on-failure", "extractive", env={"OPENAI_API_KEY": "sk-test"})
    assert ran.code == 0, ran.stderr
    texts = ["".join(turn["content"] for turn in row["messages"]) for row in read_rows(desk.path("out"))]
    assert TOLD[:76] in texts[1]
    (metrics,) = read_metrics(desk.path("out"))
    assert (metrics["outcome"], metrics["summarizer"]) == ("compressed", "extractive")
    assert metrics["non_summaries"] > 0
    assert all("[CONTEXT SUMMARY]:" in text for text in texts[1:])


def test_columns_of_one_value_per_turn_are_kept_in_step(desk: Desk):
    rows = [conversation(number, 30 if number % 2 else 2) for number in range(24)]
    for row in rows:
        row["advantages"] = [place / 10 for place in range(len(row["messages"]))]
    desk.write("a.jsonl", rows)
    warned = desk.compress("a.jsonl", "-o", "warned", *SEGMENTS)
    assert "--per-turn-column advantages" in warned.stderr
    for mode in ("segments", "row"):
        ran = desk.compress("a.jsonl", "-o", mode, "--mode", mode, "--per-turn-column", "advantages")
        assert "advantages" not in ran.stderr
        given = {
            (row["id"], turn["content"]): value
            for row in rows
            for turn, value in zip(row["messages"], row["advantages"], strict=True)
        }
        for row in read_rows(desk.path(mode)):
            assert len(row["advantages"]) == len(row["messages"])
            for turn, value in zip(row["messages"], row["advantages"], strict=True):
                if turn["role"] == "assistant":
                    assert given[row["id"], turn["content"]] == value


def test_prompts_with_answers_in_columns_of_their_own_stay_one_row(desk: Desk):
    messages = conversation(0, 30)["messages"]
    desk.write("a.jsonl", [{"prompt": messages[:-2], "completion": messages[-2:-1]}])
    assert desk.compress("a.jsonl", "-o", "out", *SEGMENTS).code == 0
    (metrics,) = read_metrics(desk.path("out"))
    assert (metrics["outcome"], metrics["rows_written"], metrics["still_over_limit"]) == ("compressed", 1, False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--mode", "pieces"], "pieces"),
        (["--segment-overlap", "2"], "--segment-overlap is of --mode segments"),
        (["--train-summaries"], "--train-summaries is of --mode segments"),
        ([*SEGMENTS, "--segment-overlap", "2"], "--marks"),
        ([*SEGMENTS, "--segment-overlap", "-1"], "segment_overlap"),
    ],
)
@pytest.mark.parametrize("command", ["compress", "plan"])
def test_wrong_options_are_named_before_a_row_is_read(desk: Desk, command, options, said):
    desk.write("a.jsonl", [conversation(0)])
    ran = commands.run_here(command, "--tokenizer", desk.tokenizer, "a.jsonl", *options, cwd=desk.folder)
    assert ran.code == 2
    assert said in ran.stderr
    assert not desk.path("a_compressed").exists()


def test_of_a_row_only_the_segment_goes_that_is_over_the_limit(desk: Desk, rows):
    messages = conversation(3, 20)["messages"]
    messages.insert(8, {"role": "assistant", "content": "word " * 4000})
    desk.write("a.jsonl", [rows[0], {"id": "row-3", "messages": messages}, rows[2]])
    whole = ("a.jsonl", *SEGMENTS, "--no-save-over-limit")
    desk.compress(*whole, "-o", "out")
    written, segments, metrics = (of(desk.path("out")) for of in (read_rows, segments_of, read_metrics))
    assert not any(each["over_limit"] for each in segments)
    assert [[row[key] for key in KEYS] for row in written] == [[row[key] for key in KEYS] for row in segments]
    of_row = [each for each in segments if each["trajectory_id"] == "row-3"]
    gone = set(range(1, of_row[0]["segments"] + 1)) - {each["segment"] for each in of_row}
    assert len(gone) == 1
    over = metrics[1]
    assert (over["in_dataset"], over["still_over_limit"], over["rows_over_limit"]) == (True, True, 0)
    assert f"left out: segment {gone.pop()} of {of_row[0]['segments']} (turns " in over["error"]
    assert over["rows_written"] == len(of_row)
    assert over["compressed_tokens"] == sum(each["tokens"] for each in of_row)
    for number in (1, 2):
        assert desk.compress(*whole, "-o", f"s{number}", "--shard", f"{number}/2").code == 0
    assert commands.run_here("merge", "s1", "s2", "-o", "merged", cwd=desk.folder).code == 0
    assert segments_of(desk.path("merged")) == segments
    shown = commands.run_here("show", "out", "row-3", cwd=desk.folder)
    assert shown.code == 0, shown.stderr


def test_verl_reads_each_segment_as_it_read_the_row(desk: Desk, rows):
    folder = made_tokenizer("chatml")
    template = desk.path("last.jinja")
    template.write_text(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        "{% if loop.last and loop.index > 1 and m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}"
        "{{ m.content }}<|im_end|>\n{% endfor %}"
    )
    for row in rows:
        row["messages"].append({"role": "user", "content": "Well done."})
    desk.write("a.jsonl", rows)
    options = ("--for", "verl", "--tokenizer", folder, "--chat-template", template)
    desk.compress("a.jsonl", "-o", "out", *SEGMENTS, *options)
    assert len(segments_of(desk.path("out"))) > len(rows)
    checked = commands.run_here("check", "out", "--json", cwd=desk.folder)
    assert "mask_prefix_mismatch" not in checked.json["violations"]


def test_audit_counts_segments_and_takes_the_longest_for_the_limit(desk: Desk, rows):
    messages = conversation(3, 20)["messages"]
    messages[7]["content"] = "word " * 4000
    messages.insert(8, {"role": "assistant", "content": "word " * 4000})
    desk.write("a.jsonl", [*rows, {"id": "row-3", "messages": messages}])
    desk.compress("a.jsonl", "-o", "out", *SEGMENTS)
    segments = segments_of(desk.path("out"))
    over = sum(each["over_limit"] for each in segments)
    assert over == 1
    ran = commands.run_here("audit", "out", "--json", cwd=desk.folder)
    assert ran.json["totals"]["still_over_limit"] == 1
    assert ran.json["segments"] == {"rows_written": len(segments), "rows_over_limit": 1}
    table = commands.run_here("audit", "out", cwd=desk.folder).stdout
    assert "segments over the limit" in table
    assert "a larger --target-max-tokens" in table
    assert "protected_turns" not in table
    near = [row for row in read_metrics(desk.path("out")) if not row["rows_over_limit"]]
    near = [row for row in near if row["max_row_tokens"] >= 0.95 * commands.TARGET]
    assert ran.json["near_limit"]["rows"] == len(near) > 0
    assert read_metrics(desk.path("out"))[3]["reason"] in table
    gated = commands.run_here("audit", "out", "--max-over-limit", "0", "--min-assistant-kept", "99%", cwd=desk.folder)
    assert gated.code == 1


def test_what_is_published_tells_of_segments_and_of_no_folder(desk: Desk, rows):
    desk.write("a.jsonl", rows)
    desk.compress(desk.path("a.jsonl"), "-o", "out", *SEGMENTS)
    ran = commands.run_here("push", "out", "someone/else", "--dry-run", cwd=desk.folder)
    assert ran.code == 0, ran.stderr
    assert "segments.parquet" in ran.stdout
    public = desk.path("public.parquet")
    write_public_metrics(desk.path("out/segments.parquet"), public)
    assert {row["source_file"] for row in pq.read_table(public).to_pylist()} == {"a.jsonl"}


def test_show_and_report_walk_through_the_segments(desk: Desk, rows):
    desk.write("a.jsonl", rows)
    desk.compress("a.jsonl", "-o", "out", *SEGMENTS)
    segments = [each for each in segments_of(desk.path("out")) if each["trajectory_id"] == "row-0"]
    shown = commands.run_here("show", "out", "row-0", cwd=desk.folder)
    assert shown.code == 0, shown.stderr
    for each in segments:
        last = each["end_turn"] - 1 - (each["segment"] == each["segments"])  # of the assistant's: a thank-you follows
        first = each["first_turn"]
        assert (
            f"segment {each['segment']} of {each['segments']}, with turns {first} to {last} in full" in shown.stdout
        )
    as_json = commands.run_here("show", "out", "row-0", "--json", cwd=desk.folder).json
    assert len(as_json["after"]) == len(segments)
    report = commands.run_here("report", "out", cwd=desk.folder)
    assert report.code == 0, report.stderr
    assert "2 rows became several" in desk.path("out/report.html").read_text()


def test_plan_puts_the_ways_side_by_side(desk: Desk, rows):
    desk.write("a.jsonl", rows)
    options = [option for option in desk.options if option not in {"--output-format", "jsonl"}]
    ran = commands.run_here("plan", *options, "a.jsonl", "--compare", "--json", cwd=desk.folder)
    assert ran.code == 0, ran.stderr
    cleared, summarised, segments = ran.json["targets"]
    assert [each["way"] for each in ran.json["targets"]] == ["cleared first", "summaries only", "segments"]
    assert cleared["in_dataset"] == summarised["in_dataset"] == 3 < segments["in_dataset"]
    kept = [each["assistant_tokens_kept"] for each in ran.json["targets"]]
    assert kept[1] <= kept[0] <= kept[2] == segments["assistant_tokens_original"]
    assert summarised["requests"]["calls"] < segments["requests"]["calls"]
    table = commands.run_here("plan", *options, "a.jsonl", "--compare", cwd=desk.folder).stdout
    assert "cleared first" in table
    assert "assistant tokens kept" in table
    for more in (["--sweep", "1,2"], SEGMENTS):
        wrong = commands.run_here("plan", *options[:2], "a.jsonl", "--compare", *more, cwd=desk.folder)
        assert (wrong.code, "--compare" in wrong.stderr) == (2, True)


def test_plan_says_how_many_rows_come_out(desk: Desk, rows):
    desk.write("a.jsonl", rows)
    options = [option for option in desk.options if option not in {"--output-format", "jsonl"}]
    ran = commands.run_here("plan", *options, "a.jsonl", *SEGMENTS, "--json", cwd=desk.folder)
    assert ran.code == 0, ran.stderr
    desk.compress("a.jsonl", "-o", "out", *SEGMENTS)
    written = sum(row["rows_written"] for row in read_metrics(desk.path("out")))
    (target,) = ran.json["targets"]
    assert abs(target["in_dataset"] - written) <= 1
