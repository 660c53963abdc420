"""What a terminal shows beside output: prompts of a shell, and what was typed, which it repeats.

A shell prints PS1 before each command, and PS2, which is ``> ``, before each further line of one that is open.
What is typed while a program runs stands there without a prompt, as the terminal itself repeats it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise

from msgspec import Struct

from trajcompress.outcomes.action.actions import Action, command
from trajcompress.outcomes.printed.furniture import telling_lines
from trajcompress.outcomes.repeated import NOTHING_REPEATED
from trajcompress.outcomes.text import uncoloured
from trajcompress.processes.late_patterns import holds_any, late_re

PROMPT = late_re(
    r"(?:\([\w.-]{1,40}\) ){0,4}(?:[\w.-]{1,40}@[\w.-]{1,60}:[~/][^\n#$%]{0,160}(?<! )[#$]|(?:ba)?sh-\d[\d.]{0,6}[#$]"
    r"|\[[\w.-]{1,40}@[\w.-]{1,60} [^\s\]]{1,160}\][#$]|[\w.-]{1,40}@[\w.-]{1,60} [~/]\S{0,160} ?%)(?=\s|\[K|\Z)"
)
_HINTS, _SIGNS = ("@", "sh-"), ("#", "$", "%")  # of each one is in every prompt
_CLEARS = "[K"  # the rest of a line, which has lost its first byte
_MORE = ">"  # before what continues a command
_KEY = late_re(r"(?:[CMS]-\S|Enter|Escape|Tab|Space|BSpace|Up|Down|Left|Right|\^[A-Z])")  # as tmux names them
_SIGN = late_re(  # of what is open in a command: quotes, documents, compound commands; behind # nothing counts
    r"\\.|['\"`]|<<<|<<-?[ \t]?(?:'(\w{1,40})'|\"(\w{1,40})\"|\\?(\w{1,40}))"
    r"|(?<![^\s;&|(`])(?:(if|case|for|while|until|select|\{)|(fi|esac|done|\}))(?![^\s;&|)`])|(?<![^\s;&|(])#"
)
_OPENS = 4  # the group of words that do
_GOES_ON = ("\\", "|", "&&")
_LEAST_WIDTH, _LEAST_FULL = 80, 2
_MOST_COMMANDS = 40  # are asked what they do
_MOST_BELOW = 40  # lines in which one that was typed goes on
_NOT_RUN = "not run yet"
_LEAST_AHEAD, _MOST_TRIED, _LEAST_BEGUN = 2, 8, 24
_TIME = late_re(r"\d:\d\d ")  # that a process has used
_OF_PS = late_re(r"(?:\A|[\n;&|] {0,2})(ps(?: [^\s;&|]{1,60}){0,8})(?=\s{0,2}(?:[;&|\n]|\Z))")


class Ran(Struct, frozen=True):
    """A command behind a prompt, and what stands below it; no command where its prompt is off the screen."""

    typed: str
    output: str


class Screen(Struct, frozen=True):
    """What stands on a screen: what programs printed, and which."""

    output: str
    ran: Sequence[Ran] = ()

    @property
    def runs(self) -> bool:
        """Whether a program ran, which may fail, whatever was read besides."""
        return any(command(each.typed).kind == "run" for each in self.ran[:_MOST_COMMANDS] if each.typed)


def read_screen(text: str, action: Action | None) -> Screen | None:
    """Read a screen of a terminal; None where a text is none, as a file that shows how a shell is used."""
    typed = _Typed(action)
    may_prompt = holds_any(text, _HINTS) and holds_any(text, _SIGNS)
    if not may_prompt and len(typed.lines) < _LEAST_AHEAD:
        return None
    text = uncoloured(text).replace("\r\n", "\n")
    lines = text.split("\n")
    prompts = _prompts(lines) if may_prompt else {}
    if prompts and _is_screen(lines, prompts, typed, action):
        return _Reader(lines, prompts, typed).read()
    return _without_typed_ahead(lines, typed)


class _Typed:
    """The lines that were typed, of which a screen may show each in several lines of its own."""

    def __init__(self, action: Action | None) -> None:
        given = action.typed.strip() if action else ""
        lines = (line.strip() for line in given.split("\n"))
        self.lines = [line for line in lines if line and not _KEY.fullmatch(line)]
        self.each = {line: number for number, line in reversed([*enumerate(self.lines)])}
        self.ends = frozenset(end for line in self.lines if "<<" in line for end in _ends_in(line))
        self.of_ps = tuple(f" {each}" for each in dict.fromkeys(_OF_PS.findall(given)))
        self.is_known = bool(given)
        target = action.target if action and not given else ""
        self._sorted = sorted(self.each or {target} - {""})

    def begins(self, shown: str) -> bool:
        """Whether a line begins so."""
        at = bisect_left(self._sorted, shown)
        return at < len(self._sorted) and self._sorted[at].startswith(shown)

    def holds(self, shown: str, *, cut: bool) -> bool:
        """Whether a line is one of them, or nothing; of one that is ``cut`` the beginning may be lost."""
        return not shown or shown in self.each or (cut and any(line.endswith(shown) for line in self.lines))

    def is_in(self, shown: str) -> bool:
        """Whether a line begins so, or what is shown with one: a harness may type more behind it."""
        at = bisect_left(self._sorted, shown)
        return self.begins(shown) or (at > 0 and shown.startswith(self._sorted[at - 1]))

    def is_listed(self, line: str) -> bool:
        """Whether a line is of a list of processes, and of that itself which lists them."""
        return line.rstrip().endswith(self.of_ps) and _TIME.search(line) is not None

    def joined(self, begun: str, below: str) -> str:
        """Return what is shown of a line with what stands below it, where they are one; a space may be lost there."""
        both = (f"{begun}{below.rstrip()}", f"{begun} {below.rstrip()}") if below.strip() else ()
        return next((each for each in both if self.begins(each)), "")


def commands_in(typed: str) -> list[str]:
    """Divide what is typed into a shell into commands, each with the lines in which it goes on."""
    found: list[str] = []
    is_open = _Open()
    for line in typed.split("\n"):
        if is_open:
            found[-1] += f"\n{line}"
        elif line.strip():
            found.append(line)
        else:
            continue
        is_open.take(line)
    return found


def _ends_in(line: str) -> list[str]:
    """Return the lines with which documents end that a line opens."""
    return [end for sign in _SIGN.finditer(line) if (end := sign[1] or sign[2] or sign[3])]


class _Open:
    """What is open in a command, so that the shell asks for more."""

    def __init__(self) -> None:
        self._ends: list[str] = []  # of documents
        self._quote = ""
        self._depth = 0
        self._goes_on = False

    def __bool__(self) -> bool:
        return bool(self._ends or self._quote or self._depth > 0 or self._goes_on)

    def take(self, line: str) -> None:
        """Read one more line of the command."""
        if self._ends and not self._quote:
            if line.strip() == self._ends[0]:
                self._ends.pop(0)
            return
        for sign in _SIGN.finditer(line):
            if sign[0] == "#" and not self._quote:
                break
            self._take_sign(sign[0], sign[1] or sign[2] or sign[3], sign.lastindex)
        self._goes_on = not self._ends and not self._quote and line.rstrip().endswith(_GOES_ON)

    def _take_sign(self, sign: str, end: str | None, group: int | None) -> None:
        if self._quote:
            is_end = sign == self._quote or (self._quote == "'" and sign == "\\'")
            self._quote = "" if is_end else self._quote
        elif sign in {"'", '"', "`"}:
            self._quote = sign
        elif end:
            self._ends.append(end)
        elif group is not None:
            self._depth = max(self._depth + (1 if group == _OPENS else -1), 0)


def _prompts(lines: Sequence[str]) -> dict[int, int]:
    """Return at which lines prompts stand, and where each ends."""
    found = ((at, PROMPT.match(line)) for at, line in enumerate(lines))
    return {at: prompt.end() for at, prompt in found if prompt}


def _behind(lines: Sequence[str], at: int, prompts: dict[int, int]) -> str:
    """Return what stands behind the prompt of a line."""
    return lines[at][prompts[at] :].rstrip().removesuffix(_CLEARS).strip()


def _is_screen(lines: Sequence[str], prompts: dict[int, int], typed: _Typed, action: Action | None) -> bool:
    """Whether a shell waits at the end, or one was given what was typed; not where a tool was asked for a file."""
    if any(shown and typed.is_in(shown) for shown in (_behind(lines, at, prompts) for at in prompts)):
        return True
    if action is not None and action.files and not typed.is_known:
        return False
    filled = [at for at, line in enumerate(lines) if line.strip()]
    waits = filled[-1] in prompts and not _behind(lines, filled[-1], prompts)
    return waits or (filled[0] in prompts and not typed.is_known)


def _width(lines: Sequence[str], prompts: dict[int, int]) -> int:
    """Return how wide a screen is, where several commands fill a line of it; else 0."""
    widths = Counter(len(lines[at].rstrip()) for at in prompts)
    widest = max(widths)
    return widest if widest >= _LEAST_WIDTH and widths[widest] >= _LEAST_FULL else 0


class _Reader:
    """Reads a screen from its first line on, each line once."""

    def __init__(self, lines: Sequence[str], prompts: dict[int, int], typed: _Typed) -> None:
        self._lines, self._prompts, self._typed = lines, prompts, typed
        self._width = _width(lines, prompts)
        self._at = self._tries = 0

    def read(self) -> Screen:
        """Tell output from what was typed."""
        commands: dict[int, list[str]] = {}  # by the line of their prompt
        printed: list[int] = []
        while (at := self._at) < len(self._lines):
            if at in self._prompts:
                if (given := self._command())[0]:
                    commands[at] = given
            elif not self._goes_on_typed():
                printed += range(at, self._at)
        taken = {given[0]: at for at, given in commands.items()}  # where the shell takes what was typed
        lines = self._without_typed_before(printed, taken)
        if self._typed.of_ps:
            lines = {at: line for at, line in lines.items() if not self._typed.is_listed(line)}
        return Screen("\n".join(lines.values()).strip("\n"), list(self._each(commands, lines)))

    def _each(self, commands: Mapping[int, Sequence[str]], lines: Mapping[int, str]) -> Iterator[Ran]:
        """Yield the commands with what stands below each, and first what stands above all."""
        starts = [-1, *commands]
        shown = [*lines]
        for start, end in pairwise([*starts, len(self._lines)]):
            below = [lines[at] for at in shown[bisect_left(shown, start) : bisect_left(shown, end)]]
            given = commands.get(start, ("",))
            if given[0] or below:
                yield Ran("\n".join(given), "\n".join(below).strip("\n"))

    def _goes_on_typed(self) -> bool:
        """Pass by a line, or by those of a document whose first are off the screen; say whether it is these."""
        start = self._at
        last = ""
        is_known = self._typed.ends and self._tries < _MOST_TRIED
        while is_known and (more := self._more()) is not None:
            is_known = self._typed.holds(more, cut=self._at == start)
            last = self._whole(more)
        if last:
            self._tries += 1
        if is_known and last in self._typed.ends:
            return True
        self._at = max(self._at, start + 1)
        return False

    def _without_typed_before(self, printed: Sequence[int], taken: Mapping[str, int]) -> dict[int, str]:
        """Return what was printed, by line, without what a terminal repeated while the shell was busy."""
        lines, place = self._typed.lines, self._typed.each
        left: dict[int, str] = {}
        expected = len(lines)
        for at in printed:
            shown = self._lines[at].strip()
            if shown in place and taken.get(shown, -1) > at:
                expected = place[shown] + 1
            elif expected < len(lines) and (not shown or shown == lines[expected]):
                expected += bool(shown)
            else:
                begun = _in_common(shown, lines[expected]) if expected < len(lines) else 0
                left[at] = shown[begun:] if begun >= _LEAST_BEGUN else self._lines[at]
                expected = len(lines)
        return left

    def _command(self) -> list[str]:
        """Pass by a prompt with the command behind it; return the lines of that."""
        given = [self._whole(_behind(self._lines, self._at, self._prompts))]
        is_open = _Open()
        is_open.take(given[0])
        while is_open and (more := self._more()) is not None:
            given.append(self._whole(more))
            is_open.take(given[-1])
        return given

    def _more(self) -> str | None:
        """Return what a line adds to a command that is not complete; None where it adds nothing."""
        line = self._lines[self._at] if self._at < len(self._lines) else ""
        return line[2:].strip() if line.startswith(_MORE) and not line[1:2].strip() else None

    def _whole(self, shown: str) -> str:
        """Pass by the lines in which something typed is shown, which may be too long for one; return all of it."""
        self._at += 1
        for _ in range(_MOST_BELOW):
            if self._at in self._prompts or self._at >= len(self._lines):
                break
            below = self._lines[self._at]
            goes_on = self._typed.joined(shown, below)
            if not goes_on and (shown in self._typed.each or not below.strip() or not self._is_full(self._at - 1)):
                break
            shown = goes_on or f"{shown}{below.rstrip()}"
            self._at += 1
        return shown

    def _is_full(self, at: int) -> bool:
        return 0 < self._width == len(self._lines[at].rstrip())


def _in_common(one: str, other: str) -> int:
    """Return how many characters two lines begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _without_typed_ahead(lines: Sequence[str], typed: _Typed) -> Screen | None:
    """Read a screen that shows all that was typed, a line below the other, as nobody took it yet."""
    if len(typed.lines) < _LEAST_AHEAD:
        return None
    filled = [at for at, line in enumerate(lines) if line.strip()]
    shown = [lines[at].strip() for at in filled]
    first = typed.lines[0]
    starts = (place for place, line in enumerate(shown) if first.startswith(line))
    for start in islice(starts, _MOST_TRIED):
        if end := _end_of_all(shown, start, typed):
            left = (*lines[: filled[start]], *lines[filled[end - 1] + 1 :])
            return Screen("\n".join(left).strip("\n") if telling_lines(left, NOTHING_REPEATED) else _NOT_RUN)
    return None


def _end_of_all(shown: Sequence[str], start: int, typed: _Typed) -> int:
    """Return behind which line all ends that was typed and is shown from one on; 0 where that is not all."""
    at = start
    for line in typed.lines:
        last = min(at + _MOST_BELOW, len(shown))
        whole = ""
        while whole != line and at < last:
            both = (f"{whole}{shown[at]}", f"{whole} {shown[at]}" if whole else "")
            whole = next((each for each in both if each and line.startswith(each)), "")
            if not whole:
                return 0
            at += 1
        if whole != line:
            return 0
    return at
