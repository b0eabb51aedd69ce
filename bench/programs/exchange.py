"""A program as a method: it gets an instance as a file or on stdin, and answers with a file or on stdout.

What a program of kind `method` answers: a solution as the family's files have it, or an object that may say more.

    {"schema": "schedgap/answer/1", "solution": {...}, "bound": 12.5, "status": "feasible", "reason": ""}

Only `schema` must be there. The bound is in the family's shown unit.
"""

from __future__ import annotations

import decimal
import math
import os
import select
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from schedgap.bench.programs.program import (
    ARRAYS,
    INSTANCE,
    MIB,
    SOLUTION,
    Kind,
    Program,
    ProgramFailure,
    Terms,
    ended,
    start,
)
from schedgap.instances.documents import inline_up_to
from schedgap.instances.documents.json_files import arrays_beside
from schedgap.instances.errors import SchedgapError
from schedgap.instances.family import Family
from schedgap.instances.method import Outcome, Status

SCHEMA = "schedgap/answer/1"
_NONE = b"null"
# No objective of any family has so many digits before the point.
_MOST_DIGITS = 30
# Of what is no answer, so many bytes are told.
_SHOWN = 60
# Exact for every bound that is accepted, as far as it decides a whole number; what follows is cut off.
_DOWNWARDS = decimal.Context(prec=3 * _MOST_DIGITS, rounding=decimal.ROUND_FLOOR)


class _Known(msgspec.Struct):
    """What decides how the rest is read."""

    schema: str = ""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """What a program answers that says more than a solution."""

    schema: Literal["schedgap/answer/1"]
    solution: msgspec.Raw = msgspec.Raw(_NONE)
    bound: msgspec.Raw = msgspec.Raw(_NONE)
    status: Literal["optimal", "feasible", "no_solution", "infeasible", "unsupported"] | None = None
    reason: str = ""


def outcome_of(content: bytes, family: Family, instance: Any, path: Path | None = None) -> Outcome:
    """Return what an answer says. path : of the file that holds it, if there is one: large arrays may be beside it.

    Raises
    ------
    ProgramFailure
        if it is none.
    """
    if not content.strip():
        raise no_answer("it is empty; print a solution, as docs/programs.md has it")
    try:
        if msgspec.json.decode(content, type=_Known).schema != SCHEMA:
            return Outcome(_kept(content, family, instance) if path is None else _solution(path, family, instance))
        said = msgspec.json.decode(content, type=Answer)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        if path is None and not content.lstrip().startswith((b"{", b"[")):
            begins = content.strip()[:_SHOWN].decode(errors="replace").splitlines()[0]
            way_out = "print nothing else on stdout but on stderr, or write the solution to the file {solution}"
            raise no_answer(f"what it printed begins with {begins!r:.80}; {way_out}") from None
        raise no_answer(f"{error!s:.200}") from None
    bound = None if bytes(said.bound) == _NONE else _bound(bytes(said.bound), family.objective_scale)
    solution = None
    if bytes(said.solution) != _NONE:
        solution = _kept(bytes(said.solution), family, instance)
    status = None if said.status is None else Status(said.status)
    return Outcome(solution, bound, status, details={"reason": said.reason} if said.reason else {})


def no_answer(why: str) -> ProgramFailure:
    """Return the failure of a program whose answer cannot be used."""
    return ProgramFailure(Status.INVALID, f"its answer is no solution: {why}")


def too_long(length: int, terms: Terms) -> ProgramFailure:
    """Return the failure of a program that answers with more than is read."""
    most_mib = terms.most_bytes / MIB
    return no_answer(
        f"it has {length / MIB:.4g} MiB or more; up to {most_mib:.4g} MiB are read, a sixteenth of the memory limit"
    )


def _bound(text: bytes, scale: int) -> int:
    """Return a bound in the family's whole units, rounded down: what is proven stays proven. text : JSON."""
    try:
        # Of all that JSON may hold, these are numbers; text would be taken for what it says.
        given = decimal.Decimal(text.decode())
    except (decimal.InvalidOperation, ValueError):
        raise no_answer(f"its bound is {text.decode()!s:.{_SHOWN}}; give a number") from None
    if not given:
        return 0
    if given.adjusted() > _MOST_DIGITS:
        raise no_answer(f"its bound is {given:.3g}; give one that an objective can reach")
    return int(_DOWNWARDS.multiply(given, decimal.Decimal(scale)).to_integral_value(decimal.ROUND_FLOOR))


def _kept(content: bytes, family: Family, instance: Any) -> Any:
    """Return the solution of a family's file. Readers take paths: the content goes through a file of its own."""
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "solution.json"
            path.write_bytes(content)
            return _solution(path, family, instance)
    except OSError as error:
        raise no_answer(f"it cannot be kept ({error.strerror}); leave the folder TMPDIR where it is") from None


def _solution(path: Path, family: Family, instance: Any) -> Any:
    try:
        return family.read_solution(instance, path)
    except SchedgapError as error:
        raise no_answer(str(error).replace(f"{path}: ", "").replace(f"{path.name}: ", "")) from None


_CHUNK = 2**16


def prepare(family: Family, instance: Any) -> None:
    """Make what checks a family's files, which takes 10 ms, so that processes forked from this one need not.

    instance : any of the family, of which the small version will do.
    """
    small = instance if family.shrink is None else family.shrink(instance)
    # An instance is no solution, and refused by the checks that are wanted. Where files cannot be written, runs will say so.
    with suppress(SchedgapError, OSError), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "instance.json"
        family.write_instance(small, path)
        family.read_solution(small, path)


def solve(program: Program, family: Family, instance: Any, terms: Terms) -> Outcome:
    """Have a program of kind `method` or `solution` answer for an instance.

    Raises
    ------
    ProgramFailure
        if it does not answer, or with what is no answer.
    """
    if program.kind is Kind.SOLUTION:
        path = Path(program.command[0])
        return outcome_of(_content(path, terms), family, instance, path)
    # What a program leaves there goes with the folder of the run, whatever it is.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        given, answer = Path(folder) / "instance.json", Path(folder) / "answer.json"
        begun = time.perf_counter()
        with inline_up_to(-1 if _names(program, ARRAYS) else math.inf):
            family.write_instance(instance, given)
        written = time.perf_counter()
        printed = _run(program, given, answer, terms)
        ran = time.perf_counter()
        if printed is None:
            outcome = outcome_of(_content(answer, terms), family, instance, answer)
        else:
            outcome = outcome_of(printed, family, instance)
    times = {"program_s": ran - written, "exchange_s": written - begun + time.perf_counter() - ran}
    return replace(outcome, details={**outcome.details, **times})


def _run(program: Program, given: Path, answer: Path, terms: Terms) -> bytes | None:
    """Run a program and return what it prints as its answer; None if it writes to the path `answer` instead."""
    paths = {INSTANCE: str(given), ARRAYS: str(arrays_beside(given)), SOLUTION: str(answer)}
    words = [_filled(word, paths) for word in program.command]
    reads, writes = _names(program, INSTANCE), _names(program, SOLUTION)
    with open(os.devnull if reads else given, "rb") as stdin:
        # What it prints beside its answer is kept for those who look why it failed.
        process = start(program, words, terms, stdin=stdin, stdout=sys.stderr if writes else subprocess.PIPE)
    try:
        printed = _printed(process, terms)
        code = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        if process.stdout is not None:
            process.stdout.close()
    if code != 0:
        raise ended(code)
    return None if writes else printed


def _names(program: Program, place: str) -> bool:
    return any(place in word for word in program.command)


def _filled(word: str, paths: dict[str, str]) -> str:
    for place, path in paths.items():
        word = word.replace(place, path)
    return word


def _printed(process: subprocess.Popen[bytes], terms: Terms) -> bytes:
    """Return what a process prints until it ends; those that it leaves behind may hold its output for ever.

    Read from a pipe and not from a file: output without end would fill the disk.
    """
    if process.stdout is None:
        return b""
    out, exited = process.stdout.fileno(), os.pidfd_open(process.pid)
    os.set_blocking(out, False)
    poller = select.poll()
    poller.register(out, select.POLLIN)
    poller.register(exited, select.POLLIN)
    content = bytearray()
    try:
        while True:
            events = dict(poller.poll())
            # Before the rest is read: all that it printed is there then.
            is_over = exited in events
            if out in events and not _read_on(out, content, terms):
                poller.unregister(out)
            if is_over:
                return bytes(content)
    finally:
        os.close(exited)


def _read_on(out: int, content: bytearray, terms: Terms) -> bool:
    """Add to `content` what is there to be read; returns whether there may be more later."""
    while True:
        try:
            chunk = os.read(out, _CHUNK)
        except BlockingIOError:
            return True
        content += chunk
        if len(content) > terms.most_bytes:
            raise too_long(len(content), terms)
        if not chunk:
            return False


def _content(path: Path, terms: Terms) -> bytes:
    """Return what a file holds, unless it is no file: a pipe would be waited for, a device would never end."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise no_answer(f"{path.name} is no file; write the solution there")
            with open(fd, "rb", closefd=False) as file:
                content = b"" if found.st_size > terms.most_bytes else file.read(terms.most_bytes + 1)
        finally:
            os.close(fd)
    except OSError as error:
        raise no_answer(f"{path.name} cannot be read ({error.strerror})") from None
    # Another process may write meanwhile, and some files have no size.
    length = max(found.st_size, len(content))
    if length > terms.most_bytes:
        raise too_long(length, terms)
    return content
