"""Runs on a real Ray cluster of three nodes, one of which is lost, and what is said where there is none."""

from __future__ import annotations

import importlib.util
import json
import signal
from collections import Counter

import commands
import pytest
import runs
from engine_setups import Odd
from in_workers import start_in_workers
from loopback import LoopbackServer, most_in_window
from ray_cluster import RayNodes
from s3_server import BUCKET

from trajcompress.engine.ray_worker import RayWorker

has_ray = importlib.util.find_spec("ray") is not None
OUT = f"s3://{BUCKET}/runs/out"
RPM = 300
UNSEEN_S = 3.0
"""How long Ray may take to see that a node is lost: what that held of the limits is nobody's meanwhile."""


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with RayNodes(tmp_path_factory.mktemp("nodes"), 3) as nodes:
        yield nodes


def start_on(cluster, place, command, workers=3):
    return start_in_workers(place, [*command, "--ray-address", cluster.address], workers)


def finish_on(cluster, place, command, workers=3):
    ran = runs.ended(start_on(cluster, place, command, workers))
    assert ran.code == 0, ran.stderr
    return ran


def rows_of(count):
    return "".join(json.dumps(commands.conversation(number, steps=12)) + "\n" for number in range(count))


@pytest.mark.wants("ray")
@pytest.mark.slow
def test_what_nodes_write_is_what_one_process_writes_also_with_a_summarizer_of_ones_own(cluster, place):
    inputs = runs.write_inputs(place.folder, 40)
    (place.folder / "own.py").write_text(
        "def summarize(request):\n"
        "    return f'{len(request.turns)} characters were said, of which this is a summary in some words.'\n"
    )
    command = place.offline(inputs, "out", "--summarizer", "own:summarize")
    ran = finish_on(cluster, place, command)
    assert "parts are worked on by 3 workers of a Ray cluster" in ran.stderr
    whole = runs.run(*["whole" if each == "out" else each for each in command], cwd=place.folder)
    assert whole.code == 0, whole.stderr
    assert runs.outcome(place.folder / "out") == runs.outcome(place.folder / "whole")


@pytest.mark.wants("ray")
@pytest.mark.slow
def test_a_plan_of_nodes_is_that_of_one_process(cluster, place):
    inputs = runs.write_inputs(place.folder, 40)
    command = ["plan", *inputs, "--tokenizer", place.tokenizer, "--target-max-tokens", "2000", "--json"]
    command += ["--part-size", str(runs.PART_SIZE)]
    ran = finish_on(cluster, place, command)
    assert "parts are worked on by 3 workers of a Ray cluster" in ran.stderr
    assert ran.json == runs.run(*command, cwd=place.folder).json


@pytest.mark.wants("ray")
@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_elsewhere_and_pays_for_nothing_twice(cluster, place):
    inputs = runs.write_inputs(place.folder, 60)
    with LoopbackServer(latency=0.2) as server:
        command = place.calling(server.base_url, inputs, "out")
        process = start_on(cluster, place, command)
        runs.wait_for(lambda: len(server.seen) >= 12, process)
        process.send_signal(signal.SIGINT)
        stopped = runs.ended(process)
        assert stopped.code == 130, stopped.stderr
        assert "Traceback" not in stopped.stderr
        before = len(server.seen)
        assert runs.run(*command, cwd=place.folder).code == 0
        assert len(server.seen) > before
        assert set(Counter(map(runs.prompt_digest, server.seen)).values()) == {1}
        runs.assert_same_as_whole(place, command)


@pytest.mark.wants("ray")
@pytest.mark.slow
def test_a_node_that_is_lost_costs_its_unfinished_parts_and_limits_hold(s3, tmp_path, place):
    s3.put("in/rows.jsonl", rows_of(90).encode())
    given = [f"s3://{BUCKET}/in/rows.jsonl"]
    with RayNodes(tmp_path / "nodes", 3) as cluster, LoopbackServer(latency=0.05) as server:
        command = place.calling(server.base_url, given, OUT, "--rpm", str(RPM))
        process = start_on(cluster, place, command)
        runs.wait_for(lambda: len(server.seen) >= 40, process)
        cluster.kill(2)
        ran = runs.ended(process, 200)
        assert ran.code == 0, ran.stderr
        assert "its process, or its node, is lost" in ran.stderr
        asked = list(server.seen)
        here = ["whole" if each == OUT else each for each in command]
        runs.finish(place, here)
    assert runs.outcome(s3.fetch("runs/out", place.folder / "fetched")) == runs.outcome(place.folder / "whole")
    asked_for = Counter(map(runs.prompt_digest, asked))
    assert len(asked_for) == 90
    assert asked_for.total() <= 90 + 4, "calls that were under way on the node"
    for seconds in (1, 5):
        assert most_in_window(asked, seconds - 0.1) <= RPM / 60 * seconds
    amid = sorted(each.time for each in asked)[3:-10]
    assert len(amid) - 1 >= 0.9 * RPM / 60 * (amid[-1] - amid[0] - UNSEEN_S)


@pytest.mark.wants("ray")
@pytest.mark.slow
def test_what_does_not_go_on_nodes_is_said_before_any_row_is_read(cluster, place):
    command = place.offline(runs.write_inputs(place.folder, 4), "out", "--ray-address", cluster.address)
    ran = runs.run(*command, "--cache", "kept", cwd=place.folder)
    assert (ran.code, "Ray does not go with --cache" in ran.stderr) == (2, True)
    command[1:3] = ["-"]
    ran = runs.run(*command, cwd=place.folder)
    assert (ran.code, "Ray does not go with an input that is read once" in ran.stderr) == (2, True)
    assert not (place.folder / "out").exists()


@pytest.mark.wants("ray")
def test_a_cluster_that_is_not_there_is_named(place):
    command = place.offline(runs.write_inputs(place.folder, 4), "out", "--ray-address", "127.0.0.1:9")
    ran = runs.run(*command, cwd=place.folder)
    assert (ran.code, ran.stderr.count("\n")) == (2, 1), ran.stderr
    assert ran.stderr.startswith("error: processing.ray_address: no Ray cluster at 127.0.0.1:9: ")
    assert "RAY_AUTH_MODE=token" in ran.stderr


@pytest.mark.skipif(has_ray, reason="Ray is installed")
def test_without_the_extra_one_line_says_what_to_install(place):
    command = place.offline(runs.write_inputs(place.folder, 4), "out", "--engine", "ray")
    ran = commands.run_here(*command, cwd=place.folder)
    assert (ran.code, ran.stderr.count("\n")) == (2, 1), ran.stderr
    assert "pip install 'trajcompress-cli[ray]'" in ran.stderr
    assert not (place.folder / "out").exists()


def test_a_node_with_another_version_does_no_work():
    with pytest.raises(RuntimeError, match=r"trajcompress-cli \S+ is installed there, and 0.0 here"):
        RayWorker(Odd(), ".", {}, "0.0")
