"""What became of a row, and why: the outcomes and reasons of the metrics in words, and what helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trajcompress.errors import NO_SUMMARY

OUTCOMES: Mapping[str, str] = {
    "compressed": "compressed",
    "skipped_under_target": "under the target already",
    "unchanged": "over the target, unchanged",
    "failed": "failed, original kept",
    "rejected": "rejected, not in the dataset",
}


UNCOUNTABLE = "uncountable_text"
"""The reason of rows that nobody can count: no length is known of them, so the metrics call them over their limit."""


@dataclass(frozen=True, slots=True)
class Reason:
    """What a reason means, and what to do about it; an empty ``remedy`` where nothing is."""

    meaning: str
    remedy: str = ""


_CUT_RESULTS = "--fit strict in place of --fit lenient, which leaves long tool results as they are"
_PROTECT_LESS = "protect less: a smaller --last-n-turns, or first_tool: false in protected_turns of the YAML"
_REPAIR = "repair it in the input, and run again"
_OTHER_KEYS = f"name other keys with --role-key and --content-key; else {_REPAIR}"
_TRY_AGAIN = (
    "the same command with --retry-failed tries it again; another --model, a --fallback-model or --on-failure "
    "extractive may be added"
)

_LARGER_THAN_MODEL = (
    "--summarizer-context N, what the model takes, or --prune safe, with --overwrite; summaries that there are "
    "are not asked for again"
)

_OR_NAMED = "or name it .gz, .bz2, .xz or .zst where it is compressed so"

REJECTED: Mapping[str, Reason] = {
    "unrepresentable": Reason("the output format cannot hold its values", "another --output-format"),
    "invalid_json": Reason("its line is no JSON", f"{_REPAIR}; a file that is one JSON document is named .json"),
    "invalid_utf8": Reason("its bytes are no UTF-8", f"save the file as UTF-8, {_OR_NAMED}, and run again"),
    "not_an_object": Reason("a row is a JSON object, and this is none", f'{_REPAIR}: {{"messages": […]}}'),
    "nested_too_deep": Reason("it holds more levels than can be read", _REPAIR),
    "number_too_long": Reason("it holds an integer of too many digits", _REPAIR),
    "row_too_large": Reason("its text is longer than a row can be", _REPAIR),
    "truncated_input": Reason("the input ends inside it", "get the file again"),
    "corrupt_input": Reason("the input is damaged here", "get the file again"),
    "not_compressed": Reason(
        "the file is not compressed as its name says", "name it without .gz, .bz2, .xz or .zst, or get the file again"
    ),
    "unreadable_file": Reason("the file cannot be read", "get the file again"),
    "unreadable_page": Reason("its part of the file cannot be read", "get the file again"),
    "unreadable_row": Reason("its values cannot be read", _REPAIR),
    "no_messages": Reason(
        "no column holds messages",
        "name it with --messages-field, and other keys of messages with --role-key and --content-key",
    ),
    "empty_messages": Reason("its list of messages is empty", _REPAIR),
    "messages_not_a_list": Reason("what should be its messages is no list", "name another --messages-field"),
    "turn_not_an_object": Reason("one of its turns is no object", _REPAIR),
    "turn_without_role": Reason("one of its turns names no role", _OTHER_KEYS),
    "turns_without_content": Reason("none of its turns says anything by a key that is known", _OTHER_KEYS),
}
"""Why a row could not be read, or could not be written."""

REASONS: Mapping[str, Reason] = {
    "pruned": Reason("with less of old tool results, most of them a line each, it fits without a summary"),
    "form_unfit": Reason(
        "the target of --for has no form that holds the row: it is as it was read, or in rejected.jsonl, as "
        "--save-unfit says",
        "change the row as its error says",
    ),
    "elided": Reason("long tool results of kept turns had to lose their middle, so that it fits"),
    "request_truncated": Reason("what was pasted into a long request had to lose its middle, so that it fits"),
    "single_turn": Reason(
        "one protected turn, or in segments one of the assistant, leaves no room for anything else",
        f"{_CUT_RESULTS}; else {_PROTECT_LESS}; in segments, or where it is over the target alone, a larger "
        "--target-max-tokens",
    ),
    "tool_group": Reason(
        "a segment of one tool group, which cannot be cut, is over the target even with its results as short as they "
        "get",
        "a larger --target-max-tokens",
    ),
    "no_assistant_turn": Reason("it has no assistant turn, so there is nothing to be learnt from it in segments"),
    "head": Reason(
        "no room is left for a summary, and the protected first turns have the largest share",
        f"{_CUT_RESULTS}; else first_tool, first_gpt or first_human: false in protected_turns of the YAML",
    ),
    "tail": Reason(
        "no room is left for a summary, and the protected last turns have the largest share",
        f"{_CUT_RESULTS}; else a smaller --last-n-turns, or --tail-tokens N",
    ),
    "no_middle": Reason(
        "all turns are protected, so there is nothing to replace", f"{_CUT_RESULTS}; else {_PROTECT_LESS}"
    ),
    "region_not_larger_than_summary": Reason(
        "the turns between the protected ones are no larger than their summary would be",
        f"{_PROTECT_LESS}; or a smaller --summary-target-tokens",
    ),
    "summary": Reason("the summaries came out longer than the room that was left", "another --model"),
    "passes_used_up": Reason("the summaries came out too long each time", "another --model, or more --max-passes"),
    "tools_schema": Reason(
        "no room is left for a summary, and the tool definitions, a column system, and what the template writes"
        " besides turns have the largest share",
        "fewer tools, or a shorter system prompt, in the row",
    ),
    "summary_saves_nothing": Reason("with the summary the row would be no shorter"),
    "template_refuses_summary": Reason(
        "the chat template takes the row, but not with a summary in it", "another --placement"
    ),
    UNCOUNTABLE: Reason("it holds lone surrogates, which no tokenizer can encode", _REPAIR),
    "below_min_tokens": Reason("it has fewer tokens than --min-tokens, so it is left out"),
    "over_limit": Reason("it is still over the limit, and such rows are left out", "--save-over-limit"),
    "trajectory_timeout": Reason("its summary took too long", "raise --per-trajectory-timeout"),
    "internal_error": Reason(
        "it met a mistake of trajcompress, and is as it was read, or in rejected.jsonl",
        "report it with its error; with a version that is mended, --retry-failed tries it again where its original "
        "was kept, and --overwrite where it is in rejected.jsonl, with the summaries that were paid for",
    ),
    **REJECTED,
}


NOT_SUMMARISED: Mapping[str, Reason] = {
    **{reason: Reason(words, _TRY_AGAIN) for reason, words in NO_SUMMARY.items()},
    "overlong_answer": Reason(
        "the model wrote far more than it was asked for, or what is needed of that does not fit", _TRY_AGAIN
    ),
    "summarizer_error": Reason(
        "the summariser of --summarizer raised an error, or returned no text",
        "mend it by what `trajcompress show` and `error` in metrics.parquet say of a row; the same command with "
        "--retry-failed tries it again",
    ),
    "truncated_answer": Reason("the answer was cut off, with the most room that is given", _TRY_AGAIN),
    "marked_answer": Reason("the answer held control marks of a chat", _TRY_AGAIN),
    "context_length_exceeded": Reason("longer than the model's window", _LARGER_THAN_MODEL),
    "context_too_small": Reason(
        "the goal, and what must survive, leave no room for turns in --summarizer-context",
        "a larger --summarizer-context, with --overwrite; summaries that there are are not asked for again",
    ),
    "request_exceeds_tpm": Reason(
        "a request has more tokens than --tpm allows in a minute",
        "raise --tpm as far as the account allows; the same command with --retry-failed tries it again",
    ),
}
"""Why no summary could be had, where the bare name does not say it."""


def explain(reason: str, outcome: str) -> Reason:
    """Say what a reason of the metrics means; one that is not known, as those of failed calls, is read as words."""
    known = REASONS.get(reason)
    if known is not None:
        return known
    why = NOT_SUMMARISED.get(reason, Reason(reason.replace("_", " "), _TRY_AGAIN))
    if outcome == "failed":
        return Reason(f"no summary could be had: {why.meaning}", why.remedy)
    return Reason(why.meaning)
