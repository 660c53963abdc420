"""What the tests of the scripts have in common."""

from __future__ import annotations

import importlib

import pytest
from measures import SCRIPTS


@pytest.fixture(scope="module")
def measure(request):
    """Give the script that a module of tests names as its ``MEASURE``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield importlib.import_module(request.module.MEASURE)
