"""Actions under a label, as ``Action:``, in many languages. Pure."""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.text_protocols.acted import SCAN_CHARS, Acted, after_thought, without_end_token
from trajcompress.transcript.text_protocols.fenced_actions import fenced_calls
from trajcompress.transcript.text_protocols.written_calls import FINAL, json_or_text, named_calls, new_call
from trajcompress.transcript.trajectory import ToolCall

_LABELLED = late_re(
    r"^[ \t>#*]{0,8}(?:(?:ASSISTANT|Assistant|Agent) )?(?:(?:ACTION|Action|Act)(?:[ \t]?\d{1,3})?|COMMAND|CMD"
    r"|(?:TOOL|Tool)(?: Name)?"
    r"(?=[ \t]?\**[ \t]?:[^\n]{1,100}\n[ \t*]{0,8}(?:Tool )?(?i:input|arg|param))"
    r"|(?:工具|ツール|도구)"
    r"(?=[ \t]?[:：][^\n]{1,100}\n[ \t*]{0,8}(?:工具|ツール|도구)?(?:输入|参数|入力|引数|입력|인자))"
    r"|action(?=[ \t]?\**[ \t]?:[^\n]{1,100}\n[ \t*]{0,8}action[ _]input)|行动|行動|动作|操作|执行"
    r"|(?:Function|Tool)[ _][Cc]alls?(?=[ \t]?:[ \t]?[\[{])"
    r"|アクション|행동|액션|AKTION|Aktion|BEFEHL|KOMMANDO|ACCIÓN|Acción|COMANDO|AZIONE|Azione|AÇÃO|Ação|COMMANDE"
    r"|ДЕЙСТВИЕ|Действие|КОМАНДА|Команда|命令|指令|コマンド|명령)[ \t]?\**[ \t]?[:：][ \t*]{0,8}",
    re.MULTILINE,
)
_LABEL_HINTS = (
    *(
        "ction",
        "CTION",
        "Act",
        "COMMAND",
        "ommand: ",
        "CMD",
        "Tool",
        "TOOL",
        "：",
        "행",
        "アク",
        "AKTION",
        "Aktion",
        "BEFEHL",
    ),
    *("KOMMANDO", "ACCIÓN", "Acción", "COMANDO", "AZIONE", "Azione", "AÇÃO", "Ação", "ЕЙСТВИЕ", "ействие"),
    *("КОМАНДА", "Команда", "命令", "指令", "コマ", "명령"),
)
_INPUT = late_re(
    r"\n[ \t*]{0,8}(?:(?:ASSISTANT|Assistant|Agent) )?(?:(?i:(?:action|tool)[ _]input)|Input|INPUT"
    r"|Arg(?:ument)?s?|Param(?:eter)?s|行动输入"
    r"|动作输入|输入|参数|入力|引数|입력|인자)[ \t]?\**[ \t]?[:：][ \t*]{0,4}"
)
_WITH_INPUT = late_re(r"(?<=\w) with action input: ?(?=\{)", re.IGNORECASE)
_NEXT_LABEL = late_re(
    r"\n[ \t*]{0,8}(?:(?:Observation|OBSERVATION|Thought|THOUGHT|PAUSE|Obs)\b[ \t\d]{0,4}\**:?|(?:观察|思考|観察|관찰"
    r"|생각)[:：])"
)
_INPUT_CHARS = 200  # of a turn, in which its label stands
_IMAGINED = ("obs", "观", "観", "관")


def labelled(text: str) -> Acted | None:
    """Read the last ``Action:`` line of a turn; what an agent goes on to imagine behind it was not executed."""
    if not holds_any(text, _LABEL_HINTS):
        return None
    labels = list(_LABELLED.finditer(text))
    if not labels:
        return None
    imagined = _NEXT_LABEL.search(text, labels[0].end())
    label = labels[-1]
    if imagined and imagined[0].lstrip(" \n\t*").lower().startswith(_IMAGINED) and not _ends_with(text, label):
        label = labels[0]
    ended = _NEXT_LABEL.search(text, label.end())
    body = text[label.end() : ended.start() if ended else len(text)].strip()
    if not body:
        return None
    if (given := _INPUT.search(body) or _WITH_INPUT.search(body)) is not None:
        name = body[: given.start()].strip(" `*\n")
        call = new_call(name, json_or_text(body[given.end() :].strip()))
        return Acted((call,), "named", label.start())
    calls = named_calls(body) or fenced_calls(body)
    if not calls:
        line = body.partition("\n")[0].strip(" `")
        calls = (new_call(line if "```" in body else "", line),)
    return Acted(calls, "named", label.start())


def labelled_calls(text: str) -> tuple[ToolCall, ...]:
    """Read the calls under all ``Action:`` lines of a turn; nothing where one has no name with its input."""
    said = without_end_token(text[after_thought(text) :][-SCAN_CHARS:])
    labels = list(_LABELLED.finditer(said)) if holds_any(said, _LABEL_HINTS) else []
    ends = [label.start() for label in labels[1:]] + [len(said)] * bool(labels)
    calls: list[ToolCall] = []
    for label, end in zip(labels, ends, strict=True):
        body = said[label.end() : end]
        ended = _NEXT_LABEL.search(body)
        body = body[: ended.start() if ended else None].strip()
        given = _INPUT.search(body)
        read = (
            (new_call(body[: given.start()].strip(" `*\n"), json_or_text(body[given.end() :].strip())),)
            if given
            else named_calls(body)
        )
        if len(read) != 1:
            return ()
        calls += read
    return tuple(calls)


def is_input(text: str) -> bool:
    """Whether a text begins with the label of an action's input, the action of which stands before it."""
    return _INPUT.match(f"\n{text[:_INPUT_CHARS].lstrip()}") is not None


def _ends_with(text: str, label: re.Match[str]) -> bool:
    """Whether a label stands before the answer, with which all is told: what runs it, and what it is asked for."""
    calls = named_calls(text[label.end() :].strip().partition("\n")[0])
    return bool(calls) and calls[0].name.lower() in FINAL
