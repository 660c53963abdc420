"""Replies beside the actions that they answer: what tells that no person wrote them, or that one did. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.acted import Acted
from trajcompress.transcript.text_protocols.moves import taken_up
from trajcompress.transcript.text_protocols.openings import BEGIN_CHARS, label_of, opening_of
from trajcompress.transcript.text_protocols.printed import Printed
from trajcompress.transcript.text_protocols.written_data import parse_strictly, parse_written
from trajcompress.transcript.trajectory import ToolCall

_ACTION_CHARS = 4_000
_REPLY_CHARS = 400
_QUOTED = late_re(r"\"([^\"\n]{2,40})\"|(?<!\w)'([^'\n]{2,40})'(?!\w)|`([^`\n]{2,40})`|[«“„]([^»”“\n]{2,40})[»”“]")
_ASKED_OF = late_re(
    r"\b(?:please|can you|could you|would you|you should|instead|let'?s|i want|i'd|don't(?! know)|do not)\b",
    re.IGNORECASE,
)
_SLANG = late_re(r"\b(?:lol|haha\w*|hehe|omg|idk|tbh|thx|pls|hmm+)\b|(?<=\s)[:;]-?[)(DP](?!\w)", re.IGNORECASE)
_MOVE_CHARS = 20
_QUOTES = frozenset({('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("「", "」")})
_FEW_CHARS = 2
_MANY = 3
_OPENED = ("{", "[")
_MOSTLY = 0.75
_ACKNOWLEDGED = frozenset({"ok.", "ok"})
_NO_COMMAND = late_re(
    r"(?:/(?:usr/)?bin/)?(?:ba|da|z|k)?sh: (?:(?:line )?\d{1,5}: )?([^\n]{1,200}): (?:command )?not found"
)
_UNKNOWN_COMMAND = late_re(  # of a game, or another program that reads commands
    r"(?:Unknown|Unrecogni[sz]ed|Invalid|Undefined) (?:command|action|verb|input):? ['\"]?([^\n]{1,200}?)['\"]?[.!]?"
)
_NO_COMMAND_CHARS = 300
_RESULT_OF = late_re(r"\s{0,8}(?:The )?(?:Result|Output|Response)s? (?:of|for|from) ([\w.]{2,60}\([^\n]{0,200}\)):")
_QUOTING = str.maketrans("", "", "'\"`\\")
_LANGUAGES = frozenset({"bash", "shell", "console", "python", "ipython", "javascript"})
_NAMING_CHARS = 300
_LEAST_NAME = 4
_THINKS = late_re(r"\s{0,4}(?:> ?)?think ?[:\[]", re.IGNORECASE)


def quotes(reply: str, action: str) -> bool:
    """Whether a reply is one line that quotes a part of the action, as who could not do it, and asks for nothing."""
    line = reply.strip()
    if len(line) > _REPLY_CHARS or "\n" in line or _ASKED_OF.search(line):
        return False
    parts = [next(filter(None, found.groups())).strip(" .…") for found in _QUOTED.finditer(line)]
    return any(len(part) > 1 and part in action[-_ACTION_CHARS:] for part in parts)


def are_forms(said: Iterable[str], exchanges: Sequence[tuple[str, str]], *, ends: bool = False) -> bool:
    """Whether turns are all forms of one kind, of which replies that begin alike, or speak of them, tell otherwise.

    Args:
        said: all turns of the assistant.
        exchanges: those that are answered, each with its reply.
        ends: whether the last hands in an answer, as an agent's under a label does.
    """
    forms = set(map(_form, said))
    form = forms.pop() if len(forms) == 1 else ""
    if not form or form in _OPENED:
        return form != ""
    alike = max(Counter(opening_of(reply) for _, reply in exchanges).values(), default=0)
    return not ends and 2 * alike <= max(len(exchanges), 2) and not taken_up(exchanges)


def _form(text: str) -> str:
    """Return by what a turn is a form: the sign or the label that it begins with; nothing where it is none."""
    begin = text.lstrip()
    return begin[0] if begin.startswith(_OPENED) else label_of(begin)


def settled(prints: Mapping[int, Printed], acts: Mapping[int, Acted]) -> dict[int, Printed]:
    """Return which turns only begin as an environment's do, as a person's, where nothing else tells of one.

    Args:
        prints: what each user turn looks like.
        acts: the turns that may act, each before the one that may answer it.
    """
    worded = {index: said for index, said in prints.items() if said.worded or said.doubtful}
    if not worded or any(acted.sure == "named" for acted in acts.values()):
        return {}
    if any(said.certain and index not in worded for index, said in prints.items()):
        return {}
    others = [said.chatty or not said.shaped for i, said in prints.items() if i not in worded and i - 1 in acts]
    doubtful = {index: said for index, said in worded.items() if said.doubtful}
    if len(worded) <= len(others) and sum(others) * 2 > len(others):
        doubtful = worded  # a few turns of a person who says other things
    begins = Counter(said.begin.lstrip()[:BEGIN_CHARS] for said in doubtful.values())
    if len(doubtful) < len(worded) or max(begins.values(), default=0) >= _MANY:
        return {}
    return {
        index: said._replace(certain=False, named=False, person=True, chatty=True) for index, said in doubtful.items()
    }


def is_played_by(reply: str) -> bool:
    """Whether a reply is all in quotation marks: what somebody says whom a program plays."""
    text = reply.strip()
    inner = text[1:-1]
    return len(inner) > _FEW_CHARS and (text[0], text[-1]) in _QUOTES and text[0] not in inner


def echoes(reply: str, action: str) -> bool:
    """Whether a reply is a part of the action, word for word, as of an answer that was taken."""
    text = reply.strip()
    return len(text) > _FEW_CHARS and text in action[-_ACTION_CHARS:]


def is_slang(reply: str) -> bool:
    """Whether a short reply has words or faces that only people write."""
    return len(reply) <= _REPLY_CHARS and "\n" not in reply.strip() and _SLANG.search(reply) is not None


def mirrors(exchanges: Iterable[tuple[str, str]]) -> bool:
    """Whether replies are short and as long as the moves before them: two play, and none is an environment."""
    pairs = [(len(move.strip()), len(reply.strip())) for move, reply in exchanges]
    alike = sum(reply < _MOVE_CHARS and abs(reply - move) <= _FEW_CHARS for move, reply in pairs)
    return alike >= _MOSTLY * len(pairs)


def acknowledges(reply: str, thought: str) -> bool:
    """Whether a reply is the ``OK.`` by which ReAct's environments answer what is only thought."""
    return reply.strip().lower() in _ACKNOWLEDGED and _THINKS.match(thought) is not None


def ran_words(reply: str, said: str) -> bool:
    """Whether a program says that the first words of a turn are no command: all of it was run, also what is none.

    >>> ran_words("/bin/bash: line 1: Im sorry, but I cant: command not found", "I'm sorry, but I can't do it.")
    True
    >>> ran_words("Unknown command: You're", "You're in a dusty hall.")
    True
    >>> ran_words("bash: pip: command not found", "pip install requests")
    False
    """
    line = reply.strip() if len(reply) <= _NO_COMMAND_CHARS else ""
    told = _NO_COMMAND.fullmatch(line) or _UNKNOWN_COMMAND.fullmatch(line)
    if told is None or not (told[1][0].isupper() or " " in told[1]):  # else a person may have run it
        return False
    return said.translate(_QUOTING).lstrip().startswith(told[1].translate(_QUOTING))


def gives_result_of(reply: str, said: str) -> bool:
    r"""Whether a reply gives the result of a call that a turn writes in so many words.

    >>> gives_result_of('Result of find("A"):\nFound 2 classes', 'I look at `find("A")` first.')
    True
    """
    told = _RESULT_OF.match(reply)
    return told is not None and told[1] in said


def names_call(reply: str, call: ToolCall) -> bool:
    """Whether the first line of a reply names the tool that was called, or repeats the command that was given."""
    line = reply.lstrip()[:_NAMING_CHARS].partition("\n")[0]
    given = parse_strictly(call.arguments)
    command = given.get("command") if isinstance(given, dict) and len(given) == 1 else None
    told = [call.name if call.name not in _LANGUAGES else "", str(command or "").strip().partition("\n")[0]]
    return any(len(each) >= _LEAST_NAME and re.search(rf"(?<!\w){re.escape(each)}(?!\w)", line) for each in told)


def are_data(reply: str) -> bool:
    """Whether a reply is data from its first sign to its last, as nobody types them."""
    text = reply.strip()
    return text.startswith(_OPENED) and text.endswith(("}", "]")) and parse_written(text) is not None
