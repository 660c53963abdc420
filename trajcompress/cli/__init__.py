"""The command line: one file per command, each only parses, calls and prints.

Files of commands evaluate their annotations as they are compiled, for Typer would evaluate each again as text.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import Annotated

import typer

from trajcompress.cli import audit, check, compare, compress, config, merge, plan, push, report, show, status
from trajcompress.cli.deferred import DeferredGroup, GroupedCommand
from trajcompress.cli.printing import escape_what_cannot_be_printed, open_closed_streams
from trajcompress.cli.readers import outlive_readers
from trajcompress.errors import TrajcompressError, UsageError
from trajcompress.processes.interpreter import prepare_interpreter
from trajcompress.wording import printable

app = typer.Typer(
    name="trajcompress",
    cls=DeferredGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help costs half of what rich help does
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compress", cls=GroupedCommand)(compress.compress)
app.command("plan", cls=GroupedCommand)(plan.plan)
app.command("merge")(merge.merge)
app.command("check")(check.check)
app.command("show")(show.show)
app.command("audit")(audit.audit)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("status")(status.status)
app.command("push")(push.push)
app.add_typer(config.app, name="config")


def _show_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"trajcompress {version('trajcompress-cli')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Fit agent trajectories into a token budget before training.

    Start with: trajcompress compress data/ --output out/

    To complete commands, options and values with Tab in bash, zsh or fish: trajcompress --install-completion
    """


def command() -> None:
    """Run the command line as all that this process does."""
    try:
        main()
    finally:
        if "duckdb" not in sys.modules:  # whose bindings take for leaks what is left
            gc.freeze()  # else the interpreter looks for cycles in all that is there as it ends: a third of a second


def main() -> None:
    """Run the command line; errors of ours are one line on stderr, without a traceback unless --debug is given."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stop is a stop, however it is asked for
    open_closed_streams()
    outlive_readers()
    prepare_interpreter()
    escape_what_cannot_be_printed()
    try:
        app()
    except TrajcompressError as error:
        if "--debug" in sys.argv:
            traceback.print_exc()
        typer.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:  # a full disk behind a redirection, a name that is too long
        if "--debug" in sys.argv:
            traceback.print_exc()
        with suppress(OSError):
            typer.echo(f"error: {_told(error)}", err=True)
        sys.exit(UsageError.exit_code)


def _told(error: OSError) -> str:
    if error.filename:
        return f"{error.filename}: {error.strerror or error}"
    try:
        os.getcwd()  # noqa: PTH109 - no path is wanted
    except FileNotFoundError:
        return "the working folder was deleted; go to one that exists"
    return error.strerror or str(error)
