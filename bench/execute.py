"""Runs to measurements, several at a time, through joblib; the same hard-limited child process wherever they land."""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed

from schedgap.bench.host import host_facts
from schedgap.bench.pool import Pool
from schedgap.bench.record import PROCESS_GROUP
from schedgap.bench.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schedgap.bench.request import Answer
    from schedgap.bench.runs import Run


@dataclass(frozen=True, slots=True)
class Setting:
    """What the pool of a process must know: it starts one pool for each setting it meets."""

    families: tuple[str, ...]
    plugins: tuple[str, ...]
    threads: int
    isolation: str = PROCESS_GROUP


@dataclass(frozen=True, slots=True)
class Task:
    """One run with all that is needed to do it anywhere.

    pickled : the instance. kind : see `compiled_kind`. keep : send the solution back too.
    """

    run: Run
    pickled: bytes
    kind: str
    setting: Setting
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Performed:
    """A run that was done. host : facts of the machine that did it, which need not be this one."""

    run: Run
    answer: Answer
    host: Mapping[str, Any]


_POOLS: dict[Setting, Pool] = {}
_LOCK = threading.Lock()


def execute(tasks: Iterable[Task], jobs: int | None = None) -> Iterator[Performed]:
    """Yield each run with its answer, in the order in which they end; all servers are gone when it is closed.

    jobs : runs at a time; None for one a processor.
    """
    workers = os.cpu_count() or 1 if jobs is None else jobs
    parallel = Parallel(
        n_jobs=workers, backend="threading", return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1
    )
    ends = parallel(delayed(perform)(task) for task in tasks)
    try:
        yield from ends
    finally:
        # First the servers: threads that wait for them could not be ended otherwise.
        close_pools()
        ends.close()


def perform(task: Task) -> Performed:
    """Measure one run in this process's pool."""
    with _LOCK:
        if task.setting not in _POOLS:
            _POOLS[task.setting] = Pool(task.setting.families, task.setting.plugins, task.setting.threads)
        pool = _POOLS[task.setting]
    run = task.run
    request = Request(
        family=run.family,
        method=run.method,
        given=run.given,
        seed=run.seed,
        limits=run.limits,
        digest=run.digest,
        instance_path=pool.store(run.digest, task.pickled),
        keep=task.keep,
    )
    return Performed(run, pool.run(request, task.kind), host_facts())


def start_pool(setting: Setting) -> None:
    """Start a pool before its first run, so that its imports overlap with the caller's own preparations."""
    with _LOCK:
        if setting not in _POOLS:
            _POOLS[setting] = Pool(setting.families, setting.plugins, setting.threads)


@atexit.register
def close_pools() -> None:
    """End all servers of this process and what they run."""
    with _LOCK:
        pools = list(_POOLS.values())
        _POOLS.clear()
    for pool in pools:
        pool.close()
