"""Compressors in Python: rows of all kinds, many at once, in other processes, and closed or not."""

from __future__ import annotations

import asyncio
import gc
import pickle
from collections import UserDict
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from itertools import count
from subprocess import PIPE
from types import MappingProxyType

import datasets
import forked
import numpy as np
import pytest
from commands import TARGET, conversation, environment
from loopback import LoopbackServer
from own_summarizers import meeting

from trajcompress import (
    CompressedMessages,
    CompressedRow,
    Compressor,
    RowError,
    SummarizerUnusableError,
    count_tokens,
)
from trajcompress.api.compressor import MOST_AHEAD
from trajcompress.settings.keywords import CompressOptions

ROWS = 8
LATENCY_S = 0.3


@pytest.fixture
def options(make_tokenizer):
    return {"tokenizer": make_tokenizer(), "target_max_tokens": TARGET, "summary_target_tokens": 300}


@pytest.fixture
def paid(options, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return options | {"model": "writer"}


def in_threads(compressor, rows):
    with ThreadPoolExecutor(len(rows)) as pool:
        return list(pool.map(compressor.compress, rows))


def gathered(compressor, rows):
    async def all_of_them():
        return await asyncio.gather(*map(compressor.acompress, rows))

    return asyncio.run(all_of_them())


def many(compressor, rows):
    return list(compressor.compress_many(iter(rows)))


def many_beside_a_loop(compressor, rows):
    async def generated():
        for row in rows:
            yield row

    async def all_of_them():
        return [done async for done in compressor.acompress_many(generated(), concurrency=ROWS)]

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("how", [in_threads, gathered, many, many_beside_a_loop])
def test_calls_at_once_take_as_long_as_one(paid, how):
    rows = [conversation(number) for number in range(ROWS)]
    with LoopbackServer(latency=LATENCY_S) as server, Compressor(**paid, base_url=server.base_url) as compressor:
        compressor.compress(conversation(99))  # the first call goes out alone
        done = how(compressor, rows)
    assert server.most_at_once == ROWS
    assert [each.row["id"] for each in done] == [row["id"] for row in rows]
    assert {each.metrics.summarizer for each in done} == {"writer"}


def test_calls_at_once_share_the_limits(paid):
    rows = [conversation(number) for number in range(6)]
    with (
        LoopbackServer(latency=0.05) as server,
        Compressor(**paid, base_url=server.base_url, max_concurrent_requests=2) as compressor,
    ):
        assert len(in_threads(compressor, rows)) == len(gathered(compressor, rows)) == 6
    assert server.most_at_once == 2


def test_compressors_share_a_cache(paid, tmp_path):
    row = conversation(0)
    with LoopbackServer() as server:
        for _ in range(2):
            with Compressor(**paid, base_url=server.base_url, cache=str(tmp_path / "cache")) as compressor:
                done = compressor.compress(row)
    assert len(server.seen) == 1
    assert (done.metrics.cache_hits, done.metrics.cost_usd) == (1, 0)


@pytest.mark.parametrize("kind", [dict, UserDict, MappingProxyType])
def test_any_mapping_is_a_row(options, kind):
    row = conversation(0)
    with Compressor(**options) as compressor:
        done, expected = compressor.compress(kind(row)), compressor.compress(row)
        assert compressor.count_tokens(kind(row)) == expected.metrics.original_tokens
    assert isinstance(done, CompressedRow)
    assert type(done.row) is dict
    assert done.row == expected.row


def test_messages_may_be_arrays_tuples_and_mappings(options):
    row = conversation(0)
    as_tuple = {**row, "messages": tuple(map(MappingProxyType, row["messages"]))}
    as_array = {**row, "messages": np.array(row["messages"], dtype=object)}
    with Compressor(**options) as compressor:
        rows = [compressor.compress(each).row for each in (row, as_tuple, as_array)]
    assert rows[0] == rows[1] == rows[2]


def test_a_bare_list_of_messages_comes_back_as_one(options):
    messages = conversation(0)["messages"]
    with Compressor(**options) as compressor:
        done, short = compressor.compress(messages), compressor.compress(messages[:2])
        tokens = compressor.count_tokens(done.messages)
    assert isinstance(done, CompressedMessages)
    assert tokens == done.metrics.compressed_tokens <= TARGET
    assert short.messages == messages[:2]
    assert count_tokens(messages[:2], tokenizer=options["tokenizer"]) == short.metrics.original_tokens


def test_a_row_that_is_rejected_among_others_is_not_printed_as_an_error_that_nobody_saw(options, caplog):
    async def work():
        with Compressor(**options) as compressor:
            rows = compressor.acompress_many([conversation(0), {"note": "x"}, conversation(1)])
            return [each.metrics.outcome async for each in rows]

    assert asyncio.run(work()) == ["compressed", "rejected", "compressed"]
    gc.collect()
    assert not caplog.records


@pytest.mark.parametrize("wrong", [None, 5, "text", {}, {"messages": None}, {"messages": []}, [], {"x": object()}])
def test_what_is_no_row_is_refused_alone_and_given_back_among_others(options, wrong):
    rows = [conversation(0), wrong, conversation(1, 2)]
    with Compressor(**options) as compressor:
        with pytest.raises(RowError):
            compressor.compress(wrong)
        done = many(compressor, rows)
    assert [each.metrics.outcome for each in done] == ["compressed", "rejected", "skipped_under_target"]
    assert done[1].metrics.reason
    given = done[1].messages if isinstance(wrong, list) else done[1].row
    assert given == wrong
    assert done[2].row == rows[2]


def test_values_that_are_no_json_stay_in_their_columns(options):
    row = conversation(0, note={1, 2}, thing=ValueError)
    with Compressor(**options) as compressor:
        done = compressor.compress(row)
    assert done.metrics.outcome == "compressed"
    assert (done.row["note"], done.row["thing"]) == ({1, 2}, ValueError)


def test_nesting_without_end_is_refused(options):
    messages = [{"role": "user", "content": "x"}]
    messages[0]["more"] = (messages,)
    with Compressor(**options) as compressor, pytest.raises(RowError, match="nested_too_deep"):
        compressor.compress(messages)


def test_secrets_leave_every_row_where_that_is_asked_for(options):
    secret = "sk-" + "a1B2c3D4" * 6
    row = {"messages": [{"role": "user", "content": f"my key is {secret}"}]}
    with Compressor(**options, redact="dataset") as compressor:
        assert secret not in str(compressor.compress(row).row)


def test_rows_are_taken_as_they_are_needed(options):
    taken = []

    def rows():
        for number in count():  # an endless one would never be taken whole
            taken.append(number)
            yield conversation(number, 2)

    with Compressor(**options) as compressor:
        results = compressor.compress_many(rows(), concurrency=4)
        next(results)
        results.close()
    assert 4 <= len(taken) <= MOST_AHEAD  # more than four where others were done before the first


def in_threads_each_with_its_error(compressor, rows):
    with ThreadPoolExecutor(len(rows)) as pool:
        begun = [pool.submit(compressor.compress, row) for row in rows]
        errors = [each.exception(30) for each in begun]
    assert {type(error) for error in errors} == {SummarizerUnusableError}
    raise errors[0]


@pytest.mark.parametrize("how", [in_threads_each_with_its_error, gathered, many, many_beside_a_loop])
def test_all_calls_end_where_nobody_answers(paid, how):
    options = paid | {"base_url": "http://127.0.0.1:9/v1", "max_outage": 0.2, "max_retries": 0}
    with Compressor(**options) as compressor, pytest.raises(SummarizerUnusableError, match="every_call_fails"):
        how(compressor, [conversation(number) for number in range(3)])


@pytest.mark.parametrize("how", [many, many_beside_a_loop])
def test_rows_that_are_done_hold_no_place_of_those_that_are_worked_on(options, how):
    most = 5
    short = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}
    rows = [row for number in range(2 * most) for row in (conversation(number), *[short] * most)]
    limits = {"max_concurrent_requests": most, "per_trajectory_timeout": 20}
    with Compressor(**options, summarizer=meeting(most), **limits) as compressor:
        done = how(compressor, rows)
    assert [each.metrics.outcome for each in done] == ["compressed", *["skipped_under_target"] * most] * (2 * most)


def test_pickled_and_opened_anew(options):
    with Compressor(**options) as compressor:
        expected = compressor.compress(conversation(0)).row
        other = pickle.loads(pickle.dumps(compressor))  # noqa: S301 - our own
    assert other.compress(conversation(0)).row == expected
    other.close()


@pytest.mark.parametrize("batched", [False, True])
def test_in_the_processes_of_a_map(options, tmp_path, batched):
    rows = [conversation(number, steps) for number, steps in enumerate((12, 2, 12, 12))]
    data = datasets.Dataset.from_list(rows)
    with Compressor(**options) as compressor:
        expected = [compressor.compress(row).row["messages"] for row in data]
        done = data.map(
            (lambda batch: compressor.compress_batch(batch).columns)
            if batched
            else (lambda row: compressor.compress(row).row),
            batched=batched,
            num_proc=2,
            cache_file_name=str(tmp_path / "mapped.arrow"),
        )
    assert list(done["messages"]) == expected
    assert list(done["id"]) == [row["id"] for row in rows]


def test_closed_by_either_way_and_for_good(options):
    async def cell():
        async with Compressor(**options) as compressor:
            await compressor.acompress(conversation(0, 2))
        return compressor

    compressor = asyncio.run(cell())
    compressor.close()
    with pytest.raises(RuntimeError, match="closed"):
        compressor.compress(conversation(0, 2))
    with pytest.raises(RuntimeError, match="closed"):
        compressor.count_tokens(conversation(0, 2))


@pytest.mark.parametrize("end", ["", "del compressor", "raise SystemExit(0)"])
def test_nothing_is_said_where_nobody_closes_it(paid, end):
    with LoopbackServer() as server:
        code = (
            "from trajcompress import Compressor\n"
            f"compressor = Compressor(**{paid | {'base_url': server.base_url}!r})\n"
            f"assert compressor.compress({conversation(0)!r}).metrics.summarizer == 'writer'\n"
        )
        env = environment({"OPENAI_API_KEY": "sk-test"})
        process = forked.start([], code=code + end, env=env, stdout=PIPE, stderr=PIPE)
        assert process.communicate() == (b"", b"")
    assert process.returncode == 0


def test_numbers_of_numpy_are_numbers(options):
    with Compressor(**options | {"target_max_tokens": np.int64(TARGET)}) as compressor:
        assert compressor.compress(conversation(0)).metrics.was_compressed


def test_help_lists_the_options():
    for name in CompressOptions.__annotations__:
        assert f"    {name}: " in Compressor.__doc__
        assert name in signature(Compressor).parameters
