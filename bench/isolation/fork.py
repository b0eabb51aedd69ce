"""Work in a forked process of its own: confined and limited, supervised, and answered for whatever happens in it."""

from __future__ import annotations

import faulthandler
import math
import os
import resource
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from schedgap.bench.isolation.answer import Failure, plain_text
from schedgap.bench.isolation.clocks import Allowance
from schedgap.bench.isolation.confinement import Confinement
from schedgap.bench.isolation.messages import Ending, Message, loaded, send
from schedgap.bench.isolation.processes import ProcessorClock, die_with_parent
from schedgap.bench.isolation.supervise import MIB, supervise
from schedgap.bench.programs.program import ProgramFailure
from schedgap.bench.records.runs import Limits

# Address space beyond the resident limit: thread stacks and arenas that nobody touches.
ADDRESS_SLACK_MIB = 2048
# Descriptors of a process; most systems give four times fewer unless asked.
MAX_OPEN = 4096


def confine(
    limits: Limits,
    answers: int,
    output: int,
    scratch: Path,
    confinement: Confinement | None = None,
    *,
    limits_addresses: bool = True,
) -> None:
    """Give this process its own session, only the pipes `answers` and `output`, and limits that its children inherit.

    scratch : where temporary files go. confinement : what else the kernel forbids. limits_addresses : whether the address
    space is limited, too. Java, Go, Node and others map many times what they use, and do not start without: programs are
    held to their resident memory alone.
    """
    with suppress(PermissionError):
        # It leads a session already, if it has an interpreter of its own.
        os.setsid()
    die_with_parent()
    if confinement is not None:
        confinement.enter()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, answers)
    os.closerange(answers + 1, 1024)
    faulthandler.enable(file=2)
    os.environ["TMPDIR"] = str(scratch)
    tempfile.tempdir = None
    if limits_addresses:
        # By plain system calls: a text file object would copy pages that the process shares with its parent.
        statm = os.open("/proc/self/statm", os.O_RDONLY)
        mapped = int(os.read(statm, 64).split()[0]) * resource.getpagesize()
        os.close(statm)
        _limit(resource.RLIMIT_AS, mapped + (limits.memory_mib + ADDRESS_SLACK_MIB) * MIB)
    _limit(resource.RLIMIT_CORE, 0)
    # Whoever watches the processes looks through what they have open.
    _limit(resource.RLIMIT_NOFILE, MAX_OPEN)
    if limits.cpu_s is not None:
        _limit(resource.RLIMIT_CPU, math.ceil(limits.cpu_s) + 1)


def _limit(kind: int, most: int) -> None:
    """Lower a limit of this process, and of those that it starts, to so much, unless it is lower already."""
    soft, hard = (most if now == resource.RLIM_INFINITY else min(most, now) for now in resource.getrlimit(kind))
    resource.setrlimit(kind, (soft, hard))


def supervised(
    work: Callable[[int], bytes],
    failed: Callable[[Failure], bytes],
    limits: Limits,
    harness: int,
    scratch: Path,
    allowance: Allowance,
    processors: ProcessorClock,
    confinement: Confinement | None = None,
    *,
    instance: int | None = None,
    is_foreign: bool = False,
    limits_addresses: bool = True,
) -> Ending:
    """Fork a process that does the work, and return how it ended.

    work : takes the descriptor for messages and returns the answer. failed : makes the answer where `work` raised.
    instance : descriptor of its pickle, which the process gets when it asks for it (see `instance_from`). harness, processors,
    is_foreign : see `supervise`. scratch, confinement, limits_addresses : see `confine`; beside `scratch` is nothing else,
    since what the process takes for shared memory is there.
    """
    ours, theirs = socket.socketpair()
    output, output_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            to = theirs.fileno()
            own = partial(confine, limits, to, output_in, scratch, confinement, limits_addresses=limits_addresses)
            answer(own, work, failed, to)
        finally:
            os._exit(1)
    theirs.close()
    os.close(output_in)

    def give() -> int:
        assert instance is not None
        socket.send_fds(ours, [Message.WANTED], [instance])
        return os.fstat(instance).st_size

    answers = os.dup(ours.fileno())
    with ours:
        ending = supervise(
            pid,
            answers,
            output,
            harness,
            limits,
            allowance,
            processors,
            scratch.parent,
            give=None if instance is None else give,
            is_foreign=is_foreign,
        )
    ending.confined = (*(() if confinement is None else confinement.held), *ending.confined)
    return ending


def instance_from(answers: int) -> Any:
    """Ask the supervisor for the instance and return it; for a process that has not got it."""
    send(answers, Message.WANTED)
    with socket.socket(fileno=os.dup(answers)) as asked:
        _, (fd, *_), _, _ = socket.recv_fds(asked, 1, 1)
    try:
        return loaded(fd)
    finally:
        os.close(fd)


def answer(
    confined: Callable[[], None], work: Callable[[int], bytes], failed: Callable[[Failure], bytes], answers: int
) -> NoReturn:
    """Confine this process, do the work, send the answer on the pipe `answers`, and exit."""
    try:
        confined()
        body = work(answers)
    except MemoryError:
        body = failed(Failure(status="memory", reason="MemoryError"))
    except ProgramFailure as failure:
        body = failed(Failure(status=failure.status, reason=plain_text(failure)))
    except BaseException as error:
        traceback.print_exc()
        body = failed(Failure(status="error", reason=_one_line(error)))
    try:
        for stream in (sys.stdout, sys.stderr):
            # The method may have closed or replaced it, which is no reason to lose its answer.
            with suppress(Exception):
                stream.flush()
        send(answers, Message.ANSWER, body)
    finally:
        os._exit(0)


def _one_line(error: BaseException) -> str:
    return f"{plain_text(type(error).__name__)}: {' '.join(plain_text(error).split())}"[:500]
