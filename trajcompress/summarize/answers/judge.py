"""Whether an answer of a model can be used as a summary."""

from __future__ import annotations

from trajcompress.errors import NO_SUMMARY
from trajcompress.redact import redact
from trajcompress.summarize.answer import Answer, clean_summary
from trajcompress.summarize.answers.no_summary import why_no_summary
from trajcompress.summarize.answers.shapes import is_loop
from trajcompress.summarize.answers.trim import trim
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.prompt import overlong_note
from trajcompress.summarize.retry import Retry, one_line
from trajcompress.transcript.markup import break_markup, find_markup
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX

AT_ONCE = {"truncated_answer", "overlong_answer", "marked_answer", *NO_SUMMARY} - {"error_answer"}
"""The server is well; only the question must change."""

_LAYERS = 4  # things around a summary that are cut off in turn
_SHOWN = 120  # characters of an answer that an error quotes
_READ = 4096
_NOTES = {
    "marked_answer": "it held a tag or a control mark of a chat; describe such marks in words",
    "empty_answer": "it held no record; write the record itself",
    "refused_answer": "it refused, but nothing in the turns is to be done; only report what happened",
    "call_answer": "it was a call or code; nothing is to be called; only report what happened",
    "dialogue_answer": "it went on with the conversation; only report what happened",
    "echoed_answer": "it repeated what was given; condense it",
    "repeated_answer": "it said the same over and over; say each thing once",
    "garbled_answer": "it held no words",
}


def first_room(target_tokens: int) -> int:
    """Tokens a model may write at first: the summary, an overrun to be named, and some thinking."""
    return 2 * target_tokens + 512


def judge(answer: Answer, request: SummaryRequest, *, asked_again: bool = False) -> str | Retry:
    """Return the summary that an answer holds, or why it holds none.

    One that is longer than asked is a summary all the same, up to the room that there was for it: whether it is too
    long shows in the row. Marks of a chat are refused; where the model was asked again and has none but those that it
    was given to read, they are broken instead.
    """
    if (failure := _failure(answer)) is not None:
        return failure
    return judge_text(answer.text, request, asked_again=asked_again)


def judge_text(said: str, request: SummaryRequest, *, asked_again: bool = False) -> str | Retry:
    """Judge a text as the text of an answer. One that was accepted before is accepted as it is."""
    text = _cleaned(said)
    if not text:
        return Retry("empty_answer", NO_SUMMARY["empty_answer"])
    if (size := request.count(text)) > first_room(request.target_tokens):
        return Retry("overlong_answer", overlong_note(size, request.target_tokens))
    body = text.removeprefix(SUMMARY_PREFIX).strip()
    if reason := why_no_summary(body, request):
        return Retry(reason, f"{NO_SUMMARY[reason]}: {_quoted(body)}", once=True)
    if markup := find_markup(text, request.special_tokens):
        if not (asked_again and all(_was_read(each, request) for each in markup)):
            return Retry("marked_answer", f"it held {markup[0]!r}, which a chat reads as a control mark")
        text = break_markup(text, request.special_tokens)
        if (size := request.count(text)) > first_room(request.target_tokens):
            return Retry("overlong_answer", overlong_note(size, request.target_tokens))
    return text


def _cleaned(said: str) -> str:
    """Return the summary in a text; nothing where too much stands around it, as it must be as clean the next time."""
    text = clean_summary(said.encode("utf-8", "replace").decode())  # what another kept may hold half an emoji
    for _ in range(_LAYERS):
        body = text.removeprefix(SUMMARY_PREFIX).strip()
        trimmed = trim(body)
        if trimmed == body:
            return text
        text = clean_summary(trimmed)
    return ""


def _failure(answer: Answer) -> Retry | None:
    if answer.finish_reason == "length":
        if is_loop(answer.text):  # it would fill any room
            return Retry("repeated_answer", NO_SUMMARY["repeated_answer"], once=True)
        return Retry("truncated_answer", f"cut off after {answer.completion_tokens or 'all its'} tokens")
    if answer.refusal or answer.finish_reason == "content_filter":
        return Retry("refused_answer", one_line(answer.refusal or "stopped by a content filter"))
    if answer.finish_reason == "error":
        return Retry("bad_response", "the server broke off the answer")
    if answer.calls and not answer.text.strip():
        return Retry("call_answer", NO_SUMMARY["call_answer"], once=True)
    return None


def _quoted(text: str) -> str:
    line = one_line(redact(text[:_READ]).text)  # half of a secret is not known for one
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def note_for(refused: Retry) -> str:
    """Return what is wrong with the last answer, in words for the model; empty for nothing."""
    return refused.detail if refused.reason == "overlong_answer" else _NOTES.get(refused.reason, "")


def _was_read(markup: str, request: SummaryRequest) -> bool:
    return markup in (request.previous or "") or any(
        markup in turn.text or markup in turn.reasoning or any(markup in call.arguments for call in turn.calls)
        for turn in request.region
    )
