"""The runs that a method is judged by: alone, once more, with another seed, after other instances, without time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from schedgap.bench.api import recorded
from schedgap.bench.executors.execute import execute
from schedgap.bench.plan import Plan, make_run, setting
from schedgap.bench.records.measurement import FAILED
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from schedgap.bench.executors.execute import Performed, Task
    from schedgap.bench.records.record import Record
    from schedgap.bench.records.runs import Limits, Scalar
    from schedgap.instances.method import Method

    Chosen = tuple[Method, dict[str, Scalar]]


class Kind(StrEnum):
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
    """A method's runs: `seen[kind]` by the instance's digest. instances : names by digest."""

    method: Method
    label: str
    limits: Limits
    instances: Mapping[str, str]
    seen: dict[Kind, dict[str, Seen]] = field(default_factory=lambda: {kind: {} for kind in Kind})

    def supported(self) -> dict[str, Seen]:
        """Return the plain runs on the instances that the method takes."""
        alone = self.seen[Kind.ALONE].items()
        return {digest: seen for digest, seen in alone if seen.record.status is not Status.UNSUPPORTED}

    def answered(self) -> dict[str, Seen]:
        """Return the plain runs that ended with a result."""
        return {digest: seen for digest, seen in self.supported().items() if seen.record.status not in FAILED}


def try_methods(
    family: str,
    chosen: Sequence[Chosen],
    instances: Iterable[Any],
    large: Sequence[Any],
    limits: Limits,
    short: Limits,
    *,
    ordinary: Sequence[Any] = (),
    beside: Sequence[Chosen] = (),
    plugins: tuple[str, ...] = (),
    jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Trial]:
    """Do the runs of several methods and return them by method, in rounds, each in fresh processes.

    The first has the plain runs only; the second repeats those that gave an answer, in all kinds; the last has the large
    instances.
    large : instances to be solved within the limits `short`; a method gets the first that it takes, one without a time
    limit the first of the `ordinary` ones. beside : methods that do the plain runs only; they come last.
    """
    known = {instance.digest: instance for instance in (*instances, *large, *ordinary)}
    names = {instance.digest: instance.name for instance in instances}
    plan = Plan(setting(family, plugins, limits.threads))
    trials: dict[str, Trial] = {}

    def task(kind: Kind, method: Method, given: dict[str, Scalar], digest: str, **changes: Any) -> Task:
        chosen_limits = changes.pop("limits", limits)
        seed = 1 if kind is Kind.OTHER_SEED else 0
        run = make_run(known[digest], method, given, chosen_limits, group=kind, base_seed=seed)
        plan.add(known[digest], run)
        return replace(plan.task(run.key, keep=True), run=run, **changes)

    for method, given in (*chosen, *beside):
        label = make_run(known[next(iter(names))], method, given, limits).label
        trials[label] = Trial(method, label, limits, names)
    pairs = list(zip(trials.values(), (given for _, given in (*chosen, *beside)), strict=True))
    first = [task(Kind.ALONE, trial.method, given, digest) for trial, given in pairs for digest in names]
    rounds = len(names) * len(chosen)
    tell = _counter(on_progress, 0, len(first) + 4 * rounds)
    for performed in execute(first, jobs):
        _keep(trials, performed)
        tell()
    second: list[Task] = []
    for trial, given in pairs[: len(chosen)]:
        answered = list(trial.answered())
        for digest, after in zip(answered, [*answered[1:], *answered[:1]], strict=True):
            before = tuple(plan.instances[each][0] for each in (after, digest))
            second += [
                task(Kind.AGAIN, trial.method, given, digest),
                task(Kind.OTHER_SEED, trial.method, given, digest),
                task(Kind.AFTER_OTHERS, trial.method, given, digest, before=before),
                task(Kind.NO_TIME, trial.method, given, digest, limits=replace(limits, time_limit_s=0.0)),
            ]
    offered = {
        trial.label: (given, list(large if trial.method.takes_limit else ordinary))
        for trial, given in pairs[: len(chosen)]
        if trial.answered()
    }
    tell = _counter(on_progress, len(first), len(first) + len(second) + len(offered))
    for performed in execute(second, jobs):
        _keep(trials, performed)
        tell()
    while offered:
        # Only a run tells whether a method takes an instance.
        third = [
            task(Kind.LARGE, trials[label].method, given, left.pop(0).digest, limits=short)
            for label, (given, left) in offered.items()
            if left
        ]
        offered = {label: each for label, each in offered.items() if each[1]}
        for performed in execute(third, jobs):
            if performed.answer.measurement.status is Status.UNSUPPORTED:
                continue
            _keep(trials, performed)
            offered.pop(performed.run.label, None)
            tell()
    return list(trials.values())


def _keep(trials: Mapping[str, Trial], performed: Performed) -> None:
    seen = Seen(recorded(performed, ""), performed.answer.solution)
    trials[performed.run.label].seen[Kind(performed.run.group)][performed.run.digest] = seen


def _counter(on_progress: Callable[[int, int], None] | None, done: int, total: int) -> Callable[[], None]:

    def tell() -> None:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(done, total)

    return tell
