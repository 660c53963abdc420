"""The status line while an endpoint does not answer, made from the events of calls."""

from __future__ import annotations

from trajcompress.events import Event, Figure, Tell
from trajcompress.run.reporter import Reporter, ShowsStatus

_PAUSE_WORTH_SAYING_S = 1.0


def showing_pauses(reporter: Reporter, tell: Tell) -> Tell:
    """Return a sink of events that passes them all to ``tell``, and to the reporter why no call is answered."""
    if not isinstance(reporter, ShowsStatus):
        return tell

    def tell_both(event: Event, /, **figures: Figure) -> None:
        tell(event, **figures)
        if event == "answered":
            reporter.status(None)
        elif event == "waiting":
            reporter.status(str(figures["detail"]))
        elif event == "paused" and "stops_in" in figures:
            reporter.status(
                f"paused: {figures['detail']}; next try in {figures['seconds']:.0f} s, and the run stops in "
                f"{figures['stops_in']:.0f} s if no call is answered"
            )

    return tell_both
