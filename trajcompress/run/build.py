"""Builds the components of a run from its settings: rules, reading, counter, summariser and rate limiter."""

from __future__ import annotations

import os
from dataclasses import replace

from trajcompress.compaction.ladder import with_standard_ladder
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Protection, SummaryShare
from trajcompress.dataset.shape import Columns
from trajcompress.errors import SettingsError
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.calls import ArgumentsAs
from trajcompress.forms.form import Form
from trajcompress.forms.targets import form_for
from trajcompress.forms.tools import ToolsInSystem, written_out
from trajcompress.run.prices import listed_price, price_of
from trajcompress.run.row import Admission, Provenance
from trajcompress.settings import Settings, require_api_key
from trajcompress.settings.values import mask_secrets
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.cache.summarizer import StoredSummarizer, Stores
from trajcompress.summarize.chunks import ChunkingSummarizer, least_context
from trajcompress.summarize.custom.load import load_summarizer
from trajcompress.summarize.custom.summarizer import CustomSummarizer
from trajcompress.summarize.endpoint.batch.store import BatchStore
from trajcompress.summarize.endpoint.breaker import BreakerSummarizer
from trajcompress.summarize.endpoint.client import OpenAISummarizer
from trajcompress.summarize.endpoint.connection import Endpoint
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.outage import Outage
from trajcompress.summarize.endpoint.priced import Price, PricedSummarizer
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.summarize.fallback import FallbackSummarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import EngineChoice, load_tokenizer
from trajcompress.tokens.trained_template import Rendering
from trajcompress.transcript.observations import read_rule


def build_policy(settings: Settings) -> Policy:
    """Return what a compacted trajectory must be, and how it comes to be so."""
    protected, compression, output = settings.protected_turns, settings.compression, settings.output
    size, prune = compression.summary_target_tokens, compression.prune or "all"
    return with_standard_ladder(
        Policy(
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
) -> Form | None:
    """Return the form that rows take; None where they stay as they are read.

    ``arguments`` is what the chat template renders those of calls right as, ``tools_in_system`` shows tools as it
    does, and ``images`` says whether it shows any.
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
    return build_form(settings, counter.arguments_wanted(), shows, images=counter.takes_parts)


def build_provenance(settings: Settings) -> Provenance:
    """Return which rows say in a column what a summary replaced, and what the form of a target changed.

    In JSON lines rows that did not change keep their bytes, so the others alone would have the column; and
    ``datasets`` cannot load files where one appears late. So they have it only on request.
    """
    is_parquet = settings.output.format == "parquet"
    wanted = is_parquet if settings.output.record is None else settings.output.record
    return "off" if not wanted else "all" if is_parquet else "changed"


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


def require_context(settings: Settings, counter: TokenCounter) -> None:
    """Raise SettingsError where what a model takes at once leaves no room for turns."""
    context, size = settings.summarization.context_tokens, settings.compression.summary_target_tokens
    if context is None:
        return
    most = SummaryShare().ceiling if size == "auto" else size
    if context < (least := least_context(most, counter.count_text)):
        raise SettingsError(
            f"summarization.context_tokens: {context} leaves no room for turns beside the instructions and "
            f"summaries of {most} tokens; it should be {least} at least (--summarizer-context), or the summaries "
            "shorter (--summary-target-tokens)"
        )


def count_workers(settings: Settings) -> int:
    """Return how many rows are counted at once."""
    wanted = settings.processing.num_workers
    return wanted if isinstance(wanted, int) else os.cpu_count() or 1


def build_limiter(settings: Settings) -> RateLimiter:
    """Return what admits calls of the models."""
    chosen = settings.summarization
    return RateLimiter(chosen.rpm, chosen.tpm, settings.processing.max_concurrent_requests)


def build_summarizer(
    settings: Settings,
    stores: Stores | None = None,
    limiter: RateLimiter | None = None,
    batches: BatchStore | None = None,
) -> Summarizer:
    """Return the summariser: the built-in one unless a model is named, with a limiter of its own unless one is given.

    With a store of ``batches`` models are asked by these.

    Raises:
        SettingsError: a key is needed and there is none.
    """
    chosen = settings.summarization
    if chosen.is_built_in:
        return ExtractiveSummarizer()
    if chosen.is_custom:
        return _standing_in(build_custom(settings, stores, limiter), settings)
    assert chosen.model is not None  # noqa: S101 - as it is neither of these
    key = require_api_key(settings)
    admitting = limiter or build_limiter(settings)

    outage = Outage(
        admitting,
        url=mask_secrets(chosen.base_url or "https://api.openai.com/v1"),
        first_pause_s=chosen.retry_delay,
        most_in_a_row=chosen.max_failures_in_a_row,
        max_retries=chosen.max_retries,
        max_outage_s=chosen.max_outage,
    )

    def model(name: str, max_retries: int, price: Price | None, *, is_last: bool) -> PricedSummarizer:
        endpoint = Endpoint(
            model=name,
            base_url=chosen.base_url,
            api_key=key,
            temperature=chosen.temperature,
            timeout=chosen.timeout,
        )
        asked = OpenAISummarizer(
            endpoint,
            max_retries=max_retries,
            retry_delay=chosen.retry_delay,
            limiter=admitting,
            outage=outage,
            is_last=is_last,
            batches=batches,
            sends_single=chosen.batch_fallback,
            redact_secrets=chosen.redact != "off",
        )
        return PricedSummarizer(asked, price)

    other = chosen.fallback_model
    first = model(chosen.model, chosen.max_retries, price_of(settings), is_last=other is None)
    kept = StoredSummarizer(first, stores, fallback=other) if stores else None
    models: Summarizer = kept or first
    if other is not None:
        second = model(other, 0, listed_price(other), is_last=True)
        models = FallbackSummarizer(
            models,
            model=StoredSummarizer(second, stores) if stores else second,
            replaced=kept.keep_failure if kept else None,
        )
    return _standing_in(BreakerSummarizer(models, outage, settings.processing.per_trajectory_timeout), settings)


def build_custom(settings: Settings, stores: Stores | None, limiter: RateLimiter | None) -> Summarizer:
    """Return the summariser of the user's own that is asked for.

    Raises:
        SettingsError: it cannot be found, or is none.
    """
    chosen = settings.summarization
    assert chosen.summarizer is not None  # noqa: S101 - else nobody asks for it
    own = CustomSummarizer(
        load_summarizer(chosen.summarizer),
        limiter=limiter or build_limiter(settings),
        redact_secrets=chosen.redact != "off",
        most_in_a_row=chosen.max_failures_in_a_row,
    )
    return StoredSummarizer(own, stores) if stores else own


def _standing_in(summarizer: Summarizer, settings: Settings) -> Summarizer:
    """Return it within its context, and with its fallback."""
    chosen = settings.summarization
    if chosen.context_tokens is not None:
        summarizer = ChunkingSummarizer(summarizer, chosen.context_tokens)
    if chosen.on_failure == "extractive":
        return FallbackSummarizer(summarizer, builtin=ExtractiveSummarizer())
    return summarizer
