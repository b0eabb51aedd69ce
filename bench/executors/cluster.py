"""Runs on the workers of a cluster: what travels there, what is checked there, and what is left there (nothing).

How a run is sent, and how its end is told, is what `cluster_dask`, `cluster_ray` and `cluster_slurm` say, each by its own
library. What a worker does is what `execute` does on this machine.
"""

from __future__ import annotations

import threading
import uuid
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from schedgap.bench.executors.execute import OVER, Executor, Performed, Setting, Task, Undone, close_pools, perform
from schedgap.bench.isolation.handle import end_spawners
from schedgap.bench.isolation.messages import Answer
from schedgap.bench.isolation.pool import PoolClosedError
from schedgap.bench.isolation.scratch import Scratch
from schedgap.bench.programs.program import files_among, programs_among
from schedgap.bench.records.host import host_facts, versions_of
from schedgap.bench.records.runs import Measurement
from schedgap.instances.errors import ExecutorError, MethodError
from schedgap.instances.method import Status

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


_LOCK = threading.Lock()
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
