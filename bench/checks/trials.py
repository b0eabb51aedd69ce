"""The runs that a method is judged by: alone, once more, with another seed, after other instances, without time.

Instances of a family to try a method on: small ones, and large ones for its time limit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from msgspec import structs

from schedgap.bench.api import recorded
from schedgap.bench.executors.execute import Task, open_executor
from schedgap.bench.plan import Plan, make_run, setting
from schedgap.bench.programs.program import Program
from schedgap.bench.records.runs import FAILED, Limits, Record, Scalar
from schedgap.bench.suites.shipped import shipped_suites
from schedgap.bench.suites.source import Source
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import find_family
from schedgap.instances.method import Method, Status, method_label

Chosen = tuple[Method, dict[str, Scalar]]


class RunKind(StrEnum):
    """What is special about a run."""

    ALONE = "alone"
    AGAIN = "again"
    OTHER_SEED = "other seed"
    AFTER_OTHERS = "after others"
    NO_TIME = "no time"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class Seen:
    """A run that was done. content : the verified solution as its file's content, None without one."""

    record: Record
    content: bytes | None

    @property
    def answer(self) -> tuple[object, ...]:
        """Return all that must be the same where answers are."""
        end = self.record.measurement
        return end.claimed_status, end.objective, end.bound, self.content


@dataclass(slots=True)
class Trial:
    """A method's runs: `seen[kind]` by the instance's digest. given : its parameters. instances : names by digest."""

    method: Method
    given: dict[str, Scalar]
    label: str
    limits: Limits
    instances: Mapping[str, str]
    seen: dict[RunKind, dict[str, Seen]] = field(default_factory=lambda: {kind: {} for kind in RunKind})

    def supported(self) -> dict[str, Seen]:
        """Return the plain runs on the instances that the method takes."""
        alone = self.seen[RunKind.ALONE].items()
        return {digest: seen for digest, seen in alone if seen.record.status is not Status.UNSUPPORTED}

    def answered(self) -> dict[str, Seen]:
        """Return the plain runs that ended with a result."""
        return {digest: seen for digest, seen in self.supported().items() if seen.record.status not in FAILED}


def try_methods(
    family: str,
    chosen: Sequence[Chosen],
    instances: Sequence[Any],
    large: Sequence[Any],
    limits: Limits,
    short: Limits,
    *,
    ordinary: Sequence[Any] = (),
    beside: Sequence[Chosen] = (),
    plugins: tuple[str | Program, ...] = (),
    jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Trial]:
    """Do the runs of several methods and return them by method, in rounds, each in fresh processes.

    The first has the plain runs only; the second repeats those that gave an answer, in all kinds; the last has the large
    instances.
    large : instances to be solved within the limits `short`; a method gets the first that it takes, one without a time
    limit the first of the `ordinary` ones. beside : methods that do the plain runs only; they come last.
    """
    plan = Plan(setting(family, plugins, limits.threads))
    names = {instance.digest: instance.name for instance in instances}
    rounds = _Rounds(plan, {each.digest: each for each in (*instances, *large, *ordinary)}, limits, jobs, on_progress)
    for method, given in (*chosen, *beside):
        label = method_label(method.name, method.checked(given))
        rounds.trials[label] = Trial(method, given, label, limits, names)
    trials = list(rounds.trials.values())
    own = trials[: len(chosen)]
    first = [rounds.task(RunKind.ALONE, trial, digest) for trial in trials for digest in names]
    rounds.total = len(first) + 4 * len(names) * len(own)
    rounds.do(first)
    second = [task for trial in own for task in _repeated(rounds, trial)]
    offered = {trial.label: list(large if trial.method.takes_limit else ordinary) for trial in own if trial.answered()}
    rounds.total = len(first) + len(second) + len(offered)
    rounds.do(second)
    while offered:
        # Only a run tells whether a method takes an instance.
        third = [
            rounds.task(RunKind.LARGE, rounds.trials[label], left.pop(0).digest, limits=short)
            for label, left in offered.items()
            if left
        ]
        taken = rounds.do(third)
        offered = {label: left for label, left in offered.items() if left and label not in taken}
    return trials


def _repeated(rounds: _Rounds, trial: Trial) -> Iterator[Task]:
    """Yield the runs that repeat those of a trial that gave an answer, in all kinds."""
    answered = list(trial.answered())
    for digest, after in zip(answered, [*answered[1:], *answered[:1]], strict=True):
        before = tuple(rounds.plan.instances[each][0] for each in (after, digest))
        yield rounds.task(RunKind.AGAIN, trial, digest)
        yield rounds.task(RunKind.OTHER_SEED, trial, digest)
        yield rounds.task(RunKind.AFTER_OTHERS, trial, digest, before=before)
        yield rounds.task(RunKind.NO_TIME, trial, digest, limits=structs.replace(trial.limits, time_limit_s=0.0))


@dataclass(slots=True)
class _Rounds:
    """Runs of trials, by the method's label. known : instances by digest. done, total : runs, for whoever waits."""

    plan: Plan
    known: Mapping[str, Any]
    limits: Limits
    jobs: int | None
    on_progress: Callable[[int, int], None] | None
    trials: dict[str, Trial] = field(default_factory=dict)
    done: int = 0
    total: int = 0

    def task(
        self, kind: RunKind, trial: Trial, digest: str, *, limits: Limits | None = None, before: tuple[bytes, ...] = ()
    ) -> Task:
        """Return a run of a trial's method on an instance. before : see `Task`."""
        seed = 1 if kind is RunKind.OTHER_SEED else 0
        instance = self.known[digest]
        run = make_run(instance, trial.method, trial.given, limits or self.limits, group=kind, base_seed=seed)
        self.plan.add(instance, run)
        return replace(self.plan.task(run.key, keep=True), run=run, before=before)

    def do(self, tasks: Iterable[Task]) -> set[str]:
        """Do the runs, keep what they gave, and return the labels of the methods that took their instances.

        A large instance that a method does not take is none of its trial.
        """
        taken = set()
        with open_executor("process", self.plan.setting, self.jobs) as executor:
            for performed in executor.execute(tasks):
                run = performed.run
                is_refused = performed.answer.measurement.status is Status.UNSUPPORTED
                if is_refused and run.group == RunKind.LARGE:
                    continue
                taken.add(run.label)
                seen = Seen(recorded(performed, ""), performed.answer.solution)
                self.trials[run.label].seen[RunKind(run.group)][run.digest] = seen
                self.done += 1
                if self.on_progress is not None:
                    self.on_progress(self.done, self.total)
        return taken


def small_instances(family: str) -> list[Any]:
    """Return the instances of the shipped smoke suites of the family, and small versions of what its generators make.

    Raises
    ------
    InstanceError
        if there are none.
    """
    shrink = find_family(family).shrink
    made = list(_of_smoke_suites(family))
    if shrink is not None:
        made += [shrink(instance) for instance in default_instances(family)]
    if not made:
        raise InstanceError(f"family {family} has no small instances to check a method on; give some.")
    return _different(made)


def large_instances(family: str) -> list[Any]:
    """Return instances that hardly any method solves in a second, those of every kind that some methods insist on.

    Where nothing is known of the family, what its generators make by default.
    """
    large = find_family(family).large
    if not large:
        return default_instances(family)
    return [Source(family, "generator", name, parameters=given).build() for name, given in large]


def default_instances(family: str) -> list[Any]:
    """Return what the family's generators make by default, and with each switch turned; those that need no more."""
    made = []
    for name, maker in find_family(family).generators.items():
        parameters = list(inspect.signature(maker).parameters.values())
        if any(p.default is p.empty for p in parameters):
            continue
        switches = [{p.name: not p.default} for p in parameters if isinstance(p.default, bool)]
        made += [Source(family, "generator", name, parameters=given).build() for given in ({}, *switches)]
    return _different(made)


def _of_smoke_suites(family: str) -> Iterator[Any]:
    for name in shipped_suites():
        if "smoke" not in name:
            continue
        suite, folder = read_suite(name)
        if suite.family == family:
            for block in suite.instances:
                yield from (source.build() for source in suite.sources(block, None, folder))


def _different(instances: Iterable[Any]) -> list[Any]:
    found: dict[str, Any] = {}
    for instance in instances:
        found.setdefault(instance.digest, instance)
    return list(found.values())
