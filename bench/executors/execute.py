"""Runs to measurements: how executors do many, several at a time, on this machine or on a cluster that somebody else started.

To the workers of a cluster a session and each instance travel once; what is there is checked, and nothing is left. How a run is
sent, and how its end is told, is what `cluster_dask`, `cluster_ray` and `cluster_slurm` say, each by its own library.
"""

from __future__ import annotations

import atexit
import importlib
import math
import os
import threading
import uuid
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from schedgap.bench.isolation.handle import end_spawners, prepare_spawner
from schedgap.bench.isolation.messages import Answer, Request
from schedgap.bench.isolation.pool import Pool, PoolClosedError, doing
from schedgap.bench.isolation.scratch import Scratch
from schedgap.bench.plugins.discover import Home
from schedgap.bench.plugins.files import code_hash
from schedgap.bench.programs.program import Program, files_among, programs_among
from schedgap.bench.records.host import host_facts, versions_of
from schedgap.bench.records.runs import PROCESS_GROUP, Measurement, Run
from schedgap.instances.errors import ExecutorError, MethodError
from schedgap.instances.method import Status


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


# Seconds for a cluster to answer, and to have a worker.
CONNECT_S = 10
# How often a run is given to other workers when its own are lost.
MAX_RETRIES = 3
# Instances whose place on the cluster is remembered. Runs come instance by instance, so that few are in use at once.
MAX_SHARED = 16


@dataclass(frozen=True, slots=True)
class Session:
    """What a harness's runs have in common, wherever they land.

    identity : of the harness. versions : of Python and the packages that answers depend on. plugins : the names and
    contents of plug-in files, which the workers cannot read themselves.
    """

    identity: str
    versions: Mapping[str, str | None]
    plugins: tuple[tuple[str, str], ...]


def make_session(setting: Setting) -> Session:
    """Return a new session for runs of a setting.

    Raises
    ------
    MethodError
        if a plug-in file cannot be read, or is a program.
    """
    contents = []
    for program in programs_among(setting.plugins):
        raise MethodError(f"program {program.name} runs on this machine only; leave --executor out, or the program.")
    for plugin in files_among(setting.plugins):
        try:
            contents.append((Path(plugin).name, Path(plugin).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise MethodError(f"plug-in {plugin} cannot be read ({error}); give the path of a Python file.") from None
    return Session(uuid.uuid4().hex, versions(), tuple(contents))


def versions() -> dict[str, str | None]:
    """Return the versions that answers and times may depend on, of this process."""
    return versions_of(host_facts())


def problem_here(wanted: Mapping[str, str | None]) -> str | None:
    """Return what is different in this process from what the harness has, None if nothing is."""
    known = versions()
    differing = [
        f"{name} {known.get(name) or 'is missing'} (here {version or 'none'})"
        for name, version in wanted.items()
        if known.get(name) != version
    ]
    return ", ".join(differing) or None


def refuse(worker: str, problem: str) -> ExecutorError:
    """Return the error for a worker that is not like the harness."""
    return ExecutorError(f"worker {worker} has {problem}; install the same versions there.")


_FOLDERS: dict[str, Scratch] = {}


def perform_there(session: Session, task: Task, pickled: bytes) -> Performed:
    """Measure one run in a worker's process. pickled : the instance, which the task does not carry.

    Raises
    ------
    ExecutorError
        if this worker, which may have joined later, has other versions.
    PoolClosedError
        if the session is over.
    """
    if (problem := problem_here(session.versions)) is not None:
        raise refuse(str(host_facts()["name"]), problem)
    with _LOCK:
        if session.identity in OVER:
            raise PoolClosedError
        scratch = _FOLDERS.get(session.identity)
        if scratch is None:
            scratch = _FOLDERS[session.identity] = Scratch()
            for number, (name, content) in enumerate(session.plugins):
                path = scratch.path / str(number) / name
                path.parent.mkdir()
                path.write_text(content, encoding="utf-8")
    plugins = tuple(str(scratch.path / str(number) / name) for number, (name, _) in enumerate(session.plugins))
    setting = replace(task.setting, plugins=plugins, session=session.identity)
    return perform(replace(task, pickled=pickled, setting=setting))


def end_session(identity: str) -> None:
    """End what this worker's process does for a session, now and for what still waits for it."""
    OVER.add(identity)
    close_pools(identity)
    end_spawners()
    with _LOCK:
        scratch = _FOLDERS.pop(identity, None)
    if scratch is not None:
        scratch.remove()


def lost(task: Task, error: object) -> Performed:
    """Return the end of a run that was given up, since the workers that it was given to were lost one after another.

    It may be what ends them. The harness's machine stands for theirs.
    """
    reason = f"the workers that it was given to were lost ({one_line(error)})"
    return Performed(task.run, Answer(Measurement(Status.CRASHED, reason=reason)), host_facts(), task.setting.isolation)


def undone(task: Task, error: object) -> Undone:
    """Return the end of a run whose workers were ended by their queue, which says nothing of the run."""
    return Undone(task.run, f"the workers that it was given to were ended by their queue ({one_line(error)})")


def no_answer(what: str, address: str, error: object) -> ExecutorError:
    """Return the error for a cluster that is not there. what : a kind of cluster."""
    return ExecutorError(f"no {what} answers at {address} ({one_line(error)}); start it, or mend --address.")


def gone(what: str) -> ExecutorError:
    """Return the error for a cluster that ends under its runs."""
    return ExecutorError(f"{what}; what was recorded stays, the same command finishes the rest.")


def one_line(error: object) -> str:
    """Return what an engine says of its trouble, as part of a sentence."""
    return " ".join(str(error).split())[:200] or type(error).__name__


class ClusterExecutor(Executor):
    """Runs on the workers of a cluster; a session, and each instance, travel there once.

    in_flight : runs sent ahead at a time. address : of the cluster, as the user gave it.
    """

    def __init__(self, setting: Setting, address: str) -> None:
        super().__init__()
        self._session, self._address, self._in_flight = make_session(setting), address, 1
        self._shared: OrderedDict[str, Any] = OrderedDict()
        # What stands for a run on the cluster, until it has ended.
        self._sent: dict[Any, Task] = {}

    def execute(self, tasks: Iterable[Task]) -> Generator[Performed, None, None]:
        """Yield each run with its answer, in the order in which they end."""
        ahead = iter(tasks)
        while True:
            for task in islice(ahead, self._in_flight - len(self._sent)):
                self._send(task)
            if not self._sent:
                return
            end = self._receive()
            if isinstance(end, Undone):
                self.undone.append(end)
            else:
                yield end

    @abstractmethod
    def _receive(self) -> Performed | Undone:
        """Wait until one of the runs that were sent has ended, and return how."""

    def _send(self, task: Task) -> None:
        arguments = []
        for name, value in (("session", self._session), (task.run.digest, task.pickled)):
            if name not in self._shared:
                self._shared[name] = self._share(name, value)
            self._shared.move_to_end(name)
            arguments.append(self._shared[name])
        if len(self._shared) > MAX_SHARED:
            self._shared.popitem(last=False)
        self._sent[self._submit(arguments[0], replace(task, pickled=b""), arguments[1])] = task

    @abstractmethod
    def _share(self, name: str, value: Any) -> Any:
        """Put a value on the cluster under a name and return what stands for it in the arguments of a run."""

    @abstractmethod
    def _submit(self, session: Any, task: Task, instance: Any) -> Any:
        """Have `perform_there` called with these on a worker."""
