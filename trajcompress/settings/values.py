"""The values of settings that are more than a number, a text or a choice: how they are written, and their bounds."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit

from trajcompress.processes.late_patterns import late_re
from trajcompress.settings.choices import Role
from trajcompress.settings.summarizer_choice import SummarizerChoice

_SIZE = late_re(r"(\d{1,12})\s*([KMG]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_LIMIT = late_re(r"(?P<number>\d+(?:\.\d+)?)\s*%|(?P<count>\d+)")
_USERINFO = late_re(r"//.*@")
_QUERY = late_re(r"[?#][^'\"]*")
_ALL = Decimal(100)


@dataclass(frozen=True, slots=True)
class FailureLimit:
    """How many rows may fail or be rejected before a run counts as failed: rows, or a percentage of all rows."""

    number: Decimal = Decimal(0)
    percent: bool = False

    @classmethod
    def parse(cls, value: Any) -> "FailureLimit":
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
    def parse(cls, value: Any) -> "Shard":
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


class Size(int):
    """A number of bytes."""

    @classmethod
    def parse(cls, value: Any) -> "Size":
        """Read ``64MB``, ``64M`` or a number of bytes.

        Raises:
            ValueError: the value is no such size, or nothing.
        """
        match = None if isinstance(value, bool) else _SIZE.fullmatch(str(value).strip())
        if match is None or not int(match[1]):
            raise ValueError("should be a size such as 64MB")
        return cls(int(match[1]) * _UNITS[match[2].upper()])

    def __str__(self) -> str:
        unit = next((unit for unit in "GMK" if self % _UNITS[unit] == 0), "")
        return f"{self // _UNITS[unit]}{unit}B" if unit else str(int(self))


def _workers(value: Any) -> int | str:
    """Read ``auto`` or a number of processes."""
    if value == "auto" or (type(value) is int and value > 0):
        return str(value) if value == "auto" else int(value)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and int(value):
        return int(value)
    raise ValueError("should be auto or a number of processes such as 4")


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


def _observations(value: str) -> str:
    try:
        pattern = re.compile(value)
    except re.error as error:
        raise ValueError(f"should be auto, tool, or a regular expression: {error}") from None
    if (meant := value.strip().lower().removesuffix("s")) in {"auto", "tool"} and value not in {"auto", "tool"}:
        raise ValueError(f"should be {meant}")
    if pattern.search("") is not None:
        raise ValueError("should be a regular expression that is not found in every turn")
    return value


def _column_names(value: Any) -> Any:
    """Read ``messages,tools``; anything else is left to the type."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class Checked:
    """An annotation of pydantic's that is made when a value is checked: what --help needs imports no pydantic."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        """Take what makes the annotation, given the module ``pydantic``."""
        self.make = make

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        import pydantic

        return handler.generate_schema(Annotated[source, self.make(pydantic)])


Name: TypeAlias = Annotated[str, Checked(lambda pydantic: pydantic.Field(min_length=1))]
Count: TypeAlias = Annotated[int, Checked(lambda pydantic: pydantic.Field(ge=1))]
CountOrZero: TypeAlias = Annotated[int, Checked(lambda pydantic: pydantic.Field(ge=0))]
Seconds: TypeAlias = Annotated[float, Checked(lambda pydantic: pydantic.Field(gt=0))]
Dollars: TypeAlias = Annotated[float, Checked(lambda pydantic: pydantic.Field(gt=0))]
FloatOrZero: TypeAlias = Annotated[float, Checked(lambda pydantic: pydantic.Field(ge=0))]
Percent: TypeAlias = Annotated[float, Checked(lambda pydantic: pydantic.Field(gt=0, le=100))]
ObservationsRule: TypeAlias = Annotated[
    str,
    Checked(lambda pydantic: pydantic.Field(min_length=1)),
    Checked(lambda pydantic: pydantic.AfterValidator(_observations)),
]
Url: TypeAlias = Annotated[str, Checked(lambda pydantic: pydantic.AfterValidator(_http_url))]
VariableName: TypeAlias = Annotated[
    str, Checked(lambda pydantic: pydantic.Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$"))
]
ColumnNames: TypeAlias = Annotated[
    list[str],
    Checked(lambda pydantic: pydantic.Field(min_length=1)),
    Checked(lambda pydantic: pydantic.BeforeValidator(_column_names)),
]
RoleMap: TypeAlias = Annotated[dict[str, Role], Checked(lambda pydantic: pydantic.BeforeValidator(_role_map))]
ShardOf: TypeAlias = Annotated[Shard, Checked(lambda pydantic: pydantic.PlainValidator(Shard.parse))]
MaxFailed: TypeAlias = Annotated[FailureLimit, Checked(lambda pydantic: pydantic.PlainValidator(FailureLimit.parse))]
SizeInBytes: TypeAlias = Annotated[Size, Checked(lambda pydantic: pydantic.PlainValidator(Size.parse))]
WorkersOrAuto: TypeAlias = Annotated[int | str, Checked(lambda pydantic: pydantic.PlainValidator(_workers))]
SummarizerOf: TypeAlias = Annotated[
    SummarizerChoice, Checked(lambda pydantic: pydantic.PlainValidator(SummarizerChoice.parse))
]
