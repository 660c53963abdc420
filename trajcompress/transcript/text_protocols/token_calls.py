"""Calls that stand between a model's own special tokens or tags, as raw outputs of models hold them. Pure.

Tokens are those of the chat templates of Llama 3 and 4, Mistral, DeepSeek, Kimi, Granite, Phi, InternLM, Command R7B,
gpt-oss.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.text_protocols.written_calls import json_calls, json_or_text, new_call, script_call
from trajcompress.transcript.trajectory import ToolCall

Calls: TypeAlias = tuple[tuple[ToolCall, ...], int]
"""Calls, and where the first of them begins in the text."""

_HINTS = ("<|", "<｜", "[TOOL_CALLS]")
_NAMED = late_re(  # a name, and its arguments behind a token of their own
    r"(?:<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?|<\|tool_call_begin\|>|\[TOOL_CALLS\][ ]?(?=[\w.-])"
    r"|<\|channel\|>commentary to=)"
    r"(?:functions\.)?([\w.-]{1,80})(?::\d{1,4})?"
    r"(?:<｜tool▁sep｜>|\n|<\|tool_call_argument_begin\|>|(?:\[CALL_ID\]\w{1,40})?\[ARGS\]"
    r"|[^<\n]{0,20}(?:<\|constrain\|>\w{1,20})?<\|message\|>)"
    r"(.*?)(?:<｜tool▁call▁end｜>|<\|tool_call_end\|>|<\|call\|>|(?=\[TOOL_CALLS\])|\Z)",
    re.DOTALL,
)
_LISTED = late_re(
    r"(?:<\|python_(?:tag|start)\|>|\[TOOL_CALLS\]|<\|tool_calls?\|>|<\|START_ACTION\|>"
    r"|<\|action_start\|>(?:<\|\w{1,20}\|>)?)(.*?)"
    r"(?:<\|python_end\|>|<\|/?tool_calls?\|>|<\|END_ACTION\|>|<\|action_end\|>|\Z)",
    re.DOTALL,
)
_BEGUN = late_re(  # of search agents
    r"<\|begin_(?!of_(?!query)|thought|think|solution|answer|final)(\w{1,30})\|>(.*?)(?:<\|end_\1\|>|\Z)", re.DOTALL
)
_CODE = late_re(r"^[ \t]*<\|python_tag\|>(\s*[^\s{\[].*)\Z", re.DOTALL | re.MULTILINE)
_TOKENS = late_re(r"\s*+(?:(?:<[|｜][^<>|｜\n]{1,40}[|｜]>|</s>)\s*+)*+\Z")
_ENDS = late_re(r"<\|(?:eom_id|eot_id|im_end|end|end_of_text|return)\|>|</s>|<｜end▁of▁sentence｜>")

_FUNCTION = late_re(r"<function=([\w.-]{1,80})>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = late_re(r"<parameter=([\w.-]{1,80})>(.*?)(?=</parameter>|<parameter=|</function>|\Z)", re.DOTALL)
_PREFIX = r"(?:\w{1,20}:|｜DSML｜)?"  # of names of tags
_INVOKE = late_re(rf"<{_PREFIX}invoke name=\"([\w.-]{{1,80}})\">(.*?)(?:</{_PREFIX}invoke>|\Z)", re.DOTALL)
_INVOKED = late_re(
    rf"<{_PREFIX}parameter name=\"([\w.-]{{1,80}})\"[^>]{{0,80}}>(.*?)(?:</{_PREFIX}parameter>|\Z)", re.DOTALL
)


def token_calls(text: str) -> Calls | None:
    """Read the calls that a text ends with, and where they begin; None where it has none, or goes on behind them."""
    if not holds_any(text, _HINTS):
        return None
    for form, read in ((_NAMED, _named), (_LISTED, _listed), (_CODE, _code), (_BEGUN, _begun)):
        found = list(form.finditer(text))
        if found and _TOKENS.match(text, found[-1].end()):
            calls = tuple(call for match in found for call in read(*(_ENDS.sub("", part) for part in match.groups())))
            if calls:
                return calls, found[0].start()
    return None


def _named(name: str, arguments: str) -> tuple[ToolCall, ...]:
    return (new_call(name, json_or_text(arguments)),)


def _listed(body: str) -> tuple[ToolCall, ...]:
    """Read calls as JSON: a list, one, or several with semicolons between."""
    return json_calls(body) or tuple(call for part in body.split("; {") for call in json_calls(_opened(part)))


def _opened(part: str) -> str:
    return part if part.lstrip().startswith("{") else f"{{{part}"


def _code(code: str) -> tuple[ToolCall, ...]:
    return (script_call("python", code.strip()),)


def _begun(name: str, body: str) -> tuple[ToolCall, ...]:
    return (new_call(name.removeprefix("of_").removesuffix("_query"), json_or_text(body.strip())),)


def tag_calls(text: str) -> Calls | None:
    """Read the functions that are called, each with its parameters, and where they begin; None where none is."""
    if "<function=" in text:
        found = list(_FUNCTION.finditer(text))
        calls = [new_call(match[1], _parameters(match[2])) for match in found]
    elif "invoke name=" in text:
        found = list(_INVOKE.finditer(text))
        calls = [
            new_call(match[1], {key: _value(body) for key, body in _INVOKED.findall(match[2])}) for match in found
        ]
    else:
        return None
    return (tuple(calls), found[0].start()) if found else None


def _parameters(body: str) -> Any:
    """Read what stands in a function's tag: a tag for each parameter, or an object, as Llama 3 writes."""
    if body.lstrip().startswith("{"):
        return json_or_text(body)
    return {key: _value(value) for key, value in _PARAMETER.findall(body)}


def _value(body: str) -> str:
    return body.strip("\n").removesuffix("</parameter>")
