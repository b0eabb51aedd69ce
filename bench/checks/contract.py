"""What a method promises, and whether it keeps it: the rules of `schedgap check`, over runs like any others.

`schedgap check` from Python: try a method on small instances of its family and judge what it did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from schedgap.bench.catalogue import chosen_method, load_catalogue
from schedgap.bench.checks.trials import (
    Chosen,
    RunKind,
    Seen,
    Trial,
    default_instances,
    large_instances,
    small_instances,
    try_methods,
)
from schedgap.bench.isolation.judge import MUTATED
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs.program import MODULE, Program, resolved
from schedgap.bench.records.contradictions import contradictions
from schedgap.bench.records.runs import FAILED, Limits
from schedgap.bench.statistics.summary import verified_objective
from schedgap.bench.suites.source import family_of
from schedgap.bench.suites.suite import given_limits
from schedgap.instances.family import DEFAULT_FAMILY, find_family
from schedgap.instances.method import REGISTRY, Method, Status

# A method that takes more than this many times its limit, and this much more, does not keep it: as much as a machine that
# does other things too makes of an honest method that looks at the clock now and then.
FACTOR, GRACE_S = 2.0, 5.0
# Answers of runs that used up this share of their time may differ.
USED_UP = 0.9


_BEFORE = {RunKind.AGAIN: RunKind.ALONE, RunKind.OTHER_SEED: RunKind.AGAIN, RunKind.AFTER_OTHERS: RunKind.AGAIN}


class Result(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One promise. detail : what was looked at, or the first thing that is wrong."""

    check: str
    result: Result
    detail: str


@dataclass(frozen=True, slots=True)
class Checked:
    """All checks of a method."""

    method: str
    family: str
    instances: tuple[str, ...]
    checks: tuple[Check, ...]

    @property
    def is_passed(self) -> bool:
        """Whether no check failed."""
        return all(check.result is not Result.FAILED for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap check --json` prints."""
        return {**asdict(self), "passed": self.is_passed}


def judge_trial(trial: Trial, beside: Sequence[Trial]) -> Checked:
    """Return what a method's runs say of it. beside : runs of exact methods on the same instances."""
    checks = [_ends(trial), _supports(trial), _feasible(trial), _unchanged(trial)]
    if trial.answered():
        checks += [
            _bounds(trial, beside),
            _claims(trial),
            _same(trial, RunKind.AGAIN, "same answer in another process"),
            _same(trial, RunKind.AFTER_OTHERS, "same answer after other instances"),
            _seed(trial),
            _no_time(trial),
            _in_time(trial),
        ]
    family = trial.method.family
    return Checked(trial.label, family, tuple(trial.instances.values()), tuple(checks))


def _ends(trial: Trial) -> Check:
    """No exception, no crash, no limit passed: whatever the run was."""
    wrong = [s for s in _all(trial) if s.record.status in FAILED - {Status.INVALID}]
    return _check("ends with an answer", wrong, lambda s: f"{s.record.status}: {s.record.measurement.reason}", trial)


def _supports(trial: Trial) -> Check:
    name = "says what it cannot take"
    taken, refused = trial.supported(), len(trial.seen[RunKind.ALONE]) - len(trial.supported())
    if not taken:
        reasons = {s.record.measurement.reason for s in trial.seen[RunKind.ALONE].values()}
        return Check(name, Result.FAILED, f"it takes none of {refused} instances: {min(map(str, reasons))}")
    mute = [s for s in _all(trial) if s.record.status is Status.UNSUPPORTED and not s.record.measurement.reason]
    if mute:
        return _check(name, mute, lambda _: "it gives no reason", trial)
    return Check(name, Result.PASSED, f"takes {len(taken)} of {len(trial.instances)} instances")


def _feasible(trial: Trial) -> Check:
    wrong = [s for s in _all(trial) if s.record.status is Status.INVALID and _reason(s) != MUTATED]
    solved = sum(s.record.measurement.objective is not None for s in _all(trial))
    if not solved and not wrong:
        return Check("answers verify", Result.SKIPPED, "it found no solution in any run")
    return _check("answers verify", wrong, _reason, trial, _number(solved, "solution"))


def _unchanged(trial: Trial) -> Check:
    wrong = [s for s in _all(trial) if _reason(s) == MUTATED]
    return _check("leaves the instance alone", wrong, _reason, trial)


def _bounds(trial: Trial, beside: Sequence[Trial]) -> Check:
    """No bound above a solution, no solution below a bound: its own and those of the methods beside it."""
    name = "bounds and solutions agree"
    own = [s for s in _all(trial) if s.record.status is not Status.INVALID]
    # A program declares nothing: that it may give bounds is what its answer is there for.
    if not trial.method.bounds and trial.method.module != MODULE:
        undeclared = [s for s in own if s.record.measurement.bound is not None]
        if undeclared:
            return _check(name, undeclared, lambda _: "it returns a bound; declare bounds=True", trial)
    others = [s.record for other in beside for s in other.seen[RunKind.ALONE].values()]
    keys = {s.record.key for s in own}
    for found in contradictions([*(s.record for s in own), *others]):
        if keys & set(found.keys):
            return Check(name, Result.FAILED, found.reason)
    proving = [other.label for other in beside if other.method.bounds]
    covered = {record.run.digest for record in others if record.measurement.bound is not None}
    if not covered & trial.answered().keys():
        return Check(name, Result.SKIPPED, "no method that proves bounds takes these instances")
    return Check(name, Result.PASSED, f"beside {', '.join(proving[:3])}{' and others' if len(proving) > 3 else ''}")


def _claims(trial: Trial) -> Check:
    name = "claims are proven"
    own = [s for s in _all(trial) if s.record.status not in FAILED]
    unproven_claims = [
        s for s in own if s.record.measurement.claimed_status == Status.OPTIMAL and s.record.status != Status.OPTIMAL
    ]
    if unproven_claims:
        return _check(name, unproven_claims, _reason, trial)
    unproven = [s for s in trial.answered().values() if s.record.status is not Status.OPTIMAL and not _is_late(s)]
    if trial.method.exact and unproven:
        return _check(name, unproven, lambda _: "it is declared exact, and proved nothing optimal in time", trial)
    proven = sum(s.record.status is Status.OPTIMAL for s in trial.answered().values())
    return Check(name, Result.PASSED, f"{proven} of {len(trial.answered())} proven optimal")


def _same(trial: Trial, kind: RunKind, name: str) -> Check:
    wrong, compared = _different(trial, kind)
    if wrong and kind is RunKind.AFTER_OTHERS and _different(trial, RunKind.AGAIN)[0]:
        return Check(name, Result.SKIPPED, "its answers differ without other instances too")
    return _check(name, wrong, _answered(trial), trial, _number(compared, "instance"))


def _seed(trial: Trial) -> Check:
    name = "depends on the seed as declared"
    wrong, _ = _different(trial, RunKind.OTHER_SEED)
    if trial.method.stochastic:
        return Check(name, Result.PASSED, f"stochastic; another seed changed {_number(len(wrong), 'answer')}")
    if wrong and any(_different(trial, kind)[0] for kind in (RunKind.AGAIN, RunKind.AFTER_OTHERS)):
        return Check(name, Result.SKIPPED, "its answers differ without another seed too")
    told = _answered(trial)
    way_out = "give --stochastic" if trial.method.module == MODULE else "declare stochastic=True"
    return _check(name, wrong, lambda s: f"{told(s)}; {way_out}", trial, "deterministic")


def _no_time(trial: Trial) -> Check:
    """See that it answers soon; what it answers is checked with all other answers."""
    runs = trial.seen[RunKind.NO_TIME].values()
    late = [s for s in runs if (s.record.measurement.wall_s or 0.0) > GRACE_S]
    solved = sum(verified_objective(s.record) is not None for s in runs)
    return _check("answers without any time", late, _time, trial, f"{solved} of {len(runs)} with a solution")


def _in_time(trial: Trial) -> Check:
    name = "keeps to the time limit"
    if not trial.method.takes_limit:
        return Check(name, Result.SKIPPED, "it takes no time_limit_s")
    late = [s for s in _all(trial) if s.record.status is Status.TIMEOUT or _overruns(s)]
    large = list(trial.seen[RunKind.LARGE].values())
    detail = f"{_time(large[0])} on {large[0].record.run.instance}" if large else "on small instances"
    return _check(name, late, _time, trial, detail)


def _overruns(seen: Seen) -> bool:
    limit_s = seen.record.run.limits.time_limit_s
    return (seen.record.measurement.wall_s or 0.0) > FACTOR * limit_s + GRACE_S


def _all(trial: Trial) -> list[Seen]:
    return [seen for runs in trial.seen.values() for seen in runs.values()]


def _different(trial: Trial, kind: RunKind) -> tuple[list[Seen], int]:
    """Return the runs whose answer is not that of the run before, and how many could be compared.

    Before `AGAIN` comes the plain run, and `AGAIN` before all others: those share what processes of one start share.
    """
    wrong, compared = [], 0
    for digest, other in trial.seen[kind].items():
        first = trial.seen[_BEFORE[kind]].get(digest)
        if first is None or any(seen.record.status in FAILED or _is_late(seen) for seen in (first, other)):
            continue
        compared += 1
        if other.answer != first.answer:
            wrong.append(other)
    return wrong, compared


def _is_late(seen: Seen) -> bool:
    return (seen.record.measurement.wall_s or 0.0) > USED_UP * seen.record.run.limits.time_limit_s


def _reason(seen: Seen) -> str:
    return seen.record.measurement.reason or ""


def _time(seen: Seen) -> str:
    limit_s = seen.record.run.limits.time_limit_s
    if seen.record.status is Status.TIMEOUT:
        return f"stopped after {seen.record.run.limits.wall_s:g} s with a limit of {limit_s:g} s"
    return f"{seen.record.measurement.wall_s or 0.0:.1f} s with a limit of {limit_s:g} s"


def _answered(trial: Trial) -> Callable[[Seen], str]:
    def told(seen: Seen) -> str:
        before = _BEFORE[RunKind(seen.record.run.group)]
        end = seen.record.measurement
        ends = (trial.seen[before][seen.record.run.digest].record.measurement, end)
        what = (f"{m.claimed_status}, objective {m.objective}, bound {m.bound}" for m in ends)
        first, second = what
        if first == second:
            return f"another solution of the same objective {end.objective}"
        return f"first {first}; then {second}"

    return told


def _check(name: str, wrong: Iterable[Seen], told: Callable[[Seen], str], trial: Trial, detail: str = "") -> Check:
    """Return a check that failed if anything is wrong, with the first of it."""
    found = list(wrong)
    if not found:
        return Check(name, Result.PASSED, detail or _number(len(_all(trial)), "run"))
    first = found[0]
    how = first.record.run.group
    where = first.record.run.instance + ("" if how == RunKind.ALONE else f" ({how})")
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Check(name, Result.FAILED, f"{where}: {told(first)}{more}")


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


TIME_LIMIT_S = 10.0
SHORT_LIMIT_S, STOPPED_AFTER_S = 1.0, 60.0


def check_methods(
    texts: Sequence[str],
    *,
    family: str = DEFAULT_FAMILY,
    plugins: Sequence[str | Path | Program] = (),
    instances: Sequence[Any] | None = None,
    time_limit_s: float = TIME_LIMIT_S,
    jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Checked]:
    """Return what each method keeps of its promises.

    texts : `NAME` or `NAME[parameter=value,...]`. instances : small ones; by default those of the family's shipped
    smoke suites and of its generators. jobs : runs at a time; None for one a processor.

    Raises
    ------
    SchedgapError
        for an unknown family, method or parameter; never for what a method does.
    """
    files = resolved(plugins)
    load_families()
    find_family(family)
    load_catalogue([family], files)
    chosen = [chosen_method(family, text) for text in texts]
    tried = small_instances(family) if instances is None else list(instances)
    family_of(tried, family)
    takes_limit = any(method.takes_limit for method, _ in chosen)
    large = large_instances(family) if takes_limit else []
    beside: list[Chosen] = [
        (method, {}) for method in _references(family, tried, [method.name for method, _ in chosen])
    ]
    limits = given_limits(time_limit_s=time_limit_s)
    trials = try_methods(
        family,
        chosen,
        tried,
        large,
        limits,
        # What is late shall be told by its time.
        Limits.from_time_limit(SHORT_LIMIT_S, wall_s=STOPPED_AFTER_S),
        ordinary=default_instances(family),
        beside=beside,
        plugins=files,
        jobs=jobs,
        on_progress=on_progress,
    )
    shipped = [trial for trial in trials if trial.method.is_shipped]
    ours = trials[: len(chosen)]
    return [judge_trial(trial, [other for other in shipped if other is not trial]) for trial in ours]


def _references(family: str, instances: Sequence[Any], checked: Sequence[str]) -> list[Method]:
    """Return other shipped methods that prove optima, or else bounds: for each instance the first that takes it."""
    shipped = [
        method
        for (of, name), method in sorted(REGISTRY.items())
        if of == family and method.bounds and name not in checked and method.is_shipped
    ]
    usual = find_family(family).bound_methods
    shipped.sort(key=lambda method: (not method.exact, method.name not in usual))
    found = [next((m for m in shipped if m.supports(each) is None), None) for each in instances]
    return list({method.name: method for method in found if method is not None}.values())
