"""The section that says who writes the summaries, within which limits, and what they hold."""

from dataclasses import dataclass

from trajcompress.settings.choices import OWN_SUMMARIZERS, OnFailure, Redact
from trajcompress.settings.declare import Group, no_option, option
from trajcompress.settings.values import (
    Count,
    CountOrZero,
    Dollars,
    FloatOrZero,
    Name,
    Seconds,
    SummarizerOf,
    Url,
    VariableName,
)


@dataclass(frozen=True)
class Summarization:
    """Who writes the summaries."""

    summarizer: SummarizerOf | None = option(
        None,
        "--summarizer NAME|MODULE:FUNCTION",
        Group.SUMMARISER,
        "Who writes the summaries: extractive, openai (the --model), one that an installed package offers, or a "
        "function of your own, on the command line alone.",
        default_text="openai where a model is named, else extractive",
    )
    model: Name | None = option(
        None,
        "--model NAME",
        Group.SUMMARISER,
        "Model that writes the summaries. Naming one turns API calls on; without, summaries are extractive, offline "
        "and free.",
    )
    base_url: Url | None = option(
        None,
        "--base-url URL",
        Group.SUMMARISER,
        "OpenAI-compatible endpoint.",
        default_text="OpenAI's",
    )
    api_key_env: VariableName = option(
        "OPENAI_API_KEY",
        "--api-key-env VAR",
        Group.SUMMARISER,
        "Variable that holds the key, in the environment or .env.",
    )
    fallback_model: Name | None = option(
        None, "--fallback-model NAME", Group.SUMMARISER, "One try on this model where the first fails."
    )
    on_failure: OnFailure = option(
        "keep",
        "--on-failure",
        Group.SUMMARISER,
        "A row whose summary failed: keep the original, or use the built-in summariser.",
    )
    temperature: FloatOrZero | None = no_option(0.3, "Temperature of the model; null: send none.")
    context_tokens: Count | None = option(
        None,
        "--summarizer-context N",
        Group.SUMMARISER,
        "Tokens that the model takes at once, counted as rows are. What is longer is summarised piece by piece.",
        default_text="whatever there is in one request",
    )
    cache: Name | None = option(
        None,
        "--cache DIR",
        Group.SUMMARISER,
        "Keep summaries here for other runs, and take from here what they kept.",
        default_text="each run keeps its own",
        in_plan=False,
    )
    price_in: FloatOrZero | None = option(
        None,
        "--price-in USD",
        Group.SUMMARISER,
        "Price of a million tokens sent.",
        default_text="a table's, for well-known models",
    )
    price_out: FloatOrZero | None = option(
        None, "--price-out USD", Group.SUMMARISER, "Price of a million tokens written, thinking included."
    )
    price_cached: FloatOrZero | None = option(
        None,
        "--price-cached USD",
        Group.SUMMARISER,
        "Price of a million tokens sent that the provider finds in its cache.",
        default_text="that of any sent",
        in_plan=False,
    )
    batch: bool = option(
        False,
        "--batch",
        Group.CALLS,
        "Ask by the endpoint's Batch API: half the price, hours instead of minutes. The command ends with code 75 "
        "once batches are sent; the same command goes on with what they brought.",
    )
    batch_wait: bool = option(
        False, "--batch-wait", Group.CALLS, "Wait for batches instead of ending.", in_plan=False
    )
    batch_fallback: bool = option(
        False,
        "--batch-fallback",
        Group.CALLS,
        "What two batches were not answered for is asked by single calls, at their price, instead of failing.",
        in_plan=False,
    )
    rpm: Count | None = option(None, "--rpm N", Group.CALLS, "Requests per minute at most.")
    tpm: Count | None = option(None, "--tpm N", Group.CALLS, "Tokens per minute at most.")
    timeout: Seconds = no_option(120.0, "Seconds for one request.")
    max_retries: CountOrZero = option(8, "--max-retries N", Group.CALLS, "Further tries after a failed call.")
    retry_delay: FloatOrZero = no_option(2.0, "Seconds before the first retry; grows with each.")
    max_failures_in_a_row: Count = option(
        20,
        "--max-failures-in-a-row N",
        Group.CALLS,
        "After so many failed calls in a row all pause, and one at a time is tried until one is answered.",
        in_plan=False,
    )
    max_outage: Seconds = option(
        600.0,
        "--max-outage SECONDS",
        Group.CALLS,
        "How long to wait for a server that is down or asks for patience; then the run stops, and can go on later. "
        "One that never answered is given 30 seconds, one that cannot be reached 10.",
        in_plan=False,
    )
    max_cost: Dollars | None = option(
        None,
        "--max-cost USD",
        Group.CALLS,
        "What the calls of a run may cost, in all its sessions. Where one more would cost more, with those that are "
        "open, by what calls cost on average so far, it stops, and goes on with more.",
        in_plan=False,
    )
    redact: Redact = option(
        "egress",
        "--redact",
        Group.SUMMARIES,
        "Secrets (keys, tokens, passwords) become typed marks: egress: in what is sent and in summaries; dataset: in "
        "all columns; off.",
    )
    facts: bool = option(
        True,
        "--facts/--no-facts",
        Group.SUMMARIES,
        "Look up what kept turns rely on, and see to it that summaries tell it.",
    )
    focus: Name | None = option(
        None, "--focus TEXT", Group.SUMMARIES, "Topic that gets the larger share of each summary."
    )

    @property
    def is_built_in(self) -> bool:
        """Whether summaries are written by the built-in summariser alone, which calls nobody."""
        return self.model is None if self.summarizer is None else self.summarizer.spec == "extractive"

    @property
    def is_custom(self) -> bool:
        """Whether they are written by a summariser that is not ours."""
        return self.summarizer is not None and self.summarizer.spec not in OWN_SUMMARIZERS

    @property
    def called(self) -> str | None:
        """Who is called for summaries: a model, or a summariser that is not ours; None for the built-in one."""
        if self.is_built_in:
            return None
        return str(self.summarizer) if self.is_custom else self.model
