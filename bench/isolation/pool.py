"""The harness's side of the warm servers: starts them, keeps them, and never waits for them without end."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from schedgap.bench.isolation.handle import ServerHandle, ServerLostError
from schedgap.bench.isolation.request import Answer, Refusal, Request, WarmedUp, WarmUp
from schedgap.bench.isolation.supervise import MAX_RESTARTS
from schedgap.bench.records.measurement import Measurement
from schedgap.bench.records.record import RUNEXEC
from schedgap.instances.errors import ExecutorError, MethodError, SchedgapError
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

# What a server may take beyond the limits of its run: killing, verifying, answering.
PATIENCE_S = 400.0
MAX_IDLE = 32
TOUCH_BELOW_S = 0.005
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class Warmth(StrEnum):
    """Where a method is warmed up: in the server, once; in each child; or nowhere, since warming it up failed."""

    PARENT = "parent"
    CHILD = "child"
    NONE = "none"


class PoolClosedError(Exception):
    """The pool was closed while a run was under way; the run did not happen."""


class Pool:
    """Warm servers of this process, shared by its threads.

    families, plugins : whose methods the servers load. threads : processor threads a run may use.
    """

    def __init__(self, families: Iterable[str], plugins: Iterable[str] = (), threads: int = 1) -> None:
        self._families, self._plugins = tuple(families), tuple(plugins)
        self._lock = threading.Lock()
        self._idle: dict[str, list[ServerHandle]] = {}
        self._busy: set[ServerHandle] = set()
        self._warmth: dict[str, Warmth] = {}
        self._trials: dict[str, threading.Lock] = {}
        self._closed = False
        self._scratch = tempfile.TemporaryDirectory(prefix="schedgap-", ignore_cleanup_errors=True)
        self._paths: dict[str, Path] = {}
        self._ready = False
        # Apart from `_lock`, which `close` takes: loading methods may take long, or for ever.
        self._starting = threading.Lock()
        self._process, self._socket = self._start(threads)

    def _start(self, threads: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair()
        # A fixed hash seed: the order of sets of strings must not differ between two runs of one seed.
        environment = {**os.environ, "PYTHONHASHSEED": "0", **dict.fromkeys(THREAD_VARIABLES, str(threads))}
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "schedgap.bench.isolation.spawner", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=environment,
                start_new_session=True,
            )
        with Connection(os.dup(ours.fileno())) as connection:
            connection.send((self._families, self._plugins))
        return process, ours

    def _wait_until_ready(self) -> None:
        with self._starting:
            if self._ready:
                return
            with self._lock:
                if self._closed:
                    raise PoolClosedError
                heard = os.dup(self._socket.fileno())
            with Connection(heard) as connection:
                try:
                    problem = connection.recv()
                except (EOFError, OSError):
                    if self._closed:
                        raise PoolClosedError from None
                    problem = f"the server process ended with code {self._process.wait()} while starting"
            if problem is not None:
                raise MethodError(f"methods cannot be loaded: {problem}")
            self._ready = True

    def store(self, digest: str, pickled: bytes) -> Path:
        """Put an instance where servers find it; once a digest."""
        with self._lock:
            if digest not in self._paths:
                path = Path(self._scratch.name) / digest
                path.write_bytes(pickled)
                self._paths[digest] = path
            return self._paths[digest]

    def run(self, request: Request, kind: str, *, is_ours: bool = False) -> Answer:
        """Measure one run; whatever happens to it or to its server, there is an answer.

        kind : what tells compiled specialisations apart (see `payload.compiled_kind`). is_ours : the method is one of
        this package, and so tested to survive being called in a server.

        Raises
        ------
        PoolClosedError
            if the pool was closed meanwhile.
        """
        self._wait_until_ready()
        label = f"{request.family}/{request.method}/{sorted(request.given.items())}/{kind}"
        patience_s = (MAX_RESTARTS + 1) * request.limits.wall_s + PATIENCE_S
        with self._lock:
            trial = self._trials.setdefault(label, threading.Lock())
        with trial:
            # One thread at a time: two processes compiling the same kernel would do the work twice.
            if label not in self._warmth:
                self._warmth[label] = self._try(request, label, patience_s, is_ours)
        warmth = self._warmth[label]
        try:
            server = self._take(request, label, warmth, patience_s)
            in_child = warmth is Warmth.CHILD or server.touch
            answer: Answer | Refusal = server.ask(replace(request, warm=in_child), patience_s)
        except ServerLostError:
            if self._closed:
                raise PoolClosedError from None
            return Answer(Measurement(Status.CRASHED, reason="the process that watched it died or stopped answering"))
        self._give(label, server)
        if isinstance(answer, Refusal):
            raise ExecutorError(answer.reason)
        if warmth is Warmth.PARENT and answer.measurement.warm != "repeat":
            warm = replace(answer.measurement, warm=str(warmth), warm_s=server.warm_s)
            return replace(answer, measurement=warm)
        return answer

    def close(self) -> None:
        """End all servers and what they run."""
        with self._lock:
            self._closed = True
            idle = [server for servers in self._idle.values() for server in servers]
            self._idle.clear()
            for server in self._busy:
                server.hang_up()
        for server in idle:
            server.close()
        # Whoever waits for methods to be loaded hears of it.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        if self._ready:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
        self._process.kill()
        self._process.wait()
        self._scratch.cleanup()

    def _try(self, request: Request, label: str, patience_s: float, is_ours: bool) -> Warmth:
        """Run the method on the family's small instance to see where it can be warmed up; this fills Numba's cache too.

        Methods of others first show in a limited child that they survive it.
        """
        if request.isolation == RUNEXEC:
            return Warmth.CHILD
        try:
            if is_ours:
                server = self._take(request, label, Warmth.NONE, patience_s)
                if self._warm(server, request, patience_s):
                    self._give(label, server)
                    return Warmth.PARENT
            server = self._take(request, label, Warmth.NONE, patience_s)
            end = server.ask(replace(request, shrunk=True), patience_s).measurement
        except ServerLostError:
            return Warmth.NONE
        if end.status not in (Status.OPTIMAL, Status.FEASIBLE, Status.NO_SOLUTION):
            self._give(label, server)
            return Warmth.NONE
        if self._warm(server, request, patience_s):
            self._give(label, server)
            return Warmth.PARENT
        return Warmth.CHILD

    def _warm(self, server: ServerHandle, request: Request, patience_s: float) -> bool:
        """Warm a server up; False, and the server is gone, if it cannot fork safely afterwards."""
        try:
            warmed = server.ask(WarmUp(request), patience_s)
        except ServerLostError:
            self._busy.discard(server)
            return False
        if isinstance(warmed, WarmedUp) and warmed.threads == 1:
            server.warm_s = warmed.warm_s
            server.touch = warmed.again_s < TOUCH_BELOW_S
            return True
        self._busy.discard(server)
        server.close()
        return False

    def _take(self, request: Request, label: str, warmth: Warmth, patience_s: float) -> ServerHandle:
        with self._lock:
            idle = self._idle.get(label)
            if idle:
                server = idle.pop()
                self._busy.add(server)
                return server
        server = self._clone()
        if warmth is Warmth.PARENT and not self._warm(server, request, patience_s):
            raise ServerLostError
        return server

    def _give(self, label: str, server: ServerHandle) -> None:
        with self._lock:
            self._busy.discard(server)
            if self._closed:
                return
            # Move the label to the end: the first one is then the longest unused.
            self._idle[label] = [*self._idle.pop(label, []), server]
            surplus = None
            if sum(map(len, self._idle.values())) > MAX_IDLE:
                oldest = next(key for key, servers in self._idle.items() if servers)
                surplus = self._idle[oldest].pop(0)
        if surplus is not None:
            surplus.close()

    def _clone(self) -> ServerHandle:
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            if self._closed:
                ours.close()
                raise PoolClosedError
            try:
                socket.send_fds(self._socket, [b"+"], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise SchedgapError(f"the process that starts runs is gone ({error}); start again.") from error
            server = ServerHandle(ours, Connection(os.dup(ours.fileno())))
            self._busy.add(server)
        try:
            server.greet(self._process.pid, PATIENCE_S)
        except ServerLostError:
            self._busy.discard(server)
            raise
        return server
