"""The instances that an evaluator scores candidates on: made, and proven or looked up in a file of bounds, once."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedgap.bench.api import recorded
from schedgap.bench.executors.execute import ProcessExecutor
from schedgap.bench.isolation.child import shrunk
from schedgap.bench.isolation.messages import compiled_kind, pickled
from schedgap.bench.plan import Plan, make_run, plan_suite
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs.program import resolved
from schedgap.bench.records.runs import Measurement, Record, Run
from schedgap.bench.statistics.headlines.scores import native_scores
from schedgap.bench.statistics.summary import verified_objective
from schedgap.bench.suites.bounds import Bounds, read_bounds
from schedgap.bench.suites.suite import Suite
from schedgap.bench.testing.measure import cover, prove_bounds, reduced
from schedgap.instances.errors import MethodError, SuiteError
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, Status, find_method


@dataclass(frozen=True)
class Case:
    """One instance. made : its pickle, and what tells its compiled code apart (see `Plan.instances`).

    like : a run on it of anybody, whose limits, group and source are those of all runs on it.
    """

    instance: Any
    made: tuple[bytes, str]
    like: Run

    @property
    def unsolved(self) -> Record:
        """Return a run that was not done."""
        return Record(self.like.key, self.like, Measurement(Status.ERROR), host="", ended_at="")


@dataclass(frozen=True)
class Terms:
    """How an evaluator works, see `evaluator`. frozen : file of bounds; None to prove them."""

    bound: str | None
    frozen: Path | None
    trace: str | Path | None
    directory: Path
    jobs: int | None


@dataclass(frozen=True)
class Ready:
    """Instances with what is proven of them. tiny : the small version of the first, or that itself where there is none."""

    cases: tuple[Case, ...]
    tiny: Case
    bounds: Bounds


class Part:
    """Instances of a suite, ready when they are first needed."""

    def __init__(self, suite: Suite, folder: Path, terms: Terms) -> None:
        self.suite, self._folder, self._terms = suite, folder, terms
        self._lock = threading.Lock()
        self._ready: Ready | None = None

    def ready(self) -> Ready:
        """Return the instances and their bounds; the first who asks makes them, others wait.

        Raises
        ------
        SchedgapError
            for an instance that cannot be made, or has no bound.
        """
        with self._lock:
            if self._ready is None:
                self._ready = self._made()
            return self._ready

    def _made(self) -> Ready:
        terms, suite = self._terms, self.suite
        load_families()
        family = find_family(suite.family)
        frozen = None if terms.frozen is None else read_bounds(terms.frozen, family.name)
        programs = resolved(suite.own_programs(self._folder))
        whole = suite if terms.bound is None else reduced(suite, terms.bound, terms.bound)
        plan = plan_suite(whole, self._folder, plugins=programs, trace=terms.trace)
        first = {run.digest: run for run in reversed(plan.runs.values())}
        cases = tuple(Case(pickle.loads(made[0]), made, first[digest]) for digest, made in plan.instances.items())
        tiny = cases[0].instance
        if family.shrink is not None:
            tiny = shrunk(family, tiny)
        smallest = Case(tiny, (pickled(tiny), compiled_kind(tiny)), cases[0].like)
        if frozen is None:
            frozen = self._proven(plan, cases, smallest)
        frozen.rows({case.like.digest: case.like.instance for case in cases})
        return Ready(cases, smallest, frozen)

    def _proven(self, plan: Plan, cases: Sequence[Case], tiny: Case) -> Bounds:
        terms, family = self._terms, find_family(self.suite.family)
        idle = {key: run for key, run in plan.runs.items() if not find_method(run.family, run.method).bounds}
        if terms.bound is not None and idle:
            raise MethodError(
                f"method {terms.bound} is not declared to prove bounds; name one that is, or leave it out."
            )
        cover(plan, idle)
        provers = {key: run for key, run in plan.runs.items() if key not in idle}
        rows = list(prove_bounds(plan, provers, terms.directory, terms.jobs).values())
        bounds = Bounds.of(self.suite.name, family.name, rows, *self._names(plan, tiny, rows))
        known = {each.digest for each in bounds.instances}
        for run in (case.like for case in cases):
            if run.digest not in known:
                tried = ", ".join(f"{row.run.label} {row.status}" for row in rows if row.run.digest == run.digest)
                raise MethodError(
                    f"{run.instance}: nobody proved a bound ({tried or 'nobody tried'}); name a method that proves one, by "
                    "bound=."
                )
        return bounds

    def _names(self, plan: Plan, tiny: Case, rows: Sequence[Record]) -> tuple[set[str], set[str]]:
        """Return the names of the family's measures and scores, by a solution of a prover, else by one of a tiny instance."""
        family = find_family(self.suite.family)
        if family.measures is None and family.native_score is None:
            return set(), set()
        solved = [row for row in rows if verified_objective(row) is not None]
        if not solved:
            ours = [method for (of, _), method in REGISTRY.items() if of == family.name and method.is_shipped]
            trial = Plan(plan.setting)
            for method in sorted(ours, key=lambda each: each.bounds):
                trial.add(tiny.instance, make_run(tiny.instance, method, {}, tiny.like.limits))
            ends = ProcessExecutor(plan.setting, 1).execute(map(trial.task, trial.runs))
            with closing(ends):
                solved = [row for end in ends if verified_objective(row := recorded(end, "")) is not None][:1]
        measures = {name for row in solved for name in row.measurement.measures}
        return measures, set(native_scores(family, solved[:1]))


def refuse_shared(seen: Ready, held_out: Ready) -> None:
    """Raise `SuiteError` where the same instance is seen by a search and held out."""
    digests = {case.like.digest for case in seen.cases}
    for run in (case.like for case in held_out.cases):
        if run.digest in digests:
            raise SuiteError(f"instance {run.instance} is held out, and the search sees it; hold out others.")
