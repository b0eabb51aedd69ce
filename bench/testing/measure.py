"""One method on a suite against bounds that are proven once: the method runs anew each time, the bounds are kept.

Bounds that are proven once and kept in a journal, for tools that measure one method again and again.

The instances that an evaluator scores candidates on: made, and proven or looked up in a file of bounds, once.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from schedgap.bench.api import recorded
from schedgap.bench.catalogue import chosen_method, default_bound, load_catalogue, transported
from schedgap.bench.executors.execute import ProcessExecutor, open_executor
from schedgap.bench.isolation.child import shrunk
from schedgap.bench.isolation.messages import compiled_kind, pickled
from schedgap.bench.plan import Plan, make_run, plan_suite, setting
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.plugins.files import plugin_hash
from schedgap.bench.programs.program import Program, resolved
from schedgap.bench.records.contradictions import judged_together
from schedgap.bench.records.host import host_id, write_host
from schedgap.bench.records.journal import FILE_NAME, Journal, read_journal
from schedgap.bench.records.runs import ERRORS, Limits, Measurement, Record, Run
from schedgap.bench.statistics.headlines.measures import native_scores
from schedgap.bench.statistics.summary import best_of, verified_objective
from schedgap.bench.suites.bounds import Bounds, read_bounds
from schedgap.bench.suites.source import family_of, given_instance
from schedgap.bench.suites.suite import InstanceBlock, Suite, given_limits, read_suite
from schedgap.instances.documents.openings import open_own
from schedgap.instances.errors import JournalError, MethodError, SuiteError, about_file
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, Status, find_method, method_label


def prove_bounds(plan: Plan, runs: Mapping[str, Run], directory: Path, jobs: int | None) -> dict[str, Record]:
    """Return the records of bound-proving runs of a plan, those of the journal in `directory` without doing them again.

    An instance whose optimum one of its runs proved needs no other: its remaining runs are left out. Processes that
    share the directory wait for each other, so that each bound is proven once.

    Raises
    ------
    JournalError
        if the directory cannot be read or written.
    """
    known = _usable(read_journal(directory), runs) if (directory / FILE_NAME).exists() else {}
    if next(_missing(runs, known), None) is None:
        return known
    with (
        _alone(directory),
        Journal(directory) as journal,
        open_executor("process", plan.setting, jobs) as executor,
    ):
        known = _usable(journal.records, runs)
        for performed in executor.execute(plan.task(key) for key in _missing(runs, known)):
            record = recorded(performed, write_host(directory, performed.host))
            journal.append(record)
            known[record.key] = record
    return known


def _usable(records: Mapping[str, Record], runs: Mapping[str, Run]) -> dict[str, Record]:
    return {key: records[key] for key in runs if key in records and records[key].status not in ERRORS}


def _missing(runs: Mapping[str, Run], known: Mapping[str, Record]) -> Iterator[str]:
    """Yield the keys of what is still to do: each method on all instances before the next one.

    `known` is looked at again before each, since it grows as runs end.
    """
    ranks: dict[str, int] = {}
    counts: dict[str, int] = {}
    for key, run in runs.items():
        ranks[key] = counts[run.digest] = counts.get(run.digest, -1) + 1
    for key in sorted((key for key in runs if key not in known), key=ranks.__getitem__):
        best = best_of(list(known.values())).get(runs[key].digest)
        if best is None or not best.is_proven:
            yield key


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Wait until no other process proves bounds for this directory; a process that ends lets go of it."""
    path = directory / "lock"
    with about_file(path, "written", JournalError, "make the directory writable"):
        directory.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(open_own(path, os.O_WRONLY), "wb")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def measure_gap(
    method: str | Callable[..., Any] | Program,
    *,
    directory: Path,
    suite: str | Path | None = None,
    instances: Sequence[Any] | None = None,
    bound: str | None = None,
    plugins: Sequence[str | Path | Program] = (),
    trace: str | Path | None = None,
    time_limit_s: float | None = None,
    jobs: int | None = None,
    by_value: Iterable[ModuleType] = (),
) -> tuple[list[Record], list[Record]]:
    """Run a method on the instances of a suite and return its records and those of the methods that prove bounds.

    All are judged against each other. Of the suite's own methods those run that are declared to prove bounds, where it
    has none, the usual one of the family; their records are kept in `directory`.

    method : a name with parameters, a callable (see `transported`), or a program. suite : name of a shipped one, or path of a
    TOML file.
    instances : objects, or paths of files; give them or a suite. bound : method to prove bounds with, instead of the
    suite's. time_limit_s : what the method is told instead of the suite's limit, the hard wall follows. plugins, trace,
    jobs : as for `run_suite`. by_value : see `transported`.

    Raises
    ------
    SchedgapError
        for anything wrong with what was given; never for a run that fails.
    """
    if isinstance(method, Program):
        plugins, method = [*plugins, method], method.name
    files = resolved(plugins)
    load_families()
    if suite is not None:
        chosen, folder = read_suite(suite)
        files = resolved([*plugins, *chosen.own_programs(folder)])
        family = find_family(chosen.family).name
    else:
        built = [given_instance(each) for each in instances or ()]
        family = family_of(built)
    load_catalogue([family], files)
    if bound is not None and not chosen_method(family, bound)[0].bounds:
        raise MethodError(f"method {bound} is not declared to prove bounds; name one that is, or leave 'bound' out.")
    with (
        tempfile.TemporaryDirectory(prefix="schedgap-transport-") as scratch,
        transported(method, family, Path(scratch), by_value) as (label, carriers),
    ):
        if suite is not None:
            own_suite = reduced(chosen, label, bound)
            plan = plan_suite(own_suite, folder, plugins=files, trace=trace)
        else:
            plan = _plan_of(built, family, [label] if bound is None else [label, bound], files)
        own = {key: run for key, run in plan.runs.items() if run.label == label}
        cover(plan, own)
        others = {key: run for key, run in plan.runs.items() if key not in own}
        if time_limit_s is not None:
            own = {run.key: run for run in (with_time_limit(run, time_limit_s) for run in own.values())}
        proofs = prove_bounds(plan, others, directory, jobs)
        place = setting(family, (*files, *carriers), plan.setting.threads)
        records = _records_of(Plan(place, own, plan.instances, methods=plan.methods), jobs)
    everything = judged_together({**proofs, **records})
    return [everything[key] for key in own], [everything[key] for key in proofs]


def _records_of(plan: Plan, jobs: int | None) -> dict[str, Record]:
    with open_executor("process", plan.setting, jobs) as executor:
        ends = executor.execute(map(plan.task, plan.runs))
        return {each.run.key: recorded(each, host_id(each.host)) for each in plan.unchanged(ends)}


def reduced(suite: Suite, label: str, bound: str | None) -> Suite:
    """Return the suite with the method under test, and of its own methods those that prove bounds."""

    def methods(block: InstanceBlock) -> list[str]:
        texts = block.methods or suite.methods if bound is None else [bound]
        return [label, *(text for text in texts if _proves(suite.family, text, label))]

    blocks = [block.model_copy(update={"methods": methods(block)}) for block in suite.instances]
    # What is shown of other methods beside a paper is none of this one's matter.
    shown: dict[str, list[Any]] = {"reference": [], "setting": [], "sweep": [], "map": []}
    return suite.model_copy(update={"methods": [label], "instances": blocks, **shown})


def _proves(family: str, text: str, label: str) -> bool:
    method, given = chosen_method(family, text)
    return method.bounds and method_label(method.name, given) != label


def _plan_of(instances: Iterable[Any], family: str, texts: Iterable[str], files: tuple[str | Program, ...]) -> Plan:
    plan = Plan(setting(family, files, 1))
    for instance in instances:
        for text in texts:
            chosen, given = chosen_method(family, text)
            plugin = plugin_hash(chosen, files)
            plan.add(instance, make_run(instance, chosen, given, Limits.from_time_limit(60.0), plugin=plugin))
    return plan


def cover(plan: Plan, own: Mapping[str, Run]) -> None:
    """Add the usual method to the plan where none proves a bound. own : runs whose bounds do not count, of other methods."""
    covered = {run.digest for key, run in plan.runs.items() if key not in own}
    for run in own.values():
        if run.digest not in covered and not find_method(run.family, run.method).bounds:
            covered.add(run.digest)
            instance = pickle.loads(plan.instances[run.digest][0])
            prover = find_method(run.family, default_bound(run.family, instance))
            added = make_run(instance, prover, {}, run.limits, group=run.group)
            plan.add(instance, replace(added, source=run.source))


def with_time_limit(run: Run, time_limit_s: float) -> Run:
    """Return a run whose method is told another limit; the hard wall follows."""
    old = run.limits
    limits = given_limits(time_limit_s=time_limit_s, cpu_s=old.cpu_s, memory_mib=old.memory_mib, threads=old.threads)
    return replace(run, limits=limits)


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
