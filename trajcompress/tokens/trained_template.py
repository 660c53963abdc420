"""The chat template that a trainer renders: the tokenizer's own, one in a file, or one with marks of what is trained.

A trainer that learns from assistant turns alone may find them by the ``{% generation %}`` marks of a template. TRL
brings templates with such marks for well-known models, puts them in the place of the models' own, and refuses others.
They are read from the installed ``trl``, so that what is counted is what that version renders.
"""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jinja2
from msgspec import Struct

from trajcompress.errors import SettingsError, TokenizerError
from trajcompress.processes.late_patterns import late_re
from trajcompress.settings.choices import MistralVersion, Target

OWN = "the tokenizer's own"

_BY_MARKS: frozenset[Target] = frozenset({"template", "trl"})
"""Targets that may find assistant turns by the marks of a template."""

_MARKS = late_re(r"\{%-?\s*generation\s*-?%\}")
_TRAINING = "_training.jinja"


class Rendering(Struct, frozen=True):
    """What is said of the template: who renders it, a file to take it from, whether marks tell what is trained.

    ``mistral`` is the version of the tokenizer where the target is mistral.
    """

    target: Target = "template"
    chat_template: str | None = None
    assistant_only: bool = False
    mistral: MistralVersion = "v3"

    @property
    def note(self) -> str | None:
        """What to say of marks that are asked for in vain."""
        if self.assistant_only and self.target not in _BY_MARKS:
            return (
                f"--assistant-only changes nothing: {self.target} finds assistant turns without marks of a template"
            )
        return None


class Chosen(Struct, frozen=True):
    """A chat template, or those for different uses that some tokenizers have; ``origin`` says where it is from."""

    template: Any
    origin: str = OWN


def choose_template(own: Any, rendering: Rendering) -> Chosen:
    """Return what stands in the place of a tokenizer's own template.

    Raises:
        SettingsError: there is no such file, or no template is in it; or marks are asked for, and none are to be had.
    """
    chosen = Chosen(own)
    if rendering.chat_template is not None:
        path = Path(rendering.chat_template)
        chosen = Chosen(_read(path), path.name)
    if not rendering.assistant_only or rendering.target not in _BY_MARKS or _has_marks(chosen.template):
        return chosen
    if rendering.target == "trl":
        return _training_template(chosen.template)
    raise SettingsError(
        f"compression.assistant_only: the chat template ({chosen.origin}) holds no {{% generation %}} marks, so no "
        "trainer can tell by it what to learn; give one that does (--chat-template), or leave --assistant-only out"
    )


def _read(path: Path) -> str:
    """Return the template that a file holds."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise _refusal(path, "no such file; name a file that holds a chat template in Jinja") from None
    except IsADirectoryError:
        raise _refusal(path, "a folder; name the file in it, such as chat_template.jinja") from None
    except UnicodeDecodeError:
        raise _refusal(path, "not text in UTF-8; name a file that holds a chat template in Jinja") from None
    except OSError as error:
        raise _refusal(path, f"cannot be read: {error.strerror}") from error
    if not text.strip():
        raise _refusal(path, "empty; name a file that holds a chat template in Jinja")
    if fault := _syntax_fault(text):
        raise _refusal(path, f"{fault}; mend it there")
    return text


def check_own(own: Any, name: str) -> None:
    """Make sure that the chat template of the tokenizer ``name`` can be parsed, or those for different uses.

    Raises:
        TokenizerError: one cannot, so that every row would be refused.
    """
    templates = own if isinstance(own, dict) else {"default": own}
    for use, text in templates.items():
        if text and (fault := _syntax_fault(text)):
            file = _file_of(Path(name), use)
            raise TokenizerError(
                f"tokenizer {name}: its chat template ({file}) cannot be parsed: {fault}; mend it there, or give "
                "another (--chat-template)"
            )


def _file_of(folder: Path, use: str) -> str:
    """Return the file of a tokenizer that holds its template for some use."""
    file = "chat_template.jinja" if use == "default" else f"additional_chat_templates/{use}.jinja"
    return "tokenizer_config.json" if folder.is_dir() and not (folder / file).exists() else file


def _syntax_fault(text: str) -> str | None:
    """Say where a template breaks the rules of Jinja, and which; None where it does not."""
    from transformers.utils.chat_template_utils import _compile_jinja_template

    try:
        _compile_jinja_template(text)
    except jinja2.TemplateSyntaxError as error:
        return f"line {error.lineno}: {str(error.message).removesuffix('.')}"
    return None


def _refusal(path: Path, why: str) -> SettingsError:
    return SettingsError(f"tokenizer.chat_template: {path}: {why} (--chat-template)")


def _has_marks(template: Any) -> bool:
    return _MARKS.search(_default(template)) is not None


def _default(template: Any) -> str:
    """Return the template, of several the one for conversations."""
    if isinstance(template, dict):
        template = template.get("default")
    return template or ""


def _training_template(own: Any) -> Chosen:
    """Return what TRL puts in the place of a template: it knows it by its text, to the letter."""
    spec = find_spec("trl")
    if spec is None or spec.origin is None:
        raise SettingsError(
            "compression.assistant_only: TRL's training templates are in the package trl, which is not installed: "
            "pip install 'trajcompress-cli[trl]'; or give a template with {% generation %} marks (--chat-template)"
        )
    known, wanted = Path(spec.origin).parent / "chat_templates", _default(own)
    for training in sorted(known.glob(f"*{_TRAINING}")):
        original = training.with_name(training.name.removesuffix(_TRAINING) + ".jinja")
        if original.is_file() and original.read_text(encoding="utf-8") == wanted:
            return Chosen(training.read_text(encoding="utf-8"), f"trl {version('trl')}, {training.name}")
    raise SettingsError(
        f"compression.assistant_only: TRL {version('trl')} has no training template for this chat template, and "
        "refuses to learn from assistant turns alone with it; give it one with {% generation %} marks "
        "(chat_template_path in SFTConfig), and give that here (--chat-template)"
    )
