"""No two runs that share a cache pay for the same summary at the same time, and who dies holds nobody up."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections import Counter

import commands
import pytest
import runs
from loopback import LoopbackServer

from trajcompress.errors import SummaryError
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.cache import claims as module
from trajcompress.summarize.cache.claims import Claims
from trajcompress.summarize.cache.store import SummaryStore
from trajcompress.summarize.cache.summarizer import StoredSummarizer, Stores
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Turn

REQUEST = SummaryRequest("row", (), (Turn("tool", "text", {}),), 100, len)


@pytest.fixture
def two(tmp_path):
    with (
        contextlib.closing(Claims(tmp_path / "c.sqlite")) as one,
        contextlib.closing(Claims(tmp_path / "c.sqlite")) as other,
    ):
        yield one, other


def test_what_one_holds_is_nobody_elses_until_it_is_released(two):
    one, other = two
    assert one.take("key")
    assert not other.take("key")
    assert not one.take("key")
    assert other.take("another")
    one.release("key")
    assert other.take("key")
    one.release("key")  # not its own any more
    assert not one.take("key")
    other.close()
    assert one.take("key")


def test_a_claim_is_renewed_while_its_owner_lives_and_is_taken_over_when_it_died(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LEASE_S", 0.6)
    script = (
        "import sys, pathlib; from trajcompress.summarize.cache import claims; claims.LEASE_S = 0.6\n"
        "held = claims.Claims(pathlib.Path(sys.argv[1])); print(held.take('key'), flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "c.sqlite")]
    owner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert owner.stdout.readline() == "True\n"
    with contextlib.closing(Claims(tmp_path / "c.sqlite")) as other:
        never = threading.Event()
        for _ in range(6):
            never.wait(0.2)
            assert not other.take("key")
        owner.kill()
        owner.communicate()
        assert any(other.take("key") or never.wait(0.1) for _ in range(60))


def test_a_file_that_cannot_be_used_is_told_once_and_holds_nobody_up(tmp_path):
    (tmp_path / "c.sqlite").write_bytes(b"this is no database, and long enough to be sure of it" * 100)
    notes = []
    with contextlib.closing(Claims(tmp_path / "c.sqlite", notes.append)) as claims:
        assert claims.take("key")
        claims.release("key")
        assert claims.take("key")
    assert ["c.sqlite: cannot be used" in note for note in notes] == [True]


class Slow:
    """Answers after a while, or fails then."""

    name = "m"

    def __init__(self, *, fails=False):
        self.asked, self._fails = 0, fails

    def request_key(self, request, *, anywhere=False):  # noqa: ARG002 - as the protocol
        return request.region[0].text

    async def summarize(self, request, usage):  # noqa: ARG002 - as the protocol
        self.asked += 1
        usage.add(Usage(api_calls=1))
        await asyncio.sleep(0.1)
        if self._fails:
            raise SummaryError("empty_answer", "nothing")
        return Summary(f"{SUMMARY_PREFIX}\nanswer 1", self.name)

    async def aclose(self):
        pass


@pytest.mark.parametrize("fails", [False, True])
def test_rows_with_the_same_request_pay_once_and_a_failure_holds_nobody_up(tmp_path, two, fails):
    cache, first, second = SummaryStore(tmp_path / "cache.sqlite"), Slow(fails=fails), Slow()

    async def ask_both():
        summarizers = [
            StoredSummarizer(model, Stores(None, cache, claims=claims))
            for model, claims in zip((first, second), two, strict=True)
        ]
        usages = [Usage(), Usage()]
        asking = [each.summarize(REQUEST, usage) for each, usage in zip(summarizers, usages, strict=True)]
        return await asyncio.gather(*asking, return_exceptions=True), usages

    (one, other), usages = asyncio.run(ask_both())
    assert (first.asked, second.asked) == (1, int(fails))
    assert isinstance(one, SummaryError if fails else Summary)
    assert other.text.endswith("answer 1")
    assert [usage.cache_hits for usage in usages] == [0, int(not fails)]
    cache.close()


def test_two_runs_at_the_same_time_ask_once_for_each_and_one_takes_over_what_a_killed_one_asked(tmp_path):
    place = runs.Place(tmp_path, runs.small_tokenizer())
    rows = commands.write_rows(tmp_path / "in.jsonl", [commands.conversation(number) for number in range(12)])
    lease = "import trajcompress.summarize.cache.claims as c; c.LEASE_S = 2.0\n"
    with LoopbackServer(latency=0.3) as server:

        def start(output):
            command = place.calling(server.base_url, [rows], output, "--cache", "cache")
            return runs.start(*command, cwd=tmp_path, code=lease)

        both = [start("one"), start("other")]
        ran = [runs.ended(process) for process in both]
        assert [each.code for each in ran] == [0, 0], ran
        asked = Counter(map(runs.prompt_digest, server.seen))
        assert len(asked) == 12
        assert max(asked.values()) == 1
        for file in (tmp_path / "cache").iterdir():
            file.unlink()
        server.seen.clear()
        killed, left = start("killed"), start("left")
        runs.wait_for(lambda: len(server.seen) >= 4, killed)
        killed.kill()
        runs.ended(killed)
        ran = runs.ended(left)
        assert ran.code == 0, ran.stderr
        asked = Counter(map(runs.prompt_digest, server.seen))
        assert len(asked) == 12
        assert max(asked.values()) <= 2
        assert sum(asked.values()) <= 12 + 4, "of each only what was under way is asked for again"
