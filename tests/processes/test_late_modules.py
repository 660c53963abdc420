from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest

from trajcompress.processes.late_modules import late

CODE = """
import time
__all__ = ["one"]
from .parts import one
time.sleep({seconds})
two = one + 1
{rest}
"""


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    """Write a package of a name of its own; return that."""

    def write(seconds: float = 0, rest: str = "") -> str:
        name = f"late_{abs(hash(request.node.name))}"
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text(CODE.format(seconds=seconds, rest=rest))
        (folder / "parts.py").write_text("one = 1")
        monkeypatch.syspath_prepend(str(tmp_path))
        return name

    return write


def imported_late(name: str):
    with late(name):
        return import_module(name)


def test_a_package_runs_once_something_of_it_is_looked_up(package):
    module = imported_late(package())
    assert "two" not in vars(module)
    assert module is sys.modules[module.__name__]
    assert module.two == 2
    assert type(module) is type(sys)
    with pytest.raises(AttributeError, match="three"):
        _ = module.three


def test_a_submodule_is_imported_without_it(package):
    name = package(rest="1 / 0")
    imported_late(name)
    assert import_module(f"{name}.parts").one == 1


def test_what_it_exports_is_found_by_dir_and_by_a_star(package):
    name = package()
    assert "two" in dir(imported_late(name))
    names: dict[str, object] = {}
    exec(f"from {name} import *", names)  # noqa: S102 - our own words
    assert names["one"] == 1
    assert "two" not in names


def test_whoever_comes_while_it_runs_waits_for_all_of_it(package):
    module = imported_late(package(seconds=0.2))
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: module.two, range(8))) == {2}


def test_a_failure_is_told_each_time(package):
    module = imported_late(package(rest="1 / 0"))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            _ = module.three


def test_a_package_that_is_not_there_is_said_so():
    with pytest.raises(ModuleNotFoundError):
        imported_late("no_such_package_at_all")


def test_the_client_asks_without_the_types_of_responses_which_anybody_finds_who_looks():
    code = """
import sys
from trajcompress.summarize.endpoint.openai_client import import_openai
import_openai()
import openai
openai.AsyncOpenAI(api_key="none")
assert "openai.types.responses.response" not in sys.modules
from openai.types import Batch
assert openai.types.responses.Response.model_fields["id"]
assert Batch.model_fields["status"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
