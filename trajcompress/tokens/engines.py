"""Engines: what turns texts into numbers of tokens, in bulk.

The tokenizer's own backend is the reference. ``fastokens`` is about 80 times as fast and is used where it loads the
tokenizer and agrees with the reference on a probe of awkward texts; from then on about one text in a thousand is
counted by both. On the first disagreement it raises, so that the caller can count everything again with the
reference: a count is right or it is not given.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from trajcompress.errors import EngineMismatchError, UncountableTextError
from trajcompress.tokens.probe import PROBE

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    from tokenizers import Tokenizer

AUDIT_ONE_IN = 1024


class Engine(Protocol):
    """Counts texts. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """Named in the metrics."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, no special token added.

        Raises:
            UncountableTextError: a text holds lone surrogates.
            EngineMismatchError: this engine was caught miscounting.
        """
        ...


class ReferenceEngine:
    """Hugging Face tokenizers: the tokenizer's own backend, all texts in one call."""

    name = "huggingface"

    def __init__(self, backend: Tokenizer) -> None:
        self._backend = backend

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        try:
            return [
                len(encoding) for encoding in self._backend.encode_batch_fast(list(texts), add_special_tokens=False)
            ]
        except (TypeError, UnicodeEncodeError) as error:
            raise uncountable(texts, error) from error


class PythonEngine:
    """A tokenizer without such a backend (written in Python): one text at a time."""

    name = "python"

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        try:
            for text in texts:
                text.encode()  # some would take a lone surrogate, and guess
            return [len(self._tokenizer.encode(text, add_special_tokens=False)) for text in texts]
        except UnicodeEncodeError as error:
            raise uncountable(texts, error) from error


class FastEngine:
    """``fastokens``, audited against the reference."""

    name = "fastokens"

    def __init__(self, definition: str, reference: Engine, *, audit_one_in: int = AUDIT_ONE_IN) -> None:
        """Build from the JSON definition of the backend, after transformers may have changed it.

        Raises:
            ValueError: fastokens does not know this kind of tokenizer.
            EngineMismatchError: it knows it, and miscounts the probe.
        """
        from fastokens._native import Tokenizer as FastTokenizer  # the package's root needs transformers' shims

        self._tokenizer = FastTokenizer.from_json_str(definition)
        self._reference = reference
        self._audit_one_in = audit_one_in
        self._compare(PROBE, self._count(PROBE))

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        try:
            counts = self._count(texts)
        except (TypeError, UnicodeEncodeError) as error:
            raise uncountable(texts, error) from error
        audited = [i for i, text in enumerate(texts) if _fingerprint(text) % self._audit_one_in == 0]
        if audited:
            self._compare([texts[i] for i in audited], [counts[i] for i in audited])
        return counts

    def count_pieces(self, text: str, pieces: Sequence[str], delimiters: Sequence[str]) -> list[int]:
        """Return the number of tokens of each piece of a text that is cut in front of special tokens.

        The text is encoded whole, which takes two thirds of the time that its pieces take. Raises as :meth:`count`.
        """
        import numpy as np

        try:
            encoded, _ = self._tokenizer.encode_batch_flat([text])
        except (TypeError, UnicodeEncodeError) as error:
            raise uncountable([text], error) from error
        ids = np.frombuffer(encoded, "<u4")
        is_start = np.zeros(len(ids), bool)
        for delimiter in delimiters:  # there are one or two: np.isin takes as long as the encoding
            is_start |= ids == self._tokenizer.token_to_id(delimiter)
        starts = np.flatnonzero(is_start)
        before = [] if text.startswith(tuple(delimiters)) else [0]
        if len(before) + len(starts) != len(pieces):  # some text makes such a token without being one
            return self.count(pieces)
        if _fingerprint(text) % self._audit_one_in == 0:
            self._compare([text], [len(ids)])
        return _lengths([*before, *starts.tolist(), len(ids)])

    def _count(self, texts: Sequence[str]) -> list[int]:
        import numpy as np

        _, offsets = self._tokenizer.encode_batch_flat(list(texts))
        return _lengths(np.frombuffer(offsets, "<u8").tolist())

    def _compare(self, texts: Sequence[str], counts: list[int]) -> None:
        for text, count, expected in zip(texts, counts, self._reference.count(texts), strict=True):
            if count != expected:
                raise EngineMismatchError(f"fastokens counts {count} tokens, the tokenizer {expected}: {text[:80]!r}")


def _lengths(offsets: list[int]) -> list[int]:
    return [end - start for start, end in pairwise(offsets)]


def _fingerprint(text: str) -> int:
    """Return a number that spreads; a sample of the whole text goes in, as whole datasets begin with one prompt."""
    step = len(text) // 64 + 1
    return zlib.crc32(f"{len(text)}{text[::step]}{text[-64:]}".encode())


def uncountable(texts: Sequence[str], error: Exception) -> Exception:
    """Return the error to raise for texts that an engine did not take."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as reason:
            return UncountableTextError(f"no tokenizer can encode the lone surrogate at character {reason.start}")
    return error
