"""``trajcompress check``: validates a dataset for a trainer or a chat template."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trajcompress.cli import options
from trajcompress.settings import SETTINGS, Settings, resolve
from trajcompress.settings.choices import Target
from trajcompress.wording import counted, printable

if TYPE_CHECKING:  # importing it would slow every --help down
    from trajcompress.results.check.origin import Origin
    from trajcompress.results.check.rows import CheckResult
    from trajcompress.results.check.rules import Standard

_SHARED = (
    "tokenizer.trust_remote_code",
    "tokenizer.chat_template",
    "compression.assistant_only",
    "compression.mistral_version",
    "input.messages_field",
    "input.role_map",
    "input.limit",
)
"""Settings whose options are those of ``compress``."""
_ANY_LENGTH = 2**31 - 1


@options.takes(SETTINGS[key] for key in _SHARED)
def check(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Files, folders (searched recursively) or globs of .jsonl, .json, .traj and .parquet, each also "
            ".gz, .bz2, .xz or .zst; a save_to_disk folder; the folder of a run; - for JSON lines on standard input.",
            show_default=False,
        ),
    ],
    target: Annotated[
        Target | None,
        typer.Option(
            "--for",
            help="Whose rules apply; template is the tokenizer's own chat template. "
            "[default: as the run.json of a run folder says, else template with --tokenizer, else openai]",
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME_OR_DIR",
            help="Hub name or folder of the tokenizer whose chat template must render every row, for template, trl, "
            "axolotl and verl; for llama-factory that of the model, by which its template is chosen.",
        ),
    ] = None,
    *,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Write the rows in the form of the target into the folder of --output, and check that."
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="New folder for --fix.", show_default=False)
    ] = None,
    new_only: Annotated[
        bool,
        typer.Option(
            "--new-only",
            help="Leave out violations that the input had: takes the folder of a run, whose inputs are read again "
            "and judged by the same rules; as many of a kind as the input's row has are the input's.",
        ),
    ] = False,
    examples: Annotated[int, typer.Option(metavar="N", min=0, help="Rows to show of each kind of violation.")] = 3,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
    **given: Any,
) -> None:
    """Check that a trainer, or a chat template, accepts every row. Exit code 1 if it does not.

    \b
        trajcompress check out/ --for llama-factory
        trajcompress check data/ --tokenizer Qwen/Qwen3-8B
        trajcompress check data/ --for trl --tokenizer Qwen/Qwen3-8B --fix -o fixed/
        trajcompress check out/ --new-only

    Rows are named by their line, counted from 1, where their file has lines; else they, and all turns, from 0.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    from msgspec.structs import replace

    from trajcompress.cli.check_output import print_json, print_table
    from trajcompress.cli.progress import TerminalReporter
    from trajcompress.dataset.sources import find_inputs
    from trajcompress.errors import SettingsError
    from trajcompress.formats.messages import FormatOptions
    from trajcompress.results.check.rows import check_rows

    own = {"compression.target": target, "tokenizer.name": tokenizer, **options.by_key(given)}
    settings, chosen = _as_run_says(inputs, own)
    if fix and new_only:
        raise SettingsError("--new-only: what --fix writes is checked as a whole; give one of them")
    if output is not None and not fix:
        raise SettingsError("--output: a check writes nothing; add --fix, or leave it out")
    fixed = _fix(inputs, output, settings, chosen) if fix else None
    _end_if_nothing_is_left(fixed, output, chosen, as_json=as_json)
    checked = [str(output)] if fixed else inputs
    found = find_inputs(checked)
    for note in found.notes():
        typer.echo(note, err=True)
    standard = _standard(settings, chosen, checked, own)
    if fixed:
        standard = replace(standard, options=FormatOptions(), form=None)  # they are in the form that mends
    origin = None if fixed else _origin(inputs, required=new_only)
    with TerminalReporter(task="check") as reporter:
        reporter.started(None)  # rows are counted, not bytes
        result = check_rows(
            found.sources,
            standard,
            limit=None if fixed else settings.input.limit,
            examples=examples,
            origin=origin,
            new_only=new_only,
            note=reporter.note,
            moved=lambda rows: reporter.moved(0, rows),
        )
    if as_json:
        print_json(result, chosen, found.left_out, fixed, new_only=new_only)
    else:
        print_table(result, chosen, new_only=new_only)
    _tell_of_inputs(result, inputs, settings)
    lost = fixed is not None and fixed["rejected"] + fixed["unfit"] > 0
    raise typer.Exit(int(result.invalid_rows > 0 or bool(result.changed) or lost))


def _as_run_says(inputs: list[str], own: dict[str, Any]) -> tuple[Settings, Target]:
    """Return the settings of a check and whose rules apply: what is not given is as the run.json of folders says."""
    from trajcompress.results.check.of_run import settings_of_run, shown

    taken = {key: value for key, value in settings_of_run(inputs).items() if own.get(key) is None}
    if own["compression.target"] not in (None, "template", "trl"):
        taken.pop("compression.assistant_only", None)
    target = own["compression.target"] or taken.get("compression.target")
    if target != "mistral":
        taken.pop("compression.mistral_version", None)
    resolved = resolve(own | taken, None)
    for note in options.without_effect(resolved):
        typer.echo(note, err=True)
    if taken:
        typer.echo(f"as run.json says: {printable(shown(taken))}", err=True)
    return resolved.settings, target or ("template" if resolved.settings.tokenizer.name else "openai")


def _standard(settings: Settings, target: Target, checked: list[str], own: dict[str, Any]) -> "Standard":
    """Return what the rows of ``checked`` are judged by; ``own`` are the settings that are given."""
    from trajcompress.cli.check_rendering import renderer_for
    from trajcompress.formats.messages import FormatOptions
    from trajcompress.forms.targets import form_for
    from trajcompress.results.check.llama_factory import LlamaFactoryRows
    from trajcompress.results.check.of_run import lets_messages_differ
    from trajcompress.results.check.rules import Standard

    reading, chosen = settings.input, settings.compression
    may_differ = target == "verl" and lets_messages_differ(checked)
    renderer, arguments = renderer_for(settings, target, given=own, may_differ=may_differ)
    read_as = FormatOptions(reading.format, reading.messages_field, reading.role_map)
    form = form_for(
        target,
        read_as,
        arguments=arguments,
        tools_as_prose=isinstance(renderer, LlamaFactoryRows) and renderer.tools_as_prose,
        mistral=chosen.mistral_version,
        assistant_only=chosen.assistant_only,
    )
    return Standard(target, read_as, renderer, chosen.mistral_version, chosen.assistant_only, form)


def _tell_of_inputs(result: "CheckResult", inputs: list[str], settings: Settings) -> None:
    """Say what a verdict may not be good for: where there was no row, and where an input changed."""
    from trajcompress.dataset.standing import change_lines

    if not result.rows:
        typer.echo(options.no_row_of(inputs, settings), err=True)
    for line in change_lines(result.changed):
        typer.echo(f"error: {line}; check again once it stands still", err=True)


def _end_if_nothing_is_left(
    fixed: dict[str, int] | None, output: Path | None, target: Target, *, as_json: bool
) -> None:
    """Say where the rows are, and end, where none could be written."""
    from trajcompress.cli.check_output import print_json
    from trajcompress.results.check.rows import CheckResult

    if not fixed or output is None or any((output / "data").glob("*")):
        return
    if as_json:
        print_json(CheckResult(), target, [], fixed, new_only=False)
    typer.echo(f"error: none of the rows can be written for {target}: {output}/rejected.jsonl says why", err=True)
    raise typer.Exit(1)


def _fix(inputs: list[str], output: Path | None, settings: Settings, target: Target) -> dict[str, int]:
    """Write the rows in the target's form, as ``compress`` does; return how many became what."""
    from trajcompress.cli.progress import TerminalReporter
    from trajcompress.compaction.happened import FORM_UNFIT
    from trajcompress.errors import OutputError, SettingsError
    from trajcompress.run.interrupt import EXIT_INTERRUPTED, stop_signals
    from trajcompress.run.job import run

    if output is None:
        raise SettingsError("--fix: name a new folder for the rows: --output DIR")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise OutputError(f"{output}: exists, and is not overwritten; name a new folder (--output)")
    own = {key: settings.flat()[key] for key in _SHARED} | {"tokenizer.name": settings.tokenizer.name}
    asked = {
        "compression.target": target,
        "compression.form": "target",
        "compression.target_max_tokens": _ANY_LENGTH,
        "output.dir": str(output),
    }
    kept = {key: value for key, value in own.items() if value is not None} | asked
    with TerminalReporter(task="fix", notes=False) as reporter, stop_signals() as stop_on:
        result = run(resolve(kept, None, environ={}, dotenv=None).settings, inputs, reporter, stop_on=stop_on)
    if result.state == "interrupted":
        raise typer.Exit(EXIT_INTERRUPTED)
    if result.error:
        raise result.error
    totals = result.totals
    fixed = {
        "rows": totals.rows,
        "changed": totals.formed,
        "unfit": totals.reasons[FORM_UNFIT],
        "rejected": totals.outcomes["rejected"],
    }
    typer.echo(
        f"{output}: {counted(fixed['rows'], 'row')} read, {fixed['changed']:,} changed, {fixed['unfit']:,} that the "
        f"target has no form for, {fixed['rejected']:,} rejected; see metrics.parquet there",
        err=True,
    )
    return fixed


def _origin(inputs: list[str], *, required: bool) -> "Origin | None":
    """Return what tells which faults the inputs of runs had; where ``required``, what is missing is an error."""
    from trajcompress.errors import InputError
    from trajcompress.results.check.of_input import rows_of_inputs
    from trajcompress.results.check.of_run import is_run
    from trajcompress.results.check.origin import Origin

    def refused(why: str) -> None:
        if required:
            raise InputError(f"{why}; --new-only compares with the input: put it back, or leave the option out")
        typer.echo(f"{printable(why)}; which violations the input had is not known", err=True)

    if other := next((each for each in inputs if not is_run(each)), None):
        if required:
            raise InputError(f"{other}: no folder of a run; --new-only takes these alone, as they name their inputs")
        return None
    try:
        return Origin(rows_of_inputs(inputs), refused)
    except InputError as error:
        refused(str(error))
        return None
