"""What a model tells of secrets: they are marks before its answer is kept anywhere, and are counted once."""

from __future__ import annotations

import asyncio
import base64
import contextlib

import asking
import pytest
from batch_server import BatchServer
from commands import read_metrics, read_rows, run_here, write_rows
from loopback import LoopbackServer
from loopback_replies import saying

from trajcompress.errors import AwaitsBatchError
from trajcompress.settings.summarizer_choice import SummarizerChoice
from trajcompress.summarize.answer import Answer
from trajcompress.summarize.base import Usage
from trajcompress.summarize.custom.load import load_summarizer
from trajcompress.summarize.custom.summarizer import CustomSummarizer
from trajcompress.summarize.endpoint.batch.api import BatchApi
from trajcompress.summarize.endpoint.batch.store import BatchStore
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.masking import Masking

KEY = "Zq8vXk2LmN4pR7tY1wE3"  # of no vendor's shape, made up
PASSWORD = "hunter2Zq9x"
TOLD = f"The agent read src/a.py. The password was {PASSWORD}; it went on with {KEY} and was told 403."


@pytest.fixture
def compressed(tmp_path):
    turns = [("user", "Fix src/a.py.")]
    for number in range(40):
        turns += [("assistant", f"Step {number} is to check host{number}.example."), ("user", "Please go on. " * 8)]
    turns += [("assistant", "Done.")]
    write_rows(tmp_path / "rows.jsonl", [{"messages": [{"role": role, "content": said} for role, said in turns]}])

    with LoopbackServer(lambda _: saying(TOLD)) as server:

        def run(*options):
            args = ["rows.jsonl", "-o", "out", "--output-format", "jsonl", "--target-max-tokens", "900"]
            chosen = ("--summary-target-tokens", "200", "--model", "m", "--base-url", server.base_url, *options)
            ran = run_here("compress", *args, *chosen, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
            assert ran.code == 0, ran.stderr
            (metrics,) = read_metrics(tmp_path / "out")
            return len(server.seen), metrics, read_rows(tmp_path / "out")

        yield run


def kept(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_no_secret_that_a_model_tells_is_kept_and_each_is_counted_once(compressed, tmp_path):
    calls, first, rows = compressed("--cache", "cache")
    assert (calls, first["redactions"], first["outcome"]) == (1, 2, "compressed")
    for folder in ("out", "cache"):
        files = kept(tmp_path / folder)
        assert KEY.encode() not in files
        assert PASSWORD.encode() not in files
    calls, cached, same = compressed("--cache", "cache", "--overwrite")
    assert (calls, cached["cache_hits"], cached["redactions"], same) == (1, 1, 2, rows)
    for path in (tmp_path / "out" / "data").iterdir():  # lost, so that the run goes on with the answers it has
        path.unlink()
    calls, resumed, same = compressed("--cache", "cache")
    assert (calls, resumed["redactions"], same) == (1, 2, rows)


def test_the_key_of_a_run_is_in_no_answer_though_other_secrets_are_to_stay(compressed, tmp_path):
    _, metrics, rows = compressed("--redact", "off")
    assert metrics["redactions"] == 1
    assert PASSWORD in str(rows)
    assert KEY.encode() not in kept(tmp_path / "out")


def test_no_secret_in_the_reply_to_a_batch_is_kept(tmp_path):
    with (
        contextlib.closing(BatchStore(tmp_path / "batches.sqlite")) as store,
        BatchServer(lambda _: saying(TOLD)) as server,
    ):

        async def ask_both():
            one = asking.summarizer(server, api_key=KEY, batches=store)
            waiting = [one.summarize(asking.ask(number), Usage()) for number in (0, 1)]
            try:
                return [await each for each in [asyncio.ensure_future(one) for one in waiting]]
            finally:
                await one.aclose()

        with pytest.raises(AwaitsBatchError):
            asyncio.run(ask_both())
        with contextlib.closing(BatchApi(server.base_url, KEY, store)) as api:
            for batch in api.form_batches():
                api.submit(batch, tmp_path)
            assert [api.fetch(batch).missing for batch in store.open_batches()] == [0]
        first, second = asyncio.run(ask_both())
    assert first.text == second.text
    assert (first.redactions, second.redactions) == (2, 2)
    assert KEY.encode() not in kept(tmp_path)
    assert PASSWORD.encode() not in kept(tmp_path)


def written(text, key, **more):
    cleaned = Masking(key, **more).answer(Answer(text, "stop", None, 1, 1))
    return cleaned.text, cleaned.redactions


@pytest.mark.parametrize("form", [KEY, base64.b64encode(KEY.encode()).decode().rstrip("="), KEY[:13], KEY[-9:]])
def test_a_key_is_masked_in_whatever_form_an_answer_has_it(form):
    assert written(f"It sent {form}, then stopped.", KEY) == ("It sent [REDACTED:api_key], then stopped.", 1)


@pytest.mark.parametrize("key", ["", "x", "EMPTY", "no-key-needed", "unused", "sk-proj-4f9Kx2LmQ8vTz7RwYb3NcJd6"])
def test_words_that_are_a_key_or_begin_one_stay_in_an_answer(key):
    said = "EMPTY lists need no key (no-key-needed); keys begin with sk-proj-, x is unused."
    assert written(said, key) == (said, 0)


@pytest.mark.parametrize(("redacts", "count"), [(True, 1), (False, 0)])
def test_what_a_summariser_of_ones_own_tells_is_a_mark_unless_all_is_to_stay(redacts, count):
    def summarise(_given):
        return f"The agent read src/a.py. The password was {PASSWORD}; it went on."

    loaded = load_summarizer(SummarizerChoice.parse(summarise))
    own = CustomSummarizer(loaded, limiter=RateLimiter(None, None, 4), redact_secrets=redacts, most_in_a_row=5)
    summary = asyncio.run(own.summarize(asking.ask(), Usage()))
    assert (PASSWORD in summary.text, summary.redactions) == (not redacts, count)
