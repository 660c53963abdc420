"""What is sent for a summary: its prompt without secrets, and the key under which its answer is stored."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from trajcompress.redact import redact
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.prompt import PROMPT_VERSION, Prompt, build_prompt


class BuiltPrompt(NamedTuple):
    """What is sent, and how many secrets were taken out of it."""

    prompt: Prompt
    redactions: int


class PromptBuilder:
    """Builds prompts, and the keys of requests.

    Args:
        model: the model's name at the endpoint.
        base_url: the endpoint.
        temperature: what is asked for, whether or not the server takes it.
        redact_secrets: whether secrets in what is sent become marks.
    """

    def __init__(self, model: str, base_url: str | None, temperature: float | None, *, redact_secrets: bool) -> None:
        self._model = model
        self._base_url = base_url
        self._temperature = temperature
        self._redact = redact_secrets
        self._built: tuple[SummaryRequest, BuiltPrompt] | None = None  # asked for twice: for its key, and to be sent

    def key(self, request: SummaryRequest, *, anywhere: bool) -> str:
        """Return a digest of what shapes the answer to a request; ``anywhere``: but for the endpoint's URL."""
        built = self.build(request)
        shaping = (
            *(() if anywhere else (self._base_url,)),
            self._model,
            self._temperature,  # as asked for: a run that goes on does not know yet what the server takes
            PROMPT_VERSION,
            request.target_tokens,
            built.prompt.system,
            built.prompt.user,
        )
        return hashlib.sha256(msgspec.json.encode(shaping)).hexdigest()

    def build(self, request: SummaryRequest, note: str = "") -> BuiltPrompt:
        """Return the prompt of a request; ``note`` says in it what was wrong with the last answer."""
        if self._built is not None and self._built[0] is request and not note:
            return self._built[1]
        prompt, redactions = build_prompt(request, note=note), 0
        if self._redact:
            clean = redact(prompt.user)
            prompt, redactions = replace(prompt, user=clean.text), clean.count
        built = BuiltPrompt(prompt, redactions)
        if not note:
            self._built = (request, built)
        return built
