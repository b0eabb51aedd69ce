"""`schedgap gate`: a suite at another commit and here, in turn on this machine, and what the difference means.

`schedgap history bisect`: the commit of a step, by running what lies between.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from schedgap.bench.cli.compare import NOT_COMPARABLE, AcceptedFile, FailOn, MinEffect, WrittenAs, gated, tell
from schedgap.bench.comparison.comparison import Verdict
from schedgap.bench.comparison.comparison import compare as compare_results
from schedgap.bench.suites.merge import merge
from schedgap.instances.errors import SuiteError, one_line

# Exit codes of a run after which there is something to compare: fine, and some runs failed.
RECORDED = (0, 3)
Command = Annotated[
    str,
    typer.Option("--command", help="What runs schedgap in each tree, as `.venv/bin/schedgap`; this one by default."),
]


def gate(
    context: typer.Context,
    base: Annotated[str, typer.Argument(metavar="BASE_REF", help="Commit, branch or tag to compare with.")],
    suite: Annotated[str, typer.Option("--suite", help="Name of a shipped suite or path of a TOML file.")],
    out: Annotated[Path, typer.Option("--out", help="New directory for both sides' runs.")] = Path("runs/gate"),
    parts: Annotated[
        int, typer.Option("--parts", min=1, max=1000, help="Parts in which both sides run, one after the other.")
    ] = 4,
    command: Command = "",
    setup: Annotated[str, typer.Option("--setup", help="Shell command that readies the tree of BASE_REF.")] = "",
    fail_on: FailOn = None,
    min_effect: MinEffect = None,
    accepted: AcceptedFile = None,
    form: WrittenAs = "markdown",
) -> None:
    """Run a suite at BASE_REF and here, in turn on this machine, and compare: 0 no worse, 1 worse, 4 nothing to compare.

    Further options are those of `schedgap run`, for both sides: `--plugin bench/mine.py --jobs 1`.
    """
    _refuse_existing(out)
    call = shlex.split(command) or [sys.executable, "-m", "schedgap"]
    with _scratch() as scratch, _checked_out(base, scratch, suite, setup) as (tree, suite):
        sides = ((base, tree, "base"), ("here", Path.cwd(), "new"))
        for part in range(1, parts + 1):
            for side, folder, name in sides:
                typer.echo(one_line(f"part {part} of {parts}: {side}"), err=True)
                done = Path(scratch, name, str(part))
                code = _run(call, folder, suite, done, ["--shard", f"{part}/{parts}", *context.args])
                if code not in RECORDED:
                    typer.echo(one_line(f"{side}: `schedgap run` ended with code {code}; see above."), err=True)
                    raise typer.Exit(NOT_COMPARABLE if name == "base" and code > 0 else code)
        for _, _, name in sides:
            merge([Path(scratch, name, str(part)) for part in range(1, parts + 1)], out / name)
    tell(out / "base", out / "new", fail_on, min_effect, accepted, form)


def bisect(
    context: typer.Context,
    good: Annotated[str, typer.Argument(metavar="GOOD", help="Commit, branch or tag before the step.")],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="One after it, such as HEAD.")],
    suite: Annotated[str, typer.Option("--suite", help="Name of a shipped suite or path of a TOML file.")],
    out: Annotated[Path, typer.Option("--out", help="New directory for the runs, a folder a commit.")] = Path(
        "runs/bisect"
    ),
    command: Command = "",
    setup: Annotated[str, typer.Option("--setup", help="Shell command that readies the tree of a commit.")] = "",
    fail_on: FailOn = None,
    min_effect: MinEffect = None,
) -> None:
    """Find the commit from which on a suite is worse than at GOOD, by running it at few of those between: 0 found, 4 not.

    Further options are those of `schedgap run`: `--plugin bench/mine.py -k mine`.
    """
    _refuse_existing(out)
    call = shlex.split(command) or [sys.executable, "-m", "schedgap"]
    _, factor = gated(fail_on or "quality")
    between = _git("rev-list", "--reverse", "--first-parent", "--end-of-options", f"{good}..{bad}").split()
    if not between:
        raise SuiteError(f"no commit leads from {good} to {bad}; give the older one first.")

    def is_run(commit: str) -> bool:
        typer.echo(one_line(f"{_git('log', '-1', '--format=%h %s', commit)}"), err=True)
        with _scratch() as scratch, _checked_out(commit, scratch, suite, setup) as (tree, asked):
            return _run(call, tree, asked, out.resolve() / commit[:12], context.args) in RECORDED

    def is_worse(commit: str) -> bool | None:
        """Whether a commit is worse than GOOD; None where it cannot be run or compared."""
        if not is_run(commit):
            return None
        found = compare_results(out / first[:12], out / commit[:12], min_effect=min_effect, time_factor=factor).verdict
        return None if found is Verdict.NOT_COMPARABLE else found is Verdict.REGRESSION

    first = _git("rev-parse", "--verify", "--end-of-options", f"{good}^{{commit}}")
    if not is_run(first) or not is_worse(between[-1]):
        typer.echo(one_line(f"{bad} is not worse than {good}, or one of them cannot be run; see {out}."), err=True)
        raise typer.Exit(NOT_COMPARABLE)
    step, rest, skipped = between[-1], between[:-1], 0
    while rest:
        middle = len(rest) // 2
        worse = is_worse(rest[middle])
        if worse is None:
            skipped += 1
            del rest[middle]
        elif worse:
            step, rest = rest[middle], rest[:middle]
        else:
            rest = rest[middle + 1 :]
    typer.echo(one_line(_git("log", "-1", "--format=%H %ad %an: %s", "--date=short", step)))
    if skipped:
        typer.echo(
            f"{skipped} commits could not be run or compared, and one of them may be the step instead.", err=True
        )


def _refuse_existing(out: Path) -> None:
    if out.exists():
        raise SuiteError(f"{out} exists and is not written over; give another --out, or remove it.")


def _run(call: list[str], folder: Path, suite: str, out: Path, more: list[str]) -> int:
    """Run a suite with what lies in a tree before what is installed, and return the exit code."""
    command = [*call, "run", suite, "--out", str(out), "--quiet", *more]
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": path}).returncode


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="schedgap-gate-") as folder:
        yield Path(folder)


@contextmanager
def _checked_out(ref: str, scratch: Path, suite: str, setup: str) -> Iterator[tuple[Path, str]]:
    """Yield a folder like this one, in a tree of another commit, and what the suite is called there; the tree is gone afterwards.

    All sides are asked the same: a suite below this folder is copied, one from elsewhere lies where it is for all. setup :
    shell command that readies the tree.

    Raises
    ------
    SuiteError
        if this is no folder of a git repository, or it has no such commit, or what readies the tree fails.
    """
    tree = scratch / "tree"
    top = _git("rev-parse", "--show-toplevel")
    commit = _git("rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
    try:
        folder = tree / Path.cwd().relative_to(Path(top).resolve())
        if Path(suite).is_file():
            given, here = Path(suite).resolve(), Path.cwd().resolve()
            suite = str(given)
            if given.is_relative_to(here):
                suite = str(given.relative_to(here))
                (folder / suite).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(given, folder / suite)
        if setup and subprocess.run(setup, shell=True, cwd=folder).returncode:
            raise SuiteError(f"--setup fails in the tree of {ref}; run it there by hand.")
        yield folder, suite
    finally:
        _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.strip()
    except FileNotFoundError:
        raise SuiteError("git is not installed; install it, or use `schedgap run` and `schedgap compare`.") from None
    except subprocess.CalledProcessError as error:
        said = one_line(error.stderr.strip().removeprefix("fatal: "))
        raise SuiteError(f"git {arguments[0]}: {said:.200}; give a commit of the repository of this folder.") from None
