"""Runs to measurements: how executors do many, several at a time, and that of this machine. Clusters are in `cluster`."""

from __future__ import annotations

import atexit
import os
import threading
import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing.pool import ThreadPool
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from schedgap.bench.isolation.activity import doing
from schedgap.bench.isolation.messages import Answer, Request
from schedgap.bench.isolation.pool import Pool
from schedgap.bench.isolation.spawners import prepare_spawner
from schedgap.bench.records.host import host_facts
from schedgap.bench.records.record import PROCESS_GROUP

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from schedgap.bench.programs.program import Program
    from schedgap.bench.records.runs import Run


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and how runs are done: a process starts one pool for each setting that it meets, whatever the plug-ins.

    session : whose pool it is: threads of one process, and harnesses that share workers, must not end each other's.
    """

    families: tuple[str, ...]
    plugins: tuple[str | Program, ...]
    threads: int
    isolation: str = PROCESS_GROUP
    session: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One run with all that is needed to do it anywhere.

    pickled : the instance. kind : see `payload.compiled_kind`. keep : send the solution back too.
    is_plugin : the method is not one of this package. before : pickles of instances on which the method is called
    first, in the same process, untimed.
    """

    run: Run
    pickled: bytes
    kind: str
    setting: Setting
    is_plugin: bool = False
    keep: bool = False
    before: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Performed:
    """A run that was done. host : facts of the machine that did it, which need not be this one.

    isolation : how the run was kept apart from the harness and from others.
    """

    run: Run
    answer: Answer
    host: Mapping[str, Any]
    isolation: str = PROCESS_GROUP


@dataclass(frozen=True, slots=True)
class Undone:
    """A run that was not done, through no fault of its own: what had it was ended by its queue. reason : for people."""

    run: Run
    reason: str


_POOLS: dict[Setting, Pool] = {}
_LOCK = threading.Lock()


def perform(task: Task) -> Performed:
    """Measure one run in this process's pool."""
    run = task.run
    request = Request(
        family=run.family,
        method=run.method,
        given=run.given,
        seed=run.seed,
        limits=run.limits,
        digest=run.digest,
        instance=task.pickled,
        keep=task.keep,
        before=task.before,
        isolation=task.setting.isolation,
        is_plugin=task.is_plugin,
        plugins=task.setting.plugins,
    )
    with doing(f"{run.label} on {run.instance}"):
        answer = _pool_of(task.setting).run(request, task.kind)
    return Performed(run, answer, host_facts(), task.setting.isolation)


class Executor(ABC):
    """Does runs, each once. undone : those that it was given and could not do. in_flight : runs sent ahead at a time."""

    def __init__(self, in_flight: int) -> None:
        self.undone: list[Undone] = []
        self._in_flight = in_flight

    def execute(self, tasks: Iterable[Task]) -> Generator[Performed, None, None]:
        """Yield each run with its answer, in the order in which they end."""
        ahead, sent = iter(tasks), 0
        while True:
            for task in islice(ahead, self._in_flight - sent):
                self._send(task)
                sent += 1
            if sent == 0:
                return
            end = self._receive()
            sent -= 1
            if isinstance(end, Undone):
                self.undone.append(end)
            else:
                yield end

    @abstractmethod
    def close(self) -> None:
        """End what is still running, and all processes started for it."""

    @abstractmethod
    def _send(self, task: Task) -> None:
        """Have a run done."""

    @abstractmethod
    def _receive(self) -> Performed | Undone:
        """Wait until one of the runs that were sent has ended, and return how."""


class ProcessExecutor(Executor):
    """Runs on this machine. jobs : runs at a time; None for one a processor."""

    def __init__(self, setting: Setting, jobs: int | None = None) -> None:
        workers = os.cpu_count() or 1 if jobs is None else jobs
        super().__init__(2 * workers)
        # Its threads are daemons: one that waits for a process that does not answer keeps nobody.
        self._threads = ThreadPool(workers)
        self._ended: SimpleQueue[Performed | BaseException] = SimpleQueue()
        self._session = uuid.uuid4().hex
        # It imports methods while the harness has other work.
        prepare_spawner(setting.families, setting.threads)

    def close(self) -> None:
        """End all servers and what they run, for which the threads wait."""
        close_pools(self._session)
        self._threads.terminate()

    def _send(self, task: Task) -> None:
        own = replace(task, setting=replace(task.setting, session=self._session))
        self._threads.apply_async(perform, (own,), callback=self._ended.put, error_callback=self._ended.put)

    def _receive(self) -> Performed:
        end = self._ended.get()
        if isinstance(end, BaseException):
            raise end
        return end


def _pool_of(setting: Setting) -> Pool:
    key = replace(setting, plugins=())
    with _LOCK:
        if key not in _POOLS:
            _POOLS[key] = Pool(key.families, key.threads)
        return _POOLS[key]


@atexit.register
def close_pools(session: str | None = None) -> None:
    """End the servers that this process started, or those of one session, and what they run."""
    with _LOCK:
        pools = [_POOLS.pop(setting) for setting in list(_POOLS) if session in (None, setting.session)]
    for pool in pools:
        pool.close()
