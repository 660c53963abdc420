"""Summaries that were paid for: kept through anything, found again, shared between runs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import asking
import commands
import pytest
import runs
from loopback import LoopbackServer

from trajcompress.errors import OutputError, SummaryError
from trajcompress.summarize import prompt
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.cache.recovery import SummaryCache, open_repaired
from trajcompress.summarize.cache.store import Stored, SummaryStore
from trajcompress.summarize.cache.summarizer import StoredSummarizer, Stores
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Turn

STORED = Stored(Summary("[CONTEXT SUMMARY]: größer\0\ud800", "m"), Usage(2, 1, 0, 100, 20, latency_s=0.5))


@pytest.fixture
def store(tmp_path):
    store = SummaryStore(tmp_path / "new" / "summaries.sqlite")
    yield store
    store.close()


def test_what_is_added_is_found_again(store, tmp_path):
    assert store.is_empty()
    store.add("key", STORED)
    store.add("key", Stored(Summary("another", "m"), Usage()))
    again = SummaryStore(tmp_path / "new" / "summaries.sqlite")
    assert again.find("key") == STORED
    assert again.find("other") is None
    assert not again.is_empty()
    again.close()


def test_what_another_version_wrote_is_read(store):
    store._db.execute(
        "INSERT INTO summaries VALUES ('key', ?, ?)",
        ('{"text": "s", "summarizer": "m", "style": "new"}', '{"api_calls": 2, "carbon_g": 0.1}'),
    )
    assert store.find("key") == Stored(Summary("s", "m"), Usage(api_calls=2))


def test_many_threads_and_connections_add_at_once(tmp_path):
    path = tmp_path / "summaries.sqlite"
    stores = [SummaryStore(path) for _ in range(3)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: stores[number % 3].add(f"key {number % 50}", STORED), range(300)))
    assert all(store.find(f"key {number}") == STORED for store in stores for number in range(50))
    for store in stores:
        store.close()


def test_processes_that_open_a_new_store_at_the_same_moment(tmp_path):
    script = (
        "import sys, pathlib, time; from trajcompress.summarize.cache.store import SummaryStore, Stored\n"
        "from trajcompress.summarize.base import Summary, Usage\n"
        "go = pathlib.Path(sys.argv[1]) / 'go'\n"
        "print('ready', flush=True)\n"
        "while not go.exists(): pass\n"
        "for n in range(20):\n"
        "    store = SummaryStore(pathlib.Path(sys.argv[1]) / str(n) / 'summaries.sqlite')\n"
        "    store.add(sys.argv[2], Stored(Summary('s', 'm'), Usage()))\n"
        "    store.close()\n"
    )
    commands_ = [[sys.executable, "-c", script, str(tmp_path), str(number)] for number in range(3)]
    running = [subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for one in commands_]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    for process in running:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    for number in range(20):
        store = SummaryStore(tmp_path / str(number) / "summaries.sqlite")
        assert all(store.find(str(each)) for each in range(3))
        store.close()


def test_a_file_that_is_no_store_is_named(tmp_path):
    path = tmp_path / "summaries.sqlite"
    path.write_bytes(b"this is no database, and long enough to be sure of it" * 100)
    with pytest.raises(OutputError, match=r"summaries\.sqlite: cannot be used"):
        SummaryStore(path)


def test_a_store_that_breaks_later_is_an_error_of_ours(store, tmp_path):
    store.add("key", STORED)
    store._db.execute("DROP TABLE summaries")
    with pytest.raises(OutputError, match="cannot be read"):
        store.find("key")
    with pytest.raises(OutputError, match="cannot be kept"):
        store.add("key", STORED)


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
    ask(StoredSummarizer(model, Stores(SummaryStore(tmp_path / "one.sqlite"), cache)), "row 1", "text")
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


def test_only_what_cannot_be_used_is_replaced(store):
    store.add("key", STORED)
    other = Stored(Summary("another", "m"), Usage())
    store.add("key", other, instead_of=REFUSAL)  # somebody else replaced it meanwhile
    assert store.find("key") == STORED
    store.add("key", other, instead_of=STORED)
    assert store.find("key") == other


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


def test_a_damaged_record_is_put_aside_and_what_can_be_read_is_kept(tmp_path):
    path, notes = tmp_path / "summaries.sqlite", []
    store = SummaryStore(path)
    for number in range(200):
        store.add(f"key {number}", Stored(Summary(f"{number}" * 500, "m"), Usage()))
    store.close()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    store = open_repaired(path, notes.append)
    kept = [number for number in range(200) if store.find(f"key {number}")]
    assert len(kept) < 200
    assert len(notes) == 1
    assert f"{len(kept)} summaries of it are kept" in notes[0]
    assert path.with_name("summaries.sqlite.damaged").exists()
    store.add("key 199", STORED)
    store.close()
    store = open_repaired(path, notes.append)
    assert (store.find("key 199"), len(notes)) == (STORED, 1)
    store.close()


def test_of_a_record_with_a_damaged_page_the_others_are_kept(tmp_path):
    path, notes = tmp_path / "summaries.sqlite", []
    store = SummaryStore(path)
    for number in range(200):
        store.add(f"key {number}", Stored(Summary(f"{number}" * 500, "m"), Usage()))
    store.close()
    data = bytearray(path.read_bytes())
    at = len(data) // 4096 * 4096 // 2
    data[at : at + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    store = open_repaired(path, notes.append)
    assert 0 < sum(store.find(f"key {number}") is not None for number in range(200)) < 200
    assert len(notes) == 1
    store.close()


def test_an_entry_that_cannot_be_read_gives_way_to_a_new_one(tmp_path):
    path, notes = tmp_path / "summaries.sqlite", []
    store = SummaryStore(path, notes.append)
    for key in ("one", "other"):
        store.add(key, STORED)
    store._db.execute("UPDATE summaries SET summary = x'ff'")
    assert (store.find("one"), store.find("other"), len(notes)) == (None, None, 1)
    store.add("one", STORED)
    assert (store.find("one"), store.find("other"), len(notes)) == (STORED, None, 1)
    store.close()


def test_a_run_goes_on_without_a_cache_that_cannot_be_used(tmp_path):
    (tmp_path / "summaries.sqlite").write_bytes(b"no database" * 1000)
    notes = []
    cache = SummaryCache(tmp_path / "summaries.sqlite", notes.append)
    cache.add("key", STORED)
    assert (cache.find("key"), len(notes)) == (None, 1)
    assert "goes on without it" in notes[0]
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
