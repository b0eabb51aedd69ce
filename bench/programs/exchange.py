"""A program as a method: it gets an instance as a file or on stdin, and answers with a file or on stdout."""

from __future__ import annotations

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
from typing import TYPE_CHECKING, Any

from schedgap.bench.programs.answers import no_answer, outcome_of, too_long
from schedgap.bench.programs.failure import ended
from schedgap.bench.programs.process import Terms, start
from schedgap.bench.programs.program import ARRAYS, INSTANCE, SOLUTION, Kind, Program
from schedgap.instances.documents import inline_up_to
from schedgap.instances.documents.array_files import arrays_beside
from schedgap.instances.errors import SchedgapError

if TYPE_CHECKING:
    from schedgap.instances.family import Family
    from schedgap.instances.method import Outcome

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
