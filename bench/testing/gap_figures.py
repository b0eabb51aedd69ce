"""How far one method is from the proven bounds on a set of instances, as figures that explain themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.summary import MethodSummary, best_of, in_unit, summarise, verified_objective
from schedgap.bench.statistics.tables import number, percent
from schedgap.instances.family import find_family

# Of the instances with the worst gaps, this many are named.
NAMED = 5
# Of what a failed run printed, this many lines at the end are shown.
SHOWN_LINES = 12


# Of an instance, what `to_json` tells.
_TOLD = ("instance", "status", "objective", "bound", "gap", "wall_s")


class GapFigure(float):
    """A gap that knows what it was measured on; otherwise a float. name : `mean`, `worst`, ..."""

    name: str
    gaps: Gaps

    @classmethod
    def of(cls, value: float, name: str, gaps: Gaps) -> GapFigure:
        """Return the figure `name` of gaps."""
        figure = cls(value)
        figure.name, figure.gaps = name, gaps
        return figure

    def explain(self, shown: str) -> list[str]:
        """Return what to say of a comparison that does not hold; `shown` is the comparison, for people."""
        return [f"{self.name} gap {shown}, worst on {self.gaps.worst_instance}", *self.gaps.lines()]


@dataclass(frozen=True)
class InstanceGap:
    """One run of the method. objective, bound : in the family's shown unit, None where there is none."""

    instance: str
    status: str
    objective: float | None
    bound: float | None
    gap: float | None
    wall_s: float | None
    problem: str | None


@dataclass(frozen=True, repr=False)
class Gaps:
    """One method on a suite.

    method : its label. suite : its name. unit : of objectives and bounds. runs : one for each instance and repetition,
    in the suite's order. summary : of the method's runs against all bounds that are known.
    """

    method: str
    suite: str
    unit: str
    details: tuple[InstanceGap, ...]
    summary: MethodSummary

    @property
    def runs(self) -> int:
        """Return the number of runs."""
        return self.summary.runs

    @property
    def failed(self) -> int:
        """Return the number of runs that failed: invalid, crashed, error, timeout, memory."""
        return self.summary.failed

    @property
    def proven_optimal(self) -> int:
        """Return the number of runs that cost as much as the proven bound."""
        return self.summary.proven_optimal

    @property
    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each run that has no gap, whatever the reason."""
        return tuple(f"{each.instance}: {each.problem}" for each in self.details if each.problem is not None)

    @property
    def mean(self) -> GapFigure:
        """Return the mean gap over the runs that have one."""
        return self._figure("mean")

    @property
    def median(self) -> GapFigure:
        """Return the median gap over the runs that have one."""
        return self._figure("median")

    @property
    def p95(self) -> GapFigure:
        """Return the gap that 95 % of the runs that have one do not exceed."""
        return self._figure("p95")

    @property
    def worst(self) -> GapFigure:
        """Return the highest gap."""
        return self._figure("worst")

    @cached_property
    def per_instance(self) -> Mapping[str, float]:
        """Return the gap on each instance that has one; the mean of its repetitions."""
        gaps: dict[str, list[float]] = {}
        for each in self.details:
            if each.gap is not None:
                gaps.setdefault(each.instance, []).append(each.gap)
        return {name: sum(own) / len(own) for name, own in gaps.items()}

    @property
    def worst_instance(self) -> str:
        """Return the name of the instance with the highest gap."""
        return self._worst_first()[0].instance

    def lines(self) -> list[str]:
        """Return a few lines for people: what was measured, and the worst instances by name."""
        worst = self._worst_first()
        failed = f", {self.failed} failed" if self.failed else ""
        head = f"{self.method} on {self.suite}: {self.runs} runs{failed}, {self.proven_optimal} proven optimal"
        shown = [
            f"{percent(each.gap)} on {each.instance}: {number(each.objective)} {self.unit}, bound {number(each.bound)}"
            for each in worst[:NAMED]
        ]
        rest = [f"and {len(worst) - NAMED} more with smaller gaps"] if len(worst) > NAMED else []
        return [head, *shown, *rest]

    def __repr__(self) -> str:
        """Return the gist in the 240 characters that pytest shows of an object."""
        if self.summary.gap_mean is None:
            return f"<{self.method} on {self.suite}: no gap in {self.runs} runs>"
        worst = ", ".join(f"{percent(each.gap)} on {each.instance}" for each in self._worst_first()[:2])
        failed = f"{self.failed} of {self.runs} failed, " if self.failed else ""
        return (
            f"<{self.method} on {self.suite}: {failed}mean gap {percent(self.mean)}, "
            f"{self.proven_optimal} of {self.runs} proven optimal, worst {worst}>"
        )

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values; totals are over the runs that have a gap."""
        whole = [each for each in self.details if each.gap is not None]
        summary = self.summary
        return {
            "suite": self.suite,
            "method": self.method,
            "unit": self.unit,
            "runs": self.runs,
            "failed": self.failed,
            "proven_optimal": self.proven_optimal,
            "gap_mean": summary.gap_mean,
            "gap_median": summary.gap_median,
            "gap_p95": summary.gap_p95,
            "gap_worst": summary.gap_worst,
            "objective_total": sum(each.objective or 0.0 for each in whole),
            "bound_total": sum(each.bound or 0.0 for each in whole),
            "instances": [{name: getattr(each, name) for name in _TOLD} for each in self.details],
        }

    def _figure(self, name: str) -> GapFigure:
        value = getattr(self.summary, f"gap_{name}")
        if value is None:
            raise ValueError(f"{self!r} has no {name} gap")
        return GapFigure.of(value, name, self)

    def _worst_first(self) -> list[InstanceGap]:
        whole = [each for each in self.details if each.gap is not None]
        return sorted(whole, key=lambda each: each.gap or 0.0, reverse=True)


def gaps_of(suite: str, own: Sequence[Record], others: Sequence[Record]) -> Gaps:
    """Return the gaps of a method's own records, against the bounds that they and the others prove.

    suite : its name, for people. own, others : judged against each other (see `contradictions.judged`).
    """
    family, method = find_family(own[0].run.family), own[0].run.label
    best = best_of([*others, *own])
    names: dict[str, set[str]] = {}
    for record in own:
        names.setdefault(record.run.instance, set()).add(record.run.digest)

    def gap_on(record: Record) -> InstanceGap:
        run, objective = record.run, verified_objective(record)
        known = best[run.digest]
        gap = known.gap(objective)
        return InstanceGap(
            # Two instances may have one name.
            instance=run.instance if len(names[run.instance]) == 1 else f"{run.instance} ({run.digest[:8]})",
            status=str(record.status),
            objective=in_unit(objective, family.objective_scale),
            bound=in_unit(known.bound, family.objective_scale),
            gap=gap,
            wall_s=record.measurement.wall_s,
            problem=None if gap is not None else _problem(record, others),
        )

    summary = next(s for s in summarise([*others, *own]) if s.method == method)
    return Gaps(method, suite, family.objective_unit, tuple(map(gap_on, own)), summary)


def shown(value: object) -> str:
    """Return one side of a comparison, a number as a share."""
    return percent(float(value)) if isinstance(value, int | float) else repr(value)


def printed(own: Sequence[Record]) -> str:
    """Return the end of what the first failed run that printed anything printed, "" if there is none."""
    for record in own:
        lines = record.measurement.output.strip().splitlines()
        if record.status in FAILED and lines:
            return "\n".join([f"On {record.run.instance} it printed:", *lines[-SHOWN_LINES:]])
    return ""


def why(record: Record) -> str:
    """Return how a run ended, with its reason if it has one."""
    reason = f", {record.measurement.reason}" if record.measurement.reason else ""
    return f"{record.status}{reason}"


def _problem(record: Record, others: Sequence[Record]) -> str:
    if record.status in FAILED or record.measurement.objective is None:
        return why(record)
    tried = [f"{each.run.label} {each.status}" for each in others if each.run.digest == record.run.digest]
    return f"nobody proved a bound ({', '.join(tried) or 'nobody tried'})"
