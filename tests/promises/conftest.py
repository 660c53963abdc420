"""Attacks on what the README promises, as tables: a new one is a line.

They run whole commands, and so take minutes: ``pytest -m promises`` runs them, ``pytest`` alone does not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.promises)
