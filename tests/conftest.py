"""What all tests share: no hub, and tokenizers that load without one."""

from __future__ import annotations

import gc
import json
import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from shared import SOURCES, load_cached, rows_of
from small_definition import small_definition
from wanted import leave_out

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub
# How long an example takes says more of what else the machine does than of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
# A shell has its background jobs ignore Ctrl-C, and so would each process that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Have one worker more than there are processors: many a test waits for servers, processes and clocks."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)  # of the tests that were asked for
def pytest_collection_modifyitems(config, items):
    """Leave out tests that want what is not here, but one that says so."""
    items[:], out = leave_out(items)
    if out:
        config.hook.pytest_deselected(items=out)


def pytest_collection_finish():
    gc.collect()
    gc.freeze()  # else what all modules hold is looked through again and again, which is 6 % of the CPU of the tests


def pytest_sessionfinish():
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail a test that takes more CPU than its mark allows; time depends on what else the machine does."""
    mark = item.get_closest_marker("cpu_seconds")
    if mark is None:
        return (yield)

    def fail(*_):
        pytest.fail(f"took more than {mark.args[0]} s of CPU")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, *mark.args)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.fixture(scope="session")
def builtin_tokenizer():
    return load_cached(None)


@pytest.fixture(scope="session", params=SOURCES)
def rows_folder(request) -> Path:
    """A folder of trajectories of every shape: made ones, and real ones where they are."""
    return rows_of(request.param)


@pytest.fixture
def make_tokenizer(tmp_path):
    """Write the folder of a small byte-level BPE tokenizer: with a template, another class, other rules."""

    def make(template: str | None = None, tokenizer_class: str = "PreTrainedTokenizerFast", **rules) -> str:
        folder = tmp_path / f"tokenizer-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        definition = json.loads(small_definition()) | rules
        (folder / "tokenizer.json").write_text(json.dumps(definition))
        config = {"tokenizer_class": tokenizer_class, "eos_token": "<|end|>"}
        if template is not None:
            config["chat_template"] = template
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
        return str(folder)

    return make


@pytest.fixture(scope="session")
def s3_server():
    from s3_server import S3Server

    with S3Server() as server:
        yield server


@pytest.fixture
def s3(s3_server, monkeypatch, tmp_path_factory):
    """A real S3 server with one empty bucket, which the environment names, to this process too."""
    scratch = str(tmp_path_factory.mktemp("scratch"))
    monkeypatch.setenv("TMPDIR", scratch)
    monkeypatch.setattr(tempfile, "tempdir", scratch)
    for name, value in s3_server.env.items():
        monkeypatch.setenv(name, value)
    s3_server.reset()
    yield s3_server
    s3_server.faults = lambda _: None


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    import commands

    return commands.make_desk(tmp_path, make_tokenizer)
