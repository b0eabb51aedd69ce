"""Watching one child: its answer, what it prints, what its whole tree uses, and its end when that is too much."""

from __future__ import annotations

import math
import os
import resource
import select
import signal
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from schedgap.bench.isolation.clocks import Allowance, CallClock, WallClock
from schedgap.bench.isolation.messages import FRAME, Message
from schedgap.bench.isolation.tree import descendants, end_all, exact_usage, signal_all, usage

if TYPE_CHECKING:
    from schedgap.bench.records.runs import Limits

CHECK_EVERY_S = 0.1
KILL_GRACE_S = 1.0
MAX_PROCESSES = 512
KEEP_OUTPUT = 8192
_KINDS = frozenset(message.value for message in Message)
MIB = 1024 * 1024


class Cause(StrEnum):
    """Why the supervisor ended a run."""

    WALL = "wall"
    CPU = "cpu"
    MEMORY = "memory"
    PROCESSES = "processes"
    MESSAGES = "messages"


class HarnessGoneError(Exception):
    """The process that asked for the run does not listen any more."""


@dataclass(slots=True)
class Ending:
    """What the supervisor saw.

    answer : the child's last message, None if it sent none before it ended or was killed. cause : why its result does
    not count; killed : whether it was ended for that, or was found out when it had ended.
    exit_code : as `os.waitstatus_to_exitcode`. peak_bytes : resident, of the tree. output : first and last KiB printed.
    By the clock here: elapsed_s : of the whole process. called_s : of the last timed call that it told of. paused_s :
    that it said it was compiling, by which its wall was moved. cpu_s : processor seconds of the tree. None is unknown.
    """

    answer: bytes | None = None
    cause: Cause | None = None
    killed: bool = False
    exit_code: int = 0
    peak_bytes: int = 0
    output: bytes = b""
    elapsed_s: float | None = None
    called_s: float | None = None
    paused_s: float = 0.0
    cpu_s: float = math.inf


@dataclass(slots=True)
class Pipe:
    """The parent's end of a pipe, read without blocking."""

    fd: int
    data: bytearray = field(default_factory=bytearray)
    skipped: int = 0

    def drain(self, most: int = 1 << 22) -> None:
        """Read what is there, at most `most` bytes."""
        while most > 0:
            try:
                chunk = os.read(self.fd, 65536)
            except BlockingIOError:
                return
            if not chunk:
                return
            most -= len(chunk)
            self.data += chunk

    def forget_middle(self) -> None:
        """Keep only the beginning and the end, so that a flood costs no memory."""
        surplus = len(self.data) - 2 * KEEP_OUTPUT
        if surplus > KEEP_OUTPUT:
            del self.data[KEEP_OUTPUT : KEEP_OUTPUT + surplus]
            self.skipped += surplus

    def text(self) -> bytes:
        """Return what was kept, with a note of what was not."""
        if not self.skipped:
            return bytes(self.data)
        note = f"\n[... {self.skipped} bytes left out ...]\n".encode()
        return bytes(self.data[:KEEP_OUTPUT]) + note + bytes(self.data[KEEP_OUTPUT:])


def supervise(
    pid: int,
    answers: int,
    output: int,
    harness: int,
    limits: Limits,
    allowance: Allowance,
    *,
    is_measuring: bool = True,
) -> Ending:
    """Wait for a child to end, or end it: SIGTERM to its whole tree, then SIGKILL; nothing of it is left afterwards.

    answers, output, harness : file descriptors: the child's messages, its stdout and stderr, the harness's socket.
    is_measuring : False leaves memory and processor time to somebody else.

    Raises
    ------
    HarnessGoneError
        after the tree was killed, if the harness is not there any more.
    """
    ending, started = Ending(), time.monotonic()
    messages, printed = Pipe(answers), Pipe(output)
    exited = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(exited, select.POLLIN)
    for fd in (answers, output):
        os.set_blocking(fd, False)
        poller.register(fd, select.POLLIN)
    poller.register(harness, select.POLLIN | select.POLLRDHUP)
    before_s = _reaped_s()
    most = limits.memory_mib * MIB
    clock, calls = WallClock(limits.wall_s, allowance), CallClock()
    next_check = time.monotonic() + CHECK_EVERY_S
    kill_at: float | None = None
    try:
        while True:
            now = time.monotonic()
            wake_at = min(next_check, clock.deadline if kill_at is None else kill_at)
            events = dict(poller.poll(max(0.0, wake_at - now) * 1000))
            if harness in events:
                raise HarnessGoneError
            messages.drain()
            printed.drain()
            printed.forget_middle()
            _read_frames(messages, ending, clock, calls, most)
            if exited in events:
                break
            for fd in (answers, output):
                # The child closed its end but lives on: stop polling, or the loop would spin.
                if events.get(fd, 0) & select.POLLHUP and not events[fd] & select.POLLIN:
                    poller.unregister(fd)
            now = time.monotonic()
            if kill_at is not None:
                if now >= kill_at:
                    end_all()
                    kill_at = now + KILL_GRACE_S
                continue
            if ending.cause is None and now >= clock.deadline:
                ending.cause = Cause.WALL
            elif ending.cause is None and now >= next_check:
                next_check = now + CHECK_EVERY_S
                ending.cause = _over(limits, before_s, ending) if is_measuring else None
            if ending.cause is not None:
                ending.killed = True
                signal_all(descendants(), signal.SIGTERM)
                kill_at = time.monotonic() + KILL_GRACE_S
                if ending.cause in (Cause.MEMORY, Cause.PROCESSES):
                    kill_at = 0.0
        _, status, used = os.wait4(pid, 0)
        ending.exit_code = os.waitstatus_to_exitcode(status)
        ending.peak_bytes = max(ending.peak_bytes, used.ru_maxrss * 1024)
        # What the child sent is all in the pipe; others may still hold its end, and write without end.
        messages.drain()
        printed.drain()
        printed.forget_middle()
        _read_frames(messages, ending, clock, calls, most)
        if is_measuring:
            ending.cpu_s = max(used.ru_utime + used.ru_stime, _reaped_s() - before_s)
            ending.cause = ending.cause or _over_in_the_end(limits, used)
    except ChildProcessError:
        # `end_all` already reaped the child that it killed.
        ending.exit_code = -signal.SIGKILL
    finally:
        end_all()
        for fd in (exited, answers, output):
            os.close(fd)
    if is_measuring and math.isfinite(ending.cpu_s):
        # Now with what the child did not wait for.
        ending.cpu_s = max(ending.cpu_s, _reaped_s() - before_s)
    ending.output = printed.text()
    clock.resume()
    ending.elapsed_s, ending.paused_s = time.monotonic() - started, clock.paused_s
    return ending


def _read_frames(messages: Pipe, ending: Ending, clock: WallClock, calls: CallClock, most: int) -> None:
    """Take complete messages off the pipe; an answer is the last.

    A method can write there too: anything else, or more than `most` bytes, ends the run.
    """
    while len(messages.data) >= FRAME.size:
        kind, length = FRAME.unpack_from(messages.data)
        if kind not in _KINDS or length > most or ending.answer is not None:
            ending.cause = ending.cause or Cause.MESSAGES
            messages.data.clear()
            return
        if len(messages.data) < FRAME.size + length:
            break
        body = bytes(messages.data[FRAME.size : FRAME.size + length])
        del messages.data[: FRAME.size + length]
        if not _taken(Message(kind), body, ending, clock, calls):
            ending.cause = ending.cause or Cause.MESSAGES


def _taken(message: Message, body: bytes, ending: Ending, clock: WallClock, calls: CallClock) -> bool:
    match message:
        case Message.READY:
            clock.restart()
        case Message.COMPILING:
            clock.pause()
        case Message.COMPILED:
            clock.resume()
        case Message.CALLED:
            return calls.called()
        case Message.RETURNED:
            return calls.returned()
        case Message.ANSWER:
            ending.answer, ending.called_s = body, calls.seconds(len(body))
    return True


def _over(limits: Limits, before_s: float, ending: Ending) -> Cause | None:
    processes = descendants()
    if len(processes) > MAX_PROCESSES:
        return Cause.PROCESSES
    resident, seconds = usage(processes)
    if resident > limits.memory_mib * MIB:
        # Pages that processes share, or that files in memory show in several places, were counted more than once.
        resident = exact_usage(processes)
    ending.peak_bytes = max(ending.peak_bytes, resident)
    if resident > limits.memory_mib * MIB:
        return Cause.MEMORY
    if limits.cpu_s is not None and seconds + _reaped_s() - before_s > limits.cpu_s:
        return Cause.CPU
    return None


def _over_in_the_end(limits: Limits, used: resource.struct_rusage) -> Cause | None:
    """Return what the child, or one that it waited for, used too much of between two looks."""
    if used.ru_maxrss * 1024 > limits.memory_mib * MIB:
        return Cause.MEMORY
    if limits.cpu_s is not None and used.ru_utime + used.ru_stime > limits.cpu_s:
        return Cause.CPU
    return None


def _reaped_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
