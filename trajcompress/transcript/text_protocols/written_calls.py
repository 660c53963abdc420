"""Calls of text protocols: what an action says, as a name with arguments. Pure.

As JSON, as ``name[…]`` or ``name(…)``, as a line with flags, or as code that is run.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from msgspec.structs import replace

from trajcompress.json_values import objects_apart
from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.text_protocols.command_lines import flagged
from trajcompress.transcript.text_protocols.written_data import as_python, parse_strictly, parse_written
from trajcompress.transcript.trajectory import ToolCall

_BRACKETS = late_re(r"([A-Za-z_][\w.-]{0,80})\s?([\[(])(.*)[\])]\s{0,4}\Z", re.DOTALL)
_INVOKED = late_re(r"[A-Za-z_]\w{0,80}\(")
_DOTTED = late_re(r"[A-Za-z_][\w.]{0,80}\(")
_SPACED, _NO_WORD = late_re(r"(?:\A\[|\), )([A-Za-z][\w ./-]{1,80})\("), late_re(r"\W")
_CODE_CHARS, _SCRIPT_CHARS = 40_000, 4_000
_DOES = ("(", "=", "import ")
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.For, ast.With, ast.If, ast.Try, ast.Expr)
_KEYED = late_re(r"[A-Za-z_]\w{0,40}=")
_NEXT_KEY = late_re(r", ?(?=[A-Za-z_]\w{0,40}=)")
_PYTHONS = frozenset({"python", "py", "ipython", "python3"})

_NAME_KEYS = (
    *("name", "tool", "tool_name", "action", "function", "command", "action_name", "api"),
    *("action_type", "api_name", "API_name", "function_name"),
)
_NESTING_KEYS = (
    "command",
    "tool",
    "action",
    "function",
    "tool_call",
    "function_call",
    "toolCall",
    "functionCall",
    "call",
)
"""Under one of these a call stands as an object of its own."""
_ANSWER_KEYS = ("answer", "final_answer")
"""Under one of these, beside thoughts alone, the answer stands."""
_INSTRUCTS = frozenset({"instruction", "completed"})
"""What a controller tells its executor has both."""
_NAME_KEYS_ELSEWHERE = frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "cmd 动作 操作 行动 工具 命令 行動 アクション コマンド ツール 행동 동작 명령 도구 aktion befehl werkzeug"
        " acción accion herramienta azione strumento ação acao ferramenta outil действие команда инструмент"
    ).split()
)
_TYPE_KEYS = ("kind", "type")
_ACTION_TYPES = ("_action", "_call", "Action")
"""How the types of steps end that are actions, where thoughts and observations are steps as well."""
_ARGUMENT_KEYS = (
    "arguments",
    "args",
    "parameters",
    "params",
    "action_input",
    "tool_input",
    "input",
    "kwargs",
    "action_args",
    "api_params",
    "API_params",
)

_LANGUAGES = ("sql", "bash", "shell", "python", "code", "cmd")
_LIST_KEYS = ("action", "actions", "calls", "tool_calls", "function_calls")

FINAL = frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "finish finished submit answer final_answer final done complete completed respond response reply"
        " message say ask ask_user ask_followup_question followup talk talk_to_user speak stop exit terminate"
        " quit end task_complete attempt_completion send_msg_to_user report_infeasible finish_task"
        " complete_task return 询问用户 提问 回复用户 回复 回答 最终答案 完成 结束 提交 回答する 終了 답변"
        " dire parler sagen falar dizer decir hablar preguntar perguntar demander fragen report tell speak"
        " сказать ответить спросить 说 说话 話す 発話 報告"
        " 질문 질문하기 완료 종료 nachfragen frage fragen antworten fertig terminer répondre terminar"
        " responder"
    ).split()
)
"""Actions that hand over to the person: what follows need not be an observation."""


def new_call(name: str, arguments: Any) -> ToolCall:
    """Make a call that stands in a text; arguments that are no text become JSON."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(None, name, written, in_text=True)


def script_call(language: str, code: str) -> ToolCall:
    """Make the call that runs code: that of the tool which the code does no more than call, else of its language."""
    language = language.lower()
    code = code.strip("\n")
    if language in _PYTHONS:
        called = _calls_of(parse_written(code)) if code.lstrip().startswith("{") else ()
        return invoked(code) or (called[0] if len(called) == 1 else new_call(language, {"code": code}))
    if language in {"javascript", "js"}:
        return new_call(language, {"code": code})
    tool = flagged(code)
    return new_call(*tool) if tool else new_call(language, {"command": code})


def named_calls(body: str) -> tuple[ToolCall, ...]:
    """Read calls: as JSON, or one as ``name[arguments]`` or ``name(arguments)``."""
    body = body.strip().strip("`").strip()
    if body[:1] in {"{", "["} and (found := _calls_of(parse_written(body))):
        return found
    first = body.partition("\n")[0] if body.count("\n") and not body.endswith((")", "]")) else body
    if match := _BRACKETS.match(first):
        if match[2] == "[" and 0 <= match[3].find("]") < match[3].find("["):  # each argument has brackets of its own
            return (new_call(match[1], first[match.start(2) :].strip()),)
        called = invoked(first) if match[2] == "(" else None
        return (called or new_call(match[1], _keyed(json_or_text(match[3].strip()))),)
    return ()


def invocations(text: str) -> tuple[ToolCall, ...]:
    """Read a Python list of calls, as Llama writes them; nothing where any of it is no call of literals by name."""
    text = text.strip()
    if text[:1] != "[" or not text.endswith(")]") or len(text) > _CODE_CHARS:
        return ()
    names: dict[str, str] = {}  # with spaces, as ToolACE has them

    def joined(called: re.Match[str]) -> str:
        name = _NO_WORD.sub("_", called[1])
        names[name] = called[1]
        return f"{called[0][: called.start(1) - called.start()]}{name}("

    if not _DOTTED.match(text[1:].lstrip()):
        text = _SPACED.sub(joined, text)
    try:
        listed = ast.parse(as_python(text), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ()
    calls = [_called(each, dotted=True) for each in listed.elts] if isinstance(listed, ast.List) else []
    if not all(calls):
        return ()
    return tuple(_of_autogen(replace(call, name=names.get(call.name, call.name))) for call in calls if call)


def _of_autogen(call: ToolCall) -> ToolCall:
    """Return the call that AutoGen prints as a ``FunctionCall`` with its name and arguments; any other as it is."""
    if call.name != "FunctionCall":
        return call
    given = json.loads(call.arguments)
    name, arguments = given.get("name"), given.get("arguments")
    return new_call(name, arguments) if isinstance(name, str) and isinstance(arguments, str) else call


def invoked(code: str) -> ToolCall | None:
    """Read code that is one call with literal arguments, each with its name; None for any other."""
    code = code.strip()
    if len(code) > _CODE_CHARS or not code.endswith(")") or not _INVOKED.match(code):
        return None
    try:
        return _called(ast.parse(as_python(code), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def is_python(text: str) -> bool:
    """Whether a text is Python that does something: all its statements assign, import, call, or hold such."""
    if len(text) > _SCRIPT_CHARS or not holds_any(text, _DOES):
        return False
    try:
        done = ast.parse(as_python(text)).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    calls = (isinstance(each.value, ast.Call) for each in done if isinstance(each, ast.Expr))
    return bool(done) and all(isinstance(each, _STATEMENTS) for each in done) and all(calls)


def _called(called: ast.expr, *, dotted: bool = False) -> ToolCall | None:
    try:
        if not isinstance(called, ast.Call) or called.args or not (name := _name(called.func, dotted=dotted)):
            return None
        given = {each.arg: ast.literal_eval(each.value) for each in called.keywords if each.arg is not None}
        written = json.dumps(given, ensure_ascii=False)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    return new_call(name, written) if len(given) == len(called.keywords) else None


def _name(called: ast.expr, *, dotted: bool) -> str:
    """Return what is called, ``a.b`` too where that may be a tool's name and not a module's function."""
    parts: list[str] = []
    while dotted and isinstance(called, ast.Attribute):
        parts.append(called.attr)
        called = called.value
    return ".".join([called.id, *reversed(parts)]) if isinstance(called, ast.Name) else ""


def _keyed(given: Any) -> Any:
    """Read ``key=value, key=value`` as an object."""
    if not isinstance(given, str) or not _KEYED.match(given):
        return given
    pairs = [pair.partition("=") for pair in _NEXT_KEY.split(given)]
    return {key: value for key, _, value in pairs}


def json_or_text(text: str) -> Any:
    """Read arguments as JSON where they are."""
    text = text.strip().strip("`").strip() if "```" in text else text.strip()
    text = text.removeprefix("json\n")
    if text[:1] in {"{", "["} and (data := parse_written(text)) is not None:
        return data
    return text


def json_calls(text: str) -> tuple[ToolCall, ...]:
    """Read JSON that names a tool, or several; nothing where any part of it does not."""
    return _calls_of(parse_strictly(text))


def _calls_of(data: Any) -> tuple[ToolCall, ...]:
    if isinstance(data, dict):
        listed: list[Any] = next((data[key] for key in _LIST_KEYS if isinstance(data.get(key), list)), [])
        calls = tuple(call for each in listed if (call := _listed_call(each)))
        if calls and len(calls) == len(listed):
            return calls
    items = data if isinstance(data, list) else [data]
    calls = tuple(call for item in items if isinstance(item, dict) and (call := _json_call(item)))
    return calls if len(calls) == len(items) else ()


def step_calls(text: str) -> tuple[ToolCall, ...]:
    """Read JSON objects one below the other, as of thoughts and what is done then; the last must be a call."""
    read = list(map(json_calls, objects_apart(text))) if text[:1] == "{" else []
    return tuple(call for calls in read for call in calls) if read and read[-1] else ()


def json_script(text: str) -> ToolCall | None:
    """Read the code that a JSON object holds under its language, as ``{"thought": …, "sql": …}``."""
    data = parse_strictly(text)
    if not isinstance(data, dict):
        return None
    key = next((key for key in _LANGUAGES if isinstance(data.get(key), str)), None)
    return script_call(key, data[key]) if key and data[key].strip() else None


def _listed_call(data: Any) -> ToolCall | None:
    """Read a call of a list of them: as others, or as an object of its arguments under its name alone."""
    if not isinstance(data, dict):
        return None
    if len(data) == 1 and isinstance(given := next(iter(data.values())), dict | None):
        name = next(iter(data))
        return new_call(name, given or {}) if name.replace("-", "_").isidentifier() else None
    return _json_call(data)


def _json_call(data: dict[str, Any]) -> ToolCall | None:
    reads = (_typed_call, _nested_call, _answering_call, _instructing_call, _replied_call, _named_call)
    return next(filter(None, (read(data) for read in reads)), None)


def _typed_call(data: dict[str, Any]) -> ToolCall | None:
    """Read what is typed into a terminal, one after the other."""
    typed = data.get("commands")
    if not isinstance(typed, list):
        return None
    keys = [key["keystrokes"] if isinstance(key, dict) and "keystrokes" in key else key for key in typed]
    written = "\n".join(str(key).rstrip("\n") for key in keys)
    is_waiting = not written.strip() and typed and isinstance(typed[-1], dict)
    return new_call("", typed[-1] if is_waiting else {"command": written})


def _nested_call(data: dict[str, Any]) -> ToolCall | None:
    """Read a call that stands under a key of its own, whose arguments may stand beside its name."""
    nested = next((data[key] for key in _NESTING_KEYS if isinstance(data.get(key), dict)), None)
    if nested is None:
        return None
    name, rest = nested.get("name"), {key: value for key, value in nested.items() if key != "name"}
    own = _typed_call(nested) or _named_call(nested)
    return own or (new_call(name, rest) if isinstance(name, str) and rest else None)


def _answering_call(data: dict[str, Any]) -> ToolCall | None:
    """Read an answer that stands beside thoughts alone."""
    key = next((key for key in _ANSWER_KEYS if isinstance(data.get(key), str) and data[key].strip()), None)
    is_final = key is not None and len(data) > 1 and all(each == key or _is_thought(each) for each in data)
    return new_call(key, data[key]) if key is not None and is_final else None


def _instructing_call(data: dict[str, Any]) -> ToolCall | None:
    """Read what a controller tells its executor, as OpenRCA's does."""
    return new_call("instruct", {"instruction": data["instruction"]}) if data.keys() >= _INSTRUCTS else None


def _replied_call(data: dict[str, Any]) -> ToolCall | None:
    """Read the code that a reply holds beside its language, as TaskWeaver's does."""
    kind, content = data.get("reply_type"), data.get("reply_content")
    return script_call(kind, content) if kind in _LANGUAGES and isinstance(content, str) else None


def _named_call(data: dict[str, Any]) -> ToolCall | None:
    given = next((data[name] for name in _ARGUMENT_KEYS if name in data), None)
    named = [key for key in _NAME_KEYS if isinstance(data.get(key), str) and data[key].strip()]
    if given is None and named[:1] == ["name"]:  # that of what the action is done to, if there is one
        named = [key for key in named if key.startswith("action")]
    key = named[0] if named else None
    if key is None and isinstance(given, dict):
        key = next((key for key, value in data.items() if _is_tool(key, value)), None)  # in another language
    key = key or next((name for name in data if name in _NAME_KEYS_ELSEWHERE and _is_tool(name, data[name])), None)
    key = key or next((name for name in _TYPE_KEYS if str(data.get(name)).endswith(_ACTION_TYPES)), None)
    if key is None:
        return None
    rest = {name: value for name, value in data.items() if name != key and not _is_thought(name)}
    if given is None and not rest and key in {"function", "api"}:
        return None
    return new_call(str(data[key]), rest if given is None else given)


def _is_tool(key: str, value: Any) -> bool:
    return (
        isinstance(value, str) and value.replace("-", "_").replace(".", "_").isidentifier() and not _is_thought(key)
    )


def _is_thought(key: str) -> bool:
    return key.lower().startswith(("thought", "think", "reason", "explanation", "plan", "criticism", "speak"))
