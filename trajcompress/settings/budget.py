"""The sections that say how long a row may be, in whose tokens, and what of it must stay."""

from dataclasses import dataclass
from typing import Literal

from trajcompress.settings.choices import (
    Counting,
    Fit,
    Form,
    MistralVersion,
    Mode,
    Placement,
    Prune,
    Target,
    TrainOn,
)
from trajcompress.settings.declare import Group, no_option, option
from trajcompress.settings.values import Count, CountOrZero, Name

LEAST_SUMMARY = 100
"""Tokens; in fewer a summary can tell nothing of a middle."""


@dataclass(frozen=True)
class Tokenizer:
    """Whose tokens are counted."""

    name: Name | None = option(
        None,
        "--tokenizer NAME_OR_DIR",
        Group.TRAINED,
        "Tokenizer of the model to be trained: a hub name, a folder, or one of OpenAI's models or vocabularies.",
        default_text="a built-in one",
    )
    trust_remote_code: bool = option(
        False, "--trust-remote-code", Group.TRAINED, "Run code that the tokenizer brings."
    )
    chat_template: Name | None = option(
        None,
        "--chat-template FILE",
        Group.TRAINED,
        "Jinja file whose chat template is rendered and counted in the place of the tokenizer's own.",
        default_text="the tokenizer's own",
    )


@dataclass(frozen=True)
class Compression:
    """The budget, in tokens, and how rows are made to fit it."""

    target_max_tokens: Count = option(
        15250, "--target-max-tokens N", Group.BUDGET, "Rows above this are compressed to it."
    )
    mode: Mode = option(
        "row",
        "--mode",
        Group.BUDGET,
        "row: an over-long row stays one row, with a summary where turns went. segments: it becomes as many rows as "
        "its turns need, each with a running summary of all before it, so that every assistant turn is trained once.",
    )
    segment_overlap: CountOrZero = option(
        0,
        "--segment-overlap N",
        Group.BUDGET,
        "With --mode segments, the last N tool groups of a segment stand again in the next, as context, marked so "
        "that the trainer leaves them out of the loss.",
    )
    train_summaries: bool = option(
        False,
        "--train-summaries",
        Group.BUDGET,
        "With --mode segments, besides write a row for each running summary, which teaches to write it.",
    )
    summary_target_tokens: Count | Literal["auto"] = option(
        750,
        "--summary-target-tokens N|auto",
        Group.BUDGET,
        "Room for a summary; auto: a fifth of what it replaces, 200 to 2000.",
    )
    max_passes: Count = option(
        3,
        "--max-passes N",
        Group.BUDGET,
        "Summaries of a row at most, where one is too long or leaves out what is needed.",
    )
    prune: Prune | None = option(
        None,
        "--prune",
        Group.BUDGET,
        "Old tool results become one line each: all: in kept turns, before any is summarised, which may be all that "
        "a row needs; safe: in what a model reads to summarise, which costs less, and tells it less; off: nowhere.",
        default_text="all",
    )
    keep_observations: CountOrZero = option(
        5,
        "--keep-observations N",
        Group.BUDGET,
        "With prune all the last N tool results are not cleared, and stay whole up to a quarter of the target.",
    )
    fit: Fit = option(
        "strict",
        "--fit",
        Group.BUDGET,
        "A row that is still too long: strict: long tool results of kept turns lose the middle, oldest first, where "
        "that makes it fit; lenient: protected turns stay as they are.",
    )
    count: Counting | None = option(
        None,
        "--count",
        Group.TRAINED,
        "template: the rendered chat template with the row's tools; content: the turns alone.",
        default_text="template where the tokenizer has one",
    )
    target: Target = option(
        "template",
        "--for",
        Group.TRAINED,
        "What will take the rows. They are written in its form, and with auto placement the summary is a turn of its "
        "own only where it takes a user turn there.",
        default_text="template, the tokenizer's own",
    )
    form: Form = option(
        "as-read",
        "--form",
        Group.WRITTEN,
        "target: rows are changed as little as it takes for the target of --for to read them right; as-read: a row "
        "that is not compressed is written as it was read.",
        default_text="target where --for names a trainer, else as-read",
    )
    trim_end: bool = option(
        False,
        "--trim-end/--no-trim-end",
        Group.WRITTEN,
        "With form target, cut turns after the last assistant turn, from which no trainer learns.",
        default_text="only for llama-factory and mistral, which refuse such rows",
    )
    mistral_version: MistralVersion = option(
        "v3",
        "--mistral-version",
        Group.TRAINED,
        "With --for mistral, the version of the model's tokenizer: from v7 it takes text beside calls, from v11 "
        "thoughts, from v13 ids of any form.",
    )
    assistant_only: bool = option(
        False,
        "--assistant-only",
        Group.TRAINED,
        "The trainer learns from assistant turns alone by the {% generation %} marks of a template "
        "(assistant_only_loss of TRL): with --for trl the training template is rendered and counted that TRL puts in "
        "the place of the tokenizer's own.",
    )
    train_on: TrainOn = option(
        "assistant",
        "--train-on",
        Group.TRAINED,
        "Which turns are in the loss; all: user turns too, so with auto placement a summary is a turn of its own, "
        "which marks can leave out, wherever the target takes one.",
    )
    placement: Placement = option(
        "auto",
        "--placement",
        Group.SUMMARIES,
        "human: the summary is a user turn of its own; fold: it joins a neighbouring turn; auto: human where that "
        "puts no two user turns side by side.",
    )


@dataclass(frozen=True)
class ProtectedTurns:
    """Which turns no summary may replace."""

    first_system: bool = no_option(True, "Protect the first system turn.")
    first_human: bool = no_option(True, "Protect the first user turn.")
    first_gpt: bool = no_option(True, "Protect the first assistant turn.")
    first_tool: bool = no_option(True, "Protect the first tool result.")
    last_n_turns: CountOrZero = option(4, "--last-n-turns N", Group.BUDGET, "Protect the last N turns.")
    tail_tokens: Count | None = option(
        None,
        "--tail-tokens N",
        Group.BUDGET,
        "Protect the tail by tokens, not by turns: at least 3 turns, and the last request.",
    )
