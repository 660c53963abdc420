"""What stops a run reaches the Python program: KeyboardInterrupt, and errors that leave a part of the rows."""

from __future__ import annotations

import json
import signal
import subprocess

import commands
import forked
import pytest
import runs
from loopback import LoopbackServer
from loopback_replies import hang

from trajcompress import compress_dataset
from trajcompress.errors import TooManyFailedError

_OPTIONS = (
    "options = dict(tokenizer={tokenizer!r}, target_max_tokens=2000, summary_target_tokens=300, model='writer',"
    " base_url={url!r}, max_concurrent_requests=2)\n"
)
_RUN = """\
from trajcompress import compress_dataset
def work():
    return compress_dataset('in.jsonl', 'out', **options)
"""
_ROW = """\
import json
from trajcompress import Compressor
def work():
    with Compressor(**options) as compressor:
        return compressor.compress(json.loads(open('in.jsonl').readline()))
"""
_PLAIN = "work()\n"
_IN_A_LOOP = """\
import asyncio
async def cell():
    return work()
asyncio.new_event_loop().run_until_complete(cell())
"""
_IN_ASYNCIO_RUN = """\
import asyncio
async def main():
    return work()
asyncio.run(main())
"""
_MANY = """\
import json
from trajcompress import Compressor
def work():
    with Compressor(**options) as compressor:
        return list(compressor.compress_many(json.loads(line) for line in open('in.jsonl')))
"""


@pytest.mark.parametrize("how", [_PLAIN, _IN_A_LOOP, _IN_ASYNCIO_RUN], ids=["script", "notebook", "asyncio.run"])
@pytest.mark.parametrize("what", [_RUN, _ROW, _MANY], ids=["dataset", "row", "rows"])
def test_an_interrupt_ends_the_work_and_reaches_the_program(tmp_path, make_tokenizer, what, how):
    commands.write_rows(tmp_path / "in.jsonl", [commands.conversation(number) for number in range(8)])
    with LoopbackServer(lambda _: hang()) as server:
        code = _OPTIONS.format(tokenizer=make_tokenizer(), url=server.base_url) + what + how + "print('went on')\n"
        process = forked.start(
            [],
            code=code,
            cwd=tmp_path,
            env=commands.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        runs.wait_for(lambda: server.seen, process)
        process.send_signal(signal.SIGINT)
        ran = runs.ended(process, seconds=30)
    assert "\nKeyboardInterrupt\n" in ran.stderr
    assert (ran.code, ran.stdout) == (-signal.SIGINT, "")
    if what is _RUN:
        assert json.loads((tmp_path / "out" / "run.json").read_text())["state"] == "interrupted"


@pytest.mark.parametrize("how", [_PLAIN, _IN_A_LOOP, _IN_ASYNCIO_RUN], ids=["script", "notebook", "asyncio.run"])
def test_calls_that_are_under_way_at_an_interrupt_are_waited_for_and_kept(tmp_path, make_tokenizer, how):
    commands.write_rows(tmp_path / "in.jsonl", [commands.conversation(number) for number in range(8)])
    with LoopbackServer(latency=2) as server:
        code = _OPTIONS.format(tokenizer=make_tokenizer(), url=server.base_url) + _RUN
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = forked.start([], code=code + how, cwd=tmp_path, env=commands.environment(), **pipes)
        runs.wait_for(lambda: len(server.seen) >= 2, process)  # the first goes out alone
        process.send_signal(signal.SIGINT)
        ran = runs.ended(process, seconds=30)
        assert ran.code == -signal.SIGINT
        assert "Unclosed" not in ran.stderr
        server.latency = 0
        again = forked.start([], code=code + how, cwd=tmp_path, env=commands.environment(), **pipes)
        assert runs.ended(again, seconds=30).code == 0
    assert len({seen.text for seen in server.seen}) == len(server.seen)


def test_a_run_that_too_many_rows_fail_in_is_not_taken_for_a_whole_one(tmp_path):
    rows = [{"x": 1}, {"x": 2}, {"messages": [{"role": "user", "content": "hi"}]}]
    told = r"2 rows failed or were rejected, which is more than max_failed=1 allows .* with overwrite=True"
    with pytest.raises(TooManyFailedError, match=told):
        compress_dataset(rows, tmp_path / "out", max_failed=1, num_workers=1)
    run = compress_dataset(rows, tmp_path / "out", max_failed=2, num_workers=1)
    assert (run.state, run.totals.rows) == ("complete", 3)
