"""``trajcompress audit`` as a person and a pipeline meet it."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from audited import TARGET, failed, good, rejected, write_metrics
from commands import conversation, make_desk, read_metrics, run_command, run_here

from trajcompress.metrics.files import read_metrics as read_rows_of


def test_a_real_run_agrees_with_its_own_summary(run_folder):
    ran = run_here("audit", run_folder, "--json", cwd=run_folder.parent)
    assert ran.code == 0
    told = ran.json["totals"]
    summary = json.loads((run_folder / "summary.json").read_text())
    assert told == {name: summary[name] for name in told}
    (group,) = ran.json["over_limit"]["groups"]
    (row,) = group["examples"]
    assert (row["source_file"], row["source_row"], row["trajectory_id"]) == ("in.jsonl", 6, "row-6")
    assert group["cause"] == read_metrics(run_folder)[6]["reason"]
    assert ran.json["paths"][0]["target_max_tokens"] == 2000


def test_one_bad_row_stops_the_pipeline_and_is_named(run_folder):
    ran = run_command("audit", run_folder, "--max-over-limit", "0", cwd=run_folder.parent)
    assert (ran.code, ran.stderr) == (1, "")
    named = ["in.jsonl:line", "7", "row-6", "max-over-limit"]
    assert any(line.split()[:4] == named for line in ran.stdout.splitlines())
    well = ["--where", "in_dataset AND NOT still_over_limit", "--max-over-limit", "0", "--max-failed", "0"]
    assert run_command("audit", run_folder, *well, cwd=run_folder.parent).code == 0


def test_figures_by_cause_with_the_largest_first(audit):
    told = audit("faulty.parquet", "--json", "--target-max-tokens", TARGET, "--max-ratio", "1").json
    causes = {
        each["cause"]: [row["trajectory_id"] for row in each["examples"]] for each in told["over_limit"]["groups"]
    }
    assert causes == {"tail": ["row-92", "row-91"], "head": ["row-90"], "trajectory_timeout": ["row-93"]}
    assert [(each["cause"], each["rows"]) for each in told["failed"]["groups"]] == [("trajectory_timeout", 1)]
    assert told["rejected"]["groups"][0]["examples"][0]["source_row"] == 94
    (lost,) = told["facts_lost"]["groups"]
    assert [row["source_row"] for row in lost["examples"]] == [95, 96]
    (near,) = told["near_limit"]["groups"]
    assert (near["rows"], [row["source_row"] for row in near["examples"]]) == (2, [99, 97])
    wider = audit("faulty.parquet", "--json", "--target-max-tokens", TARGET, "--near", "0.949")
    assert wider.json["near_limit"]["rows"] == 3


@pytest.mark.parametrize(
    ("gate", "passes"),
    [
        (("--max-over-limit", "4"), True),
        (("--max-over-limit", "3"), False),
        (("--max-over-limit", "4%"), True),
        (("--max-over-limit", "3.99%"), False),
        (("--max-failed", "2"), True),
        (("--max-failed", "1.9%"), False),
        (("--min-facts-kept", "99.2%"), True),
        (("--min-facts-kept", "99.3%"), False),
        (("--min-assistant-kept", "49.5%"), True),
        (("--min-assistant-kept", "50%"), False),
        (("--max-ratio", "0.9"), True),
        (("--max-ratio", "0.4"), False),
    ],
)
def test_gates(audit, gate, passes):
    ran = audit("faulty.parquet", *gate)
    assert ran.code == (0 if passes else 1)
    option, limit = gate
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith(("  pass ", "  fail "))]
    assert line.split()[:2] == ["pass" if passes else "fail", option.removeprefix("--")]
    assert f" {limit} " in line
    assert ("Rows behind the gates" in ran.stdout) is not passes


def test_facts_that_nobody_looked_up_pass_no_gate(tmp_path):
    from runs import small_tokenizer

    desk = make_desk(tmp_path, small_tokenizer)
    desk.write("in.jsonl", [conversation(0, 2), conversation(1)])
    assert desk.compress("in.jsonl", "-o", "out", "--no-facts").code == 0
    assert [row["facts_needed"] for row in read_metrics(desk.path("out"))] == [None, None]
    ran = run_here("audit", desk.path("out"), "--min-facts-kept", "0%", cwd=tmp_path)
    assert ran.code == 1
    assert "nobody looked up the facts of 1 compressed rows (--no-facts)" in ran.stdout


def test_what_is_kept_of_the_assistant_by_length_and_by_input(audit, tmp_path):
    told = audit("faulty.parquet", "--json", "--target-max-tokens", TARGET).json["assistant_kept"]
    assert (told["assistant_tokens_original"], told["assistant_tokens_kept"]) == (200, 99)
    assert told["by_length"] == [{"name": "up to 2 × the target", "rows": 2, "original": 200, "kept": 99}]
    assert [each["name"] for each in told["by_input"]] == ["a.jsonl"]
    (lost,) = told["rows_lost"]["groups"]
    assert [row["source_row"] for row in lost["examples"]] == [91, 90]
    table = pq.read_table(tmp_path / "good.parquet").drop_columns(["assistant_tokens_kept"])
    pq.write_table(table, tmp_path / "before.parquet")
    ran = audit("before.parquet", "--min-assistant-kept", "1%")
    assert ran.code == 1
    assert "the metrics do not say" in ran.stdout


def test_a_ratio_at_its_limit_passes(audit):
    assert audit("good.parquet", "--max-ratio", "0.4").code == 0


def test_nothing_to_judge_is_no_pass(audit):
    ran = audit("good.parquet", "--where", "outcome = 'compresed'", "--max-failed", "0")
    assert (ran.code, ran.stderr) == (1, "no rows were audited: none meet --where\n")
    assert "no rows" in ran.stdout


def test_several_paths_add_up(audit):
    told = audit("good.parquet", "faulty.parquet", "--json").json
    assert [(each["path"], each["rows"]) for each in told["paths"]] == [("good.parquet", 10), ("faulty.parquet", 100)]
    assert told["totals"]["rows"] == 110
    assert told["totals"]["original_tokens"] == sum(each["original_tokens"] for each in told["paths"])
    lines = audit("good.parquet", "faulty.parquet").stdout.splitlines()
    assert [line.split()[:4] for line in lines if line.startswith("  good")] == [["good.parquet", "10", "0", "0"]]


def test_the_same_row_is_not_added_up_twice(audit, tmp_path):
    write_metrics(tmp_path / "again.parquet", [good(row) for row in (98, 99, 100)])
    ran = audit("faulty.parquet", "again.parquet", "--json")
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr == (
        "error: again.parquet: 2 rows of a.jsonl are in faulty.parquet, too, and would be added up twice; "
        "`trajcompress compare faulty.parquet again.parquet` sets them side by side\n"
    )
    told = audit("faulty.parquet", "again.parquet", "--where", "source_row <> 98 AND source_row <> 99", "--json")
    assert told.json["totals"]["rows"] == 99, "shards of one input share its name, and no row"


def test_another_input_of_the_same_name_is_added_up_and_said(tmp_path):
    for name, content in (("monday", "1"), ("tuesday", "2")):
        (tmp_path / name).mkdir()
        write_metrics(tmp_path / name / "metrics.parquet", [good(0)])
        inputs = [{"name": "a.jsonl", "fingerprint": content}]
        (tmp_path / name / "run.json").write_text(json.dumps({"state": "complete", "inputs": inputs}))
    ran = run_here("audit", "monday", "tuesday", "--json", cwd=tmp_path)
    assert (ran.code, ran.json["totals"]["rows"]) == (0, 2)
    assert "tuesday and monday: both have a.jsonl, which was not the same then" in ran.stderr


def test_rows_that_a_model_answered_with_no_summary(audit, tmp_path):
    rows = [good(row, summarization_api_calls=1) for row in range(6)]
    rows += [good(6, summarization_api_calls=2, non_summaries=1), failed(7) | {"non_summaries": 1}]
    rows += [
        failed(row, reason) | {"non_summaries": 2} for row, reason in ((8, "refused_answer"), (9, "call_answer"))
    ]
    write_metrics(tmp_path / "asked.parquet", rows)
    lines = [line.split() for line in audit("asked.parquet").stdout.splitlines()]
    assert ["answered", "with", "no", "summary,", "asked", "again", "2", "(20.0%)"] in lines
    assert ["answered", "with", "no", "summary,", "failed", "2", "(20.0%)"] in lines
    assert audit("asked.parquet", "--json").json["no_summary"] == {"asked_again": 2, "failed": 2, "share": 0.4}
    assert "answered with no summary" not in audit("good.parquet").stdout  # nobody was asked


def test_metrics_of_an_earlier_version_are_read_though_nobody_counted_such_answers(audit, tmp_path):
    write_metrics(tmp_path / "now.parquet", [good(0, summarization_api_calls=2, non_summaries=1)])
    write_metrics(tmp_path / "other.parquet", [good(1, summarization_api_calls=2, non_summaries=1)])
    table = pq.read_table(tmp_path / "now.parquet")
    pq.write_table(table.drop_columns(["non_summaries"]), tmp_path / "before.parquet")
    told = audit("before.parquet", "--json")
    assert (told.code, told.json["no_summary"]) == (0, None)
    assert "answered with no summary" not in audit("before.parquet").stdout
    assert audit("before.parquet", "other.parquet", "--json").json["no_summary"]["asked_again"] == 1
    assert [row.non_summaries for row in read_rows_of(tmp_path / "before.parquet")] == [0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing"], "missing: no such file or folder"),
        (["empty"], "holds no metrics.parquet; name the folder"),
        (["broken.parquet"], "cannot be read as Parquet"),
        (["old.parquet"], "no column `facts_kept`"),
        (["wrong.parquet"], "column `still_over_limit` is string, not bool"),
        (["going"], "the run was interrupted, and nothing of it is committed yet"),
        (["good.parquet", "./good.parquet"], "the same metrics as good.parquet"),
        (["good.parquet", "--near", "0.9"], "add --target-max-tokens N"),
        (["good.parquet", "--near", "95"], "--near 95: should be a share"),
        (["good.parquet", "--max-over-limit", "most"], "--max-over-limit most: should be a number of rows"),
        (["good.parquet", "--max-failed", "101%"], "--max-failed 101%: should be a percentage"),
        *(
            (
                ["good.parquet", option, given],
                f"{option} {given}: should be a percentage from 0% to 100%, such as 98%",
            )
            for option in ("--min-facts-kept", "--min-assistant-kept")
            for given in ("98", "1.0", "most", "101%")
        ),
        (["good.parquet", "--max-ratio", "-1"], "--max-ratio -1: should be"),
        (["good.parquet", "--json", "--format", "junit"], "give one"),
        (["good.parquet", "--export", "rows.csv"], "should end in .txt"),
        (["good.parquet", "--export", "no/ids.txt"], "there is no folder no"),
    ],
)
def test_wrong_usage(audit, tmp_path, arguments, words):
    table = pq.read_table(tmp_path / "good.parquet")
    pq.write_table(table.drop_columns(["facts_kept"]), tmp_path / "old.parquet")
    index = table.schema.names.index("still_over_limit")
    texts = table["still_over_limit"].cast("string")
    pq.write_table(table.set_column(index, "still_over_limit", texts), tmp_path / "wrong.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    for folder in ("empty", "going"):
        (tmp_path / folder).mkdir()
    (tmp_path / "going" / "run.json").write_text('{"state": "interrupted"}')
    ran = audit(*arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_what_pandas_has_written_is_read(audit, tmp_path):
    import pandas as pd

    pd.read_parquet(tmp_path / "faulty.parquet").to_parquet(tmp_path / "again.parquet")
    again, first = (audit(name, "--json").json for name in ("again.parquet", "faulty.parquet"))
    assert again["totals"] == first["totals"]
    assert again["over_limit"]["groups"][0]["rows"] == first["over_limit"]["groups"][0]["rows"]


def test_rows_that_a_model_refused_are_offered_to_be_tried_again(tmp_path):
    write_metrics(tmp_path / "refused.parquet", [good(0), failed(1, "refused_answer"), rejected(2)])
    lines = [
        " ".join(line.split()) for line in run_here("audit", "refused.parquet", cwd=tmp_path).stdout.splitlines()
    ]
    (row,) = [line for line in lines if line.startswith("failed refused_answer")]
    assert "the same command with --retry-failed tries it again" in row
    assert any(line.startswith("rejected ") and "--retry-failed" not in line for line in lines)
