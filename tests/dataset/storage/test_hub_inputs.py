"""Data sets of the hub, read file by file from a stand-in for it, which fails now and then."""

from __future__ import annotations

import io
import json
import os
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forked import COMMAND
from hub_files import REPO, TOKEN, HubFiles

ROOT = f"hf://datasets/{REPO}"
ROW = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}


@pytest.fixture(scope="module")
def hub():
    parquet = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([ROW] * 3), parquet)
    lines = (json.dumps(ROW) + "\n").encode() * 2
    files = {"README.md": b"x", "data/a.jsonl": lines, "data/b/c.jsonl": lines, "data/d.parquet": parquet.getvalue()}
    with HubFiles(files) as hub:
        yield hub


def check(hub, given, **env):
    command = [COMMAND, "check", given, "--for", "openai"]
    return subprocess.run(command, env={**os.environ, **hub.env, **env}, capture_output=True, text=True, check=False)


def test_a_data_set_is_read_file_by_file_in_spite_of_failures(hub):
    hub.faults = [503]
    hub.ranges.clear()
    ran = check(hub, ROOT)
    assert "7 rows checked for openai, 0 with violations" in ran.stdout, ran.stderr
    assert len(hub.ranges) == 3
    assert all(hub.ranges)


@pytest.mark.parametrize(
    ("given", "env", "says"),
    [
        (f"{ROOT}/data/none", {}, "no such object, and none under it"),
        (ROOT, {"HF_TOKEN": "wrong-token-of-somebody"}, "there is no such repository, or it needs HF_TOKEN"),
        (ROOT, {"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line_without_the_token(hub, given, env, says):
    ran = check(hub, given, **env)
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: {given}: {says}")
    assert ran.stderr.count("\n") == 1
    assert TOKEN not in ran.stderr
    assert "wrong-token" not in ran.stderr
