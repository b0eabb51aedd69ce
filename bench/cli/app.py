"""The command `schedgap`; this module stays light, so that `--help` answers at once."""

from __future__ import annotations

import io
import signal
import sys
import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from schedgap.bench.cli import check, compare, instances, listing, report, run
from schedgap.instances.errors import SchedgapError

if TYPE_CHECKING:
    from types import FrameType

USAGE = 2

app = typer.Typer(
    name="schedgap",
    help="How far from optimal is your cluster scheduler? Proven gaps, verified solutions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"schedgap {version('schedgap')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Name the distance of a scheduler from the optimum."""


app.command("list")(listing.list_things)
app.command("run")(run.run)
app.command("gap")(run.gap)
app.command("check")(check.check)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("generate")(instances.generate)
app.command("import")(instances.import_trace)
app.command("verify")(instances.verify)
app.command("export")(instances.export)
app.command("fetch")(instances.fetch)


def main() -> None:
    """Run the command line and exit.

    Codes: 0 fine, 1 a regression (`compare`), 2 usage or configuration, 3 some runs failed, 4 nothing was measured or
    can be compared, 130 Ctrl-C, 143 SIGTERM.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        # Names and reasons may hold what the terminal's encoding, or any, cannot.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")
    # joblib's advice on Ctrl-C, which is not for the user.
    warnings.filterwarnings("ignore", r"\d+ tasks (which were|have been) ", UserWarning)
    try:
        app()
    except SchedgapError as error:
        typer.echo(f"{type(error).__name__}: {error}", err=True)
        sys.exit(USAGE)
    except OSError as error:
        # A full disk, a folder that is not there: nothing that a traceback would explain.
        where = f"{error.filename}: " if error.filename is not None else ""
        typer.echo(f"{type(error).__name__}: {where}{error.strerror or error}", err=True)
        sys.exit(USAGE)
    except _InterruptedError as interruption:
        # Only suites have a journal.
        rest = "; what was recorded stays, the same command finishes the rest" if sys.argv[1:2] == ["run"] else ""
        typer.echo(f"interrupted{rest}.", err=True)
        sys.exit(128 + interruption.number)


class _InterruptedError(BaseException):
    """Not a KeyboardInterrupt, which click would turn into exit code 1."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _interrupt(number: int, frame: FrameType | None) -> None:
    # Ending the servers takes a moment; a second Ctrl-C must not leave some behind.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise _InterruptedError(number)
