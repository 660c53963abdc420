"""Builds the components of a run from its settings: policy, format options, form, writing, admission, counter."""

from __future__ import annotations

import os

from msgspec.structs import replace

from trajcompress.compaction.ladder import with_standard_ladder
from trajcompress.compaction.loss_marks import has_mark
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Protection, SummaryShare
from trajcompress.dataset.shape import Columns
from trajcompress.errors import SettingsError
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.form import Form
from trajcompress.forms.targets import form_for
from trajcompress.forms.tools import ToolsInSystem, written_out
from trajcompress.run.rows.output_rows import Writing
from trajcompress.run.rows.row import Admission
from trajcompress.settings import Settings
from trajcompress.settings.choices import ArgumentsAs
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import EngineChoice, load_tokenizer
from trajcompress.tokens.trained_template import Rendering
from trajcompress.transcript.observations import read_rule
from trajcompress.transcript.targets import DEMANDS

_HEAD_SHARE = 2  # what an agent's context is compacted to, divided by this, is for a head with a first step in it
_TAIL_SHARE = 4  # or for the tail by default


def check_segments(settings: Settings) -> None:
    """Raise SettingsError where options of segments are given without these, or context without marks for it."""
    compression, marks = settings.compression, settings.output.marks
    if compression.mode != "segments":
        for key, option in (("segment_overlap", "--segment-overlap"), ("train_summaries", "--train-summaries")):
            if getattr(compression, key):
                raise SettingsError(f"compression.{key}: {option} is of --mode segments; add it")
    elif compression.segment_overlap and not has_mark(marks, compression.target):
        raise SettingsError(
            "compression.segment_overlap: tool groups that stand again must be left out of the loss by a key of "
            "their messages: --marks auto with --for axolotl or openai, or --marks train, loss-mask or weight "
            "where your trainer reads that"
        )


def note_of_segments(settings: Settings) -> str | None:
    """Return what is to be known where turns are trained in two rows, as no mark leaves them out of one."""
    compression = settings.compression
    if not compression.train_summaries or has_mark(settings.output.marks, compression.target):
        return None
    return (
        f"rows of --train-summaries train the assistant's turns before their summary once more, as --for "
        f"{compression.target} has no mark that leaves these out of the loss: give the rows of kind summary a run of "
        "their own, that learns from the last turn alone, or take --marks with a trainer that reads them"
    )


def build_policy(settings: Settings) -> Policy:
    """Return what a compacted trajectory must be, and how it comes to be so."""
    protected, compression, output = settings.protected_turns, settings.compression, settings.output
    size, prune = compression.summary_target_tokens, compression.prune or "all"
    return with_standard_ladder(
        Policy(
            mode=compression.mode,
            segment_overlap=compression.segment_overlap,
            train_summaries=compression.train_summaries,
            target_max_tokens=compression.target_max_tokens,
            min_tokens=settings.input.min_tokens or 0,
            summary_size=SummaryShare() if size == "auto" else size,
            protection=Protection(
                first_system=protected.first_system,
                first_human=protected.first_human,
                first_gpt=protected.first_gpt,
                first_tool=protected.first_tool,
                last_n_turns=protected.last_n_turns,
                tail_tokens=protected.tail_tokens,
            ),
            placement=compression.placement,
            target=compression.target,
            refused_is_unfit=compression.form == "target" and DEMANDS[compression.target].stops_at_refusal,
            mistral=compression.mistral_version,
            assistant_only=compression.assistant_only,
            notice=output.summary_notice_text.strip() if output.add_summary_notice else None,
            max_passes=compression.max_passes,
            clear_observations=prune == "all",
            clear_read=prune == "safe" and not settings.summarization.is_built_in,
            keep_observations=compression.keep_observations,
            fit=compression.fit,
            skip_under_target=settings.processing.skip_under_target or compression.prune is None,
            redact=settings.summarization.redact != "off",
            marks=output.marks,
            train_on=compression.train_on,
            mapped_roles=frozenset(settings.input.role_map),
            focus=settings.summarization.focus,
            built_in_on_failure=settings.summarization.on_failure == "extractive",
            facts="asked" if settings.summarization.facts else "off",
            timeout_s=settings.processing.per_trajectory_timeout,
        )
    )


def build_live_policy(settings: Settings) -> Policy:
    """Return what the context of a running agent must be once it is compacted.

    No turn is there yet that could need a fact, and nobody learns from it, so what it acts on next comes before what
    it said long ago. The last request stays, and so does the system prompt as it is: a notice in it would cost the
    provider's prompt cache all that stands behind it.
    """
    policy = build_policy(settings)
    target = policy.target_max_tokens
    protection = replace(
        policy.protection,
        head_tokens=target // _HEAD_SHARE,
        tail_tokens=settings.protected_turns.tail_tokens or target // _TAIL_SHARE,
        last_request=True,
    )
    return replace(
        policy,
        mode="row",
        min_tokens=0,
        protection=protection,
        latest_share=_TAIL_SHARE,
        facts="off",
        notice=None,
        marks="none",
        train_on="assistant",
    )


def build_format_options(settings: Settings) -> FormatOptions:
    """Return how rows are read."""
    chosen = settings.input
    return FormatOptions(
        format=chosen.format,
        messages_field=chosen.messages_field,
        role_map=chosen.role_map,
        role_key=chosen.role_key,
        content_key=chosen.content_key,
        redact=settings.summarization.redact == "dataset",
        observations=read_rule(chosen.observations),
    )


def build_form(
    settings: Settings,
    arguments: ArgumentsAs,
    tools_in_system: ToolsInSystem = written_out,
    *,
    images: bool = True,
    tools_as_prose: bool = False,
) -> Form | None:
    """Return the form that rows take; None where they stay as they are read.

    ``arguments`` is what the chat template renders those of calls right as, ``tools_in_system`` shows tools as it
    does, ``images`` says whether it shows any, and ``tools_as_prose`` whether LLaMA-Factory's writes out tools.
    """
    chosen = settings.compression
    if chosen.form == "as-read":
        return None
    options = replace(build_format_options(settings), role_key=None, content_key=None)  # read by them, not written
    return form_for(
        chosen.target,
        options,
        arguments=arguments,
        tools_in_system=tools_in_system,
        images=images,
        tools_as_prose=tools_as_prose,
        trim_end=chosen.trim_end,
        mistral=chosen.mistral_version,
        assistant_only=chosen.assistant_only,
    )


def types_of(settings: Settings) -> Columns:
    """Return the types of columns that the target reads in one type only."""
    form = build_form(settings, "text")
    return form.types if form else {}


def build_form_with(settings: Settings, counter: TokenCounter) -> Form | None:
    """Return the form that rows take, as the chat template wants it that ``counter`` renders."""
    shows = counter.system_with_tools if counter.renders else written_out
    form = build_form(
        settings,
        counter.arguments_wanted(),
        shows,
        images=counter.takes_parts,
        tools_as_prose=counter.tools_as_prose,
    )
    return replace(form, refuses=counter.refuses) if form else None


def build_writing(settings: Settings) -> Writing:
    """Return what of a row is written.

    In JSON lines rows that did not change keep their bytes, so the others alone would say what a summary replaced;
    and ``datasets`` cannot load files where a column appears late. So they say it only on request.
    """
    output = settings.output
    is_parquet = output.format == "parquet"
    wanted = is_parquet if output.record is None else output.record
    return Writing(
        "off" if not wanted else "all" if is_parquet else "changed",
        output.columns,
        segments=settings.compression.mode == "segments",
        per_turn=output.per_turn_columns or (),
    )


def build_admission(settings: Settings) -> Admission:
    """Return which rows are left out of the dataset."""
    chosen = settings.processing
    return Admission(chosen.save_over_limit, settings.input.min_tokens, chosen.save_unfit)


def build_rendering(settings: Settings) -> Rendering:
    """Return what is said of the chat template that the trainer renders."""
    chosen = settings.compression
    return Rendering(
        chosen.target,
        settings.tokenizer.chat_template,
        assistant_only=chosen.assistant_only,
        mistral=chosen.mistral_version,
    )


def build_counter(settings: Settings, engine: EngineChoice = "auto", processes: int | None = None) -> TokenCounter:
    """Load the tokenizer; close the counter's tokenizer when done with it.

    ``processes`` is how many count where no fast engine does; as the settings say unless given.

    Raises:
        TokenizerError: it cannot be loaded.
        SettingsError: tokens of a chat template are asked for, and it has none, or the wanted one is not to be had.
    """
    chosen = settings.tokenizer
    tokenizer = load_tokenizer(
        chosen.name,
        trust_remote_code=chosen.trust_remote_code,
        engine=engine,
        workers=processes or count_workers(settings),
        rendering=build_rendering(settings),
    )
    if settings.compression.count == "template" and not tokenizer.has_template:
        tokenizer.close()
        raise SettingsError(
            f"compression.count: the tokenizer {tokenizer.name} carries no chat template to count by; name one that "
            "does (--tokenizer), or leave --count template out"
        )
    return TokenCounter(tokenizer, settings.compression.count)


def row_threads(settings: Settings, counter: TokenCounter) -> int:
    """Return how many threads work on rows: one, as it holds the interpreter, unless other processes count.

    A second one makes nothing faster, and what it takes to pass the interpreter on is some 7 % of the CPU of a run.
    """
    return count_workers(settings) if counter.tokenizer.counts_elsewhere else 1


def count_workers(settings: Settings) -> int:
    """Return how many rows are counted at once, where other processes count."""
    wanted = settings.processing.num_workers
    return wanted if isinstance(wanted, int) else os.cpu_count() or 1
