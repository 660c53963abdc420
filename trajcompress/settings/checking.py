"""Checks one value against its declaration. Pydantic, which does it, is imported with the first value."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from trajcompress.errors import SettingsError
from trajcompress.settings.keys import MEANINGLESS, hint
from trajcompress.settings.model import SETTINGS
from trajcompress.settings.values import mask_secrets

if TYPE_CHECKING:  # importing it would slow every --help down
    from pydantic import TypeAdapter, ValidationError

_LONGEST_SHOWN = 400


def checked(key: str, value: Any, origin: str, *, text: bool) -> Any:
    """The value as its type, parsed where it is ``text``; ``null`` is text for None where None is allowed.

    Raises:
        SettingsError: there is no such key, or the value is none of it; names ``origin`` and key.
    """
    if key in MEANINGLESS:
        return value
    if key not in SETTINGS:
        raise SettingsError(f"{origin}: unknown key {key}{hint(key)}")
    if text and value == "null" and SETTINGS[key].is_nullable:
        return None
    if value is False and "off" in SETTINGS[key].choices:  # what YAML makes of the word
        return "off"
    from pydantic import ValidationError

    adapter = _adapter(key)
    try:
        return adapter.validate_strings(value) if text else adapter.validate_python(value)
    except ValidationError as error:
        raise SettingsError(f"{origin}: {_why(key, error)}") from error


@cache
def _adapter(key: str) -> TypeAdapter[Any]:
    """What checks a value, without guessing between types."""
    from pydantic import ConfigDict, TypeAdapter

    return TypeAdapter(SETTINGS[key].annotation, config=ConfigDict(strict=True, allow_inf_nan=False))


def _why(key: str, error: ValidationError) -> str:
    if key == "summarization.api_key_env":  # a key pasted here by mistake must not reach a log
        return f"{key} should be the name of an environment variable, not the key itself"
    first, *others = error.errors(include_url=False)
    reason = plain(first["msg"])
    if isinstance(SETTINGS[key].default, dict):
        key = ".".join([key, *map(str, first["loc"])])
    else:  # of a union, each type says what it takes
        reason = " or ".join([reason, *(plain(other["msg"]).removeprefix("should be ") for other in others)])
    given = _shown(first["input"])
    return f"{key} {reason}, not {mask_secrets(given) if key == 'summarization.base_url' else given}"


def _shown(value: Any) -> str:
    """Return a value as it is told of: a tokenizer itself, which writes out its whole vocabulary, by its name."""
    named = getattr(value, "name_or_path", None)
    if isinstance(named, str):
        instead = repr(named) if named else "such as that which it was saved to"
        return f"a {type(value).__name__}; give its folder or hub name, {instead}"
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def plain(message: str) -> str:
    """Return what is wrong with a value in our words, without those that pydantic puts around them."""
    for prefix in ("Value error, ", "Input ", "String "):
        message = message.removeprefix(prefix)
    return message.partition(", unable to")[0]
