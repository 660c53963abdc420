"""What ``check`` renders rows with: the tokenizer that is named on the command line, or by a run.json."""

from typing import TYPE_CHECKING, Any

import typer

from trajcompress.errors import SettingsError, TokenizerError
from trajcompress.results.check.llama_factory import LlamaFactoryRows
from trajcompress.results.check.rules import Renders
from trajcompress.settings import Settings
from trajcompress.settings.choices import ArgumentsAs, Target
from trajcompress.transcript.targets import DEMANDS
from trajcompress.wording import printable

if TYPE_CHECKING:  # importing what loads tokenizers takes a while, and rules alone need none
    from trajcompress.tokens.llama_factory.template import LlamaFactoryTemplate


def renderer_for(
    settings: Settings, target: Target, given: dict[str, Any], *, may_differ: bool
) -> tuple[Renders | None, ArgumentsAs]:
    """Return what renders the rows, and how calls hold their arguments for it.

    What the command line asks for has to be had, what a run.json names may not.

    Raises:
        SettingsError: an option means nothing for the target, or lacks one that it takes.
        TokenizerError: the tokenizer of the command line cannot be loaded.
    """
    if not DEMANDS[target].renders:
        options = {"tokenizer.name": "--tokenizer", "tokenizer.chat_template": "--chat-template"}
        if target == "llama-factory":
            del options["tokenizer.name"]
        if asked := next((option for key, option in options.items() if given.get(key)), None):
            raise SettingsError(f"--for {target}: it renders no chat template of a tokenizer; leave {asked} out")
        if target != "llama-factory":
            return None, "text"
        return LlamaFactoryRows(_llama_factory_template(settings, given)), "text"
    if settings.tokenizer.name is None:
        if target == "template" and given.get("compression.target"):
            raise SettingsError("--for template: name the tokenizer that holds the chat template: --tokenizer")
        if settings.tokenizer.chat_template or settings.compression.assistant_only:
            raise SettingsError(f"--for {target}: name the tokenizer whose chat template is meant: --tokenizer")
        typer.echo(
            "what the chat template makes of the rows was not checked; name the model's tokenizer: --tokenizer",
            err=True,
        )
        return None, "text"
    try:
        return _loaded(settings, target, may_differ=may_differ)
    except (TokenizerError, SettingsError) as error:
        if given.get("tokenizer.name") or given.get("tokenizer.chat_template"):
            raise
        typer.echo(
            f"{printable(str(error))}; what the chat template makes of the rows was not checked: --tokenizer",
            err=True,
        )
        return None, "text"


def _llama_factory_template(settings: Settings, given: dict[str, Any]) -> "LlamaFactoryTemplate | None":
    """Return LLaMA-Factory's template for the tokenizer that is named; None where none is, or it cannot be had."""
    from trajcompress.tokens.llama_factory.template import template_for
    from trajcompress.tokens.tokenizer import load_tokenizer

    named = settings.tokenizer
    if named.name is None:
        return None
    try:
        loaded = load_tokenizer(named.name, trust_remote_code=named.trust_remote_code, engine="reference")
    except TokenizerError as error:
        if given.get("tokenizer.name"):
            raise
        typer.echo(f"{printable(str(error))}; its template is not known: --tokenizer", err=True)
        return None
    return template_for(loaded.hf)


def _loaded(settings: Settings, target: Target, *, may_differ: bool) -> tuple[Renders, ArgumentsAs]:
    from trajcompress.results.check.rendered import RowRenderer
    from trajcompress.tokens.tokenizer import load_tokenizer
    from trajcompress.tokens.trained_template import Rendering
    from trajcompress.tokens.trainer_templates import chat_template_of

    named = settings.tokenizer  # nothing is counted, so no engine is built
    loaded = load_tokenizer(
        named.name,
        trust_remote_code=named.trust_remote_code,
        engine="reference",
        rendering=Rendering(target, named.chat_template, assistant_only=settings.compression.assistant_only),
    )
    if not loaded.has_template:
        raise SettingsError(f"tokenizer {loaded.name}: it carries no chat template; name one that does")
    template = loaded.trainers or chat_template_of(loaded.hf, loaded.target)
    return RowRenderer(loaded.hf, target, may_differ=may_differ), template.takes_arguments_as()
