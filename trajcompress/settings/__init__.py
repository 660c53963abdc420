"""Settings: what they are (``model``), where they come from (``layers``), and the API key (``credentials``)."""

from __future__ import annotations

from trajcompress.settings.credentials import api_key, require_api_key
from trajcompress.settings.keys import KEYWORDS, OPTIONS
from trajcompress.settings.layers import Resolved, resolve, resolve_arguments
from trajcompress.settings.model import SETTINGS, Settings
from trajcompress.settings.values import FailureLimit

__all__ = [
    "KEYWORDS",
    "OPTIONS",
    "SETTINGS",
    "FailureLimit",
    "Resolved",
    "Settings",
    "api_key",
    "require_api_key",
    "resolve",
    "resolve_arguments",
]
