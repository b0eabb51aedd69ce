"""What a cluster cost over days: what was paid, what nobody could have paid less than, and what others would have paid.

Where the difference went, hour by hour.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schedgap.bench.api import Progress, gap
from schedgap.bench.floor.search import MONTH_H
from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.suites.source import family_of
from schedgap.instances.arrays import FloatArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import Family, Losses, Over, find_family
from schedgap.instances.units import HOUR_S

# The hours at which most was lost, of which so many are told.
DEAR_HOURS = 5
# What was paid is a solution, too: no floor is above it.
ABOVE = "The floor is above what was paid: the past as it was read, or the proof, is wrong. Do not use these figures."


@dataclass(frozen=True, slots=True)
class Paid:
    """What a method would have paid, in the unit of the objective; None and why where it has no plan. moves : per task."""

    method: str
    price: int | None
    why: str = ""
    moves: float | None = None


@dataclass(frozen=True, slots=True)
class DearHour:
    """An hour at which much was lost: when it begins, what was paid, the floor, and for which reason most of it was lost."""

    begins: datetime
    paid: float
    floor: float
    reason: str


@dataclass(frozen=True, slots=True)
class Bill:
    """What a cluster cost over days, and what it could have.

    begins, seconds : of the window. paid : in truth; None where that is not known. floor : proven. plan : the best that is
    known, with hindsight or without. rivals : what others would have paid. losses : by hour; None without a floor.
    plan_hourly : what the plan pays in each hour. problems : why runs failed.
    """

    instance: Any
    family: Family
    begins: datetime
    seconds: int
    paid: int | None
    floor: int | None
    plan: Paid
    rivals: tuple[Paid, ...]
    losses: Losses | None = None
    plan_hourly: FloatArray | None = None
    solution: Any = None
    problems: tuple[str, ...] = ()

    @property
    def best_plan(self) -> Any:
        """The schedule of `plan`, None for none."""
        return self.solution

    def write_plan(self, path: Path) -> None:
        """Write it."""
        self.family.write_solution(self.instance, self.solution, path)

    @property
    def gap(self) -> float | None:
        """Share of the plan's price that is not proven necessary."""
        return None if not self.plan.price or self.floor is None else (self.plan.price - self.floor) / self.plan.price

    def shown(self, value: int | None) -> float | None:
        """Return a price in the unit that is shown."""
        return None if value is None else value / self.family.objective_scale

    def a_month(self, value: int | None) -> float | None:
        """Return a price as one of a month of 730 hours."""
        return None if value is None else value / self.family.objective_scale * MONTH_H * HOUR_S / self.seconds

    def above(self, value: int | None) -> float | None:
        """Return by which share of the floor a price is above it."""
        return None if value is None or not self.floor else value / self.floor - 1

    def dear_hours(self) -> tuple[DearHour, ...]:
        """Return the hours at which most was lost, the dearest first."""
        if self.losses is None:
            return ()
        lost = self.losses.paid - self.losses.floor
        chosen = [h for h in (-lost).argsort(kind="stable").tolist()[:DEAR_HOURS] if lost[h] > 0]
        return tuple(
            DearHour(
                self.begins + timedelta(hours=h),
                float(self.losses.paid[h]),
                float(self.losses.floor[h]),
                max(self.losses.lost, key=lambda reason: float(self.losses.lost[reason][h]) if self.losses else 0.0),
            )
            for h in chosen
        )

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap floor --over --json` prints; prices in the unit that is shown."""

        def priced(value: int | None) -> dict[str, float | None]:
            return {"price": self.shown(value), "a_month": self.a_month(value), "above_floor": self.above(value)}

        losses = self.losses
        return {
            "instance": self.instance.name,
            "digest": self.instance.digest,
            "unit": self.family.unit_of(self.instance),
            "begins": self.begins.isoformat(),
            "hours": self.seconds / HOUR_S,
            "ran": over_of(self.family).ran(self.instance),
            "paid": priced(self.paid),
            "floor": priced(self.floor),
            "plan": {"method": self.plan.method, **priced(self.plan.price), "gap": self.gap, "why": self.plan.why},
            "rivals": [{"method": r.method, **priced(r.price), "moves": r.moves, "why": r.why} for r in self.rivals],
            "lost": None if losses is None else {reason: float(each.sum()) for reason, each in losses.lost.items()},
            "hourly": None
            if losses is None
            else {
                "paid": losses.paid.tolist(),
                "floor": losses.floor.tolist(),
                "plan": None if self.plan_hourly is None else self.plan_hourly.tolist(),
                "tasks": losses.tasks.tolist(),
                "lost": {reason: each.tolist() for reason, each in losses.lost.items()},
            },
            "dear_hours": [
                {"begins": hour.begins.isoformat(), "paid": hour.paid, "floor": hour.floor, "reason": hour.reason}
                for hour in self.dear_hours()
            ],
            "problems": list(self.problems),
            "notes": list(self.instance.notes),
        }


def over_of(family: Family) -> Over:
    """Return how instances of a family are what a cluster did over days.

    Raises
    ------
    InstanceError
        if they are not.
    """
    if family.over is None:
        raise InstanceError(
            f"instances of family {family.name} have no past; give a folder of snapshots, or an instance of reconfiguration."
        )
    return family.over


def floor_over(
    instance: Any,
    *,
    family: str,
    time_limit_s: float = 300.0,
    jobs: int | None = None,
    memory_mib: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Bill:
    """Bracket what a cluster cost over days: run the floor, the plan with hindsight, and what others do, on the same tasks.

    time_limit_s : of each method. memory_mib, jobs : as in `gap`. on_progress : gets the runs that are done.

    Raises
    ------
    InstanceError
        if the family's instances have no past.
    """
    known = find_family(family)
    over = over_of(known)
    family_of([instance], family)
    methods = (over.floor, over.plan, *over.rivals)
    how: dict[str, Any] = {"family": family, "jobs": jobs, "memory_mib": memory_mib, "on_progress": on_progress}
    with TemporaryDirectory(prefix="schedgap-over-") as folder:
        found = gap(instance, methods, time_limit_s=time_limit_s, solutions=Path(folder), **how)
        records = {record.run.method: record for record in found.records}
        certificate = Path(folder) / f"{over.floor}.certificate.json"
        proof = json.loads(certificate.read_text(encoding="utf-8"))["proof"] if certificate.exists() else None
        paid = {method: _paid(record) for method, record in records.items()}
        best = min(
            (p for p in paid.values() if p.price is not None), key=lambda p: p.price or 0, default=paid[over.plan]
        )
        path = Path(folder) / f"{best.method}.json"
        solution = known.read_solution(instance, path) if path.exists() else None
    begins, seconds = over.span(instance)
    truth = over.paid(instance)
    failed = (record for record in found.records if record.status in FAILED)
    problems = [f"{record.run.label}: {record.status}, {record.measurement.reason}" for record in failed]
    if truth is not None and found.best.bound is not None and found.best.bound > truth:
        problems.append(ABOVE)
    return Bill(
        instance,
        known,
        datetime.fromtimestamp(begins, UTC),
        seconds,
        truth,
        found.best.bound,
        best,
        tuple(paid[method] for method in (over.plan, *over.rivals)),
        None if proof is None or truth is None else over.losses(instance, proof),
        None if solution is None else over.hourly(instance, solution),
        solution,
        tuple(problems),
    )


def _paid(record: Record) -> Paid:
    measurement = record.measurement
    why = "" if measurement.objective is not None else f"{record.status}: {measurement.reason or ''}".rstrip(": ")
    moves = (measurement.measures or {}).get("moves_per_task")
    return Paid(record.run.method, measurement.objective, why, moves)
