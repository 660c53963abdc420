"""What some tests want that may not be here: other people's packages and programs, and rights that not all have.

``pytest.mark.wants("trl")`` says so of a test. Of the tests that want what is not here one stays, and is skipped with
the reason; the others are left out.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from importlib import util
from pathlib import Path
from typing import NamedTuple

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Wanted(NamedTuple):
    """What is looked for, and what to say where it is not here."""

    is_here: Callable[[], bool]
    reason: str


def _has(*modules: str) -> Callable[[], bool]:
    def found(module: str) -> bool:
        packages = module.split(".")
        return all(util.find_spec(".".join(packages[: at + 1])) for at in range(len(packages)))

    return lambda: all(map(found, modules))


def _is_forbidden_something() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder, "probe")
        probe.mkdir(mode=0o500)
        try:
            (probe / "file").touch()
        except PermissionError:
            return True
        return False


WANTED = {
    "trl": Wanted(_has("trl"), "trl is not installed: pip install --no-deps trl"),
    "llamafactory": Wanted(_has("llamafactory"), "llamafactory is not installed: pip install --no-deps llamafactory"),
    "torch": Wanted(_has("torch"), "torch is not installed; .ci/run brings a build for CPUs"),
    "ray": Wanted(_has("ray"), "the extra [ray] is not installed: pip install '.[ray]'"),
    "mistral-common": Wanted(
        _has("mistral_common", "sentencepiece"), "mistral-common is not installed: pip install -e '.[dev]'"
    ),
    "azurite": Wanted(
        lambda: bool(shutil.which("azurite-blob")) and _has("adlfs", "azure.storage.blob")(),
        "no emulator of Azure's store: npm install azurite, and pip install '.[azure]'",
    ),
    "gcp-storage-emulator": Wanted(
        _has("gcsfs", "gcp_storage_emulator"),
        "no emulator of Google's store: pip install gcp-storage-emulator '.[gcs]'",
    ),
    "chromium": Wanted(
        lambda: bool(CHROMIUM) and _has("playwright")(),
        "no Chromium on this system (apt-get install chromium, or the like), or no playwright to drive it",
    ),
    "fish": Wanted(
        lambda: bool(shutil.which("fish")), "fish is not installed; apt-get install fish, or the like, brings it"
    ),
    "forbidding": Wanted(_is_forbidden_something, "nothing is forbidden to this user; another than root is needed"),
}


@cache
def _is_here(name: str) -> bool:
    return WANTED[name].is_here()


def leave_out(items: Sequence[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Tell the tests that stay from those that want what is not here; the first of these stays, and says so."""
    lacking = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        wants = (name for mark in item.iter_markers("wants") for name in mark.args)
        if lacks := next((name for name in wants if not _is_here(name)), None):
            lacking[lacks].append(item)
    for name, (first, *others) in lacking.items():
        more = f", and {len(others)} more with it" if others else ""
        first.add_marker(pytest.mark.skip(reason=WANTED[name].reason + more))
    out = {item for _, *others in lacking.values() for item in others}
    return [item for item in items if item not in out], [item for item in items if item in out]
