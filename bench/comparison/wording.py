"""A comparison in words, the same in every format: one sentence for the verdict, one for each finding."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from schedgap.bench.comparison.comparison import Comparison, Verdict
from schedgap.bench.comparison.findings import ChangeKind, Estimate, Finding, MethodComparison
from schedgap.bench.statistics import tables
from schedgap.bench.statistics.tables import NOTHING, percent
from schedgap.instances.family import find_family

# Of a reason, this much is told; the journal has all of it.
SHOWN_REASON = 200
# The verdict tells of methods that take this many times as long, whatever chance makes of it, and names so many.
TOLD_SLOWER, SHOWN_SLOWER = 1.5, 3


def verdict(comparison: Comparison) -> str:
    """Return the answer in one sentence."""
    if comparison.verdict is Verdict.NOT_COMPARABLE:
        return f"Nothing to compare: {comparison.problem}"
    worse, better = len(comparison.regressions), len(comparison.improvements)
    found = _plural(worse, "regression") if worse else "No regression"
    allowed = f", {len(comparison.allowed)} allowed" if comparison.allowed else ""
    told = f"{found}{allowed}, {_plural(better, 'improvement')} in {_plural(comparison.compared, 'pair')} of runs."
    slow = slower(comparison)
    if not slow:
        return told
    shown = [f"{method.label} {times(method.time.mean)}" for method in slow[:SHOWN_SLOWER] if method.time is not None]
    more = f" and {len(slow) - SHOWN_SLOWER} more" if len(slow) > SHOWN_SLOWER else ""
    return f"{told} Slower, not gated: {', '.join(shown)}{more}."


def slower(comparison: Comparison) -> list[MethodComparison]:
    """Return the methods that are surely slower, the slowest first, where a time is no regression."""
    if comparison.time_factor is not None:
        return []
    found = [method for method in comparison.methods if method.time is not None and method.time.low >= TOLD_SLOWER]
    return sorted(found, key=lambda method: -method.time.mean if method.time is not None else 0.0)


def about(finding: Finding) -> str:
    """Return the instance that a finding is about, with the seed where it matters."""
    if not finding.digest:
        return "all instances"
    name = finding.instance or finding.digest[:12]
    return f"{name} seed {finding.seed}" if finding.stochastic else name


def change(finding: Finding) -> str:
    """Return by how much the value changed, with its interval where it has one."""
    if finding.change is None:
        return NOTHING
    if finding.kind is ChangeKind.TIME:
        return _interval(times(finding.change), finding.interval, times)
    if finding.kind is ChangeKind.GAP:
        return f"{_interval(points(finding.change), finding.interval, points)} pp"
    return _interval(signed(finding.change), finding.interval, signed)


def sentence(finding: Finding) -> str:
    """Return what a finding says, without naming method and instance."""
    unit = find_family(finding.family).objective_unit
    before = value(finding, finding.base)
    values = f"{before} -> {value(finding, finding.new)}"
    reason = f": {short(finding.reason)}" if finding.reason else ""
    match finding.kind:
        case ChangeKind.OBJECTIVE:
            return f"objective {values} {unit} ({change(finding)})"
        case ChangeKind.BOUND:
            return f"proven bound {values} {unit} ({change(finding)})"
        case ChangeKind.GAP:
            return f"mean gap {values} ({change(finding)})"
        case ChangeKind.TIME:
            return f"takes {change(finding)} as long"
        case ChangeKind.MISSING:
            return f"{before} in BASE, not measured in NEW"
        case ChangeKind.CONTRADICTION:
            return f"BASE and NEW contradict each other{reason}"
        case _:
            return f"{values}{reason}"


def gap_change(method: MethodComparison) -> str:
    """Return the mean change of a method's gap in percentage points, with its interval if the method draws at random."""
    if method.gap is None:
        return NOTHING
    interval = (method.gap.low, method.gap.high) if method.stochastic else None
    return _interval(points(method.gap.mean), interval, points)


def time_ratio(method: MethodComparison) -> str:
    """Return how many times longer a method takes, with its interval."""
    time: Estimate | None = method.time
    return NOTHING if time is None else _interval(times(time.mean), (time.low, time.high), times)


def signed(value: float) -> str:
    """Return a share with its sign."""
    return ("+" if value > 0 else "") + percent(value)


def points(value: float) -> str:
    """Return a difference of gaps with its sign, in percentage points."""
    return signed(value).removesuffix("%")


def times(value: float) -> str:
    """Return a ratio."""
    return f"{value:.2f}x"


def short(reason: str) -> str:
    """Return a reason as findings tell it."""
    return tables.short(reason, SHOWN_REASON)


def value(finding: Finding, given: float | str | None) -> str:
    """Return a finding's value on one side."""
    if given is None or isinstance(given, str):
        return given or NOTHING
    if finding.kind is ChangeKind.GAP:
        return percent(given)
    # All digits: one micro-dollar more is a regression, and must look like one.
    return f"{Decimal(given) / find_family(finding.family).objective_scale:,f}"


def _interval(shown: str, interval: tuple[float, float] | None, show: Callable[[float], str]) -> str:
    return shown if interval is None else f"{shown} [{show(interval[0])}, {show(interval[1])}]"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
