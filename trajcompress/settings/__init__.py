"""Settings: what they are (``model``), where they come from (``layers``), and the API key (``credentials``)."""

from __future__ import annotations

from trajcompress.settings.credentials import api_key, locate_api_key, require_api_key
from trajcompress.settings.keys import OPTIONS
from trajcompress.settings.layers import Resolved, resolve
from trajcompress.settings.model import (
    Compression,
    FailureLimit,
    Input,
    Output,
    Processing,
    ProtectedTurns,
    Settings,
    Summarization,
    Tokenizer,
)

__all__ = [
    "OPTIONS",
    "Compression",
    "FailureLimit",
    "Input",
    "Output",
    "Processing",
    "ProtectedTurns",
    "Resolved",
    "Settings",
    "Summarization",
    "Tokenizer",
    "api_key",
    "locate_api_key",
    "require_api_key",
    "resolve",
]
