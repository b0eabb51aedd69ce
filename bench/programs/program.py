"""What a program is, and what identifies it in the key of a run: its name, its command, and the files that it is made of.

How programs fail.

The process of a program: its command, and what its environment tells it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from schedgap.instances.documents.json_files import arrays_beside
from schedgap.instances.documents.openings import open_given
from schedgap.instances.errors import MethodError, SchedgapError
from schedgap.instances.method import NAME, Method, Status, runs_elsewhere


class ProgramFailure(SchedgapError):
    """A program did not answer as it was asked: the end of its run, and no mistake of ours. status : of the run."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def ended(code: int, where: str = "") -> ProgramFailure:
    """Return the failure of a program that ended. code : as `subprocess` has it. where : the start of the sentence."""
    if code >= 0:
        return ProgramFailure(Status.CRASHED, f"{where}the program exited with code {code}")
    return ProgramFailure(Status.CRASHED, f"{where}the program was ended by {signal_name(-code)}")


def signal_name(number: int) -> str:
    """Return what a signal is called; real-time ones have a number only."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


# The module of a program's method: the package has none of this name.
MODULE = "program"
INSTANCE, ARRAYS, SOLUTION = "{instance}", "{arrays}", "{solution}"


class Kind(StrEnum):
    """How a program is asked.

    METHOD : it reads an instance and answers with a solution. POLICY : it is asked at each decision, over a pipe. SOLUTION : it
    is a file with a solution that was made elsewhere, and nothing is started.
    """

    METHOD = "method"
    POLICY = "policy"
    SOLUTION = "solution"


@dataclass(frozen=True, slots=True)
class Program:
    """A method by its command.

    name : of the method. command : its words; the first is the path of an executable, or of the file of a solution.
    folder : where it is started. depends : paths of other files that it is made of. stochastic : its answer depends on the seed.
    """

    name: str
    kind: Kind
    command: tuple[str, ...]
    folder: str
    depends: tuple[str, ...] = ()
    stochastic: bool = False

    @classmethod
    def make(
        cls,
        name: str,
        command: str | Path | Sequence[str | Path],
        *,
        kind: Kind | str = Kind.METHOD,
        folder: str | Path = ".",
        depends: Iterable[str | Path] = (),
        stochastic: bool = False,
    ) -> Program:
        """Return a program whose files are there.

        command : as a shell would split it, or its words; a path is one word. folder : what relative paths in it start from.

        Raises
        ------
        MethodError
            for a name that methods do not have, a command that cannot be started, or a file that is not there.
        """
        if not re.fullmatch(NAME, name):
            raise MethodError(f"program '{name:.60}': a name is kebab-case, such as first-fit; give NAME=COMMAND.")
        try:
            given = (command,) if isinstance(command, Path) else command
            words = tuple(shlex.split(given) if isinstance(given, str) else map(str, given))
        except ValueError as error:
            raise MethodError(f"program {name}: '{command}' is no command ({error}); mend its quotes.") from None
        if not words or not words[0]:
            raise MethodError(f"program {name}: its command is empty; give NAME=COMMAND.")
        if kind not in set(Kind):
            raise MethodError(f"program {name}: there is no kind '{kind}'; give {', '.join(Kind)}.")
        base, kind = Path(folder).resolve(), Kind(kind)
        if not base.is_dir():
            raise MethodError(f"program {name}: there is no folder {base}; give the one where it is started.")
        first = _file(name, base, words[0]) if kind is Kind.SOLUTION else _executable(name, base, words[0])
        files = tuple(_file(name, base, str(each)) for each in depends)
        return cls(name, kind, (first, *words[1:]), str(base), files, stochastic)

    @property
    def hash(self) -> str:
        """Return the hash of the command and of all files that it names: those are part of the program.

        The folder of the first is left out: moved, it is the same. A solution's name decides nothing.
        """
        first, *others = self.command
        parts = [str(self.kind)] if self.kind is Kind.SOLUTION else [self.kind, os.path.basename(first), *others]
        for path in self.files:
            try:
                with open_given(path) as file:
                    parts.append(hashlib.file_digest(file, "sha256").hexdigest())
            except OSError as error:
                raise MethodError(f"program {self.name}: {path} cannot be read ({error.strerror}).") from None
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    @property
    def files(self) -> list[str]:
        """Return the paths of all files that it is made of."""
        first, *others = self.command
        files = [first, *self.depends]
        files += [path for word in others if os.path.isfile(path := os.path.join(self.folder, word))]
        # Of a large solution the arrays are in a file beside it.
        if self.kind is Kind.SOLUTION and (beside := arrays_beside(Path(first))).is_file():
            files.append(str(beside))
        return files

    @property
    def option(self) -> str:
        """Return the option of the command line that means a program of this kind."""
        return "program" if self.kind is Kind.METHOD else str(self.kind)

    @property
    def text(self) -> str:
        """Return what that option is given."""
        return f"{self.name}={shlex.join(self.command)}"

    def as_method(self, family: str) -> Method:
        """Return it as the harness knows methods: only the process of a run starts it."""
        return Method(
            name=self.name,
            family=family,
            version=1,
            func=runs_elsewhere,
            parameters={},
            supports=_unknown,
            stochastic=self.stochastic,
            bounds=False,
            exact=False,
            summary=f"{self.kind}: {shlex.join(self.command)}",
            # A policy is told how long it has for each decision, of which there may be any number.
            wants=("time_limit_s", "threads") if self.kind is Kind.METHOD else (),
            module=MODULE,
        )


def parse_program(
    text: str, kind: Kind, folder: str | Path = ".", *, depends: Iterable[str] = (), stochastic: bool = False
) -> Program:
    """Return the program that `NAME=COMMAND` means; a solution may be a path alone, whose stem is the name.

    Raises
    ------
    MethodError
        as `Program.make`.
    """
    name, equals, command = text.partition("=")
    if kind is Kind.SOLUTION:
        if not equals or "/" in name:
            stem = re.sub(r"[^a-z0-9]+", "-", Path(text).stem.lower()).strip("-")
            name, command = stem or "solution", text
        return Program.make(name, (command,), kind=kind, folder=folder)
    if not equals:
        raise MethodError(f"'{text:.100}' names no program; give NAME=COMMAND, such as 'mine=./mysched --fast'.")
    return Program.make(name, command, kind=kind, folder=folder, depends=depends, stochastic=stochastic)


def programs_among(plugins: Iterable[str | Path | Program]) -> list[Program]:
    """Return those plug-ins that are programs."""
    return [plugin for plugin in plugins if isinstance(plugin, Program)]


def files_among(plugins: Iterable[str | Path | Program]) -> tuple[str, ...]:
    """Return those plug-ins that are Python files."""
    return tuple(str(plugin) for plugin in plugins if not isinstance(plugin, Program))


def resolved(plugins: Iterable[str | Path | Program]) -> tuple[str | Program, ...]:
    """Return plug-ins that mean the same in any folder.

    Raises
    ------
    MethodError
        if two programs have the same name.
    """
    found = tuple(each if isinstance(each, Program) else str(Path(each).resolve()) for each in plugins)
    names = [program.name for program in programs_among(found)]
    for name in names:
        if names.count(name) > 1:
            raise MethodError(f"two programs are called {name}; give them different names.")
    return found


def _executable(name: str, base: Path, word: str) -> str:
    if "/" not in word:
        found = shutil.which(word)
        if found is None:
            raise MethodError(
                f"program {name}: there is no command '{word}' on the PATH; install it, or give a path such as ./{word}."
            )
        return found
    path = _file(name, base, word)
    if not os.access(path, os.X_OK):
        raise MethodError(f"program {name}: {path} is not executable; chmod +x it, or put its interpreter before it.")
    return path


def _file(name: str, base: Path, word: str) -> str:
    path = base / word
    if not path.is_file():
        raise MethodError(f"program {name}: there is no file {path}; give its path from {base}.")
    return str(path)


def _unknown(_: object) -> str | None:
    """Only a run tells whether a program takes an instance."""
    return None


MIB = 2**20


@dataclass(frozen=True, slots=True)
class Terms:
    """What a program is told of its run, and how much of what it says is read. time_limit_s : None for no limit."""

    seed: int
    time_limit_s: float | None
    threads: int
    memory_mib: int = 4096

    @property
    def most_bytes(self) -> int:
        """Length of the longest answer that is read: what is made of it takes up to 16 times as much."""
        return self.memory_mib * MIB // 16

    def environment(self) -> dict[str, str]:
        """Return the variables that a program finds."""
        # Twelve digits: no limit that may be given is shown as a power of ten.
        limit = {} if self.time_limit_s is None else {"SCHEDGAP_TIME_LIMIT_S": f"{self.time_limit_s:.12g}"}
        return {**os.environ, **limit, "SCHEDGAP_THREADS": str(self.threads), "SCHEDGAP_SEED": str(self.seed)}


def start(program: Program, words: Sequence[str], terms: Terms, **streams: Any) -> subprocess.Popen[bytes]:
    """Start a program in its folder. words : of its command, filled in. streams : as `subprocess.Popen` has them.

    Raises
    ------
    ProgramFailure
        if it cannot be started.
    """
    try:
        return subprocess.Popen(words, cwd=program.folder, env=terms.environment(), bufsize=0, **streams)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ProgramFailure(Status.CRASHED, f"{words[0]} cannot be started: {why}") from None
    except subprocess.SubprocessError as error:
        # It was quick to write to pipes of this process, and reached the one that tells how it was started.
        raise ProgramFailure(Status.INVALID, f"{words[0]} wrote to a pipe that is not its own: {error}") from None
