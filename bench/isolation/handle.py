"""One warm server, as the harness sees it: start it, ask it, hang up on it, never wait for it without end.

The processes that fork servers, as the harness sees them: one is kept for the next pool that needs its like.

Importing methods and Numba takes longer than many runs, and whoever measures gaps in a loop would else pay it at every call.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import pickle
import select
import signal
import socket
import socket as sockets
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from schedgap.bench.isolation.messages import (
    END_S,
    FORK,
    FREE,
    KEEP_BYTES,
    LENGTH,
    Answer,
    Describe,
    Described,
    Ending,
    Judge,
    Question,
    Refusal,
    Request,
    WarmedUp,
    WarmUp,
    in_memory,
    unpacked,
)
from schedgap.bench.plugins.discover import Home
from schedgap.instances.compiled_cache import LEDGER, writable
from schedgap.instances.errors import SchedgapError

LOOK_EVERY_S = 1.0


class Warmth(StrEnum):
    """Where a method is warmed up: in the server, once; in each child; or nowhere, since warming it up failed."""

    PARENT = "parent"
    CHILD = "child"
    NONE = "none"


class ServerLostError(Exception):
    """A server died, or stopped answering. is_silent : the latter."""

    def __init__(self, *, is_silent: bool = False) -> None:
        self.is_silent = is_silent


# What a server may answer to what.
_ANSWERS = {Request: (Ending, Refusal), WarmUp: (WarmedUp,), Judge: (Answer,), Describe: (Described,)}
# Longer answers are none: a run cannot send more than its memory limit, and a judge has no more than this.
_MOST_BYTES = 2**33
_CREDENTIALS = struct.Struct("3i")


@dataclass(eq=False)
class ServerHandle:
    """One server, as seen from here.

    It is there before its server is. What others write who take hold of its socket is not heard: the kernel tells who wrote.
    pid : also the parent of all that its run starts; 0 before `greet`.
    holds : digest of the instance that it has.
    touch : children of this warm server call the method on the small instance once more, untimed: the first call after
    a fork pays for copying pages, which for the quickest methods is several times the call itself.
    """

    socket: sockets.socket
    pid: int = 0
    warm_s: float | None = None
    touch: bool = False
    holds: str = ""

    def __post_init__(self) -> None:
        self.socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_PASSCRED, 1)

    @property
    def is_there(self) -> bool:
        """Whether an idle server lives, and has said nothing that nobody asked."""
        poller = select.poll()
        poller.register(self.socket, select.POLLIN)
        return not poller.poll(0)

    def greet(self, spawner: int, patience_s: float) -> None:
        """Wait until the server is there, and note its `pid`. spawner : process that forks it.

        Raises
        ------
        ServerLostError
            if it does not within the patience.
        """
        self._exchange(b"", (), patience_s, spawner)

    def ask(self, question: Question, patience_s: float) -> Any:
        """Return the server's answer.

        Raises
        ------
        ServerLostError
            if none comes within the patience; the server is gone then.
        """
        known, instance = self._known(question)
        body = pickle.dumps(known, pickle.HIGHEST_PROTOCOL)
        fds = () if instance is None else (in_memory(instance),)
        try:
            answer = self._exchange(LENGTH.pack(len(body)) + body, fds, patience_s, self.pid)
        finally:
            for fd in fds:
                os.close(fd)
        try:
            return unpacked(answer, _ANSWERS[type(question)])
        except (ValueError, TypeError, RecursionError):
            self.end()
            raise ServerLostError from None

    def _exchange(self, said: bytes, fds: Sequence[int], patience_s: float, watched: int) -> bytes:
        """Send, and return the answer. watched : process to wake if it was stopped."""
        deadline = time.monotonic() + patience_s
        try:
            view = memoryview(said)
            while view:
                self._wait(select.POLLOUT, deadline, watched)
                view = view[sockets.send_fds(self.socket, [view], fds, sockets.MSG_DONTWAIT) :]
                fds = ()
            (length,) = LENGTH.unpack(self._received(LENGTH.size, deadline, watched))
            if length > _MOST_BYTES:
                raise EOFError
            return self._received(length, deadline, watched)
        except (EOFError, OSError) as error:
            self.end() if self.pid else self.close()
            raise ServerLostError(is_silent=isinstance(error, TimeoutError)) from None

    def _received(self, length: int, deadline: float, watched: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._wait(select.POLLIN, deadline, watched)
            part, told, _, _ = self.socket.recvmsg(
                min(length - len(data), 2**20), sockets.CMSG_SPACE(_CREDENTIALS.size), sockets.MSG_DONTWAIT
            )
            writer = next(
                (_CREDENTIALS.unpack(what)[0] for _, kind, what in told if kind == sockets.SCM_CREDENTIALS), 0
            )
            if not part or not writer:
                raise EOFError
            self.pid = self.pid or writer
            if writer == self.pid:
                data += part
        return bytes(data)

    def _wait(self, event: int, deadline: float, watched: int) -> None:
        poller = select.poll()
        poller.register(self.socket, event)
        while (left_s := deadline - time.monotonic()) > 0:
            stay_awake()
            if poller.poll(min(LOOK_EVERY_S, left_s) * 1000):
                return
            wake(watched)
        raise TimeoutError

    def _known(self, question: Question) -> tuple[Question, bytes | None]:
        """Return the question without its instance, and that if the server has not got it; note which one it has then."""
        if isinstance(question, Describe):
            return question, None
        request = question if isinstance(question, Request) else question.request
        instance = None if request.digest == self.holds else request.instance
        if instance is not None:
            self.holds = request.digest if len(instance) <= KEEP_BYTES else ""
        request = replace(request, instance=None)
        return request if isinstance(question, Request) else replace(question, request=request), instance

    def end(self) -> None:
        """Make the server end what it runs and itself; kill it only if it does not: what it runs would go on."""
        self.hang_up()
        with suppress(ProcessLookupError):
            watched = os.pidfd_open(self.pid)
            try:
                poller = select.poll()
                poller.register(watched, select.POLLIN)
                if not poller.poll(END_S * 1000):
                    signal.pidfd_send_signal(watched, signal.SIGKILL)
            finally:
                os.close(watched)
        self.close()

    def hang_up(self) -> None:
        """Make the server end its run and itself, and whoever waits for its answer stop waiting."""
        with suppress(OSError):
            self.socket.shutdown(sockets.SHUT_RDWR)

    def close(self) -> None:
        """Hang up and let go; only for the thread that uses the server, or when none does."""
        self.hang_up()
        self.socket.close()


def wake(pid: int) -> None:
    """Let a process go on that was stopped: a run can send SIGSTOP to its parent, which watches it."""
    with suppress(psutil.Error, ProcessLookupError):
        if psutil.Process(pid).status() == psutil.STATUS_STOPPED:
            os.kill(pid, signal.SIGCONT)


# The first is the kernel's struct sigevent: a value, the signal, how to notify.
_EVENT, _TIMES = struct.Struct("Pii48x"), struct.Struct("4l")
_AWAKE_S, _MONOTONIC = 5, 1


def stay_awake() -> None:
    """Have the kernel wake this process, should somebody stop it: a run can send SIGSTOP to its harness, too.

    A timer, put off as long as this process runs, sends the signal to go on. Where there is a terminal, somebody is there who
    may want this process stopped, and who sees that it is.
    """
    timer = _timer(os.getpid())
    if timer is not None:
        _C.timer_settime(timer, 0, _TIMES.pack(0, 0, _AWAKE_S, 0), None)


_C = ctypes.CDLL(None)


@cache
def _timer(pid: int) -> ctypes.c_void_p | None:
    """Return a timer of this process, which a forked one does not inherit; None where there is none to be had."""
    with suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC))
        return None
    timer = ctypes.c_void_p()
    with suppress(AttributeError):
        if _C.timer_create(_MONOTONIC, _EVENT.pack(0, signal.SIGCONT, 0), ctypes.byref(timer)) == 0:
            return timer
    return None


THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
# What pytest sets anew for each test, and no run asks for.
_PASSING = "PYTEST_CURRENT_TEST"
# Lines of a process's status in Linux.
_HANDED_DOWN = ("Umask:", "Uid:", "Gid:", "Groups:", "Cpus_allowed:")
# Each takes 100 to 200 MiB.
MOST_KEPT = 2


class Spawner:
    """A process that has loaded the methods of some families and forks servers (see `spawner`), for one pool at a time.

    conditions : what it was started under, and what any that could stand for it would be. is_fit : False once it failed.
    """

    def __init__(self, families: tuple[str | Home, ...], threads: int, conditions: Hashable) -> None:
        self.conditions = conditions
        self._socket, theirs = socket.socketpair()
        with theirs:
            fds = theirs.fileno(), LEDGER.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "schedgap.bench.isolation.spawner", *map(str, fds)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=fds,
                env=_environment(threads),
                start_new_session=True,
            )
        # Here, where the user sees it, it is told if there is no such folder.
        writable()
        # Its own descriptor: another thread may `end` this while one waits.
        self._starting = Connection(os.dup(self._socket.fileno()))
        self._starting.send(families)
        self.is_ready, self.is_fit = False, True

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def is_sound(self) -> bool:
        """Whether the process, which is ready, is there and has the priority, the processors and the limits that it had."""
        with suppress(OSError):
            return self.is_fit and self.is_running and _state_of(self.pid) == self._state
        return False

    def wait_until_ready(self) -> str | None:
        """Wait until methods are loaded, or `end` is called in another thread; return what prevents it, None for nothing."""
        if self.is_ready:
            return None
        try:
            with self._starting:
                problem: str | None = self._starting.recv_bytes().decode() or None
        except (EOFError, OSError):
            problem = f"the server process ended with code {self._process.wait()} while starting"
        self.is_ready = problem is None
        self._state = _state_of(self.pid) if self.is_ready else ()
        return problem

    def fork(self, theirs: socket.socket) -> None:
        """Have a server forked that answers on this socket.

        Raises
        ------
        SchedgapError
            if the process is gone.
        """
        try:
            socket.send_fds(self._socket, [FORK], [theirs.fileno()])
        except OSError as error:
            raise SchedgapError(f"the process that starts runs is gone ({error}); start again.") from error

    def is_free(self) -> bool:
        """Whether all servers, which were hung up on, are gone with all that they ran; waits for it."""
        if not self.is_ready:
            return False
        deadline = time.monotonic() + END_S + 5
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        with suppress(OSError):
            self._socket.send(FREE)
            while time.monotonic() < deadline:
                if poller.poll(LOOK_EVERY_S * 1000):
                    return self._socket.recv(1) == FREE
                wake(self.pid)
        return False

    def hang_up(self) -> None:
        """Make the process end once its servers have, and whoever waits for it stop waiting."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """End the process at once, which has no servers, or will never have done with them."""
        self.hang_up()
        self._socket.close()
        self._process.kill()
        self._process.wait()


_IDLE: list[Spawner] = []
_LOCK = threading.Lock()
# A process that is forked from the harness has no say in its spawners.
os.register_at_fork(after_in_child=_IDLE.clear)


def take_spawner(families: Iterable[str | Home], threads: int) -> Spawner:
    """Return a spawner for one pool: an idle one of the same families that inherited what a new one would, or a new one."""
    families = tuple(families)
    conditions = families, frozenset(_environment(threads).items()), *_inherited()
    with _LOCK:
        found = next((each for each in _IDLE if each.conditions == conditions), None)
        if found is not None:
            _IDLE.remove(found)
    if found is not None and found.is_running:
        return found
    if found is not None:
        found.end()
    return Spawner(families, threads, conditions)


def give_back(spawner: Spawner) -> None:
    """Keep a spawner, whose servers were hung up on, for the next pool; end it if it is not fit for one."""
    try:
        free = spawner.is_free()
    except BaseException:
        spawner.hang_up()
        raise
    if free:
        _keep(spawner)
    else:
        spawner.end()


def prepare_spawner(families: Iterable[str | Home], threads: int) -> None:
    """Have an idle spawner for a pool that will soon be there; a new one gets ready meanwhile."""
    _keep(take_spawner(families, threads))


@atexit.register
def end_spawners() -> None:
    """End the idle spawners of this process."""
    with _LOCK:
        idle = list(_IDLE)
        _IDLE.clear()
    for spawner in idle:
        spawner.end()


def _keep(spawner: Spawner) -> None:
    with _LOCK:
        _IDLE.append(spawner)
        surplus = _IDLE.pop(0) if len(_IDLE) > MOST_KEPT else None
    if surplus is not None:
        surplus.end()


def _environment(threads: int) -> dict[str, str]:
    # A fixed hash seed: the order of sets of strings must not differ between two runs of one seed.
    own = {"PYTHONHASHSEED": "0", **dict.fromkeys(THREAD_VARIABLES, str(threads))}
    return {name: value for name, value in {**os.environ, **own}.items() if name != _PASSING}


def _inherited() -> tuple[Hashable, ...]:
    """Return what a process hands down beside its environment: its folder, rights, processors, priority and limits."""
    here, status = os.stat("/proc/self/cwd"), Path("/proc/thread-self/status").read_text(encoding="utf-8")
    handed_down = [line for line in status.splitlines() if line.startswith(_HANDED_DOWN)]
    return here.st_dev, here.st_ino, *handed_down, *_state_of(0)


def _state_of(pid: int) -> tuple[Hashable, ...]:
    """Return what a run can change in another process: its priority, processors and limits. pid : 0 for this one."""
    limits = Path(f"/proc/{pid or 'self'}/limits").read_text(encoding="utf-8")
    return os.getpriority(os.PRIO_PROCESS, pid), frozenset(os.sched_getaffinity(pid)), limits
