"""`schedgap gate`: a suite at another commit and here, in turn on this machine, and what the difference means."""

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

from schedgap.bench.cli.compare import NOT_COMPARABLE, AcceptedFile, FailOn, MinEffect, WrittenAs, tell
from schedgap.bench.suites.merge import merge
from schedgap.instances.errors import SuiteError, one_line

# Exit codes of a run after which there is something to compare: fine, and some runs failed.
RECORDED = (0, 3)


def gate(
    context: typer.Context,
    base: Annotated[str, typer.Argument(metavar="BASE_REF", help="Commit, branch or tag to compare with.")],
    suite: Annotated[str, typer.Option("--suite", help="Name of a shipped suite or path of a TOML file.")],
    out: Annotated[Path, typer.Option("--out", help="New directory for both sides' runs.")] = Path("runs/gate"),
    parts: Annotated[
        int, typer.Option("--parts", min=1, max=1000, help="Parts in which both sides run, one after the other.")
    ] = 4,
    command: Annotated[
        str,
        typer.Option(
            "--command", help="What runs schedgap in each tree, as `.venv/bin/schedgap`; this one by default."
        ),
    ] = "",
    setup: Annotated[str, typer.Option("--setup", help="Shell command that readies the tree of BASE_REF.")] = "",
    fail_on: FailOn = None,
    min_effect: MinEffect = None,
    accepted: AcceptedFile = None,
    form: WrittenAs = "markdown",
) -> None:
    """Run a suite at BASE_REF and here, in turn on this machine, and compare: 0 no worse, 1 worse, 4 nothing to compare.

    Further options are those of `schedgap run`, for both sides: `--plugin bench/mine.py --jobs 1`.
    """
    if out.exists():
        raise SuiteError(f"{out} exists and is not written over; give another --out, or remove it.")
    call = shlex.split(command) or [sys.executable, "-m", "schedgap"]
    with tempfile.TemporaryDirectory(prefix="schedgap-gate-") as scratch, _checked_out(base, Path(scratch)) as tree:
        if Path(suite).is_file():
            # Both sides are asked the same; a suite from elsewhere lies where it is for both.
            given, here = Path(suite).resolve(), Path.cwd().resolve()
            suite = str(given)
            if given.is_relative_to(here):
                suite = str(given.relative_to(here))
                (tree / suite).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(given, tree / suite)
        if setup and subprocess.run(setup, shell=True, cwd=tree).returncode:
            raise SuiteError(f"--setup fails in the tree of {base}; run it there by hand.")
        sides = ((base, tree, "base"), ("here", Path.cwd(), "new"))
        for part in range(1, parts + 1):
            for side, folder, name in sides:
                typer.echo(one_line(f"part {part} of {parts}: {side}"), err=True)
                asked = [
                    suite,
                    "--out",
                    str(Path(scratch, name, str(part))),
                    "--shard",
                    f"{part}/{parts}",
                    "--quiet",
                    *context.args,
                ]
                code = _run([*call, "run", *asked], folder)
                if code not in RECORDED:
                    typer.echo(one_line(f"{side}: `schedgap run` ended with code {code}; see above."), err=True)
                    raise typer.Exit(NOT_COMPARABLE if name == "base" and code > 0 else code)
        for _, _, name in sides:
            merge([Path(scratch, name, str(part)) for part in range(1, parts + 1)], out / name)
    tell(out / "base", out / "new", fail_on, min_effect, accepted, form)


def _run(command: list[str], folder: Path) -> int:
    """Run a command with what lies in a tree before what is installed, and return its exit code."""
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": path}).returncode


@contextmanager
def _checked_out(ref: str, scratch: Path) -> Iterator[Path]:
    """Yield a folder like this one, in a tree of another commit; the tree is gone afterwards.

    Raises
    ------
    SuiteError
        if this is no folder of a git repository, or it has no such commit.
    """
    tree = scratch / "tree"
    top = _git("rev-parse", "--show-toplevel")
    commit = _git("rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
    try:
        yield tree / Path.cwd().relative_to(Path(top).resolve())
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
