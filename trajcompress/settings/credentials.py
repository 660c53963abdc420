"""The API key: named by a setting, read from the environment or ``.env``, and kept out of :class:`Settings`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from trajcompress.errors import SettingsError
from trajcompress.settings.files import read_dotenv
from trajcompress.settings.model import Settings

PLACEHOLDER_KEY = "no-key-needed"  # the client insists on a key; local servers ignore it
_TAIL = 4
_LONG_ENOUGH_FOR_A_TAIL = 16


def locate_api_key(
    settings: Settings, environ: Mapping[str, str] | None = None, dotenv: Path | None = Path(".env")
) -> tuple[str, str] | None:
    """The key in the variable that ``summarization.api_key_env`` names and where it was found; None where unset.

    Raises:
        SettingsError: the ``.env`` file cannot be read.
    """
    name = settings.summarization.api_key_env
    environ = os.environ if environ is None else environ  # as it is now: a default would be copied by pickling
    if key := environ.get(name, "").strip():
        return key, "environment"
    if key := read_dotenv(dotenv).get(name, "").strip():
        return key, str(dotenv)
    return None


def api_key(
    settings: Settings, environ: Mapping[str, str] | None = None, dotenv: Path | None = Path(".env")
) -> str | None:
    """The key alone; see :func:`locate_api_key`."""
    found = locate_api_key(settings, environ, dotenv)
    return found[0] if found else None


def require_api_key(
    settings: Settings, environ: Mapping[str, str] | None = None, dotenv: Path | None = Path(".env")
) -> str:
    """The key to call the model with; a placeholder where a ``base_url`` is set and no key is.

    Raises:
        SettingsError: the OpenAI API is to be called and there is no key.
    """
    key = api_key(settings, environ, dotenv)
    if key is not None:
        return key
    if settings.summarization.base_url is not None:
        return PLACEHOLDER_KEY
    name = settings.summarization.api_key_env
    raise SettingsError(
        f"summarization.model is {settings.summarization.model}, but {name} is not set; "
        f"set {name}, name another variable with --api-key-env, or give --base-url"
    )


def mask_key(key: str) -> str:
    """Enough of a key to tell it from another: its last characters, where it is long."""
    return f"set (…{key[-_TAIL:]})" if len(key) >= _LONG_ENOUGH_FOR_A_TAIL else "set"
