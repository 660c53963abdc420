"""What errors and help say of the command line is said in words of Python."""

from __future__ import annotations

import asyncio

import pytest
from commands import TARGET, conversation, make_desk
from loopback import LoopbackServer
from loopback_replies import failed

from trajcompress import Compressor, compress_dataset
from trajcompress.api.options import describe, in_python
from trajcompress.errors import BatchPendingError, SummarizerUnusableError
from trajcompress.settings.keywords import DatasetOptions


@pytest.fixture
def desk(tmp_path, make_tokenizer, monkeypatch):
    desk = make_desk(tmp_path, make_tokenizer)
    monkeypatch.chdir(desk.folder)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return desk


@pytest.fixture
def options(desk):
    return {"tokenizer": desk.tokenizer, "target_max_tokens": TARGET, "summary_target_tokens": 300}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("more than --max-failed 1 allows", "more than max_failed=1 allows"),
        ("more than --max-failed 10% allows", 'more than max_failed="10%" allows'),
        ("start again with --overwrite", "start again with overwrite=True"),
        ("--no-save-over-limit leaves the row out", "save_over_limit=False leaves the row out"),
        ("--for trl, not the target of --for", 'target="trl", not the target'),
        ("take fewer: --num-workers N", "take fewer: num_workers=N"),
        ("give --price-in --price-out", "give price_in price_out"),
        ("the same command, or another -o, goes on", "the same call, or another output, goes on"),
        ("a word--for all, user-o, --fix, --where x", "a word--for all, user-o, --fix, --where x"),
    ],
)
def test_options_become_arguments(told, said):
    assert in_python(told) == said
    assert in_python(said) == said


def test_help_of_python_names_no_option_of_the_command_line():
    assert "--" not in describe(DatasetOptions)


def by_rows(options, _):
    with Compressor(**options) as compressor:
        compressor.compress(conversation(0))


def beside_a_loop(options, _):
    with Compressor(**options) as compressor:
        asyncio.run(compressor.acompress(conversation(0)))


def as_a_run(options, out):
    compress_dataset([conversation(0)], out, **options)


@pytest.mark.parametrize("how", [by_rows, beside_a_loop, as_a_run])
def test_an_endpoint_that_refuses_all_is_told_by_the_argument(desk, options, how):
    with LoopbackServer(lambda _: failed(401, "who are you?")) as server:
        options |= {"model": "writer", "base_url": server.base_url}
        with pytest.raises(SummarizerUnusableError, match=r"name the variable .* with api_key_env$") as raised:
            how(options, desk.path("out"))
    assert raised.value.reason == "unauthorized"
    assert raised.value.detail in str(raised.value)
    assert "--" not in raised.value.detail


def test_batches_under_way_are_told_by_the_argument():
    error = BatchPendingError("run the same command again later, or with --batch-wait to wait for it")
    error.reword(in_python)
    assert str(error) == "run the same call again later, or with batch_wait=True to wait for it"
