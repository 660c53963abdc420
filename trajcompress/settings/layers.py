"""Where settings come from: command line > environment > ``.env`` > YAML > defaults, key by key."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from trajcompress.errors import SettingsError
from trajcompress.settings.checking import checked
from trajcompress.settings.choices import IMPLIED_BY_TARGET, OWN_SUMMARIZERS
from trajcompress.settings.files import read_dotenv, read_yaml
from trajcompress.settings.keys import KEYWORDS, MEANINGLESS, PREFIX, VARIABLES, hint, variable_hint
from trajcompress.settings.model import SECTIONS, SETTINGS, Settings

_MODEL = "summarization.model"
_OVERWRITE = "output.overwrite"
_SUMMARIZER = "summarization.summarizer"
_CALLING_KEYS = (_MODEL, "summarization.fallback_model")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings of a run; ``origins`` says for every dotted key where its value came from."""

    settings: Settings
    origins: dict[str, str]
    notes: list[str]


class _Given(NamedTuple):
    value: Any
    origin: str


_Layer: TypeAlias = dict[str, _Given]


def resolve(
    cli: Mapping[str, Any],
    config_file: Path | None,
    *,
    environ: Mapping[str, str] | None = None,
    dotenv: Path | None = Path(".env"),
) -> Resolved:
    """Merge all layers, key by key; of those of the command line, None is not given.

    Raises:
        SettingsError: a key is unknown, a value is wrong, or a file cannot be read; names key and origin.
    """
    given = os.environ if environ is None else environ
    variables = _variable_layer(read_dotenv(dotenv), str(dotenv)), _variable_layer(given, "environment")
    return _merge(_cli_layer(cli), *variables, config_file)


def resolve_arguments(arguments: Mapping[str, Any], config_file: Path | None) -> Resolved:
    """Merge the arguments of a function in Python, by keyword, over a config file; None is not given.

    Nothing is taken from the environment.

    Raises:
        SettingsError: a value is wrong, or the file cannot be read; names argument and key.
    """
    return _merge(_argument_layer(arguments), {}, {}, config_file)


def _merge(from_cli: _Layer, from_dotenv: _Layer, from_environ: _Layer, config_file: Path | None) -> Resolved:
    notes: list[str] = []
    from_file = _file_layer(config_file) if config_file is not None else {}
    _refuse_lasting_overwrite([from_file, from_dotenv, from_environ])
    _refuse_found_code([from_file, from_dotenv, from_environ])
    _drop_others_code([from_dotenv, from_environ], notes)
    _drop_meaningless([from_file, from_dotenv, from_environ, from_cli], notes)
    named = {**from_file, **from_cli}.get(_MODEL)
    if named is None or named.value is None:
        _drop_calling_keys([from_dotenv, from_environ], notes)
    merged = {**from_file, **from_dotenv, **from_environ, **from_cli}
    merged = {**_implied(merged), **merged}
    origins = {key: merged[key].origin if key in merged else "default" for key in SETTINGS}
    settings = _build(merged, origins)
    if settings.input.shard is not None and settings.input.limit is not None:
        notes.append("--limit takes the first rows of a shard, not of the input: such shards cannot be merged")
    return Resolved(settings, origins, notes)


def _implied(merged: _Layer) -> _Layer:
    """Return what the target implies, where nothing else is said."""
    given = merged.get("compression.target")
    if given is None or given.value not in IMPLIED_BY_TARGET:
        return {}
    origin = f"{given.origin}: {given.value}"
    return {key: _Given(value, origin) for key, value in IMPLIED_BY_TARGET[given.value].items()}


def _file_layer(path: Path) -> _Layer:
    layer: _Layer = {}
    for section, keys in read_yaml(path).items():
        if section not in SECTIONS and not any(key.startswith(f"{section}.") for key in MEANINGLESS):
            raise SettingsError(f"{path}: unknown key {section}{hint(str(section))}")
        if keys is None:
            continue
        if not isinstance(keys, dict):
            raise SettingsError(f"{path}: section {section} should hold keys, not {keys!r}")
        for name, value in keys.items():
            key = f"{section}.{name}"
            layer[key] = _Given(checked(key, value, str(path), text=False), str(path))
    return layer


def _variable_layer(variables: Mapping[str, str], source: str) -> _Layer:
    layer: _Layer = {}
    for variable, text in sorted(variables.items()):
        if not variable.startswith(PREFIX):
            continue
        if variable not in VARIABLES:
            raise SettingsError(f"{source}: unknown variable {variable}{variable_hint(variable)}")
        if not text:  # how a shell or a compose file says "not set"
            continue
        key, origin = VARIABLES[variable], f"{source} ({variable})"
        given = _Given(checked(key, text, origin, text=True), origin)
        if key in layer and layer[key].value != given.value:
            raise SettingsError(f"{origin}: {key} has another value in {layer[key].origin}; unset one of them")
        layer[key] = given
    return layer


def _cli_layer(cli: Mapping[str, Any]) -> _Layer:
    layer: _Layer = {}
    for key, value in cli.items():
        if value is None:
            continue
        flag = SETTINGS[key].flag if key in SETTINGS else ""
        origin = f"command line ({flag or key})"
        layer[key] = _Given(checked(key, _as_text(value), origin, text=True), origin)
    return layer


def _argument_layer(arguments: Mapping[str, Any]) -> _Layer:
    layer: _Layer = {}
    for name, value in arguments.items():
        if value is None:
            continue
        origin, is_text = f"argument {name}", isinstance(value, str | os.PathLike)
        plain = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
        key = KEYWORDS[name]
        layer[key] = _Given(checked(key, os.fspath(value) if is_text else plain, origin, text=is_text), origin)
    return layer


def _as_text(value: Any) -> Any:
    """One spelling for options that come parsed (``8000``), as text (``"8000"``) or repeated (``["a=user"]``)."""
    if isinstance(value, Mapping):
        return dict(value)
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _drop_meaningless(layers: list[_Layer], notes: list[str]) -> None:
    found = [(key, layer.pop(key).origin) for layer in layers for key in sorted(MEANINGLESS & layer.keys())]
    if found:
        keys = ", ".join(dict.fromkeys(key for key, _ in found))
        origins = ", ".join(dict.fromkeys(origin for _, origin in found))
        notes.append(f"{origins}: {keys}: accepted but has no meaning here; metrics are always written")


def _refuse_lasting_overwrite(layers: list[_Layer]) -> None:
    """Where it stands for good, a run that is resumed would begin again each time, and pay for everything again."""
    for given in (layer[_OVERWRITE] for layer in layers if _OVERWRITE in layer):
        if given.value:
            raise SettingsError(
                f"{given.origin}: {_OVERWRITE} would make every resumed run begin again; "
                "take it out, and give --overwrite on the command line when you mean it"
            )


def _refuse_found_code(layers: list[_Layer]) -> None:
    """A file that was found, or a variable that was set for something else, must not name code to be run."""
    for given in (layer[_SUMMARIZER] for layer in layers if _SUMMARIZER in layer):
        if given.value is not None and given.value.is_code:
            raise SettingsError(
                f"{given.origin}: {_SUMMARIZER} {given.value} names code to run, which only the command line "
                "does: take it out, and give --summarizer there"
            )


def _drop_others_code(layers: list[_Layer], notes: list[str]) -> None:
    """A summariser of another package may make calls, which a variable alone does not turn on."""
    for layer in layers:
        given = layer.get(_SUMMARIZER)
        if given is not None and given.value is not None and given.value.spec not in OWN_SUMMARIZERS:
            del layer[_SUMMARIZER]
            notes.append(
                f"{given.origin}: {_SUMMARIZER} {given.value} is ignored: a variable alone does not turn on a "
                f"summariser of another package; give --summarizer, or {_SUMMARIZER} in a config file"
            )


def _drop_calling_keys(layers: list[_Layer], notes: list[str]) -> None:
    """Naming a model turns API calls on, which takes the command line or a config file, never a variable alone."""
    for layer, key in ((layer, key) for layer in layers for key in _CALLING_KEYS):
        given = layer.pop(key, None)
        if given is not None and given.value is not None:
            notes.append(
                f"{given.origin}: {key} {given.value} is ignored: a variable alone does not turn API calls on; "
                f"give --model, or {_MODEL} in a config file"
            )


def _build(merged: _Layer, origins: dict[str, str]) -> Settings:
    sections = {section: made(**dict(_values(section, merged))) for section, made in SECTIONS.items()}
    try:
        return Settings(**sections)
    except ValueError as error:
        involved = (origins[key] for key in SETTINGS if key in str(error))
        where = ", ".join(dict.fromkeys(origin for origin in involved if origin != "default"))
        raise SettingsError(f"{where}: {error}") from error


def _values(section: str, merged: _Layer) -> Iterator[tuple[str, Any]]:
    for key, given in merged.items():
        home, _, name = key.partition(".")
        if home == section:
            yield name, given.value
