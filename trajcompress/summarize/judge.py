"""Whether an answer of a model can be used as a summary."""

from __future__ import annotations

from trajcompress.summarize.answer import Answer, clean_summary
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.markup import break_marks, find_marks
from trajcompress.summarize.prompt import overlong_note
from trajcompress.summarize.retry import Retry, one_line

AT_ONCE = {"truncated_answer", "overlong_answer", "marked_answer"}
"""The server is well; only the question must change."""

_NOTE_OF_MARKS = "it held a tag or a control mark of a chat; describe such marks in words"


def first_room(target_tokens: int) -> int:
    """Tokens a model may write at first: the summary, an overrun to be told of, and some thinking."""
    return 2 * target_tokens + 512


def judge(answer: Answer, request: SummaryRequest, *, asked_again: bool = False) -> str | Retry:
    """Return the summary that an answer holds, or why it holds none.

    One that is longer than asked is a summary all the same, up to the room that there was for it: whether it is too
    long shows in the row. Marks of a chat are refused; where the model was asked again and has none but those that it
    was given to read, they are broken instead.
    """
    if (failure := _failure(answer)) is not None:
        return failure
    text = clean_summary(answer.text)
    if not text:
        return Retry("empty_answer", "the model wrote nothing that could be a summary")
    if (size := request.count(text)) > first_room(request.target_tokens):
        return Retry("overlong_answer", overlong_note(size, request.target_tokens))
    if marks := find_marks(text, request.special_tokens):
        if not (asked_again and all(_was_read(mark, request) for mark in marks)):
            return Retry("marked_answer", f"it held {marks[0]!r}, which a chat reads as a control mark")
        text = break_marks(text, request.special_tokens)
    return text


def _failure(answer: Answer) -> Retry | None:
    if answer.finish_reason == "length":
        return Retry("truncated_answer", f"cut off after {answer.completion_tokens or 'all its'} tokens")
    if answer.refusal or answer.finish_reason == "content_filter":
        return Retry("refused_answer", one_line(answer.refusal or "stopped by a content filter"))
    if answer.finish_reason == "error":
        return Retry("bad_response", "the server broke off the answer")
    return None


def note_for(refused: Retry) -> str:
    """Return what the model is to be told of its last answer, or nothing."""
    if refused.reason == "marked_answer":
        return _NOTE_OF_MARKS
    return refused.detail if refused.reason == "overlong_answer" else ""


def _was_read(mark: str, request: SummaryRequest) -> bool:
    return mark in (request.previous or "") or any(
        mark in turn.text or mark in turn.reasoning or any(mark in call.arguments for call in turn.calls)
        for turn in request.region
    )
