"""A process that never runs a plug-in's code: it forks one confined child a run and watches it, or judges answers."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from schedgap.bench.isolation.answer import pack
from schedgap.bench.isolation.child import caller, measured, shrunk, warm_up
from schedgap.bench.isolation.clocks import Allowance
from schedgap.bench.isolation.confinement import Confinement
from schedgap.bench.isolation.fork import supervised
from schedgap.bench.isolation.judge import judged
from schedgap.bench.isolation.messages import (
    KEEP_BYTES,
    START_S,
    Answer,
    Cause,
    Describe,
    Described,
    Judge,
    Refusal,
    Request,
    WarmedUp,
    WarmUp,
)
from schedgap.bench.isolation.processes import ProcessorClock, adopt_orphans
from schedgap.bench.isolation.runexec import run_in_container
from schedgap.bench.isolation.scratch import delete
from schedgap.bench.isolation.supervise import HarnessGoneError
from schedgap.bench.plugins.description import described
from schedgap.bench.programs.exchange import prepare
from schedgap.bench.records.record import RUNEXEC
from schedgap.bench.records.runs import Limits
from schedgap.instances.errors import ExecutorError
from schedgap.instances.family import find_family
from schedgap.instances.method import find_method

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from schedgap.bench.isolation.messages import Ending

# What a method is told when it is warmed up: one that searches as long as it may does so on a small instance too.
WARM_UP_S = 5.0


def serve(connection: Connection, scratch: Path) -> None:
    """Answer requests until the harness hangs up. scratch : for temporary files."""
    adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    server = Server(connection, scratch)
    connection.send(os.getpid())
    while True:
        try:
            request = connection.recv()
            connection.send(server.answer(request))
        except (EOFError, OSError, HarnessGoneError):
            return


class Server:
    """Holds the instance of the last request, so that the children of a series of runs inherit it without copying."""

    def __init__(self, connection: Connection, scratch: Path) -> None:
        self._connection = connection
        # Of this server alone: what it confines sees no other's.
        self._scratch = scratch / f"server-{os.getpid()}"
        self._scratch.mkdir()
        self._processors = ProcessorClock()
        self._confinement: Confinement | None = None
        self._instance: Any = None
        # Families whose files this process is ready to write and read.
        self._prepared: set[str] = set()

    def answer(self, question: Request | WarmUp | Judge | Describe) -> Ending | WarmedUp | Answer | Described | Refusal:
        """Do what is asked."""
        if isinstance(question, Describe):
            return self._describe(question)
        request = question if isinstance(question, Request) else question.request
        if request.instance is not None:
            self._instance = pickle.loads(request.instance)
        try:
            match question:
                case WarmUp():
                    return self._warm(request)
                case Judge():
                    return judged(request, self._instance, question.ending, self._scratch)
            return self._run(request)
        finally:
            if request.instance is not None and len(request.instance) > KEEP_BYTES:
                self._instance = None

    def _warm(self, request: Request) -> WarmedUp:
        """Warm up a method of this package; if it takes longer than its limit, that ends this process."""
        method, small = find_method(request.family, request.method), shrunk(find_family(request.family), self._instance)
        limits = request.limits
        brief = replace(limits, time_limit_s=min(limits.time_limit_s, WARM_UP_S))
        call = caller(method, replace(request, limits=brief))
        seconds, again_s = (warm_up(call, small, limits.wall_s) for _ in range(2))
        # Nothing of what is alive now will be collected in the children, so their pages stay shared.
        gc.collect()
        gc.freeze()
        return WarmedUp(seconds, again_s, psutil.Process().num_threads())

    def _run(self, request: Request) -> Ending | Refusal:
        with self._folder() as scratch:
            try:
                return self._ended(request, scratch)
            except ExecutorError as error:
                return Refusal(str(error))

    def _ended(self, request: Request, scratch: Path) -> Ending:
        if request.isolation == RUNEXEC:
            return run_in_container(request, pickle.dumps(self._instance, 5), scratch, self._connection.fileno())
        if request.program is not None and request.family not in self._prepared:
            prepare(find_family(request.family), self._instance)
            self._prepared.add(request.family)

        def work(answers: int) -> bytes:
            return measured(request, self._instance, answers)

        return supervised(
            work,
            pack,
            request.limits,
            self._connection.fileno(),
            scratch,
            request.allowance,
            self._processors,
            self._confined(request.may_write) if request.is_plugin else None,
            limits_addresses=request.program is None,
        )

    def _describe(self, question: Describe) -> Described:
        limits = Limits(wall_s=START_S)
        with self._folder() as scratch:
            ending = supervised(
                lambda _: described(question.plugins),
                lambda failure: b"",
                limits,
                self._connection.fileno(),
                scratch,
                Allowance(restarts=0, compile_s=0.0),
                self._processors,
                self._confined(),
            )
        if ending.answer:
            return Described(ending.answer)
        if ending.cause is Cause.WALL:
            return Described(None, f"importing took more than {START_S:g} s")
        if ending.cause is Cause.MEMORY:
            return Described(None, f"importing took more than {limits.memory_mib} MiB of memory")
        printed = ending.output.decode(errors="replace").strip().splitlines()
        return Described(None, printed[-1] if printed else f"its process ended with code {ending.exit_code}")

    def _confined(self, also: tuple[str, ...] = ()) -> Confinement:
        """Return how code of others is confined; our own methods fill the cache of compiled code."""
        if self._confinement is None or self._confinement.asked != also:
            if self._confinement is not None:
                self._confinement.close()
            self._confinement = Confinement.prepared(self._scratch, also)
        return self._confinement

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        """Yield a folder for one run, deleted afterwards."""
        with tempfile.TemporaryDirectory(prefix="run-", dir=self._scratch, ignore_cleanup_errors=True) as folder:
            yield Path(folder)
        # What was meant for shared memory is beside the folder (see `Confinement`).
        for left in self._scratch.iterdir():
            delete(left)
