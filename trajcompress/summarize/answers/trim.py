"""Cutting off what models write around a summary: wrappers, lead-ins, closing offers, marks of our prompt. Pure."""

from __future__ import annotations

import re

import msgspec

from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.answers.phrases import fold, is_ack, is_lead_in, is_offer, sentences

_ROUNDS = 4  # things that stand around each other
_MOST_LINE = 240  # characters of a lead-in or an offer
_MOST_END = 400  # characters in which marks behind a summary are looked for
_DELIMITER = late_re(r"^[ \t]*=====TURNS-[0-9a-f]{16}=====[ \t]*(?:\n|\Z)", re.MULTILINE)
_TAGGED = late_re(
    r"\s*(?:<(?P<thought>analysis|thought|thoughts|reasoning|scratchpad|reflection)>.*?</(?P=thought)>\s*)?"
    r"<(?P<tag>summary|record|answer|final|final_answer|output|response|result)>(?P<inside>.*)</(?P=tag)>\s*",
    re.DOTALL | re.IGNORECASE,
)
_FENCED = late_re(r"```(?:json|JSON)?[ \t]*\n(.*)\n?```", re.DOTALL)
_KEYS = ("summary", "record", "context_summary")
_LONE_KEYS = {"answer", "response", "result", "content", "text", "output"}
_LABEL = late_re(
    r"(?:#{1,6}[ \t]*(?:response|assistant|output|answer)|[*_]{0,2}(?:assistant|助手|assistent|asistente))"
    r"[*_]{0,2}[ \t]*[:：][*_]{0,2}[ \t]*|#{1,6}[ \t]*response[ \t]*\n",
    re.IGNORECASE,
)
_TURN_ENDS = late_re(
    r"(?:\s*(?:<[|｜](?:im_end|im_start|eot_id|end|endoftext|end_of_text|eom_id|end_of_turn|end▁of▁sentence|return"
    r"|END_OF_TURN_TOKEN)[|｜]>|</s>|<end_of_turn>|<eos>|\[/INST\]))+\s*\Z"
)
_TURN_BEGINS = late_re(
    r"\s*(?:<s>\s*)?(?:<\|im_start\|>\s*assistant\s*\n|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|"
    r"<start_of_turn>\s*model\s*\n|<[|｜]assistant[|｜]>|<\|start\|>assistant<\|channel\|>final<\|message\|>)"
)
_FINAL = "<|channel|>final<|message|>"  # behind thoughts, where a server hands on the channels of gpt-oss
_RULE = late_re(r"\n[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*\Z")
_POINT = late_re(r"[ \t]*(?:[-*+•>#|`]|\d{1,3}[.)])")
_LAST_SENTENCE = late_re(r"[.!?。！？؟।…][\"')*_]{0,4}[ \t\u3000]*(?=[^\s.!?。！？؟।…\"')*_])")


def trim(text: str) -> str:
    """Return the summary that stands in a text, without what leads to it and what closes it.

    Where nothing else is there, the text comes back, for others to judge. Linear in the text.
    """
    for _ in range(_ROUNDS):
        before, text = text, _round(text)
        if text == before:
            break
    return text


def _round(text: str) -> str:
    text = _without_end(_TURN_ENDS, text)
    text = _TURN_BEGINS.sub("", text, count=1) if _TURN_BEGINS.match(text) else text
    if text.lstrip().startswith("<|") and (final := text.rfind(_FINAL)) >= 0:
        text = text[final + len(_FINAL) :]
    text = _unwrapped(_DELIMITER.sub("", text).strip())
    text = _without_lead_in(text)
    return _without_offer(text)


def _without_end(pattern: re.Pattern[str], text: str) -> str:
    at = max(0, len(text) - _MOST_END)
    return text[:at] + pattern.sub("", text[at:])


def _unwrapped(text: str) -> str:
    if text.endswith(">") and (tagged := _TAGGED.fullmatch(text)):
        return tagged["inside"].strip()
    inside = fenced[1] if text.startswith("```") and (fenced := _FENCED.fullmatch(text)) else text
    if not inside.lstrip().startswith("{"):
        return text
    try:
        value = msgspec.json.decode(inside.encode())
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict):
        lone = tuple(key for key in value if len(value) == 1 and key in _LONE_KEYS)
        for key in (*_KEYS, *lone):
            if isinstance(value.get(key), str) and any(map(str.isalnum, value[key])):
                return str(value[key]).strip()
    return text


def _without_lead_in(text: str) -> str:
    line, newline, rest = text.partition("\n")
    if rest.strip() and len(line) <= _MOST_LINE:
        folded = fold(line.strip())
        said = list(sentences(line))
        if is_ack(folded) or (is_lead_in(said[-1]) if said and all(map(is_ack, said[:-1])) else False):
            return rest.strip()
    if label := _LABEL.match(text):
        behind = text[label.end() :].strip()
        return behind or text
    head, colon, behind = _up_to_colon(line)
    if colon and (behind.strip() or rest.strip()) and is_lead_in(fold(head)):
        return f"{behind.lstrip(' *_')}{newline}{rest}".strip()
    return text


def _up_to_colon(line: str) -> tuple[str, str, str]:
    at = min(
        (place for place in (line.find(":", 0, _MOST_LINE), line.find("：", 0, _MOST_LINE)) if place >= 0), default=-1
    )
    return (line, "", "") if at < 0 else (line[:at], line[at], line[at + 1 :])


def _without_offer(text: str) -> str:
    """Cut off the last sentence where it is an offer, in a line that is no point of a list, heading or code."""
    text = _without_end(_RULE, text).rstrip()
    begin = text.rfind("\n") + 1
    line = text[begin:]
    if _POINT.match(line) or text.count("```") % 2:
        return text
    ends = [match.end() for match in _LAST_SENTENCE.finditer(line, max(0, len(line) - 2 * _MOST_LINE))]
    at = begin + (ends[-1] if ends else 0)
    last = text[at:]
    folded = fold(last.strip(" \t*_"))
    if at and len(last) <= _MOST_LINE and not folded.endswith(('"', "'")) and is_offer(folded):
        return text[:at].rstrip()
    return text
