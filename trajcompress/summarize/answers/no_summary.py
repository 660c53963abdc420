"""Why an answer is no summary, though it holds text: rules in order, each by a reason of its own. Pure.

An answer is asked for once more where one of them holds, and then its row fails. So each looks at what the whole
answer is, or at how it begins; what a summary tells of or quotes is no matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.answers.copied import is_copy, is_prompt
from trajcompress.summarize.answers.phrases import Opening, fold, is_none, opening
from trajcompress.summarize.answers.shapes import is_call, is_dialogue, is_error, is_garbled, is_loop
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.transcript import shown_turns

_HEADING_WORDS = 8
_HEADING_CHARS = 80
_NAMED = 2  # names, paths or values of what was read: whoever names so many tells of it
_MOST_TOKENS = 200  # looked up for that
_CONCRETE = late_re(r"[^\W_][\w./:@#-]{0,120}[\w]")
_TELLING = late_re(r"\d|\w[._/:@-]\w|_|[a-z][A-Z]")
_MARKUP = late_re(r"[ \t]*(?:(?:[-*+•>]|\d{1,3}[.)])(?=\s|$))?[ \t]*")
_LABELLED = late_re(r"([^:：\n]{1,60})[:：][*_]{0,2}[ \t]*(.*)")
_WORD = late_re(r"\w+")
_UNSPACED = late_re(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0002ffff]")


class Read(Struct, frozen=True):
    """What the model was given to read."""

    request: SummaryRequest

    def texts(self) -> Iterator[str]:
        """Yield the texts of the turns, longest kinds first."""
        for turn in self.request.region:
            yield turn.text
            yield turn.reasoning
            yield from (call.arguments for call in turn.calls)

    def holds(self, text: str) -> bool:
        """Tell whether a text stands in it word for word."""
        return any(text in each for each in self.texts()) or text in (self.request.previous or "")

    def tells(self, text: str) -> bool:
        """Tell whether a text names things that stand in it, or facts that are needed."""
        tokens = dict.fromkeys(
            match[0] for match in _CONCRETE.finditer(text[: 40 * _MOST_TOKENS]) if _TELLING.search(match[0])
        )
        named = 0
        for token in [*(fact for fact in self.request.facts if fact in text), *list(tokens)[:_MOST_TOKENS]]:
            named += self.holds(token)
            if named >= _NAMED:
                return True
        return False


def why_no_summary(text: str, request: SummaryRequest) -> str | None:
    """Return why a cleaned answer is no summary, a key of :data:`NO_SUMMARY`, or None."""
    read = Read(request)
    talk = opening(_without_headings(text))
    rules: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("error_answer", partial(is_error, text)),
        ("call_answer", partial(is_call, text)),
        ("empty_answer", partial(_holds_nothing, text, talk, read)),
        ("refused_answer", partial(_refuses, text, talk, read)),
        ("garbled_answer", partial(is_garbled, text)),
        ("repeated_answer", partial(is_loop, text)),
        ("echoed_answer", partial(is_prompt, text)),
        ("dialogue_answer", partial(is_dialogue, text, read.holds)),
        ("echoed_answer", partial(_is_copy, text, request, read)),
    )
    return next((reason for reason, holds in rules if holds()), None)


def _holds_nothing(text: str, talk: Opening, read: Read) -> bool:
    """Tell whether there is only talk, headings, and points without anything in them."""
    kinds, ends = talk
    if kinds and ends:
        return "refusal" not in kinds
    if all(_is_bare(line) for line in text.splitlines()):
        return True
    words = len(_WORD.findall(text[:_HEADING_CHARS])) + len(_UNSPACED.findall(text[:_HEADING_CHARS])) // 2
    return (
        len(text) <= _HEADING_CHARS and words <= 1 and not (_TELLING.search(text) and read.holds(text.strip(" .`*")))
    )


def _refuses(text: str, talk: Opening, read: Read) -> bool:
    kinds, ends = talk
    if "refusal" not in kinds:
        return False
    headings = sum(line.lstrip().startswith("#") for line in text.splitlines())
    return not read.tells(text) and (ends or headings <= 1)


def _without_headings(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")) if "#" in text else text


def _is_bare(line: str) -> bool:
    """Tell whether a line is empty, a heading, or a point that holds nothing."""
    point = fold(line[_MARKUP.match(line).end() :]).strip()  # type: ignore[union-attr]  # it may match nothing
    plain = point.strip("#*_ \t")
    if not plain or is_none(plain):
        return True
    if labelled := _LABELLED.fullmatch(plain):
        return not labelled[2].strip() or is_none(labelled[2])
    is_heading = point.startswith("#") or (point.startswith("**") and point.rstrip(":").endswith("**"))
    short = len(plain) <= _HEADING_CHARS and len(_WORD.findall(plain)) <= _HEADING_WORDS
    return is_heading and short and not _TELLING.search(plain)


def _is_copy(text: str, request: SummaryRequest, read: Read) -> bool:
    shown = partial(shown_turns, request)
    return is_copy(text, [each for each in read.texts() if each], shown)
