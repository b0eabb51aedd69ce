"""Runs to measurements: how executors do many, several at a time, and that of this machine. Clusters are in `cluster`.

Where runs are done: on this machine, or on a cluster that somebody else started.
"""

from __future__ import annotations

import atexit
import importlib
import math
import os
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from joblib import Parallel, delayed

from schedgap.bench.isolation.handle import prepare_spawner
from schedgap.bench.isolation.messages import Answer, Request
from schedgap.bench.isolation.pool import Pool, PoolClosedError, doing
from schedgap.bench.plugins.discover import Home
from schedgap.bench.plugins.files import code_hash
from schedgap.bench.programs.program import Program
from schedgap.bench.records.host import host_facts
from schedgap.bench.records.runs import PROCESS_GROUP, Run
from schedgap.instances.errors import ExecutorError


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and how runs are done: a process starts one pool for each setting that it meets, whatever the plug-ins.

    session : whose pool it is: threads of one process, and harnesses that share workers, must not end each other's.
    """

    families: tuple[str | Home, ...]
    plugins: tuple[str | Program, ...]
    threads: int
    isolation: str = PROCESS_GROUP
    session: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One run with all that is needed to do it anywhere.

    pickled : the instance. kind : see `messages.compiled_kind`. keep : send the solution back too.
    is_plugin : the method is not one of this package. before : pickles of instances on which the method is called
    first, in the same process, untimed. proves : its bounds count. most_s : how long its process may live at all.
    """

    run: Run
    pickled: bytes
    kind: str
    setting: Setting
    is_plugin: bool = False
    keep: bool = False
    before: tuple[bytes, ...] = ()
    proves: bool = True
    most_s: float = math.inf


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
# Sessions that are over: nobody would end a pool that a thread of theirs opens later.
OVER: set[str] = set()
_LOCK = threading.Lock()
# The servers of a process are not those of one that is forked from it.
os.register_at_fork(after_in_child=_POOLS.clear)


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
        families=task.setting.families,
        proves=task.proves,
        most_s=task.most_s,
        code=code_hash(run.plugin, task.setting.plugins) if task.is_plugin else None,
    )
    with doing(f"{run.label} on {run.instance}"):
        answer = pool_of(task.setting).run(request, task.kind)
    return Performed(run, answer, host_facts(), task.setting.isolation)


class Executor(ABC):
    """Does runs, each once. undone : those that it was given and could not do."""

    def __init__(self) -> None:
        self.undone: list[Undone] = []

    @abstractmethod
    def execute(self, tasks: Iterable[Task]) -> Generator[Performed, None, None]:
        """Yield each run with its answer, in the order in which they end."""

    @abstractmethod
    def close(self) -> None:
        """End what is still running, and all processes started for it."""


class ProcessExecutor(Executor):
    """Runs on this machine. jobs : runs at a time; None for one a processor."""

    def __init__(self, setting: Setting, jobs: int | None = None) -> None:
        super().__init__()
        self._workers = os.cpu_count() or 1 if jobs is None else jobs
        self._session = uuid.uuid4().hex
        # It imports methods while the harness has other work.
        prepare_spawner(setting.families, setting.threads)

    def execute(self, tasks: Iterable[Task]) -> Generator[Performed, None, None]:
        """Yield each run with its answer, in the order in which they end; all servers are gone when it is closed."""
        options = {"return_as": "generator_unordered", "pre_dispatch": "2*n_jobs", "batch_size": 1}
        own = (replace(task, setting=replace(task.setting, session=self._session)) for task in tasks)
        ends = Parallel(self._workers, "threading", **options)(delayed(perform)(task) for task in own)
        try:
            yield from ends
        finally:
            # First the servers: threads that wait for them could not be ended otherwise.
            self.close()
            ends.close()

    def close(self) -> None:
        """End all servers and what they run."""
        close_pools(self._session)


def pool_of(setting: Setting) -> Pool:
    """Return the pool of a setting, started by the first who asks; `close_pools` ends it.

    Raises
    ------
    PoolClosedError
        if the session is over.
    """
    key = replace(setting, plugins=())
    with _LOCK:
        if key.session in OVER:
            raise PoolClosedError
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


EXECUTORS = ("process", "dask", "ray", "slurm")
# What importing an engine's module may miss, by the engine.
_PACKAGES = {"dask": ("dask", "distributed"), "ray": ("ray",), "slurm": ("submitit",)}


@contextmanager
def open_executor(
    name: str, setting: Setting, jobs: int | None = None, address: str | None = None
) -> Iterator[Executor]:
    """Yield the executor `process`, `dask`, `ray` or `slurm`; it is closed afterwards.

    jobs : runs at a time, None for as many as there are processors or the cluster takes. address : of the cluster.

    Raises
    ------
    ExecutorError
        for an unknown name, no runs at a time, a package that is not installed, or a cluster that does not answer or has
        other versions.
    """
    if name not in EXECUTORS:
        raise ExecutorError(f"there is no executor '{name:.60}'; there are {', '.join(EXECUTORS)}.")
    if jobs is not None and not (isinstance(jobs, int) and jobs >= 1):
        raise ExecutorError(f"jobs is {jobs!r:.60}; give how many runs at a time, 1 or more, or None.")
    executor: Executor
    if name == "process":
        if address is not None:
            raise ExecutorError(
                f"executor process takes no address, '{address}' was given; leave it out or name dask, ray or slurm."
            )
        executor = ProcessExecutor(setting, jobs)
    else:
        try:
            module = importlib.import_module(f"schedgap.bench.executors.cluster_{name}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in _PACKAGES[name]:
                raise
            raise ExecutorError(
                f"executor {name} needs the package '{error.name}', which is not installed; pip install 'schedgap[{name}]'."
            ) from None
        executor = getattr(module, f"{name.capitalize()}Executor")(setting, jobs, address)
    try:
        yield executor
    finally:
        executor.close()
