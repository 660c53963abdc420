from __future__ import annotations

import gc

import pytest

from trajcompress.processes.interpreter import no_collector


def fail_without_collector() -> None:
    with no_collector():
        assert not gc.isenabled()
        raise KeyError


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was_behind_the_block_also_where_that_fails(enabled):
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(KeyError):
            fail_without_collector()
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()
