"""A summariser that asks only for what is not stored: what is found costs nothing, and is shared between runs."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import asking
import commands
import pytest
import runs
from loopback import LoopbackServer

from trajcompress.errors import OutputError, SummaryError
from trajcompress.summarize import prompt
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.cache.store import Stored, SummaryStore
from trajcompress.summarize.cache.summarizer import StoredSummarizer, Stores
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Turn


class Model:
    """Answers each request with another text, so that an answer from a store can be told from a fresh one."""

    name = "m"

    def __init__(self, *, fails: bool = False) -> None:
        self.asked = 0
        self._fails = fails

    def request_key(self, request: SummaryRequest, *, anywhere: bool = False) -> str:  # noqa: ARG002 - as the protocol
        return request.region[0].text

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:  # noqa: ARG002 - as the protocol
        self.asked += 1
        usage.add(Usage(api_calls=3, errors=2, prompt_tokens=10, completion_tokens=5, latency_s=0.1))
        if self._fails:
            raise SummaryError("empty_answer", "nothing")
        return Summary(f"{SUMMARY_PREFIX}\nanswer {self.asked}", self.name)

    async def aclose(self) -> None:
        pass


def ask(summarizer: StoredSummarizer, row: str, text: str) -> tuple[str, Usage]:
    usage = Usage()
    request = SummaryRequest(row, (), (Turn("tool", text, {}),), 100, len)
    summary = asyncio.run(summarizer.summarize(request, usage))
    return summary.text.removeprefix(f"{SUMMARY_PREFIX}\n"), usage


def test_a_recorded_summary_costs_what_it_cost(store):
    model = Model()
    first = ask(StoredSummarizer(model, Stores(store)), "row 1", "text")
    again = ask(StoredSummarizer(model, Stores(store)), "row 1", "text")
    assert again == (first[0], replace(first[1], reused=1))
    assert again[1].api_calls == 3
    assert model.asked == 1
    assert ask(StoredSummarizer(model, Stores(store)), "row 2", "text")[0] == "answer 2"
    assert ask(StoredSummarizer(model, Stores(store)), "row 1", "changed")[0] == "answer 3"


def test_a_cached_summary_costs_nothing_and_is_recorded(store, tmp_path):
    cache, model = SummaryStore(tmp_path / "cache.sqlite"), Model()
    with contextlib.closing(SummaryStore(tmp_path / "one.sqlite")) as of_another_run:
        ask(StoredSummarizer(model, Stores(of_another_run, cache)), "row 1", "text")
    summarizer = StoredSummarizer(model, Stores(store, cache))
    for _ in range(2):
        text, usage = ask(summarizer, "row 7", "text")
        assert (text, replace(usage, reused=0)) == ("answer 1", Usage(cache_hits=1))
        assert usage.reused
    assert model.asked == 1
    cache.close()


REFUSAL = Stored(Summary(f"{SUMMARY_PREFIX}\nI'm sorry, but I can't help with that.", "m"), Usage(api_calls=1))


def test_a_kept_text_that_is_no_summary_is_asked_for_anew_and_replaced(store, tmp_path):
    cache, model = SummaryStore(tmp_path / "cache.sqlite"), Model()
    store.add("row 1\ntext", REFUSAL)
    cache.add("text", REFUSAL)
    summarizer = StoredSummarizer(model, Stores(store, cache))
    first = ask(summarizer, "row 1", "text")
    assert (first[0], model.asked) == ("answer 1", 1)
    assert (first[1].api_calls, first[1].cache_hits, first[1].reused) == (3, 0, 0)
    assert ask(summarizer, "row 1", "text") == ("answer 1", replace(first[1], reused=1))
    assert ask(summarizer, "row 2", "text") == ("answer 1", Usage(cache_hits=1, reused=1))
    assert model.asked == 1
    cache.close()


def test_a_cached_summary_with_marks_of_another_tokenizer_is_not_used(store):
    model = Model()
    store.add("row 1\ntext", Stored(Summary(f"{SUMMARY_PREFIX}\nit wrote [SEP] there", "m"), Usage()))
    request = SummaryRequest("row 1", (), (Turn("tool", "text", {}),), 100, len, special_tokens=("[SEP]",))
    summary = asyncio.run(StoredSummarizer(model, Stores(store)).summarize(request, Usage()))
    assert summary.text.endswith("answer 1")


def test_failures_are_not_kept_but_counted_also_in_a_later_session(store):
    model, usage = Model(fails=True), Usage()
    summarizer = StoredSummarizer(model, Stores(store))
    request = SummaryRequest("row", (), (Turn("tool", "text", {}),), 100, len)
    for _ in range(2):
        with pytest.raises(SummaryError):
            asyncio.run(summarizer.summarize(request, usage))
    assert (model.asked, usage.api_calls, store.find("row\ntext")) == (2, 6, None)
    assert store.paid_for("row").api_calls == 6
    assert store.paid_for("ro").api_calls == 0
    later = Usage()
    asyncio.run(StoredSummarizer(Model(), Stores(store)).summarize(request, later))
    assert later.api_calls == 6 + 3
    assert store.paid_for("row").api_calls == 9


def test_a_cache_that_cannot_be_written_does_not_lose_the_answer(store, tmp_path):
    cache, model = SummaryStore(tmp_path / "cache.sqlite"), Model()
    cache._db.execute("PRAGMA query_only = ON")
    with pytest.raises(OutputError, match="cannot be kept"):
        ask(StoredSummarizer(model, Stores(store, cache)), "row 1", "text")
    assert ask(StoredSummarizer(model, Stores(store)), "row 1", "text")[0] == "answer 1"
    cache.close()


def key_of(monkeypatch, version=prompt.PROMPT_VERSION, text="text", target=100, anywhere=False, **more) -> str:
    arguments = {"model": "m", "base_url": "http://127.0.0.1/v1", "api_key": None, "temperature": 0.3}
    unimportant = {"max_retries": 1, "retry_delay": 1.0, "timeout": 9.0, "limiter": RateLimiter(None, None, 1)}
    monkeypatch.setattr("trajcompress.summarize.endpoint.summary_prompt.PROMPT_VERSION", version)
    request = SummaryRequest("row", (), (Turn("tool", text, {}),), target, len)
    return asking.openai_summarizer(**(arguments | unimportant | more)).request_key(request, anywhere=anywhere)


def test_everything_that_shapes_an_answer_is_in_its_key(monkeypatch):
    changes = [
        {"model": "n"},
        {"base_url": "http://127.0.0.1/v2"},
        {"base_url": None},
        {"temperature": None},
        {"temperature": 0.4},
        {"version": "summary.v999"},
        {"text": "other"},
        {"target": 101},
    ]
    keys = [key_of(monkeypatch), *(key_of(monkeypatch, **change) for change in changes)]
    assert len(set(keys)) == len(keys)
    moved = [key_of(monkeypatch, anywhere=True, **change) for change in ({}, *changes)]
    assert moved[0] == moved[2] == moved[3], "an endpoint that moves within a run is the same"
    assert len(set(moved)) == len(moved) - 2
    for change in ({"max_retries": 9}, {"timeout": 1.0}, {"api_key": "sk-other"}, {"limiter": RateLimiter(5, 5, 5)}):
        assert key_of(monkeypatch, **change) == keys[0]


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


def test_a_shared_cache_spares_every_call_of_the_second_run(place, monkeypatch):
    inputs = runs.write_inputs(place.folder, 12)
    with LoopbackServer() as server, LoopbackServer() as elsewhere:

        def compress(output, *more, base_url=server.base_url):
            command = place.calling(base_url, inputs, output, "--cache", "cache", "--json", *more)
            ran = commands.run_here(*command, cwd=place.folder)
            assert ran.code == 0, ran.stderr
            return ran.json

        first = compress("one")
        calls = len(server.seen)
        assert (calls, first["cache_hits"]) == (11, 0)
        second = compress("two")
        assert (len(server.seen), second["cache_hits"], second["summarization_api_calls"]) == (calls, 11, 0)
        rows = commands.read_metrics(place.folder / "two")
        assert [row["cache_hits"] for row in rows] == [int(row["was_compressed"]) for row in rows]
        data = [commands.files_of(place.folder / output / "data") for output in ("one", "two")]
        assert data[0] == data[1]

        compress("three", "--model", "other")
        assert len(server.seen) == 2 * calls
        compress("four", base_url=elsewhere.base_url)
        assert len(elsewhere.seen) == calls
        with monkeypatch.context() as changed:
            changed.setattr("trajcompress.summarize.endpoint.summary_prompt.PROMPT_VERSION", "summary.v0")
            compress("five")
        assert len(server.seen) == 3 * calls


def test_two_runs_at_once_share_a_cache(place):
    inputs = runs.write_inputs(place.folder, 24)
    with LoopbackServer(latency=0.05) as server:
        command = place.calling(server.base_url, inputs, "one", "--cache", "cache")
        other = ["two" if argument == "one" else argument for argument in command]
        both = [runs.start(*each, cwd=place.folder) for each in (command, other)]
        for process in both:
            ran = runs.ended(process)
            assert ran.code == 0, ran.stderr
        before = len(server.seen)
        third = ["three" if argument == "one" else argument for argument in command]
        runs.finish(place, third)
        assert len(server.seen) == before
    one, two = (runs.outcome(place.folder / output) for output in ("one", "two"))
    assert {name: one[name] for name in one if name.startswith("data/")} == {
        name: two[name] for name in two if name.startswith("data/")
    }
