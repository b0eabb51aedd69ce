"""Is NEW worse than BASE? Two directories of results, paired run by run; `docs/compare.md` says how it is decided.

NEW of a comparison as figures for github-action-benchmark (`customSmallerIsBetter`) and Bencher, which keep them by commit.

Regressions that are told and do not fail the gate: those that a suite's `[gate]` allows, and those that were accepted.

A file of accepted regressions, `gate-accepted.toml`, says of each what, why, by whom and until when.
"""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from schedgap.bench.comparison.findings import (
    ChangeKind,
    Estimate,
    Finding,
    MethodComparison,
    changed,
    compare_methods,
    contradicting,
    gravity,
    judge_pair,
    slower_method,
)
from schedgap.bench.comparison.pairs import Pair, judge_together, pair_up
from schedgap.bench.records.journal import FILE_NAME, Lines, gc_paused
from schedgap.bench.records.runs import FAILED, Record, Run
from schedgap.bench.statistics.summary import counted_time, is_measured, shifted_geometric_mean
from schedgap.bench.suites.collection import STRICT, Allowed, Gate
from schedgap.bench.suites.results import Results, read_results
from schedgap.instances.documents.json_files import first_problem
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import SuiteError

MIN_EFFECT = 0.001
# Of a list of names, this many are told.
SHOWN_NAMES = 5
TIMELESS = "no times to compare: no run has a reference time on both sides; measure the baseline again."


class Verdict(StrEnum):
    """What a comparison found."""

    OK = "ok"
    REGRESSION = "regression"
    NOT_COMPARABLE = "not-comparable"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two directories. planned : runs of its suite, done or not; runs, failed : those done."""

    directory: Path
    suite: str | None = None
    planned: int = 0
    runs: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """What came out. problem : why the sides cannot be compared; None if they can. regressions : the gravest first.

    allowed : regressions that do not count (see `sort_out`).
    """

    base: Side
    new: Side
    pairs: tuple[Pair, ...] = ()
    regressions: tuple[Finding, ...] = ()
    improvements: tuple[Finding, ...] = ()
    allowed: tuple[Finding, ...] = ()
    methods: tuple[MethodComparison, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str | None = None
    min_effect: float = MIN_EFFECT
    time_factor: float | None = None

    def __repr__(self) -> str:
        sides = f"{self.base.directory} and {self.new.directory}"
        told = f"{self.compared} runs, {len(self.regressions)} regressions, {len(self.improvements)} improvements"
        return f"<Comparison of {sides}: {self.verdict}, {self.problem or told}>"

    @property
    def verdict(self) -> Verdict:
        """Return the answer in a word."""
        if self.problem is not None:
            return Verdict.NOT_COMPARABLE
        return Verdict.REGRESSION if self.regressions else Verdict.OK

    @property
    def compared(self) -> int:
        """Return the number of runs that both sides have."""
        return sum(method.pairs for method in self.methods)


@gc_paused()
def compare(
    base: str | Path,
    new: str | Path,
    *,
    min_effect: float | None = None,
    time_factor: float | None = None,
    accepted: Sequence[Accepted] = (),
) -> Comparison:
    """Compare two directories of results.

    min_effect : difference of gaps that counts where an answer depends on chance or on the clock; 0.001, 0.1 percentage
    points, unless the suite of NEW says otherwise. time_factor : a method this many times slower is a regression; None: times
    are told only. accepted : regressions that are told and do not count, beside those that the suite of NEW allows.

    Raises
    ------
    JournalError
        if a directory holds what is no journal, no plan or no host.
    """
    folders = Path(base), Path(new)
    if folders[0].resolve() == folders[1].resolve():
        return Comparison(Side(folders[0]), Side(folders[1]), problem=f"BASE and NEW are both {folders[0]}; give two.")
    read: list[Results] = []
    lines = Lines()
    for name, folder in zip(("BASE", "NEW"), folders, strict=True):
        if not (folder / FILE_NAME).exists():
            problem = (
                f"{name} {folder} has no {FILE_NAME}; give the directory of a suite's runs (`schedgap run --out`)."
            )
            return Comparison(Side(folders[0]), Side(folders[1]), problem=problem)
        read.append(read_results(folder, lines))
    return compare_results(*read, min_effect=min_effect, time_factor=time_factor, accepted=accepted)


def compare_results(
    base: Results,
    new: Results,
    *,
    min_effect: float | None = None,
    time_factor: float | None = None,
    accepted: Sequence[Accepted] = (),
) -> Comparison:
    """Compare two sides that are read already; as `compare`. O(rows) apart from the bootstrap."""
    gate = Gate() if new.suite is None else new.suite.gate
    min_effect = next(each for each in (min_effect, gate.min_effect, MIN_EFFECT) if each is not None)
    sides = _side(base), _side(new)
    for name, results, side in zip(("BASE", "NEW"), (base, new), sides, strict=True):
        if not is_measured(results.records):
            problem = (
                f"{name} {side.directory}: no run ended with a result ({side.runs} done of {side.planned} planned)."
            )
            return Comparison(*sides, problem=problem)
    if base.suite is not None and new.suite is not None and base.suite.name != new.suite.name:
        problem = (
            f"BASE is of suite {base.suite.name}, NEW of suite {new.suite.name}: what only one of them has is no regression. "
            "Compare runs of one suite; without plan.json, all runs of a journal are compared."
        )
        return Comparison(*sides, problem=problem)
    pairs, best, contradictions = judge_together(pair_up(base.records, new.records))
    if not any(pair.base is not None and pair.new is not None for pair in pairs):
        return Comparison(*sides, problem=_nothing_common(base.records, new.records))
    methods = compare_methods(pairs, best)
    regressions = [contradicting(run, reason) for run, reason in contradictions]
    improvements: list[Finding] = []
    for pair in pairs:
        worse, better = judge_pair(pair, best, min_effect)
        if worse is not None:
            regressions.append(worse)
        if better is not None:
            improvements.append(better)
    worse_gaps, better_gaps = changed(methods, min_effect)
    regressions += worse_gaps
    improvements += better_gaps
    for method in methods:
        regressions += slower_method(method, time_factor)
    regressions, allowed, told = sort_out(regressions, gate.allowed, accepted)
    timeless = time_factor is not None and all(method.time is None for method in methods)
    return Comparison(
        *sides,
        tuple(pairs),
        tuple(sorted(regressions, key=gravity)),
        tuple(sorted(improvements, key=gravity)),
        tuple(sorted(allowed, key=gravity)),
        tuple(methods),
        (*_notes(base, new, pairs, methods), *told),
        TIMELESS if timeless and not regressions else None,
        min_effect,
        time_factor,
    )


def _nothing_common(base: Sequence[Record], new: Sequence[Record]) -> str:
    """Return in one sentence why no run of one side is a run of the other."""
    parts: dict[str, Callable[[Record], str]] = {
        "families": lambda record: record.run.family,
        "instances": lambda record: record.run.digest,
        "methods": lambda record: record.run.label,
    }
    for what, name in parts.items():
        here, there = {name(record) for record in base}, {name(record) for record in new}
        if not here & there:
            names = [
                _listed(dict.fromkeys(record.run.instance if what == "instances" else name(record) for record in side))
                for side in (base, new)
            ]
            return f"BASE and NEW are of different {what}, {names[0]} and {names[1]}; compare runs of one suite."
    return "BASE and NEW have no instance, method and seed in common; compare runs of one suite."


def _side(results: Results) -> Side:
    suite = None if results.suite is None else results.suite.name
    failed = sum(record.status in FAILED for record in results.records)
    return Side(results.directory, suite, results.planned, len(results.records), failed)


def _notes(base: Results, new: Results, pairs: Sequence[Pair], methods: Sequence[MethodComparison]) -> Iterator[str]:
    """Yield a sentence for each thing worth knowing: what is on one side only, what differed in how it was run."""
    for name, results in (("BASE", base), ("NEW", new)):
        if results.missing:
            yield f"{name} is not complete: {results.missing} of its {results.planned} runs are not done{results.part}."
    yield from _one_sided(pairs)
    versions: dict[str, None] = {}
    defaults: dict[str, None] = {}
    drawing: dict[str, None] = {}
    limits = 0
    for old, now in ((pair.base.run, pair.new.run) for pair in pairs if pair.base is not None and pair.new is not None):
        if old.stochastic != now.stochastic:
            drawing[
                f"{now.label} {'draws random numbers now' if now.stochastic else 'draws no random numbers any more'}"
            ] = None
        if old.version != now.version:
            versions[f"{old.label}: version {old.version} -> {now.version}"] = None
        if old.backend_version != now.backend_version or old.backend != now.backend:
            versions[f"{old.label}: {old.backend} {old.backend_version} -> {now.backend} {now.backend_version}"] = None
        if old.plugin != now.plugin and None not in (old.plugin, now.plugin):
            versions[f"{old.label}: its plug-in's files"] = None
        if old.parameters is not now.parameters:
            defaults |= dict.fromkeys(_changed_defaults(old, now))
        limits += old.limits is not now.limits and old.limits != now.limits
    if versions:
        yield f"Changed versions: {_listed(versions)}."
    if defaults:
        yield f"Changed defaults: {_listed(defaults)}."
    if drawing:
        yield f"{_listed(drawing)}."
    if limits:
        yield f"{limits} pairs ran under other limits."
    clock = sum(method.clock for method in methods)
    if clock:
        yield f"{clock} pairs may have been stopped by the clock; only changes of gap beyond the minimum effect count there."
    unbounded = sum(method.unbounded for method in methods)
    if unbounded:
        every = sum(method.pairs for method in methods)
        yield f"In {unbounded} of {every} pairs, no bound of at least a quarter of the best solution is proven: gaps are to it."
    failed = sum(method.failed for method in methods)
    if failed:
        yield f"{failed} pairs failed on both sides; nothing is compared there."
    timeless = [method.label for method in methods if method.pairs and method.time is None]
    if timeless:
        yield f"No times to compare, for want of a reference time or of a result on both sides: {_listed(timeless)}."


def _changed_defaults(old: Run, now: Run) -> Iterator[str]:
    """Yield which parameters of a method differ, though the same ones were given."""
    for name in dict.fromkeys((*old.parameters, *now.parameters)):
        was, became = old.parameters.get(name, "none"), now.parameters.get(name, "none")
        if was != became:
            yield f"{old.label}: {name} {was} -> {became}"


def _one_sided(pairs: Sequence[Pair]) -> Iterator[str]:
    alone = [pair for pair in pairs if pair.base is None or pair.new is None]
    if not alone:
        return
    labels: tuple[dict[str, None], dict[str, None]] = {}, {}
    instances: tuple[dict[str, str], dict[str, str]] = {}, {}
    for pair in pairs:
        run = pair.run
        for side, record in enumerate((pair.base, pair.new)):
            if record is not None:
                labels[side][run.label] = None
                instances[side][run.digest] = run.instance
    for name, here, there in (("BASE", 0, 1), ("NEW", 1, 0)):
        methods = [label for label in labels[here] if label not in labels[there]]
        if methods:
            yield f"Methods in {name} only: {_listed(methods)}."
        names = [instance for digest, instance in instances[here].items() if digest not in instances[there]]
        if names:
            yield f"Instances in {name} only: {_listed(names)}."
    added = sum(pair.base is None for pair in alone)
    if added:
        yield f"{added} runs are in NEW only; refresh the baseline to have them compared."


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - SHOWN_NAMES} more" if len(known) > SHOWN_NAMES else ""
    return ", ".join(known[:SHOWN_NAMES]) + more


def to_benchmark_json(comparison: Comparison) -> str:
    """Return a list of `name`, `unit`, `value` and `extra`: of each method its mean gap, its time and its failed runs.

    What is not known has no entry, nor has a mean of gaps some of which are to no bound; where nothing can be compared,
    there is none.
    """
    sides = f"{comparison.base.directory} and {comparison.new.directory} compared"
    entries = [
        {"name": f"{label}: {what}", "unit": unit, "value": value, "extra": f"{pairs} runs of {sides}{change}"}
        for label, pairs, what, unit, value, change in _figures(comparison)
    ]
    return json.dumps(entries, indent=1, allow_nan=False) + "\n"


def to_bencher_json(comparison: Comparison) -> str:
    """Return the same figures in Bencher's metric format: a `value` by method and measure."""
    metrics: dict[str, dict[str, dict[str, float]]] = {}
    for label, _, what, _, value, _ in _figures(comparison):
        measure = what.replace(" (sgm)", "").replace(" ", "-")
        metrics.setdefault(label, {})[measure] = {"value": value}
    return json.dumps(metrics, indent=1, allow_nan=False) + "\n"


def _figures(comparison: Comparison) -> Iterator[tuple[str, int, str, str, float, str]]:
    """Yield method, pairs of runs, what it is, unit, value, and how it changed."""
    records: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for pair in comparison.pairs:
        if pair.new is not None:
            records[pair.run.family, pair.run.label].append(pair.new)
    for method in comparison.methods:
        label, own = method.label, records[method.family, method.label]
        if method.gap_new is not None and not method.unbounded:
            change = _interval("gap", method.gap, 100, " points")
            yield label, method.pairs, "mean gap", "%", 100 * method.gap_new, change
        times = [time for record in own if (time := counted_time(record)) is not None]
        time = shifted_geometric_mean(times)
        if time is not None:
            yield label, method.pairs, "time (sgm)", "s", time, _interval("time", method.time, 1, " times BASE's")
        yield label, method.pairs, "failed runs", "runs", sum(record.status in FAILED for record in own), ""


def _interval(what: str, estimate: Estimate | None, factor: float, unit: str) -> str:
    if estimate is None:
        return ""
    mean, low, high = (f"{factor * value:.4g}" for value in (estimate.mean, estimate.low, estimate.high))
    return f"; {what} {mean}{unit}, 95% interval {low} to {high}"


ACCEPTED = Path("gate-accepted.toml")


class Accepted(Allowed):
    """A regression that somebody accepted. until : the last day on which it holds."""

    who: Annotated[str, Field(min_length=1)]
    until: date

    @property
    def told(self) -> str:
        """Why a finding does not fail the gate."""
        return f"accepted by {self.who} until {self.until}: {self.reason}"


class _File(BaseModel):
    model_config = STRICT
    accepted: list[Accepted]


def read_accepted(path: Path | None) -> list[Accepted]:
    """Return what was accepted. path : None for `gate-accepted.toml` of this folder, which need not be there.

    Raises
    ------
    SuiteError
        naming file and field of what is wrong.
    """
    if path is None and not ACCEPTED.exists():
        return []
    path = path or ACCEPTED
    try:
        return _File.model_validate(tomllib.loads(read_given(path).decode())).accepted
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read ({error.strerror}); give the path of a TOML file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SuiteError(f"{path}: not TOML: {error}.") from None
    except ValidationError as error:
        raise SuiteError(f"{path}: {first_problem(error, _File)}") from None


def sort_out(
    regressions: Iterable[Finding], by_suite: Sequence[Allowed], accepted: Sequence[Accepted], today: date | None = None
) -> tuple[list[Finding], list[Finding], list[str]]:
    """Return the regressions that count, those that are told only, and notes on what was accepted and does nothing.

    today : of expiry; None for the day that it is. A contradiction always counts.
    """
    today = today or datetime.now(UTC).date()
    holding = [each for each in accepted if each.until >= today]
    counting, told, used = [], [], set()
    for finding in regressions:
        rule = next((each for each in (*by_suite, *holding) if _covers(each, finding)), None)
        if rule is None:
            counting.append(finding)
        else:
            used.add(id(rule))
            told.append(replace(finding, allowed=rule.told))
    notes = [
        f"Accepted until {each.until}, which is over: {each.method} ({each.reason}); decide anew."
        for each in accepted
        if each not in holding
    ]
    notes += [
        f"Accepted, and nothing is worse there any more: {each.method} ({each.reason}); remove the entry."
        for each in holding
        if id(each) not in used
    ]
    return counting, told, notes


def _covers(rule: Allowed, finding: Finding) -> bool:
    texts = {"method": finding.method, "instance": finding.instance, "group": finding.group, "what": str(finding.kind)}
    if finding.kind is ChangeKind.CONTRADICTION or not all(
        fnmatchcase(text, getattr(rule, name).replace("[", "[[]")) for name, text in texts.items()
    ):
        return False
    return rule.change is None or (finding.change is not None and abs(finding.change) <= rule.change)
