"""Candidates of a search: described and run without anything of them becoming known to this process.

The plan of each carries its own method, so that any number may be of one name; threads and servers are shared by all.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from schedgap.bench.api import recorded
from schedgap.bench.executors.execute import Performed, Setting, Task, close_pools, perform, pool_of
from schedgap.bench.plan import Plan, make_run, setting
from schedgap.bench.plugins.files import plugin_hash
from schedgap.bench.programs.program import Kind, Program
from schedgap.bench.records.host import host_id
from schedgap.bench.records.runs import Measurement, Record, Run
from schedgap.bench.suites.suite import Suite
from schedgap.bench.testing.measure import with_time_limit
from schedgap.bench.testing.parts import Case
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, Method, Status

# What importing a candidate may take, in seconds.
IMPORT_S = 20.0


class Desk:
    """Where candidates are run: `jobs` runs at a time, whoever asks, by threads and servers that are kept.

    A process that is forked from this one has its own. time_limit_s, budget_s : see `evaluator`.
    """

    def __init__(self, jobs: int | None, time_limit_s: float | None, budget_s: float | None) -> None:
        self._jobs, self._time_limit_s, self._budget_s = jobs or os.cpu_count() or 1, time_limit_s, budget_s
        self._lock = threading.Lock()
        self._process = 0

    def records(self, candidate: str | Path | Program, suite: Suite, cases: Sequence[Case]) -> list[Record]:
        """Run a candidate on instances and return its runs, in their order, without what it says of its own answers.

        Raises
        ------
        MethodError
            if it cannot be loaded, is not one method of the suite's family, or is changed meanwhile.
        """
        threads, session = self._opened()
        place = replace(setting(suite.family, (), cases[0].like.limits.threads), session=session)
        plugins = _plugins(candidate)
        try:
            method = _known(plugins[0], suite.family, place)
            plan = Plan(replace(place, plugins=plugins), methods={(method.family, method.name): method})
            code = plugin_hash(method, plugins)
            for case in cases:
                plan.instances[case.instance.digest] = case.made
                for repetition in range(suite.repetitions if method.stochastic else 1):
                    run = make_run(
                        case.instance,
                        method,
                        {},
                        case.like.limits,
                        group=case.like.group,
                        source=dict(case.like.source),
                        base_seed=suite.seed,
                        repetition=repetition,
                        plugin=code,
                    )
                    run = run if self._time_limit_s is None else with_time_limit(run, self._time_limit_s)
                    plan.runs[run.key] = run
            spent = _Spent(self._budget_s or sum(run.limits.wall_s for run in plan.runs.values()) + IMPORT_S)
            waiting = [threads.submit(spent.performed, plan.task(key)) for key in plan.runs]
            try:
                ends = [each.result() for each in waiting]
            finally:
                for each in waiting:
                    each.cancel()
            list(plan.unchanged(end for end in ends if end is not None))
        finally:
            pool_of(place).forget(plugins)
        return _in_order(list(plan.runs.values()), ends, spent)

    def _opened(self) -> tuple[ThreadPoolExecutor, str]:
        """Return the threads, and the name of the servers, of this process."""
        with self._lock:
            if self._process != os.getpid():
                self._process, self._session = os.getpid(), uuid.uuid4().hex
                self._threads = ThreadPoolExecutor(self._jobs, thread_name_prefix="schedgap-candidates")
                # At exit all pools are closed anyway.
                weakref.finalize(self, _close, self._session).atexit = False
            return self._threads, self._session


def _close(session: str) -> None:
    """End servers in a thread of its own: garbage is collected anywhere, also where a pool is held."""
    threading.Thread(target=close_pools, args=(session,), daemon=True).start()


class _Spent:
    """What the runs of one candidate took, all together; each may take what is left."""

    def __init__(self, budget_s: float) -> None:
        self.budget_s, self.left_s = budget_s, budget_s
        self.is_over = False
        self._lock = threading.Lock()

    def performed(self, task: Task) -> Performed | None:
        """Do a run; None if nothing is left for it, or one before it took its whole time."""
        if self.is_over or self.left_s <= 0:
            return None
        start = time.monotonic()
        performed = perform(replace(task, most_s=self.left_s))
        with self._lock:
            self.left_s -= time.monotonic() - start
            self.is_over |= performed.answer.measurement.status is Status.TIMEOUT
        return performed


def _plugins(candidate: str | Path | Program) -> tuple[str | Program]:
    """Return a candidate as the plug-in that runs of it need."""
    if isinstance(candidate, Program):
        return (candidate,)
    path = str(Path(candidate).resolve())
    return (path if path.endswith(".py") else Program.make("candidate", (path,), kind=Kind.METHOD),)


def _known(plugin: str | Program, family: str, place: Setting) -> Method:
    """Return the one method of a family that a plug-in is, or registers."""
    if isinstance(plugin, Program):
        if (family, plugin.name) in REGISTRY:
            raise MethodError(f"family {family} has a method '{plugin.name}' already; give the program another name.")
        return plugin.as_method(family)
    described = pool_of(place).describe((plugin,), IMPORT_S)
    # Others are of packages that are installed.
    own = [each for each in described if each.family == family and each.plugin == plugin]
    if len(own) != 1:
        names = ", ".join(method.name for method in own) or "none"
        raise MethodError(
            f"candidate {plugin} registers {len(own)} methods of family {family} ({names}); register one."
        )
    return own[0]


def _in_order(runs: Sequence[Run], ends: Sequence[Performed | None], spent: _Spent) -> list[Record]:
    """Return the runs as rows; after the first that took its whole time no other counts, however far it came beside it."""
    rows: list[Record] = []
    hung = ""
    for run, end in zip(runs, ends, strict=True):
        if end is None or hung:
            reason = f"not run: {hung}" if hung else f"not run: the candidate's {spent.budget_s:g} s were over"
            rows.append(Record(run.key, run, Measurement(Status.TIMEOUT, reason=reason), host="", ended_at=""))
            continue
        rows.append(_unclaimed(recorded(end, host_id(end.host))))
        if rows[-1].status is Status.TIMEOUT:
            hung = f"on {run.instance} the candidate took all its time"
    return rows


def _unclaimed(record: Record) -> Record:
    """Return the record without what the method said of its own answer."""
    measurement = record.measurement
    status = Status.FEASIBLE if measurement.status is Status.OPTIMAL else measurement.status
    return structs.replace(record, measurement=structs.replace(measurement, status=status, bound=None, trajectory=()))
