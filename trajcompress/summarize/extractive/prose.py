"""What the speakers say: decisions, findings, plans, requests."""

from __future__ import annotations

import re

from trajcompress.summarize.extractive.text import one_line, sentences, shorten, weigh, without_code

SENTENCE_CHARS = 280
_SENTENCES = 60
_LONG_PROMPT = 1_500
_MIN_CJK = 4
_MIN_SPACES = 2

_DECIDED = frozenset(
    (  # noqa: SIM905 - a literal of seventy strings would fill a screen
        "because instead therefore thus cause decided decide decision should must need needs required cannot can't "
        "not unable only confirmed confirm confirms confirming found fixed fix hypothesis conclude concluded due "
        "conclusion rather identified implemented resolved successfully issue problem bug error reason solution "
        "answer works worked passes passed failed fails failing verified however changed added updated removed"
    ).split()
)
_DECIDED_CJK = re.compile(
    r"因此|所以|决定|应该|需要|改为|原因|问题|确认|发现|无法|不能|已经|必须|因為|決定|應該|成功|失败"
    r"|ため|必要|べき|ので|でき|때문|결정|필요|따라서|원인|해야|완료|확인|없습니다|했습니다|되었습니다"
)
# Says what the next call says anyway.
_ANNOUNCE = re.compile(
    r"(?:(?:great|okay|ok|sure|perfect|good|alright|now|first|next|then|finally|so|and|certainly|i see|yes)"
    r"[,!.:]?\s){0,3}"
    r"(?:let'?s|let me|let us|i'?ll|i will|i'?m going to|we(?:'ll| will| can now)|i can|here is|here are|here's"
    r"|please)\b",
    re.IGNORECASE,
)
_REASON = frozenset({"because", "instead", "rather", "modify", "replace", "remove"})
_NOT_PROSE = re.compile(
    r"\[(?!.{1,200}\]\(http)|[/<>{}\]()=`~\\|:]|https?:|\"[\w:-]{1,40}\"\s?:|[\w.]{1,60}\s?=\s"
    r"|(?:def|class|import|from|return|raise|self\.|if .{0,80}:$)\b"
)
_PLEASANT = re.compile(
    r"(?:great|okay|ok|sure|perfect|thanks?|thank you|you'?re welcome|certainly|of course|hello|hi|sorry|i'?m sorry"
    r"|i apologi[sz]e|if you (?:have|need)|feel free|is there anything|let me know|i'?m glad|have a"
    r"|you can reach|good(?:bye)?"
    r"|好的|谢谢|不客气|很高兴|您好|你好|네|감사|안녕)(?![\w])?.{0,70}$|.{0,60}[:：]$",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:next|then|todo|remaining|remains|still|not yet|pending|left to|now|to do|let me|let'?s|i'?ll|i will"
    r"|need to|should)\b|接下来|下一步|还需要|仍然|然后|다음|아직|次に|まだ",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"(?:<(?:pr_description|issue|task|question|problem_statement|user_query)>|^ISSUE:"
    r"|^#{1,4} (?:General )?Task\b[^\n]{0,40}|^(?:Question|Task|Problem|Query|User|Instruction)\s?:)"
    r"\s{0,8}([^\s<][^\n]{0,600})",
    re.MULTILINE | re.IGNORECASE,
)
_SETTING = re.compile(
    r"(?:you are|you're|here is a|here are|a conversation between|as an|i've uploaded|i have uploaded"
    r"|setting:|remember|the user asks|you (?:can|have|will|must|should|may|need)|[<{\[]"
    r"|#{1,4} (?:tools?|instructions?)\b|begin|collect information|follow the|it is included|we'?re currently)",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_QUESTION = ("?", "？", '?"', "?'")


def is_prose(part: str) -> bool:
    """Whether a piece of text reads like a statement: not JSON, code, a path or a fragment."""
    if not part.isascii() and _CJK.search(part):
        return len(part) >= _MIN_CJK
    return part.count(" ") >= _MIN_SPACES and not _NOT_PROSE.match(part)


def goal(text: str) -> str:
    """Pick what a first request asks for; empty for a worked example."""
    if "demonstration" in text[:200]:
        return ""
    if task := _TASK.search(text):
        return shorten(one_line(task[1]), SENTENCE_CHARS)
    plain = without_code(text)
    said = sentences(f"{plain[:4000]}\n{plain[4000:][-1500:]}", _SENTENCES)
    telling = [part for part in said if not _SETTING.match(part) and not _PLEASANT.match(part)] or said
    whole = " ".join(telling)
    asked = [part for part in telling if part.endswith(_QUESTION)]
    long = len(text) > _LONG_PROMPT and asked
    return shorten(asked[-1] if long else whole, SENTENCE_CHARS)


def request(text: str) -> str:
    """Give what a later user turn says: all of it if short, else its beginning and its most telling sentence."""
    if task := _TASK.search(text):
        return shorten(one_line(task[1]), SENTENCE_CHARS)
    said = sentences(without_code(text), _SENTENCES)
    whole = " ".join(said)
    if len(whole) <= SENTENCE_CHARS:
        return whole
    telling = [part for part in said if is_prose(part)] or said
    best = max(telling, key=weigh)
    return " … ".join(shorten(part, SENTENCE_CHARS // 2) for part in dict.fromkeys((telling[0], best)))


def statements(text: str, about: frozenset[str]) -> list[tuple[str, float, bool]]:
    """Rank what is said: (sentence, score, whether it decides); announcements and courtesies are left out.

    A score of zero means that the sentence pins nothing down.
    """
    found = []
    for part in sentences(text, _SENTENCES):
        if not is_prose(part) or _PLEASANT.match(part):
            continue
        spoken = set(part.lower().split())
        if _ANNOUNCE.match(part) and not spoken & _REASON:
            continue
        decided = bool(spoken & _DECIDED) or (not part.isascii() and _DECIDED_CJK.search(part) is not None)
        found.append((shorten(part, SENTENCE_CHARS), weigh(part, about) + (1.0 if decided else 0.0), decided))
    return found


def plan(text: str) -> str:
    """Give the last thing that a turn says is still to do, or asks."""
    for part in reversed(sentences(without_code(text)[-3000:], _SENTENCES)):
        if (
            is_prose(part)
            and not _PLEASANT.match(part.rstrip(":："))
            and (part.endswith(_QUESTION) or _OPEN.search(part))
        ):
            return shorten(part.rstrip(":："), SENTENCE_CHARS)
    return ""
