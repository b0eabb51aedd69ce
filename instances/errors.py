"""What can go wrong, as one small tree: every message says what, where, both values and the way out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question whether a near name was meant, for the middle of a message; empty where none is near."""
    names = sorted(known)
    near = get_close_matches(name, names, n=3, cutoff=0.7) or [each for each in names if name and name in each][:3]
    return f"did you mean {' or '.join(near)}? " if near else ""


def first_of(names: Sequence[str], most: int = 8) -> str:
    """Return the first of some names, and how many more there are, for a message."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "") if names else "none"


def one_line(text: str) -> str:
    """Return text as one line that does nothing to a terminal: of what is not to be seen, the escape is written."""
    return (
        text
        if text.isprintable()
        else "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    )


class SchedgapError(Exception):
    """Root of all errors that a user can cause or mend; the command line prints them without a traceback."""

    def __str__(self) -> str:
        # Names, cells and options may hold anything.
        return one_line(super().__str__())


class InstanceError(SchedgapError):
    """An instance, a generator's parameters or a trace file breaks the documented schema."""


class SolutionError(SchedgapError):
    """A solution file breaks the documented schema (feasibility is `VerifyError`'s matter)."""


class VerifyError(SchedgapError):
    """A solution is infeasible, or a bound contradicts a verified solution; names the first violation."""


class MethodError(SchedgapError):
    """A method is unknown, registered twice, or given parameters that it does not have."""


class BackendError(SchedgapError):
    """A solver is missing, refuses an option, or ends in a state that is no result."""


class SuiteError(SchedgapError):
    """A suite file, or what is asked of a suite's runs, is malformed."""


class JournalError(SchedgapError):
    """A journal cannot be read, written or locked."""


class ExecutorError(SchedgapError):
    """A cluster cannot be reached, or its workers cannot do the runs."""


class ReportError(SchedgapError):
    """A page, a figure or a table of a report cannot be written, or there is nothing to write."""


def one_of(what: str, value: object, known: Iterable[str], error: type[SchedgapError]) -> None:
    """Raise an `error`, which names the known ones, for a parameter's value that is none of them."""
    if value not in (names := tuple(known)):
        raise error(f"{what} is one of {', '.join(names)}, not '{value!s:.60}'.")


@contextmanager
def about_file(path: Path | str, done: str, error: type[SchedgapError], way_out: str) -> Iterator[None]:
    """Raise an `error` for what the system refuses of a file: `PATH: cannot be DONE (Permission denied); WAY OUT.`.

    done : what cannot be, such as `read`. way_out : what to do then.
    """
    try:
        yield
    except OSError as problem:
        raise error(f"{path}: cannot be {done} ({problem.strerror}); {way_out}.") from None
