"""The tokenizer that mistral-common reads of a folder: ``tekken.json``, or a SentencePiece model.

transformers makes a tokenizer of its own of such files, which is not the same one: it orders the merges of a
SentencePiece model by the ids of its tokens, not by their scores, and so splits some texts into fewer tokens. Who
trains with mistral-common trains on what this one counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

from trajcompress.errors import SettingsError, TokenizerError
from trajcompress.processes.late_patterns import late_re
from trajcompress.settings.choices import MistralVersion
from trajcompress.tokens.engines import uncountable
from trajcompress.tokens.mistral import BOS, EOS, MistralTemplate, control_tokens

_TEKKEN = "tekken.json"
_SENTENCEPIECE = late_re(r".*\.model(\.v\d+(m\d+)?)?")
"""Names of SentencePiece models, with the version of Mistral's tokenizers behind them, or without."""


class MistralEngine:
    """mistral-common's own tokenizer: control tokens as one, any other text by itself."""

    name = "mistral-common"

    def __init__(self, tokenizer: Any, control: frozenset[str]) -> None:
        self._tokenizer = tokenizer
        self._control = control

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        try:
            for text in texts:
                text.encode()
            return [
                1 if text in self._control else len(self._tokenizer.encode(text, bos=False, eos=False))
                for text in texts
            ]
        except UnicodeEncodeError as error:
            raise uncountable(texts, error) from error


@dataclass(frozen=True, slots=True)
class MistralTokenizer:
    """What mistral-common reads of a folder: the engine that counts, the template that it counts for, a digest."""

    engine: MistralEngine
    template: MistralTemplate
    digest: str = field(repr=False)


def read_mistral(name: str, version: MistralVersion) -> MistralTokenizer | None:
    """Return the tokenizer that mistral-common reads of a folder or repository; None where it reads none.

    Raises:
        TokenizerError: there is nothing else to count by but a file that mistral-common has to read, and cannot.
        SettingsError: the file is of another version.
    """
    folder = _folder_of(name)
    if folder is None or (file := _file_in(folder)) is None:
        return None
    if find_spec("mistral_common") is None or (file.name != _TEKKEN and find_spec("sentencepiece") is None):
        if (file.parent / "tokenizer.json").exists():
            return None
        raise TokenizerError(
            f"tokenizer {name}: {file.name} is counted for Mistral by mistral-common, which is not installed, and by "
            "nothing else as it counts: pip install 'trajcompress-cli[mistral]'"
        )
    try:
        tokenizer = _load(file, version)
    except Exception as error:  # whatever is raised for a file that is damaged
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise TokenizerError(f"tokenizer {name}: {file.name}: mistral-common cannot load it: {reason}") from error
    wanted = control_tokens(version)
    if not all(map(tokenizer.is_special, control_tokens("v3"))):
        return None
    if (own := str(tokenizer.version)) != version:
        known = own in get_args(MistralVersion)
        remedy = f"give --mistral-version {own}" if known else "which is not known here: name another tokenizer"
        raise SettingsError(
            f"compression.mistral_version: {version}, but {file.name} in {name} is of {own}: {remedy}"
        )
    lacks = tuple(token for token in wanted if not tokenizer.is_special(token))
    engine = MistralEngine(tokenizer, frozenset({BOS, EOS, *wanted}) - {*lacks})
    template = MistralTemplate(version, BOS, EOS, lacks=lacks)
    return MistralTokenizer(engine, template, hashlib.sha256(file.read_bytes()).hexdigest())


def _folder_of(name: str) -> Path | None:
    """Return the folder that a name is, or in which files of a hub repository are once they were fetched."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    if Path(name).is_dir():
        return Path(name)
    with suppress(HFValidationError):  # no name of a repository
        for file in (_TEKKEN, "tokenizer.model"):
            if isinstance(found := try_to_load_from_cache(name, file), str):
                return Path(found).parent
    return None


def _file_in(folder: Path) -> Path | None:
    """Return the file of a folder that mistral-common would read: Tekken's, else the last SentencePiece model."""
    if (folder / _TEKKEN).is_file():
        return folder / _TEKKEN
    models = [path for path in folder.iterdir() if _SENTENCEPIECE.fullmatch(path.name) and path.is_file()]
    return max(models, key=lambda path: path.name, default=None)


def _load(file: Path, version: MistralVersion) -> Any:
    from mistral_common.tokens.tokenizers.base import TokenizerVersion
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    if file.name == _TEKKEN:
        return Tekkenizer.from_file(file)
    # A name without a version tells none, though mistral-common takes it for the first.
    return SentencePieceTokenizer(file, TokenizerVersion(version) if file.suffix == ".model" else None)
