"""Whether the Hugging Face hub can be reached: asked once, and within seconds.

Its own client tries five times, file by file, and says so each time; that takes a minute where there is no network.
"""

from __future__ import annotations

from threading import Thread

from trajcompress.errors import HubUnreachableError

PATIENCE_S = 10.0
"""How long an answer is waited for: names are looked up and connections made in less, or not at all."""


def reach_hub(patience_s: float = PATIENCE_S) -> None:
    """Return once the hub has answered, whatever it says; at once where it is not to be asked (``HF_HUB_OFFLINE``).

    Raises:
        HubUnreachableError: there is no answer within ``patience_s`` seconds.
    """
    from huggingface_hub import constants
    from huggingface_hub.utils import get_session  # type: ignore[attr-defined]  # documented all the same

    if constants.is_offline_mode():
        return
    failures: list[str] = [f"no answer within {patience_s:g} s"]

    def ask() -> None:
        try:
            get_session().head(constants.ENDPOINT, timeout=patience_s)
            failures.clear()
        except Exception as error:  # noqa: BLE001  whatever the network, a proxy or the client may raise
            lines = str(error).splitlines()
            failures[:] = [lines[0] if lines else type(error).__name__]

    asking = Thread(target=ask, daemon=True)  # looking a name up knows no time-out of ours
    asking.start()
    asking.join(patience_s)
    if failures:
        raise HubUnreachableError(f"{constants.ENDPOINT} cannot be reached ({failures[0]})")
