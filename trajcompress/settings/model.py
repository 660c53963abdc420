"""Every setting, its type, its bounds and its default.

The values are plain and frozen. What a key is for stands in ``configs/default.yaml``, next to its default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    model_validator,
)

from trajcompress.settings.choices import Marks
from trajcompress.transcript.targets import Target
from trajcompress.transcript.trajectory import Role

DEFAULT_NOTICE = "Some of the earlier turns of this conversation were replaced by a summary to save space."
_LIMIT = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*%|(?P<count>\d+)")
_USERINFO = re.compile(r"//.*@")
_QUERY = re.compile(r"[?#][^'\"]*")
_ALL = Decimal(100)


@dataclass(frozen=True, slots=True)
class FailureLimit:
    """How many rows may fail or be rejected before a run counts as failed: rows, or a percentage of all rows."""

    number: Decimal = Decimal(0)
    percent: bool = False

    @classmethod
    def parse(cls, value: Any) -> FailureLimit:
        """Read ``5``, ``"5"`` or ``"2.5%"``.

        Raises:
            ValueError: the value is neither a whole number of rows nor a percentage from 0% to 100%.
        """
        if isinstance(value, FailureLimit):
            return value
        match = None if isinstance(value, bool) else _LIMIT.fullmatch(str(value).strip())
        if match is None:
            raise ValueError("should be a number of rows such as 10, or a percentage such as 5%")
        if match["count"] is not None:
            return cls(Decimal(match["count"]))
        number = Decimal(match["number"])
        if number > _ALL:
            raise ValueError("should be a percentage from 0% to 100%")
        return cls(number, percent=True)

    def exceeded(self, failed: int, total: int) -> bool:
        """Whether ``failed`` of ``total`` rows are more than allowed."""
        return failed * 100 > self.number * total if self.percent else failed > self.number

    def __str__(self) -> str:
        return f"{self.number}%" if self.percent else str(self.number)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` (from 1) of ``count`` parts."""

    number: int
    count: int

    @classmethod
    def parse(cls, value: Any) -> Shard:
        """Read ``1/8``.

        Raises:
            ValueError: the value is no such pair, or its number is not from 1 to its count.
        """
        if isinstance(value, Shard):
            return value
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", str(value).strip())
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise ValueError("should be a part such as 1/8, counted from 1")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def mask_secrets(url: str) -> str:
    """Hide the user, the password and the query that a URL may carry."""
    return _QUERY.sub("?***", _USERINFO.sub("//***@", url))


def _role_map(value: Any) -> Any:
    """Read ``agent=assistant,env=user``; anything else is left to the type."""
    if not isinstance(value, str):
        return value
    pairs = [pair.rpartition("=") for pair in value.split(",") if pair.strip()]
    if not all(name.strip() for name, _, _ in pairs):
        raise ValueError("should be pairs such as agent=assistant,env=user")
    return {name.strip(): role.strip() for name, _, role in pairs}


def _off(value: Any) -> Any:
    """Take YAML's ``off``, which is false there, for the word."""
    return "off" if value is False else value


def _http_url(value: str) -> str:
    try:
        parts = urlsplit(value)
    except ValueError:  # a malformed IPv6 host
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.netloc or not value.isprintable():
        raise ValueError("should be a URL such as http://127.0.0.1:8000/v1")
    try:
        (parts.hostname or "").encode("idna")
    except UnicodeError:
        raise ValueError("should name a host that can exist") from None
    if parts.username is not None:
        raise ValueError(
            "should hold no user or password: a request carries the key of api_key_env, and nothing else"
        )
    if value.rstrip("/").endswith("/chat/completions"):
        raise ValueError("should end before /chat/completions, which each request adds")
    if "?" in value or "#" in value:
        raise ValueError("should end with its path, such as /v1: a query would stand amid the URL of a request")
    return value


Name: TypeAlias = Annotated[str, Field(min_length=1)]
Count: TypeAlias = Annotated[int, Field(ge=1)]
CountOrZero: TypeAlias = Annotated[int, Field(ge=0)]
Seconds: TypeAlias = Annotated[float, Field(gt=0)]
Price: TypeAlias = Annotated[float, Field(ge=0)]
Percent: TypeAlias = Annotated[float, Field(gt=0, le=100)]
Url: TypeAlias = Annotated[str, AfterValidator(_http_url)]
VariableName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
RoleMap: TypeAlias = Annotated[dict[str, Role], BeforeValidator(_role_map)]
ShardOf: TypeAlias = Annotated[Shard, PlainValidator(Shard.parse), PlainSerializer(str)]
MaxFailed: TypeAlias = Annotated[FailureLimit, PlainValidator(FailureLimit.parse), PlainSerializer(str)]


class Section(BaseModel):
    """Base of the sections: no unknown keys, no guessing between types, no changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Tokenizer(Section):
    """Whose tokens are counted; ``name`` None is the built-in tokenizer."""

    name: Name | None = None
    trust_remote_code: bool = False


class Compression(Section):
    """The budget, in tokens; ``count`` None is ``template`` where the tokenizer has a chat template."""

    target_max_tokens: Count = 15250
    summary_target_tokens: Count | Literal["auto"] = 750
    count: Literal["template", "content"] | None = None
    placement: Literal["auto", "human", "fold"] = "auto"
    target: Target = "template"
    max_passes: Count = 3
    prune: Annotated[Literal["off", "safe", "all"], BeforeValidator(_off)] = "off"
    fit: Literal["lenient", "strict"] = "lenient"


class ProtectedTurns(Section):
    """Which turns no summary may replace."""

    first_system: bool = True
    first_human: bool = True
    first_gpt: bool = True
    first_tool: bool = True
    last_n_turns: CountOrZero = 4
    tail_tokens: Count | None = None


class Summarization(Section):
    """Who writes the summaries; ``model`` None is the built-in extractive summariser.

    ``retry_delay``, ``timeout`` (of one request) and ``max_outage`` are seconds; ``rpm`` and ``tpm`` are requests and
    tokens per minute, None for no limit; ``price_in`` and ``price_out`` USD per million tokens, None for those of the
    price table; ``temperature`` None sends none; ``base_url`` None is the OpenAI API.
    """

    model: Name | None = None
    base_url: Url | None = None
    api_key_env: VariableName = "OPENAI_API_KEY"
    temperature: Annotated[float, Field(ge=0)] | None = 0.3
    max_retries: CountOrZero = 8
    retry_delay: Annotated[float, Field(ge=0)] = 2.0
    timeout: Seconds = 120.0
    fallback_model: Name | None = None
    on_failure: Literal["keep", "extractive"] = "keep"
    max_failures_in_a_row: Count = 20
    max_outage: Seconds = 600.0
    rpm: Count | None = None
    tpm: Count | None = None
    price_in: Price | None = None
    price_out: Price | None = None
    cache: Name | None = None
    redact: Annotated[Literal["off", "egress", "dataset"], BeforeValidator(_off)] = "egress"
    context_tokens: Count | None = None
    facts: bool = True
    focus: Name | None = None


class Input(Section):
    """What is read, and how; None is the default or everything."""

    format: Literal["auto", "sharegpt", "openai"] = "auto"
    messages_field: Name | None = None
    role_map: RoleMap = Field(default_factory=dict)
    dataset: Name | None = None
    split: Name = "train"
    limit: Count | None = None
    sample_percent: Percent | None = None
    sample_count: Count | None = None
    seed: CountOrZero = 42
    min_tokens: Count | None = None
    shard: ShardOf | None = None


class Output(Section):
    """Where the run folder goes and what is in it.

    ``dir`` None is beside the first input; ``record`` None is a column on what was summarised in Parquet, and none
    in JSONL.
    """

    dir: Name | None = None
    format: Literal["parquet", "jsonl"] = "parquet"
    overwrite: bool = False
    add_summary_notice: bool = True
    summary_notice_text: str = DEFAULT_NOTICE
    marks: Marks = "none"
    record: bool | None = None
    output_suffix: str = "_compressed"
    log_file: Name | None = None


class Processing(Section):
    """How much at once, and what becomes of rows; ``per_trajectory_timeout`` is seconds, ``max_in_flight`` rows."""

    num_workers: Count | None = None
    max_concurrent_requests: Count = 50
    max_in_flight: Count = 256
    skip_under_target: bool = True
    save_over_limit: bool = True
    per_trajectory_timeout: Seconds = 300.0
    max_failed: MaxFailed | None = None


class Settings(Section):
    """All settings of a run.

    Raises:
        pydantic.ValidationError: a value is of the wrong type or out of range, or two values contradict each other.
    """

    tokenizer: Tokenizer = Tokenizer()
    compression: Compression = Compression()
    protected_turns: ProtectedTurns = ProtectedTurns()
    summarization: Summarization = Summarization()
    input: Input = Input()
    output: Output = Output()
    processing: Processing = Processing()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        target, summary = self.compression.target_max_tokens, self.compression.summary_target_tokens
        if summary != "auto" and summary >= target:
            raise ValueError(
                f"compression.summary_target_tokens ({summary}) should be less than "
                f"compression.target_max_tokens ({target}); auto sizes it by what it replaces",
            )
        if self.input.sample_percent is not None and self.input.sample_count is not None:
            raise ValueError("input.sample_percent and input.sample_count are two ways to say it; give one")
        if self.summarization.fallback_model is not None and self.summarization.model is None:
            raise ValueError("summarization.fallback_model needs summarization.model to fall back from")
        return self

    def flat(self) -> dict[str, Any]:
        """Every value by dotted key, as JSON; none is a secret."""
        sections: Mapping[str, Mapping[str, Any]] = self.model_dump(mode="json")
        return {f"{section}.{key}": value for section, keys in sections.items() for key, value in keys.items()}
