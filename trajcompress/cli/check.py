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
    from trajcompress.cli.check_output import print_json, print_table
    from trajcompress.cli.check_rendering import renderer_for
    from trajcompress.cli.progress import TerminalReporter
    from trajcompress.dataset.sources import find_inputs
    from trajcompress.errors import SettingsError
    from trajcompress.formats.messages import FormatOptions
    from trajcompress.forms.targets import form_for
    from trajcompress.results.check.llama_factory import LlamaFactoryRows
    from trajcompress.results.check.of_run import lets_messages_differ, settings_of_run, shown
    from trajcompress.results.check.rows import check_rows

    taken = settings_of_run(inputs)
    own = {"compression.target": target, "tokenizer.name": tokenizer, **options.by_key(given)}
    taken = {key: value for key, value in taken.items() if own.get(key) is None}
    if own["compression.target"] not in (None, "template", "trl"):
        taken.pop("compression.assistant_only", None)
    if (own["compression.target"] or taken.get("compression.target")) != "mistral":
        taken.pop("compression.mistral_version", None)
    resolved = resolve(own | taken, None)
    for note in options.without_effect(resolved):
        typer.echo(note, err=True)
    settings = resolved.settings
    chosen: Target = (
        target or taken.get("compression.target") or ("template" if settings.tokenizer.name else "openai")
    )
    if taken:
        typer.echo(f"as run.json says: {printable(shown(taken))}", err=True)
    if fix and new_only:
        raise SettingsError("--new-only: what --fix writes is checked as a whole; give one of them")
    fixed = _fix(inputs, output, settings, chosen) if fix else None
    if output is not None and not fix:
        raise SettingsError("--output: a check writes nothing; add --fix, or leave it out")
    _end_if_nothing_is_left(fixed, output, chosen, as_json=as_json)
    found = find_inputs([str(output)] if fixed else inputs)
    for note in found.notes():
        typer.echo(note, err=True)
    reading = settings.input
    read_as = FormatOptions() if fixed else FormatOptions(reading.format, reading.messages_field, reading.role_map)
    may_differ = chosen == "verl" and lets_messages_differ([str(output)] if fixed else inputs)
    renderer, arguments = renderer_for(settings, chosen, given=own, may_differ=may_differ)
    form = form_for(
        chosen,
        read_as,
        arguments=arguments,
        tools_as_prose=isinstance(renderer, LlamaFactoryRows) and renderer.tools_as_prose,
        mistral=settings.compression.mistral_version,
        assistant_only=settings.compression.assistant_only,
    )
    origin = None if fixed else _origin(inputs, required=new_only)
    with TerminalReporter(task="check") as reporter:
        reporter.started(None)  # rows are counted, not bytes
        result = check_rows(
            found.sources,
            chosen,
            read_as,
            renderer=renderer,
            mistral=settings.compression.mistral_version,
            assistant_only=settings.compression.assistant_only,
            limit=None if fixed else reading.limit,
            examples=examples,
            form=None if fixed else form,
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
