"""Watching one child: its answer, what it prints, what its whole tree uses, and its end when that is too much."""

from __future__ import annotations

import math
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from schedgap.bench.isolation.answer import unpack_bound
from schedgap.bench.isolation.clocks import Allowance, CallClock, WallClock
from schedgap.bench.isolation.messages import FRAME, Cause, Ending, Message
from schedgap.bench.isolation.processes import (
    ProcessorClock,
    descendants,
    end_all,
    exact_usage,
    signal_all,
    usage,
)
from schedgap.bench.isolation.scratch import sizes_of_files
from schedgap.bench.records.runs import Limits

CHECK_EVERY_S = 0.1
COUNT_FILES_EVERY_S = 1.0
KILL_GRACE_S = 1.0
MAX_PROCESSES, MAX_THREADS = 512, 4096
KEEP_OUTPUT = 8192
# In `Ending.confined`: no processor time of the run's processes goes uncounted.
CPU = "cpu"
_KINDS = frozenset(message.value for message in Message)
MIB = 1024 * 1024


class HarnessGoneError(Exception):
    """The process that asked for the run does not listen any more."""


@dataclass(slots=True)
class Pipe:
    """The parent's end of a pipe, read without blocking."""

    fd: int
    data: bytearray = field(default_factory=bytearray)
    skipped: int = 0
    is_at_end: bool = False

    def drain(self) -> None:
        """Read what is there, of a flood some 4 MiB."""
        self.is_at_end = False
        for _ in range(64):
            try:
                chunk = os.read(self.fd, 65536)
            except BlockingIOError:
                return
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                self.is_at_end = True
                return
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
    processors: ProcessorClock | None = None,
    folder: Path | None = None,
    *,
    give: Callable[[], int] | None = None,
    is_foreign: bool = False,
) -> Ending:
    """Wait for a child to end, or end it: SIGTERM to its whole tree, then SIGKILL; nothing of it is left afterwards.

    answers, output, harness : file descriptors: the child's messages, its stdout and stderr, the harness's socket.
    processors : that was there before the child; None leaves memory and processor time to somebody else.
    folder : whose files are the child's; None leaves them, too. give : gives the child its instance when it asks for it, and
    returns its bytes; None where it has it. is_foreign : see `CallClock`.

    Raises
    ------
    HarnessGoneError
        after the tree was killed, if the harness is not there any more.
    """
    spent = processors.seconds if processors is not None and processors.is_exact else float
    calls = CallClock(spent, is_foreign=is_foreign)
    watch = _Watch(Pipe(answers), Pipe(output), limits, allowance, calls, give, processors, folder)
    exited = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(exited, select.POLLIN)
    for fd in (answers, output):
        os.set_blocking(fd, False)
        poller.register(fd, select.POLLIN)
    poller.register(harness, select.POLLIN | select.POLLRDHUP)
    try:
        while True:
            events = dict(poller.poll(watch.wait_ms()))
            if harness in events:
                raise HarnessGoneError
            watch.read()
            if exited in events:
                break
            for pipe in (watch.messages, watch.printed):
                # The child closed its end but lives on: stop polling, or the loop would spin.
                if pipe.fd in events and pipe.is_at_end:
                    poller.unregister(pipe.fd)
            watch.look()
        _, status, used = os.wait4(pid, 0)
        # What the child sent is all in the pipe; others may still hold its end, and write without end.
        watch.read()
        watch.reaped(status, used)
    except ChildProcessError:
        # `end_all` already reaped the child that it killed.
        watch.ending.exit_code = -signal.SIGKILL
    finally:
        end_all()
        for fd in (exited, answers, output):
            os.close(fd)
    return watch.closed()


class _Watch:
    """One child under its limits: what it says, what its tree uses, and when that is too much."""

    def __init__(
        self,
        messages: Pipe,
        printed: Pipe,
        limits: Limits,
        allowance: Allowance,
        calls: CallClock,
        give: Callable[[], int] | None = None,
        processors: ProcessorClock | None = None,
        folder: Path | None = None,
    ) -> None:
        self.ending = Ending(confined=(CPU,) if processors is not None and processors.is_exact else ())
        self.messages, self.printed = messages, printed
        self._limits, self._processors = limits, processors
        self._sizes = None if folder is None else sizes_of_files(folder)
        self._clock, self._calls, self._give = WallClock(limits.wall_s, allowance), calls, give
        self._before_s = 0.0 if processors is None else processors.seconds()
        self._started = time.monotonic()
        self._next_check = self._next_count = self._started + CHECK_EVERY_S
        self._kill_at: float | None = None

    def wait_ms(self) -> float:
        """Return how long nothing needs to be done unless something is heard."""
        wake_at = min(self._next_check, self._clock.deadline if self._kill_at is None else self._kill_at)
        return max(0.0, wake_at - time.monotonic()) * 1000

    def read(self) -> None:
        """Take what is in the pipes: complete messages, and what was printed."""
        self.messages.drain()
        self.printed.drain()
        self.printed.forget_middle()
        most = self._limits.memory_mib * MIB
        self._read_frames(most)

    def look(self) -> None:
        """See whether a limit is passed; end the tree if one is, and kill it if it does not end."""
        ending, now = self.ending, time.monotonic()
        if self._kill_at is not None:
            if now >= self._kill_at:
                end_all()
                self._kill_at = now + KILL_GRACE_S
            return
        if ending.cause is None and now >= self._clock.deadline:
            ending.cause = Cause.WALL
        elif ending.cause is None and now >= self._next_check:
            self._next_check = now + CHECK_EVERY_S
            ending.cause = None if self._processors is None else self._over(self._processors)
        if ending.cause is not None:
            ending.killed = True
            signal_all(descendants(), signal.SIGTERM)
            at_once = ending.cause in (Cause.MEMORY, Cause.PROCESSES, Cause.FILES)
            self._kill_at = 0.0 if at_once else time.monotonic() + KILL_GRACE_S

    def _over(self, processors: ProcessorClock) -> Cause | None:
        """Return the limit that the tree is over now."""
        limits, processes = self._limits, descendants()
        if len(processes) > MAX_PROCESSES:
            return Cause.PROCESSES
        resident, seconds, threads = usage(processes, limits.memory_mib * MIB)
        if threads > MAX_THREADS:
            return Cause.PROCESSES
        if resident > limits.memory_mib * MIB:
            # Pages that processes share, or that files in memory show in several places, were counted more than once.
            resident = exact_usage(processes)
        self.ending.peak_bytes = max(self.ending.peak_bytes, resident)
        if resident > limits.memory_mib * MIB:
            return Cause.MEMORY
        if limits.cpu_s is not None and processors.seconds(seconds) - self._before_s > limits.cpu_s:
            return Cause.CPU
        if self._sizes is not None and self._next_check >= self._next_count:
            size, is_all = next(self._sizes)
            self._next_count = self._next_check + (COUNT_FILES_EVERY_S if is_all else 0.0)
            return Cause.FILES if size > limits.memory_mib * MIB else None
        return None

    def reaped(self, status: int, used: resource.struct_rusage) -> None:
        """Note how the child ended, and what it used in all."""
        ending = self.ending
        ending.exit_code = os.waitstatus_to_exitcode(status)
        ending.peak_bytes = max(ending.peak_bytes, used.ru_maxrss * 1024)
        if self._processors is not None:
            ending.cpu_s = max(used.ru_utime + used.ru_stime, self._processors.seconds() - self._before_s)
            ending.cause = ending.cause or _over_in_the_end(self._limits, used, ending.cpu_s)

    def closed(self) -> Ending:
        """Return what was seen, now that nothing of the tree is left."""
        ending = self.ending
        if self._processors is not None and math.isfinite(ending.cpu_s):
            # Now with what the child did not wait for.
            ending.cpu_s = max(ending.cpu_s, self._processors.seconds() - self._before_s)
        ending.output = self.printed.text()
        self._clock.resume()
        ending.elapsed_s, ending.paused_s = time.monotonic() - self._started, self._clock.paused_s
        return ending

    def _read_frames(self, most: int) -> None:
        """Take complete messages off the pipe; an answer is the last, and of what was told before it the last is kept.

        A method can write there too: anything else, or more than `most` bytes, ends the run.
        """
        data, ending = self.messages.data, self.ending
        while len(data) >= FRAME.size:
            kind, length = FRAME.unpack_from(data)
            if kind not in _KINDS or length > most or ending.answer is not None:
                ending.cause = ending.cause or Cause.MESSAGES
                data.clear()
                return
            if len(data) < FRAME.size + length:
                break
            body = bytes(data[FRAME.size : FRAME.size + length])
            del data[: FRAME.size + length]
            if not self._is_in_order(Message(kind), body):
                ending.cause = ending.cause or Cause.MESSAGES

    def _is_in_order(self, message: Message, body: bytes) -> bool:
        ending = self.ending
        match message:
            case Message.READY:
                self._clock.restart()
            case Message.WANTED:
                return self._gave()
            case Message.COMPILING:
                self._clock.pause()
            case Message.COMPILED:
                self._clock.resume()
            case Message.CALLED:
                return self._calls.called()
            case Message.RETURNED:
                return self._calls.returned()
            case Message.SOLUTION:
                ending.solution = body
            case Message.BOUND:
                ending.bound = unpack_bound(body)
                return ending.bound is not None
            case Message.ANSWER:
                ending.answer = body
                ending.called_s, ending.called_cpu_s = self._calls.took(len(body))
        return True

    def _gave(self) -> bool:
        """Give the child its instance; False if it cannot ask for it."""
        give, self._give = self._give, None
        if give is None:
            return False
        self._clock.restart()
        # One that is gone, or does not listen, is waited for as any.
        with suppress(OSError):
            self._calls.given(give())
        return True


def _over_in_the_end(limits: Limits, used: resource.struct_rusage, cpu_s: float) -> Cause | None:
    """Return what the child, or one that it waited for, used too much of between two looks."""
    if used.ru_maxrss * 1024 > limits.memory_mib * MIB:
        return Cause.MEMORY
    return Cause.CPU if limits.cpu_s is not None and cpu_s > limits.cpu_s else None
