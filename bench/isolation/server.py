"""A warm process that forks one isolated, limited child a run, watches it, and verifies its answer."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from schedgap.bench.isolation.child import run_child, warm_up
from schedgap.bench.isolation.judge import judge
from schedgap.bench.isolation.request import Answer, Refusal, Request, WarmedUp, WarmUp
from schedgap.bench.isolation.runexec import run_in_container
from schedgap.bench.isolation.supervise import HarnessGoneError, supervise
from schedgap.bench.isolation.tree import adopt_orphans
from schedgap.bench.records.record import RUNEXEC
from schedgap.instances.errors import ExecutorError
from schedgap.instances.family import find_family
from schedgap.instances.method import find_method

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from schedgap.bench.isolation.supervise import Ending
    from schedgap.instances.family import Family


def serve(connection: Connection) -> None:
    """Answer requests until the harness hangs up."""
    adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    server = Server(connection)
    connection.send(os.getpid())
    while True:
        try:
            request = connection.recv()
            connection.send(server.answer(request))
        except (EOFError, OSError, HarnessGoneError):
            return


# Larger instances are read again for each run: dozens of servers that each kept one would fill the memory.
KEEP_BYTES = 2**27


class Server:
    """Holds the instance of the last request, so that the children of a series of runs inherit it without copying."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._digest = ""
        self._instance: Any = None

    def answer(self, request: Request | WarmUp) -> Answer | WarmedUp | Refusal:
        """Do what is asked."""
        if isinstance(request, WarmUp):
            return self._warm(request.request)
        answer = self._run(request)
        if request.instance_path.stat().st_size > KEEP_BYTES:
            self._digest, self._instance = "", None
        return answer

    def _warm(self, request: Request) -> WarmedUp:
        method = find_method(request.family, request.method)
        seconds, again_s = (warm_up(method, self._load(request), request) for _ in range(2))
        # Nothing of what is alive now will be collected in the children, so their pages stay shared.
        gc.collect()
        gc.freeze()
        return WarmedUp(seconds, again_s, psutil.Process().num_threads())

    def _run(self, request: Request) -> Answer | Refusal:
        instance = self._load(request)
        with tempfile.TemporaryDirectory(prefix="schedgap-run-", ignore_cleanup_errors=True) as scratch:
            if request.isolation == RUNEXEC:
                try:
                    ending = run_in_container(request, Path(scratch), self._connection.fileno())
                except ExecutorError as error:
                    return Refusal(str(error))
            else:
                ending = self._fork(request, instance, Path(scratch))
        family = find_family(request.family)
        if request.shrunk:
            assert family.shrink is not None
            instance = family.shrink(instance)
        measurement, solution = judge(family, instance, ending, request.limits)
        if solution is None or request.shrunk:
            return Answer(measurement)
        if family.measures is not None:
            measurement = replace(measurement, measures=family.measures(instance, solution))
        picture = None if family.picture is None else family.picture(instance, solution)
        return Answer(measurement, picture, _content(family, instance, solution) if request.keep else None)

    def _fork(self, request: Request, instance: Any, scratch: Path) -> Ending:
        answers, answers_in = os.pipe()
        output, output_in = os.pipe()
        pid = os.fork()
        if pid == 0:
            run_child(request, instance, answers_in, output_in, scratch)
        os.close(answers_in)
        os.close(output_in)
        return supervise(pid, answers, output, self._connection.fileno(), request.limits)

    def _load(self, request: Request) -> Any:
        if request.digest != self._digest:
            self._instance = pickle.loads(request.instance_path.read_bytes())
            self._digest = request.digest
        return self._instance


def _content(family: Family, instance: Any, solution: Any) -> bytes:
    with tempfile.TemporaryDirectory(prefix="schedgap-solution-") as folder:
        path = Path(folder) / "solution.json"
        family.write_solution(instance, solution, path)
        return path.read_bytes()
