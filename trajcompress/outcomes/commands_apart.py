"""Commands that were typed at once into a terminal: what each of them printed, as its screen shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.outcomes.action.actions import Action, command
from trajcompress.outcomes.printed.furniture import telling_lines
from trajcompress.outcomes.repeated import NOTHING_REPEATED
from trajcompress.outcomes.shell_screen import Ran, Screen, commands_in, read_screen
from trajcompress.outcomes.unwrap import unwrap
from trajcompress.processes.late_patterns import late_re

_LEAST, _MOST = 2, 40
_LEAST_BEGUN = 12  # characters of a command that a screen cuts off
_GAP = late_re(
    r"\[(?:\.{3} output limited to \d{1,12} bytes; \d{1,12} interior bytes omitted \.{3}"
    r"|… [\d,]{1,15} characters elided …)\]"
)


_UNSEEN = Action("", "", "run")


class Part(Struct, frozen=True):
    """One of the commands, and what it printed: None where the screen does not show that.

    An action without a name and a target is one that was typed before, and is off the screen.
    """

    action: Action
    output: str | None


def parts_of(screen: Screen | None, action: Action | None) -> Sequence[Part]:
    """Divide a screen by the commands that were typed; nothing where that was one, or the screen shows none of them.

    What the screen shows of earlier commands is left out, as their own turns told it, but for the end of what the
    last of them printed. What stands before a prompt is of the last command before that, seen or not.
    """
    if screen is None or action is None or "\n" not in action.typed.strip():
        return ()
    typed = commands_in(action.typed)
    if not _LEAST <= len(typed) <= _MOST:
        return ()
    seen = _seen(typed, screen.ran)
    if not any(seen):
        return ()
    outputs = list(_outputs(seen, "" if screen.ran[0].typed else screen.ran[0].output))
    actions = [_UNSEEN, *(replace(command(each), name=action.name) for each in typed), _UNSEEN]
    parts = (Part(each, output) for each, output in zip(actions, outputs, strict=True))
    return [part for part in parts if part.action is not _UNSEEN or _tells(part.output)]


def parts_in(result: str, action: Action | None) -> Sequence[Part]:
    """Divide a result, with what its harness puts around it; nothing where it is no screen of several commands."""
    if action is None or "\n" not in action.typed.strip():
        return ()
    return parts_of(read_screen(unwrap(result), action), action)


def _seen(typed: Sequence[str], shown: Sequence[Ran]) -> list[Ran | None]:
    """Return where each command that was typed stands on the screen, in order."""
    found: list[Ran | None] = []
    firsts = [ran.typed.partition("\n")[0] for ran in shown]
    at = 0
    for each in typed:
        first = each.partition("\n")[0].strip()
        place = next((place for place in range(at, len(firsts)) if _is(first, firsts[place])), None)
        found.append(None if place is None else shown[place])
        at = at if place is None else place + 1
    return found


def _is(typed: str, shown: str) -> bool:
    """Whether a screen shows this command, of which it may cut off the end."""
    return typed == shown or (len(shown) >= _LEAST_BEGUN and typed.startswith(shown))


def _outputs(seen: Sequence[Ran | None], above: str) -> Iterator[str | None]:
    """Yield what stands above all commands, what each printed, and what nobody knows whose it is."""
    whose: str | None = above  # what stands before the next prompt that is seen
    if seen[0]:
        yield above
        whose = None
    else:
        yield None
    for place, ran in enumerate(seen):
        behind = seen[place + 1] if place + 1 < len(seen) else ran
        if ran is None:
            yield whose if behind else None
            whose = None if behind else whose
        elif behind or not (gap := _GAP.search(ran.output)):
            yield ran.output
        else:
            yield ran.output[: gap.end()] if gap.start() else None
            whose = ran.output[gap.end() :].strip("\n")
    yield whose


def _tells(output: str | None) -> bool:
    return bool(output and telling_lines(output.split("\n"), NOTHING_REPEATED))
