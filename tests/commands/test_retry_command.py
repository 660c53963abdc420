"""Failed rows are tried again: in an unfinished run by the same command, in a finished one by ``--retry-failed``."""

from __future__ import annotations

import json
import signal
import threading

import commands
import pytest
import runs
from loopback import LoopbackServer
from loopback_replies import failed, hang, saying


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


REFUSAL = saying("I'm sorry, but I can't help with that request.")


class Endpoint:
    """Refuses some rows until it is told not to."""

    def __init__(self, *refused, reply=None):
        self.refused = set(refused)
        self.reply = reply or failed(400, "this one is refused")

    def __call__(self, seen):
        return self.reply if any(f"build {number} " in seen.text for number in self.refused) else None


def metrics_of(place, output="out"):
    return {(row["source_file"], row["source_row"]): row for row in commands.read_metrics(place.folder / output)}


def timeless(row):
    return {name: value for name, value in row.items() if name != "latency_s"}


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_finished_run_tries_its_failed_rows_again_and_pays_for_these_alone(place, workers):
    inputs = runs.write_inputs(place.folder, 20)
    endpoint = Endpoint(4, 13)
    with LoopbackServer(endpoint) as server:
        command = place.calling(server.base_url, inputs, "out", "--output-format", "jsonl")
        ran = commands.run_here(*command, cwd=place.folder)
        assert ran.code == 0
        assert "the same command with --retry-failed tries those again that failed" in ran.stderr
        assert "still too long" not in ran.stderr, "they would fit with a summary"
        before, files, calls = metrics_of(place), commands.files_of(place.folder / "out"), len(server.seen)
        assert [row["outcome"] for row in before.values()].count("failed") == 2

        again = commands.run_here(*command, cwd=place.folder)
        assert (again.code, len(server.seen)) == (0, calls)
        assert "complete already" in again.stderr
        assert "--retry-failed tries those again" in again.stderr

        endpoint.refused = {13}
        worth_it = "import trajcompress.run.workers.work_in_workers as w; w._WORTH_BYTES = 1\n"
        retried = runs.run(*command, "--retry-failed", "--num-workers", workers, cwd=place.folder, code=worth_it)
        assert retried.code == 0
        assert "2 rows that failed before are tried again" in retried.stderr
        assert {runs.prompt_digest(seen) for seen in server.seen[calls:]}
        assert all("build 4 " in seen.text or "build 13 " in seen.text for seen in server.seen[calls:])
        after = metrics_of(place)
        changed = [place for place in before if timeless(before[place]) != timeless(after[place])]
        assert {after[place]["trajectory_id"] for place in changed} <= {"row-4", "row-13"}
        assert [row["trajectory_id"] for row in after.values() if row["outcome"] == "failed"] == ["row-13"]

        endpoint.refused = set()
        assert commands.run_here(*command, "--retry-failed", cwd=place.folder).code == 0
        assert {row["outcome"] for row in metrics_of(place).values()} == {
            "compressed", "skipped_under_target", "rejected",
        }  # fmt: skip
        fresh = commands.run_here(*["fresh" if word == "out" else word for word in command], cwd=place.folder)
        assert fresh.code == 0
        assert commands.read_lines(place.folder / "out") == commands.read_lines(place.folder / "fresh")
        assert commands.files_of(place.folder / "out").keys() == files.keys()
        nothing = commands.run_here(*command, "--retry-failed", cwd=place.folder)
        assert "complete already" in nothing.stderr


def test_rows_that_are_refused_once_more_leave_a_finished_run_finished(place):
    inputs = runs.write_inputs(place.folder, 20)
    endpoint = Endpoint(4, 7, 10, 13)
    with LoopbackServer(endpoint) as server:
        command = place.calling(server.base_url, inputs, "out", "--output-format", "jsonl")
        first = json.loads(commands.run_here(*command, "--json", cwd=place.folder).stdout)
        assert first["reasons"]["bad_request"] >= 3  # as many first refusals as stop a run
        retried = commands.run_here(*command, "--retry-failed", "--json", cwd=place.folder)
        assert (retried.code, json.loads(retried.stdout)["reasons"]) == (0, first["reasons"])

        endpoint.reply = failed(401, "no such key")
        stopped = commands.run_here(*command, "--retry-failed", "--json", cwd=place.folder)
        assert (stopped.code, json.loads(stopped.stdout)["rows"]) == (2, first["rows"])
        assert f"what is done is kept: {first['rows']} rows" in stopped.stderr


def test_a_run_whose_summaries_are_all_cached_fails_at_the_rows_at_which_the_first_did(place):
    inputs = runs.write_inputs(place.folder, 20)
    with LoopbackServer(Endpoint(4, 7, 10, 13)) as server:
        reasons, calls = [], []
        for output in ("out", "again"):
            command = place.calling(server.base_url, inputs, output, "--cache", "cache", "--json")
            ran = commands.run_here(*command, cwd=place.folder)
            assert ran.code == 0
            reasons.append(json.loads(ran.stdout)["reasons"])
            calls.append(len(server.seen))
    assert reasons[0] == reasons[1]
    assert calls[1] - calls[0] == reasons[0]["bad_request"] >= 3


def test_another_model_may_write_what_one_failed_at_and_the_metrics_say_who_wrote(place):
    inputs = runs.write_inputs(place.folder, 12)
    endpoint = Endpoint(4, reply=REFUSAL)
    with LoopbackServer(endpoint) as server:
        command = place.calling(server.base_url, inputs, "out", "--price-in", "1", "--price-out", "1")
        assert commands.run_here(*command, cwd=place.folder).code == 0
        (failure,) = [row for row in metrics_of(place).values() if row["outcome"] == "failed"]
        assert failure["prompt_tokens"] > 0
        paid, kept = len(server.seen), commands.read_metrics(place.folder / "out")
        other = ["other" if word == "loopback" else word for word in command]
        refused = commands.run_here(*other, cwd=place.folder)
        assert (refused.code, "summarization.model was 'loopback', is 'other'" in refused.stderr) == (2, True)

        endpoint.refused = set()
        retried = commands.run_here(*other, "--retry-failed", cwd=place.folder)
        assert retried.code == 0, retried.stderr
        assert len(server.seen) == paid + 1
        row = next(row for row in metrics_of(place).values() if row["trajectory_id"] == "row-4")
        assert (row["outcome"], row["summarizer"]) == ("compressed", "other")
        assert row["summarization_api_calls"] == failure["summarization_api_calls"] + 1
        assert row["prompt_tokens"] > failure["prompt_tokens"]
        assert row["cost_usd"] > failure["cost_usd"] > 0
        written = {row["summarizer"] for row in commands.read_metrics(place.folder / "out")}
        assert written == {"loopback", "other", None}
        others = [timeless(row) for row in kept if row["trajectory_id"] != "row-4"]
        now = [
            timeless(row) for row in commands.read_metrics(place.folder / "out") if row["trajectory_id"] != "row-4"
        ]
        assert now == others
        record = json.loads((place.folder / "out/run.json").read_text())
        assert record["settings"]["summarization.model"] == "loopback"
        assert record["retried"] == [{"summarization.model": "other"}]
        assert "complete already" in commands.run_here(*command, cwd=place.folder).stderr
        audited = commands.run_here("audit", "out", cwd=place.folder)
        assert audited.code == 0, audited.stderr


def test_a_retry_that_is_killed_leaves_the_old_part_or_the_new_one(place):
    inputs = runs.write_inputs(place.folder, 12)
    endpoint = Endpoint(1, 4)
    with LoopbackServer(endpoint) as server:
        command = place.calling(server.base_url, inputs, "out")
        runs.finish(place, command)
        endpoint.refused = set()
        killed = runs.killed_at_steps(
            place.folder, *command, "--retry-failed", steps=[4, 8, 12, 15, 18, 22, 26, runs.NEVER]
        )
        assert killed[0]
        assert not killed[-1]
        assert not [row for row in metrics_of(place).values() if row["outcome"] == "failed"]
        runs.finish(place, ["fresh" if word == "out" else word for word in command])
    for name in ("data/a-00000.parquet", "rejected.jsonl"):
        assert (place.folder / "out" / name).read_bytes() == (place.folder / "fresh" / name).read_bytes()


def test_an_unfinished_run_tries_its_failed_rows_again_by_the_same_command(place):
    inputs = runs.write_inputs(place.folder, 24)
    broken = True

    def script(seen):
        if broken and "build 1 " in seen.text:
            return failed(400, "this one is refused")
        return failed(402, "pay first") if broken and len(server.seen) > 12 else None

    with LoopbackServer(script) as server:
        command = place.calling(server.base_url, inputs, "out")
        stopped = commands.run_here(*command, cwd=place.folder)
        assert stopped.code == 1
        assert runs.committed_rows(place.folder / "out") > 0
        broken, calls = False, len(server.seen)
        ran = commands.run_here(*command, cwd=place.folder)
        assert ran.code == 0, ran.stderr
        assert "1 row that failed before is tried again" in ran.stderr
        assert len([seen for seen in server.seen[calls:] if "build 1 " in seen.text]) == 1
        assert not [row for row in metrics_of(place).values() if row["outcome"] == "failed"]


def test_a_fallback_may_write_what_the_model_failed_at(place):
    inputs = runs.write_inputs(place.folder, 12)
    with LoopbackServer(Endpoint(4)) as server:
        command = place.calling(server.base_url, inputs, "out")
        runs.finish(place, command)
        runs.finish(place, [*command, "--retry-failed", "--on-failure", "extractive"])
    row = next(row for row in metrics_of(place).values() if row["trajectory_id"] == "row-4")
    assert (row["outcome"], row["summarizer"]) == ("compressed", "extractive")


def test_answers_that_were_paid_for_and_unusable_before_a_stop_are_in_the_figures(place):
    inputs = runs.write_inputs(place.folder, 12)
    wait, lock, times = threading.Event(), threading.Lock(), {}

    def script(seen):
        with lock:
            times[seen.text] = times.get(seen.text, 0) + 1
        if "build 4 " not in seen.text or wait.is_set():
            return None
        return REFUSAL if len([each for each in server.seen if "build 4 " in each.text]) == 1 else hang()

    with LoopbackServer(script) as server:
        command = place.calling(server.base_url, inputs, "out")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len([each for each in server.seen if "build 4 " in each.text]) == 2, process)
        process.send_signal(signal.SIGINT)
        assert runs.ended(process).code == 130
        wait.set()
        assert commands.run_here(*command, cwd=place.folder).code == 0
        row = next(row for row in metrics_of(place).values() if row["trajectory_id"] == "row-4")
    assert (row["outcome"], row["non_summaries"]) == ("compressed", 1)
    assert row["summarization_api_calls"] >= 2


def test_without_its_state_a_finished_run_cannot_try_rows_again(place):
    inputs = runs.write_inputs(place.folder, 8)
    with LoopbackServer(Endpoint(1)) as server:
        command = place.calling(server.base_url, inputs, "out")
        runs.finish(place, command)
        import shutil

        shutil.rmtree(place.folder / "out/.state")
        ran = commands.run_here(*command, "--retry-failed", cwd=place.folder)
    assert (ran.code, "--overwrite" in ran.stderr, "Traceback" in ran.stderr) == (2, True, False)


def test_calls_of_a_try_that_nobody_paid_for_are_counted_on_top_of_those_that_were(place):
    inputs = runs.write_inputs(place.folder, 6)
    endpoint = Endpoint(*range(6), reply=REFUSAL)
    with LoopbackServer(endpoint) as server:
        command = place.calling(server.base_url, inputs, "out", "--max-failed", "100%")
        assert commands.run_here(*command, cwd=place.folder).code == 0
        for reply in (failed(400, "no", "content_filter"), REFUSAL, failed(400, "no", "content_filter")):
            endpoint.reply = reply
            assert commands.run_here(*command, "--retry-failed", cwd=place.folder).code == 0
            rows = metrics_of(place).values()
            assert sum(row["summarization_api_calls"] for row in rows) == len(server.seen)
            answered = [seen for seen in server.seen if seen.completion_tokens]
            assert sum(row["prompt_tokens"] for row in rows) == sum(seen.prompt_tokens for seen in answered)
