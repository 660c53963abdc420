from __future__ import annotations

import socket

import pytest
from huggingface_hub import constants

from trajcompress.dataset.hub import hub_source
from trajcompress.dataset.readers import read_rows
from trajcompress.errors import HubUnreachableError, InputError, TokenizerError
from trajcompress.hub import reach_hub
from trajcompress.tokens.tokenizer import load_tokenizer


@pytest.fixture
def silent_hub(monkeypatch):
    """A hub that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield server


def test_a_hub_that_says_nothing_is_waited_for_a_little(silent_hub):
    with pytest.raises(HubUnreachableError, match="cannot be reached"):
        reach_hub(0.3)


def test_a_hub_is_unreachable_once(silent_hub, capfd):
    silent_hub.close()
    with pytest.raises(TokenizerError) as caught:
        load_tokenizer("no-such-organisation/no-such-model")
    message = str(caught.value)
    assert "not on this machine, and http://127.0.0.1" in message
    assert "name a folder that holds tokenizer.json" in message
    with pytest.raises(InputError, match="name files, or a folder that holds it"):
        next(read_rows(hub_source("no-such-organisation/no-such-data", "train")))
    assert capfd.readouterr() == ("", "")


def test_a_hub_that_is_not_to_be_asked_is_not(silent_hub, monkeypatch):
    silent_hub.close()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    reach_hub()
