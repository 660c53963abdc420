"""Actions on the last lines of a turn, behind what it thinks. Pure."""

from __future__ import annotations

from trajcompress.processes.late_patterns import last_match, late_re
from trajcompress.transcript.text_protocols.acted import Acted
from trajcompress.transcript.text_protocols.command_lines import is_command
from trajcompress.transcript.text_protocols.written_calls import (
    invocations,
    invoked,
    json_calls,
    json_or_text,
    named_calls,
    new_call,
    script_call,
)
from trajcompress.transcript.text_protocols.written_data import parse_strictly

_PROMPTED = late_re(r"> ?([a-z][^\n]{0,200})\Z")
_DOLLAR = late_re(r"\$ (?=[\w./~])")
_SELF_CLOSED = late_re(r"<([\w.-]{1,60})((?: [\w:-]{1,40}=\"[^\"\n]{0,500}\"){0,12}) ?/>\Z")
_INVOKED = late_re(r"\n(?!(?:list|dict|tuple|set|type|array)\[)[a-z]\w{2,30}\[(?=[^\]\n])")
_BROWSED = late_re(  # WebArena's actions
    r"(?:\A|\n|`{1,3})\s{0,4}((?:click|hover|type|press|scroll|tab_focus|goto|stop|select|note)"
    r"(?: ?\[[^\]\n]{0,2000}\]){1,3})(?: where \[[^\n]{0,400})?\s{0,2}`{0,3}\.?\Z"
)
_LAST_LABELLED = late_re(r"(?<=[.!?] )(?:Action|[Cc]ommand): ([^\n]{1,200})\Z")  # behind a sentence
_FOLLOW_UP, _FOLLOW_UP_CHARS = late_re(r"(?:\A|(?<=[.\n])) ?(Follow up): ([^\n]{1,400})\Z"), 420  # of self-ask
_RUN_TOGETHER = late_re(  # in logs that lost the ends of their lines
    r"(?:\A|(?<=[.!?]))[ \t]?Action: ?([^\n:]{1,80}?) ?Action Input: ?([^\n]{1,4000})\Z"
)
_COMMAND, _COMMAND_END = "Command: ", "<END>"  # of Cybench
_TACTIC, _TACTIC_END = "[RUN TACTIC]\n", "\n[END]"  # of COPRA
_BETWEEN_TOKENS = late_re(r"<\|(ACTION|action)\|>\s{0,4}([^<>]{1,400}?)\s{0,4}<\|(?:END|end|/\1)\|>\Z")
_TAKEN = "[ACTION]"  # of Semantic Kernel's planner
_TAG_CHARS, _BROWSED_CHARS = 2_000, 2_600
_GIVEN = late_re(  # a line with a tool's name and where its arguments begin, which are an object to the end
    r"(?:\A|(?<=\n))[^\w\n{]{0,4}(?:[A-Za-z]{1,20} ){0,8}?([A-Za-z_][\w.-]{1,60})"
    r"(?: (?i:with)(?: (?:the )?(?:arguments?|parameters?|input))?)?[ :=]{1,3}(?=\{\s{0,8}[\"}])"
)
_OBJECT_ENDS = "}", "}."
_REPL = ">>> "


def prompted(text: str) -> Acted | None:
    """Read the ``> command`` of a game, the command of a shell behind ``$``, or the closed tag, that ends a turn."""
    last = text.rfind("\n") + 1
    if match := _PROMPTED.match(text, last):
        return Acted((new_call("", match[1].strip()),), "shape" if match.start() else "named", match.start())
    if last and _DOLLAR.match(text, last) and is_command(text[last:]):
        return Acted((script_call("", text[last + 2 :].strip()),), "shape", last)
    if text.endswith("/>") and (match := _SELF_CLOSED.search(text[-_TAG_CHARS:])):
        start = max(len(text) - _TAG_CHARS, 0) + match.start()
        return Acted((new_call(match[1], match[2].strip()),), "shape", start)
    return None


def marked_last(text: str) -> Acted | None:
    """Read the last action of a turn by the marks of a few harnesses."""
    if text.endswith(_COMMAND_END) and (start := _last_line(text, _COMMAND)) >= 0:
        command = text[start + len(_COMMAND) : -len(_COMMAND_END)].strip()
        return Acted((script_call("", command),), "named", start) if command else None
    if text.endswith("|>") and (found := last_match(_BETWEEN_TOKENS, text, max(len(text) - _BROWSED_CHARS, 0))):
        return Acted((new_call("", found[2]),), "named", found.start())
    if text.endswith(_TACTIC_END) and (start := _last_line(text, _TACTIC)) >= 0:
        return Acted((new_call("", text[start + len(_TACTIC) : -len(_TACTIC_END)].strip()),), "named", start)
    start = _last_line(text, _TAKEN) if text.endswith("}") else -1
    calls = json_calls(text[start + len(_TAKEN) :].strip()) if start >= 0 else ()
    return Acted(calls, "named", start) if calls else None


def labelled_last(text: str) -> Acted | None:
    """Read an action behind its label in the last line of a turn, behind a sentence."""
    line = text.rfind("\n") + 1
    if ": " not in text[line:]:
        return None
    if last := _RUN_TOGETHER.search(text, line):
        return Acted((new_call(last[1], json_or_text(last[2])),), "named", last.start())
    if asked := _FOLLOW_UP.search(text, max(len(text) - _FOLLOW_UP_CHARS, 0)):
        return Acted((new_call(asked[1], asked[2]),), "shape", asked.start(1))
    last = _LAST_LABELLED.search(text, line)
    return Acted((new_call("", last[1]),), "named", last.start()) if last else None


def browsed(text: str) -> Acted | None:
    """Read the ``click [12]`` of an agent in a browser that ends a turn."""
    found = last_match(_BROWSED, text, max(len(text) - _BROWSED_CHARS, 0)) if "[" in text[-_BROWSED_CHARS:] else None
    if found is None:
        return None
    name, _, given = found[1].partition("[")
    return Acted((new_call(name.strip(), f"[{given}"),), "named", found.start(1))


def _last_line(text: str, begin: str) -> int:
    """Return where the last line begins that begins so, -1 where none does."""
    return 0 if (at := text.rfind(f"\n{begin}")) < 0 and text.startswith(begin) else at + (at >= 0)


def invoked_last(text: str) -> Acted | None:
    """Read the ``name[…]`` that ends a turn, on lines of its own, as of ReAct without ``Action:``."""
    found = last_match(_INVOKED, text) if text.endswith("]") else None
    start = found.start() + 1 if found else 0
    calls = named_calls(text[start:]) if start else ()
    return Acted(calls, "named", start) if calls else None


def called_last(text: str) -> Acted | None:
    """Read the call that ends a turn and is known by its form alone: a name before a JSON object, or Python's."""
    last = text.rfind("\n") + 1
    start = last + len(_REPL) * text.startswith(_REPL, last)
    if start and text.endswith((")", ")]")):
        called = invoked(text[start:])
        calls = (called,) if called and (called.arguments != "{}" or start > last) else invocations(text[start:])
        return Acted(calls, "shape", last) if calls else None
    if not text.endswith(_OBJECT_ENDS):
        return None
    for found in _GIVEN.finditer(text):
        if isinstance(given := parse_strictly(text[found.end() :].rstrip(".")), dict):
            return Acted((new_call(found[1], given),), "shape", found.start())
    return None
