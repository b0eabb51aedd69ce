"""The processes that fork servers, as the harness sees them: one is kept for the next pool that needs its like.

Importing methods and Numba takes longer than many runs, and whoever measures gaps in a loop would else pay it at every call.
"""

from __future__ import annotations

import atexit
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Hashable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from schedgap.bench.isolation.handle import LOOK_EVERY_S, wake
from schedgap.bench.isolation.messages import END_S, FORK, FREE
from schedgap.bench.plugins.families import Home
from schedgap.instances.compiled_cache import LEDGER, writable
from schedgap.instances.errors import SchedgapError

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
