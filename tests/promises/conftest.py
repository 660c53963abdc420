"""Attacks on what the README promises, as tables: a new one is a line.

They run whole commands, and so take minutes: ``pytest -m promises`` runs them, ``pytest`` alone does not.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import commands
import damaging
import outages
import pytest
from raw_endpoint import OK, RawEndpoint

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents and item.path.name.startswith("test_attacks"):
            item.add_marker(pytest.mark.promises)


@pytest.fixture(scope="session")
def jsonl(tmp_path_factory):
    with damaging.broken_run(tmp_path_factory.mktemp("jsonl"), "jsonl") as broken:
        yield broken


@pytest.fixture(scope="session")
def parquet(tmp_path_factory):
    with damaging.broken_run(tmp_path_factory.mktemp("parquet"), "parquet") as broken:
        yield broken


@pytest.fixture
def calling(desk):
    """A desk with rows to send to an endpoint, and little patience."""
    desk.write("a.jsonl", map(commands.conversation, range(outages.ROWS)))
    desk.write("one.jsonl", [commands.conversation(0)])
    desk.path("quick.yaml").write_text(outages.QUICK)
    return desk


@pytest.fixture
def out():
    return "out"


@pytest.fixture(scope="session")
def _kept() -> list[bytes]:
    return []


@pytest.fixture
def whole(calling, _kept):
    """The dataset of a run that nothing disturbs."""
    if not _kept:
        with RawEndpoint(lambda _: OK) as server:
            assert outages.compress(calling, server.base_url, "whole").code == 0
        _kept.extend(commands.read_lines(calling.path("whole")))
    return _kept


@pytest.fixture
def disk(tmp_path):
    """Mount a file system that can be made full or read-only."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if (
        not mount
        or subprocess.run([mount, "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], check=False).returncode
    ):
        pytest.skip("no file system can be mounted here; root of a container with CAP_SYS_ADMIN may")
    yield disk
    subprocess.run([shutil.which("umount"), "-l", str(disk)], check=True)
