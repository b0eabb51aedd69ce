"""Is NEW worse than BASE? Two directories of results, paired run by run; `docs/compare.md` says how it is decided."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from schedgap.bench.comparison.findings import Finding, better_method, contradicting, gravity, judge_pair, worse_method
from schedgap.bench.comparison.methods import MethodComparison, compare_methods
from schedgap.bench.comparison.notes import notes
from schedgap.bench.comparison.pairs import Pair, judge_together, pair_up
from schedgap.bench.records.collections import without_collections
from schedgap.bench.records.journal import FILE_NAME
from schedgap.bench.records.lines import Lines
from schedgap.bench.records.measurement import FAILED
from schedgap.bench.records.results import Results, read_results
from schedgap.bench.statistics.summary import is_measured

MIN_EFFECT = 0.001
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


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came out. problem : why the sides cannot be compared; None if they can. regressions : the gravest first."""

    base: Side
    new: Side
    pairs: tuple[Pair, ...] = ()
    regressions: tuple[Finding, ...] = ()
    improvements: tuple[Finding, ...] = ()
    methods: tuple[MethodComparison, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str | None = None
    min_effect: float = MIN_EFFECT
    time_factor: float | None = None

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


@without_collections()
def compare(
    base: str | Path, new: str | Path, *, min_effect: float = MIN_EFFECT, time_factor: float | None = None
) -> Comparison:
    """Compare two directories of results.

    min_effect : difference of gaps that counts where an answer depends on chance or on the clock; 0.001 is 0.1
    percentage points. time_factor : a method this many times slower is a regression; None: times are told only.

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
    return compare_results(*read, min_effect=min_effect, time_factor=time_factor)


def compare_results(
    base: Results, new: Results, *, min_effect: float = MIN_EFFECT, time_factor: float | None = None
) -> Comparison:
    """Compare two sides that are read already; as `compare`. O(rows) apart from the bootstrap."""
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
        problem = "BASE and NEW have no instance, method and seed in common; compare runs of one suite."
        return Comparison(*sides, problem=problem)
    methods = compare_methods(pairs, best)
    regressions = [contradicting(run, reason) for run, reason in contradictions]
    improvements: list[Finding] = []
    for pair in pairs:
        worse, better = judge_pair(pair, best, min_effect)
        if worse is not None:
            regressions.append(worse)
        if better is not None:
            improvements.append(better)
    for method in methods:
        regressions += worse_method(method, min_effect, time_factor)
        improvements += better_method(method, min_effect)
    timeless = time_factor is not None and all(method.time is None for method in methods)
    return Comparison(
        *sides,
        tuple(pairs),
        tuple(sorted(regressions, key=gravity)),
        tuple(sorted(improvements, key=gravity)),
        tuple(methods),
        tuple(notes(base, new, pairs, methods)),
        TIMELESS if timeless and not regressions else None,
        min_effect,
        time_factor,
    )


def _side(results: Results) -> Side:
    suite = None if results.suite is None else results.suite.name
    failed = sum(record.status in FAILED for record in results.records)
    return Side(results.directory, suite, results.planned, len(results.records), failed)
