"""The harness's side of the warm servers: starts them, keeps them, and never waits for them without end.

What the threads of this process are at, for whoever shows how far a suite is.
"""

from __future__ import annotations

import pickle
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from msgspec import structs

from schedgap.bench.isolation.child import shrunk
from schedgap.bench.isolation.clocks import MAX_COMPILE_S
from schedgap.bench.isolation.handle import ServerHandle, ServerLostError, Warmth, give_back, take_spawner
from schedgap.bench.isolation.judge import JUDGE_S, unjudged
from schedgap.bench.isolation.messages import (
    START_S,
    Answer,
    Describe,
    Ending,
    Judge,
    Refusal,
    Request,
    WarmedUp,
    WarmUp,
    pickled,
)
from schedgap.bench.plugins.discover import Home, load_homes, methods_of
from schedgap.bench.programs.program import Program, files_among
from schedgap.bench.records.runs import RUNEXEC, Measurement
from schedgap.instances.compiled_cache import LEDGER
from schedgap.instances.errors import ExecutorError, MethodError, SchedgapError
from schedgap.instances.family import find_family
from schedgap.instances.method import Method, Status

# How it is said that kernels are compiled.
COMPILING = "compiling"
_LOCK = threading.Lock()
# By thread, the innermost last.
_DOING: dict[int, list[str]] = {}


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Have `activities` tell what this thread does meanwhile."""
    thread = threading.get_ident()
    with _LOCK:
        _DOING.setdefault(thread, []).append(what)
    try:
        yield
    finally:
        with _LOCK:
            _DOING[thread].pop()
            if not _DOING[thread]:
                del _DOING[thread]


def activities() -> list[str]:
    """Return what each busy thread does, those that began first at the beginning."""
    with _LOCK:
        return [whats[-1] for whats in _DOING.values()]


def is_compiling() -> bool:
    """Whether a thread compiles kernels, which it does once and not for each run."""
    return any(what.startswith(COMPILING) for what in activities())


# What a server may take beyond the limits of its run: compiling, killing, judging, answering.
PATIENCE_S = MAX_COMPILE_S + JUDGE_S + 200.0
MAX_IDLE = 32
# The label of servers that judge.
JUDGES = "judges"
# A server, a judge or a spawner may be lost through the fault of another run; what is lost twice is lost through its own.
TRIES = 2
TOUCH_BELOW_S = 0.005


class PoolClosedError(Exception):
    """The pool was closed while a run was under way; the run did not happen."""


@dataclass(eq=False)
class _Kept:
    """What is known of a method. warmth : None until it was tried, by one thread. compile_left_s : beside its limits."""

    trial: threading.Lock = field(default_factory=threading.Lock)
    warmth: Warmth | None = None
    compile_left_s: float = MAX_COMPILE_S


class Pool:
    """Warm servers of this process, shared by its threads.

    families : whose methods the servers load. threads : processor threads a run may use.
    """

    def __init__(self, families: Iterable[str | Home], threads: int = 1) -> None:
        self._families = tuple(families)
        # Instances are read here, too.
        load_homes(self._families)
        self._lock = threading.Lock()
        self._idle: dict[str, list[ServerHandle]] = {}
        self._busy: set[ServerHandle] = set()
        # Of each method, by label.
        self._kept: dict[str, _Kept] = {}
        # A small instance of each family and kind; None where it cannot be made.
        self._small: dict[tuple[str, str], bytes | None] = {}
        self._closed = False
        # Apart from `_lock`, which `close` takes: loading methods may take long, or for ever.
        self._starting = threading.Lock()
        self._threads = threads
        self._spawner = take_spawner(self._families, threads)

    def _wait_until_ready(self) -> None:
        with self._starting:
            # `close` gives back the one that is there: none comes after it.
            with self._lock:
                if not self._closed and self._spawner.is_ready and not self._spawner.is_sound():
                    # A run ended or hampered it.
                    self._spawner.end()
                    self._spawner = take_spawner(self._families, self._threads)
            problem = None if self._closed else self._spawner.wait_until_ready()
        if self._closed:
            raise PoolClosedError
        if problem is not None:
            raise MethodError(f"methods cannot be loaded: {problem}")

    def describe(self, plugins: tuple[str, ...], limit_s: float = START_S) -> list[Method]:
        """Return the methods that plug-ins register, which are imported in a process of their own, within a limit.

        Raises
        ------
        MethodError
            if they cannot be imported.
        """
        LEDGER.seal()
        try:
            server = self._clone()
            answer = server.ask(Describe(plugins, limit_s), limit_s + PATIENCE_S)
        except ServerLostError:
            raise MethodError(f"plug-ins {', '.join(plugins)} end the processes that import them.") from None
        # Its child has run the code of them all: it can serve their runs, and no others.
        self._give(f"plug-in {plugins}", server)
        if answer.content is None:
            raise MethodError(f"plug-ins {', '.join(plugins)} cannot be imported: {answer.reason}.")
        return methods_of(answer.content)

    def forget(self, plugins: tuple[str | Program, ...]) -> None:
        """Let go of what is kept for plug-ins whose runs are done: they will hardly come again."""
        with self._lock:
            servers = self._idle.pop(f"plug-in {files_among(plugins) or plugins[0]}", [])
            self._kept = {label: kept for label, kept in self._kept.items() if not label.endswith(f"/{plugins}")}
        for server in servers:
            server.close()

    def run(self, request: Request, kind: str) -> Answer:
        """Measure one run; whatever happens to it or to its server, there is an answer.

        kind : what tells compiled specialisations apart (see `messages.compiled_kind`).

        Raises
        ------
        PoolClosedError
            if the pool was closed meanwhile.
        """
        if request.is_plugin:
            LEDGER.seal()
        plugins = request.plugins if request.is_plugin else ()
        label = f"{request.family}/{request.method}/{sorted(request.given.items())}/{kind}/{plugins}"
        allowance = request.allowance
        patience_s = allowance.start_s + (allowance.restarts + 2) * request.limits.wall_s + PATIENCE_S
        with self._lock:
            kept = self._kept.setdefault(label, _Kept())
        if request.is_plugin or request.isolation == RUNEXEC:
            request = replace(request, small=self._small_of(request, kind))
        with kept.trial:
            # One thread at a time: two processes compiling the same kernel would do the work twice.
            if kept.warmth is None:
                with doing(f"{COMPILING} {request.method} (once)"):
                    kept.warmth = self._try(request, label, kind, patience_s)
        warmth = kept.warmth
        try:
            ending, warm_s = self._ended(request, label, warmth, patience_s)
        except ServerLostError:
            return Answer(Measurement(Status.CRASHED, reason="the process that watched it died or stopped answering"))
        answer = self._judge(request, ending)
        if warmth is Warmth.PARENT and answer.measurement.warm != "repeat":
            warm = structs.replace(answer.measurement, warm=str(warmth), warm_s=warm_s)
            return replace(answer, measurement=warm)
        return answer

    def close(self) -> None:
        """End all servers and what they run."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            idle = [server for servers in self._idle.values() for server in servers]
            self._idle.clear()
            for server in self._busy:
                server.hang_up()
        for server in idle:
            server.close()
        give_back(self._spawner)

    def _ask(self, server: ServerHandle, request: Request, label: str, patience_s: float) -> Ending:
        """Have a run done, with what is left to its method for compiling."""
        with self._lock:
            kept = self._kept.setdefault(label, _Kept())
        try:
            ending: Ending | Refusal = server.ask(replace(request, compile_s=kept.compile_left_s), patience_s)
        except ServerLostError:
            self._forget(server)
            raise
        if isinstance(ending, Refusal):
            self._give(_idle_label(request, label), server)
            raise ExecutorError(ending.reason)
        with self._lock:
            kept.compile_left_s = max(0.0, kept.compile_left_s - ending.paused_s)
        return ending

    def _ended(self, request: Request, label: str, warmth: Warmth, patience_s: float) -> tuple[Ending, float | None]:
        """Return how a run ended, and how long its server was warmed up; a server that somebody else's run ended is replaced.

        Raises
        ------
        ServerLostError
            if this run is what ends servers.
        """
        for tries_left in reversed(range(TRIES)):
            try:
                server = self._take(request, label, warmth, patience_s)
                in_child = warmth is Warmth.CHILD or server.touch
                ending = self._ask(server, replace(request, warm=in_child), label, patience_s)
                break
            except ServerLostError as error:
                if self._closed:
                    raise PoolClosedError from None
                if error.is_silent or not tries_left:
                    raise
        self._give(_idle_label(request, label), server)
        return ending, server.warm_s

    def _judge(self, request: Request, ending: Ending) -> Answer:
        """Return what a run gave, by the word of a server that runs nothing."""
        question = Judge(replace(request, small=None), ending)
        for _ in range(TRIES):
            server = self._idle_server(JUDGES) or self._clone()
            try:
                answer: Answer = server.ask(question, JUDGE_S)
            except ServerLostError as error:
                self._forget(server)
                if self._closed:
                    raise PoolClosedError from None
                if error.is_silent:
                    break
            else:
                self._give(JUDGES, server)
                return answer
        return unjudged(f"within {JUDGE_S:g} s, or ended its judge", ending)

    def _small_of(self, request: Request, kind: str) -> bytes | None:
        """Return the small version of an instance of a run's kind: all that its process has until its time begins."""
        known = request.family, kind
        if known not in self._small:
            assert request.instance is not None
            try:
                # Reading it imports its family, which a cluster's worker has not met before.
                instance = pickle.loads(request.instance)
                small = pickled(shrunk(find_family(request.family), instance))
            except Exception:
                # Then nothing is warmed up.
                small = None
            self._small.setdefault(known, small)
        return self._small[known]

    def _try(self, request: Request, label: str, kind: str, patience_s: float) -> Warmth:
        """Find out where the method can be warmed up; this fills Numba's cache too.

        One of this package is warmed up in the server, where its kernels are then ready for all runs. Anybody else's runs
        in confined processes only: first on the family's small instance, to see that it survives that.
        """
        if not request.compiles or (request.is_plugin and request.small is None):
            return Warmth.NONE
        if request.isolation == RUNEXEC:
            return Warmth.CHILD
        try:
            server = self._take(request, label, Warmth.NONE, patience_s)
            if not request.is_plugin:
                if self._warm(server, request, patience_s):
                    self._give(label, server)
                    return Warmth.PARENT
                server = self._take(request, label, Warmth.NONE, patience_s)
            small = replace(
                request, shrunk=True, digest=f"{request.digest}/small", instance=self._small_of(request, kind)
            )
            ending = self._ask(server, small, label, patience_s)
        except ServerLostError:
            return Warmth.NONE
        self._give(_idle_label(request, label), server)
        status = self._judge(small, ending).measurement.status
        survived = status in (Status.OPTIMAL, Status.FEASIBLE, Status.NO_SOLUTION)
        return Warmth.CHILD if survived else Warmth.NONE

    def _warm(self, server: ServerHandle, request: Request, patience_s: float) -> bool:
        """Warm a server up; False, and the server is gone, if it cannot fork safely afterwards.

        Raises
        ------
        ServerLostError
            if the method ends it, or takes longer than its limit.
        """
        try:
            warmed = server.ask(WarmUp(request), patience_s)
        except ServerLostError:
            self._forget(server)
            raise
        if isinstance(warmed, WarmedUp) and warmed.threads == 1:
            server.warm_s = warmed.warm_s
            server.touch = warmed.again_s < TOUCH_BELOW_S
            return True
        self._forget(server)
        server.close()
        return False

    def _forget(self, server: ServerHandle) -> None:
        with self._lock:
            self._busy.discard(server)

    def _take(self, request: Request, label: str, warmth: Warmth, patience_s: float) -> ServerHandle:
        if (idle := self._idle_server(_idle_label(request, label))) is not None:
            return idle
        server = self._clone()
        if warmth is Warmth.PARENT and not self._warm(server, request, patience_s):
            raise ServerLostError
        return server

    def _idle_server(self, label: str) -> ServerHandle | None:
        with self._lock:
            idle = self._idle.get(label, [])
            while idle:
                server = idle.pop()
                if server.is_there:
                    self._busy.add(server)
                    return server
                server.close()
        return None

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
        for tries_left in reversed(range(TRIES)):
            self._wait_until_ready()
            try:
                return self._forked()
            except (SchedgapError, ServerLostError):
                # A run may have ended the spawner, which may be on its way out yet.
                self._spawner.is_fit = False
                if not tries_left:
                    raise
        raise AssertionError

    def _forked(self) -> ServerHandle:
        ours, theirs = socket.socketpair()
        server = ServerHandle(ours)
        with theirs, self._lock:
            try:
                if self._closed:
                    raise PoolClosedError
                self._spawner.fork(theirs)
            except (PoolClosedError, SchedgapError):
                server.close()
                raise
            self._busy.add(server)
        try:
            server.greet(self._spawner.pid, PATIENCE_S)
        except ServerLostError:
            self._forget(server)
            raise
        return server


def _idle_label(request: Request, label: str) -> str:
    """Return what a server can be used for again: one that is not warm for a method serves all runs of the same foreign code."""
    if not request.is_plugin:
        return label
    return f"plug-in {request.program or files_among(request.plugins)}"
