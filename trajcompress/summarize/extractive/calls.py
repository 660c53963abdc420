"""Find what an assistant turn calls: marked by the row, or written into the text in one of the known styles."""

from __future__ import annotations

import re

from trajcompress.summarize.extractive.actions import Action, command, describe
from trajcompress.summarize.extractive.compact import parse
from trajcompress.summarize.extractive.text import without_code
from trajcompress.transcript.trajectory import Turn

_XML_CALL = re.compile(r"<function=([\w.-]{1,80})>")
_XML_ARGUMENT = re.compile(r"<parameter=([\w.-]{1,80})>([^<]{0,4000})")
_CALL_NAME = re.compile(r'"name"\s{0,4}:\s{0,4}"([^"]{1,80})"')
_REACT = re.compile(
    r"^[ \t]{0,4}Action\s?:[ \t]{0,4}\n?([^\n]{1,2000})(?:\n[ \t]{0,4}Action Input\s?:[ \t]{0,4}\n?([^\n]{1,4000}))?",
    re.MULTILINE,
)
_BRACKETED = re.compile(r"^(\w[\w.-]{0,60})\s?[\[(](.{0,1900})[\])]$")
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>")
_BARE = re.compile(
    r"(?:(?:SELECT|SHOW|DESC|DESCRIBE|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|WITH|USE|EXPLAIN)\s"
    r"|(?:ls|cat|cd|grep|find|echo|python3?|pip|git|sed|awk|mkdir|rm|mv|cp|touch|chmod|head|tail|wc|sort|du|df|ps|tar|npm"
    r"|docker|curl|wget|bash|sudo|export|submit)(?:\s|$))"
)
_BARE_LINES = 12


def find(turn: Turn, text: str, index: int, *, ran: bool) -> tuple[list[Action], str]:
    """Find the calls of an assistant turn and the prose around them.

    Args:
        turn: the turn; its structured calls come first.
        text: its clipped text without thoughts.
        index: its place in the region.
        ran: whether the next turn reads like output, so that code in this one was run.

    Returns:
        The actions in order, and the text that is no call.
    """
    actions = [describe(call.id, call.name, parse(call.arguments), index) for call in turn.calls]
    if "<tool_call>" in text:
        tags_are_read = any(call.in_text for call in turn.calls)  # then the actions of these are there already
        for number, call in enumerate(turn.calls):
            if call.in_text and not call.name:
                actions[number : number + 1] = _tagged(call.arguments, index)[:1] or [actions[number]]
        prose, *pieces = text.split("<tool_call>")
        for piece in pieces:
            body, _, after = piece.partition("</tool_call>")
            actions += [] if tags_are_read else _tagged(body, index)
            prose += "\n" + after
        return actions, prose
    if xml := _XML_CALL.search(text):
        actions.append(describe(None, xml[1], dict(_XML_ARGUMENT.findall(text)), index))
        return actions, text[: xml.start()]
    if not actions and "Action" in text and (steps := _react(text, index)):
        return steps, text[: text.find("Action")]
    if not actions and ran:
        if "```" in text:
            return _fenced(text, index), without_code(text)
        if is_bare(text):
            return [command("", text, index)], ""
    return actions, without_code(text)


def is_bare(text: str) -> bool:
    """Whether a turn is nothing but a command or a query."""
    return _BARE.match(text) is not None and text.count("\n", 0, 4000) < _BARE_LINES


def thoughts(text: str) -> tuple[str, str]:
    """Split a text into what it thinks and what it says; an unclosed thought runs to the end."""
    opened = _THOUGHT.search(text)
    if opened is None:
        before, closed, after = text.partition("</think>")
        return (before, after) if closed else ("", text)
    thought, _, said = text[opened.end() :].partition(f"</{opened[1]}>")
    return thought, text[: opened.start()] + said


def _tagged(body: str, index: int) -> list[Action]:
    data = parse(body.strip())
    if isinstance(data, dict) and isinstance(data.get("name"), str):
        arguments = data.get("arguments", data.get("parameters", {}))
        return [describe(None, data["name"], parse(arguments) if isinstance(arguments, str) else arguments, index)]
    if xml := _XML_CALL.search(body):
        return [describe(None, xml[1], dict(_XML_ARGUMENT.findall(body)), index)]
    named = _CALL_NAME.search(body)
    return [describe(None, named[1], body[named.end() :].strip(' ,\n"'), index)] if named else []


def _react(text: str, index: int) -> list[Action]:
    found = []
    for action, given in _REACT.findall(text):
        step = action.strip()
        bracketed = _BRACKETED.match(step)
        if given:
            found.append(describe(None, step, parse(given.strip()), index))
        elif bracketed:
            found.append(describe(None, bracketed[1], parse(bracketed[2]), index))
        else:
            found.append(command("", step, index))
    return found


def _fenced(text: str, index: int) -> list[Action]:
    found = []
    for block in text.split("```")[1::2]:
        label, newline, body = block.partition("\n")
        if newline and body.strip():
            found.append(command(label.strip(), body, index))
    return found
