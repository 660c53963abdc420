"""The tokens of the last minute."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

# Requests reach the server a little unevenly, and its clock is not ours: a little more room keeps it content as well.
_MINUTE = 60 * 1.04
_RECENT = 1 / 8  # the weight of the latest call among those before


class Charge(Struct, eq=False):
    """Tokens put down at ``time`` (seconds of the event loop's clock)."""

    time: float
    tokens: int
    is_settled: bool = False  # they are what it really took


class TokenLedger:
    """The tokens of the last minute. Knows no clock and does not wait: it says when."""

    def __init__(self, tpm: int) -> None:
        self.tpm = tpm
        self._charges: OrderedDict[int, Charge] = OrderedDict()  # by the time they were sent at
        self._total = 0
        self._taken = 1.0  # the share that calls take lately of what was put down for them

    def ready_at(self, tokens: int, now: float) -> float:
        """When ``tokens`` more fit, in seconds of the clock of ``now``; not after ``now`` if they fit at once."""
        while len(self._charges) > 1 and next(iter(self._charges.values())).time + _MINUTE <= now:
            self._total -= self._charges.popitem(last=False)[1].tokens
        if not self._charges:
            return now
        last = self._charges[next(reversed(self._charges))]
        expected = last.tokens if last.is_settled else last.tokens * self._taken
        ready = last.time + expected / self.tpm * _MINUTE
        excess = self._total + tokens - self.tpm
        for charge in self._charges.values():
            if excess <= 0:
                break
            ready = max(ready, charge.time + _MINUTE)
            excess -= charge.tokens
        return ready

    def charge(self, tokens: int, now: float) -> Charge:
        """Put ``tokens`` down at ``now``."""
        charge = Charge(now, tokens)
        self._charges[id(charge)] = charge
        self._total += tokens
        return charge

    def sent(self, charge: Charge, now: float) -> None:
        """Note when they went out."""
        if id(charge) in self._charges:
            charge.time = now
            self._charges.move_to_end(id(charge))

    def correct(self, charge: Charge, tokens: int) -> None:
        """Replace what was put down for one request, as if it had been known then."""
        if tokens and charge.tokens and not charge.is_settled:  # answers are shorter than the room they are given
            self._taken += (min(tokens / charge.tokens, 1.0) - self._taken) * _RECENT
            charge.is_settled = True
        if id(charge) in self._charges:
            self._total += tokens - charge.tokens
            charge.tokens = tokens
