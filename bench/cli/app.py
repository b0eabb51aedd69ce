"""The command `schedgap`; this module stays light, so that `--help` answers at once."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import schedgap
from schedgap.instances.errors import SchedgapError, one_line
from schedgap.interruption import Interrupted, leave, watch

USAGE = 2
# Module and function of each command, and what the list of commands says of it: the function's own first line.
COMMANDS = {
    "list": (
        "listing",
        "list_things",
        "List suites, families, methods, solver back ends, instance generators and formats, public traces, or file formats.",
    ),
    "run": ("run", "run", "Run a suite, or what is missing of it, and print its table."),
    "merge": ("runs", "merge", "Join the shards of a suite: what `run` would have written in one directory."),
    "runs": (
        "runs",
        "runs",
        "List the directories of runs in a folder: suite, when, how much is done and failed, machine, version.",
    ),
    "gap": ("gap", "gap", "Run methods on one instance; print cost, proven bound and gap of each."),
    "floor": (
        "floor",
        "floor",
        "Say what a running cluster pays above the least that anybody could, with a plan.",
    ),
    "capacity": (
        "capacity",
        "capacity",
        "Say what a running cluster could hold: what is stranded, what fits, and what no moves make fit, proven.",
    ),
    "check": (
        "check",
        "check",
        "Try a method on small instances and say which of a method's promises it keeps; exit code 1 if it breaks one.",
    ),
    "compare": (
        "compare",
        "compare",
        "Tell whether NEW is worse than BASE, run by run: 0 it is not, 1 it is, 4 nothing can be compared.",
    ),
    "gate": (
        "gate",
        "gate",
        "Run a suite at BASE_REF and here, in turn on this machine, and compare: 0 no worse, 1 worse, 4 nothing to compare.",
    ),
    "report": (
        "report",
        "report",
        "Show the runs of a suite: its table, a page to look at, figures for papers, all runs as a table.",
    ),
    "history": (
        "report",
        "history",
        "Keep the figures of a suite over commits in one file; show them, with steps, on a page.",
    ),
    "search": (
        "search",
        "search",
        "Search for schedulers: prove the bounds that candidates are scored against, and start a search.",
    ),
    "new": (
        "new.commands",
        "new",
        "Write the beginning of a family, a method, a policy or a suite, with tests that pass.",
    ),
    "generate": ("instances", "generate", "Generate a seeded instance and write it as JSON."),
    "import": (
        "instances",
        "import_trace",
        "Turn a trace, tables of machines and tasks, or the state of a cluster into an instance.",
    ),
    "verify": (
        "instances",
        "verify",
        "Recompute feasibility and cost of a solution; exit 2 and the first violation if it is infeasible.",
    ),
    "certify": (
        "certify",
        "certify",
        "Check a proof of a lower bound, by code of its own; exit 3 and the first gap of the proof if there is one.",
    ),
    "export": ("instances", "export", "Write a formulation of an instance as a model file for any other solver."),
    "schema": ("instances", "schema", "Print the JSON Schema of a file format, for editors and checkers."),
    "fetch": ("instances", "fetch", "Download a public trace, check its SHA-256 and print where it is."),
}
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
# What `import` does not know are parameters of the format's reader; what `gate` does not know, options of `run`.
SETTINGS: dict[str, dict[str, Any]] = {
    "import": {"ignore_unknown_options": True},
    "gate": {"ignore_unknown_options": True, "allow_extra_args": True},
}


def _named(given: Any) -> Any:
    """Return a family by its name; where a file is given, it is imported."""
    if isinstance(given, str) and given.endswith(".py"):
        return import_module("schedgap.bench.plugins.discover").load_family(given).name
    return given


def _brought(files: list[str] | None) -> None:
    for file in files or ():
        import_module("schedgap.bench.plugins.discover").load_family(file)


def _brings_families(
    own_families: Annotated[
        list[str] | None,
        typer.Option(
            "--family",
            metavar="FILE.py",
            is_eager=True,
            expose_value=False,
            callback=_brought,
            help="A file that defines a family of your own; repeatable.",
        ),
    ] = None,
) -> None:
    """Have the option that all commands share."""


def with_families(command: Any) -> Any:
    """Let a command, or each of a group, take `--family FILE.py`: a family that is defined outside of this package."""
    for each in getattr(command, "commands", {}).values():
        with_families(each)
    own = next((param for param in command.params if "--family" in param.opts), None)
    if own is not None:
        own.callback = lambda ctx, param, value: _named(value)
        own.help = f"{own.help.rstrip('.')}; or FILE.py, which defines a family of your own."
    elif command.params:
        command.params += _as_command(_brings_families).params
    return command


def _as_command(found: Any, name: str = "", **settings: Any) -> Any:
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name, context_settings={**HELP, **settings})(found)
    return typer.main.get_command(alone)


def load_command(name: str) -> Any:
    """Import the module of a command and return the command."""
    module, function, _ = COMMANDS[name]
    found = getattr(import_module(f"schedgap.bench.cli.{module}"), function)
    if isinstance(found, typer.Typer):
        # A group of commands.
        found.info.context_settings = HELP
        return with_families(typer.main.get_command(found))
    return with_families(_as_command(found, name, **SETTINGS.get(name, {})))


class LazyGroup(TyperGroup):
    """Commands that are known by name and summary, and loaded when they are called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and arguments of a call."""
        name, known, rest = super().resolve_command(ctx, args)
        return name, None if name is None or known is None else load_command(name), rest


app = typer.Typer(
    name="schedgap",
    cls=LazyGroup,
    help="How far from optimal is your cluster scheduler? Proven gaps, verified solutions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=HELP,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"schedgap {schedgap.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Name the distance of a scheduler from the optimum."""


def _known_by_name() -> None:
    """Stand for a command until it is called."""


for _name, (_, _, _summary) in COMMANDS.items():
    app.command(_name, help=_summary)(_known_by_name)


def main() -> None:
    """Run the command line and exit.

    Codes: 0 fine, 1 a regression (`compare`), 2 usage or configuration, 3 some runs failed, 4 nothing was measured or
    can be compared, 130 Ctrl-C, 141 whoever read the output has closed it, 143 SIGTERM.
    """
    watch()
    for stream in (sys.stdout, sys.stderr):
        # Names and reasons may hold what the terminal's encoding, or any, cannot.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")
    # joblib's advice on Ctrl-C, which is not for the user.
    warnings.filterwarnings("ignore", r"\d+ tasks (which were|have been) ", UserWarning)
    try:
        app(prog_name="schedgap")
    except SystemExit as end:
        # Typer's code for it is 1, which means a regression.
        if isinstance(end.__context__, BrokenPipeError):
            sys.exit(128 + signal.SIGPIPE)
        raise
    except SchedgapError as error:
        typer.echo(f"{type(error).__name__}: {error}", err=True)
        sys.exit(USAGE)
    except OSError as error:
        # A full disk, a folder that is not there: nothing that a traceback would explain.
        where = f"{error.filename}: " if error.filename is not None else ""
        said = _lost_directory(error) or f"{where}{error.strerror or error}"
        typer.echo(f"{type(error).__name__}: {one_line(said)}", err=True)
        sys.exit(USAGE)
    except Interrupted as interruption:
        leave(interruption)


def _lost_directory(error: OSError) -> str:
    """Return that there is no working directory any more, where that is why; else nothing."""
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()
        except FileNotFoundError:
            return "the working directory is not there any more; change to another one."
    return ""
