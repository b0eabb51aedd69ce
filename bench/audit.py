"""Second opinions: the same run by another back end, and whether what both found can be true at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from schedgap.bench.records.runs import FAILED, Record, Run
from schedgap.instances.method import Method, Status, find_method


@dataclass(frozen=True, slots=True)
class Audit:
    """What second opinions gave.

    audited : runs that were solved by another back end too. agreed : of them, those where the intervals from bound to
    objective meet and, where both claim to be optimal, the objectives are equal. disagreements : a sentence for each
    that does not. not_compared : a sentence for each where one of the two failed, was not supported, or gave
    neither solution nor bound.
    """

    audited: int
    agreed: int
    disagreements: tuple[str, ...]
    not_compared: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return asdict(self)

    def line(self) -> str:
        """Return one line for people."""
        if self.audited == 0:
            return "audit: no method of these runs has more than one back end."
        runs = "1 run" if self.audited == 1 else f"{self.audited} runs"
        counts = [f"{self.agreed} agreed"]
        counts += [f"{len(self.disagreements)} did not"] * bool(self.disagreements)
        counts += [f"{len(self.not_compared)} could not be compared"] * bool(self.not_compared)
        return f"audit: {runs} solved again by another back end; {', '.join(counts)}."


def second_opinion(run: Run) -> tuple[Method, str] | None:
    """Return who solves the same model by the first other back end: the method's twin, if it has one; None without one."""
    method = find_method(run.family, run.method)
    backend = next((name for name in method.choices.get("backend", ()) if name != run.backend), None)
    if backend is None:
        return None
    return (method if method.twin is None else find_method(run.family, method.twin)), backend


def audit_of(pairs: Mapping[str, str], records: Mapping[str, Record]) -> Audit:
    """Compare runs with their second opinions; pairs : keys. records : by key, not judged against each other."""
    agreed, disagreements, not_compared = 0, [], []
    for key, second in pairs.items():
        one, other = records[key], records[second]
        where = f"{one.run.label} and {other.run.label} on {one.run.instance}"
        incomparable = [r for r in (one, other) if r.status in FAILED or r.status is Status.UNSUPPORTED]
        if incomparable:
            ended = incomparable[0]
            not_compared.append(f"{where}: {ended.run.label} ended as {ended.status} ({ended.measurement.reason})")
            continue
        silent = [r for r in (one, other) if r.status is Status.NO_SOLUTION and r.measurement.bound is None]
        if silent:
            not_compared.append(f"{where}: {silent[0].run.label} gave neither solution nor bound")
            continue
        problem = _disagreement(one, other)
        if problem is None:
            agreed += 1
        else:
            disagreements.append(f"{where} disagree: {problem}")
    return Audit(len(pairs), agreed, tuple(disagreements), tuple(not_compared))


def _disagreement(one: Record, other: Record) -> str | None:
    if Status.INFEASIBLE in (one.status, other.status):
        solved = [r for r in (one, other) if r.measurement.objective is not None]
        return f"one says infeasible, the other has {solved[0].measurement.objective}" if solved else None
    low, high = (_interval(record) for record in (one, other))
    if max(low[0], high[0]) > min(low[1], high[1]):
        return f"the bound {max(low[0], high[0])} is above the objective {min(low[1], high[1])}"
    claims = {record.measurement.claimed_status for record in (one, other)}
    if claims == {Status.OPTIMAL} and low[1] != high[1]:
        return f"both claim to be optimal, with the objectives {low[1]} and {high[1]}"
    return None


def _interval(record: Record) -> tuple[float, float]:
    """Return bound and objective, without end where there is none."""
    measurement = record.measurement
    bound, objective = measurement.bound, measurement.objective
    return -math.inf if bound is None else bound, math.inf if objective is None else objective
