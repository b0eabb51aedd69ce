"""The points of a cluster: a plan and a floor at once from methods that are quick, then better ones.

What is known of a cluster: points of price against disruption, what no plan can have, and the same as JSON.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schedgap.bench.api import Progress, gap
from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.suites.source import family_of
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import DEFAULT_FAMILY, Cluster, Family, Shortage, find_family
from schedgap.instances.method import Status

# Of prices an hour, so many make a month.
MONTH_H, HOURLY = 730, "$/h"


@dataclass(frozen=True, slots=True)
class Point:
    """The best that is known with a limit on disruption, in 1 / `Cluster.disruption_scale`: None for none.

    price, floor : of the best plan, and below which no plan is, in the unit of the objective; None where there is none.
    moves, disruption : tasks that the plan moves, and how much that disrupts, where something runs. plan : the verified
    solution. why : there is no plan.
    """

    max_disruption: int | None
    price: int | None = None
    floor: int | None = None
    moves: int | None = None
    disruption: int | None = None
    plan: Any = None
    why: str | None = None

    @property
    def gap(self) -> float | None:
        """Share of the plan's price that is not proven necessary."""
        return None if not self.price or self.floor is None else (self.price - self.floor) / self.price


@dataclass(frozen=True, slots=True)
class Floor:
    """What is known of a cluster.

    instance : with the limit on disruption that was asked for. price_now : what runs costs; None where nothing runs. pending :
    tasks that run nowhere. chosen : the point that was asked for. front : points of rising limits on disruption, the last
    without; only `chosen` where nothing runs. shortage : what is proven to be missing for any plan; there are no runs then.
    problems : why runs failed. remarks : where no plan is, by a method's word or as far as is known. is_infeasible : by a
    method's word there is no plan with the limit that was asked for. drain : steps to the plan. plan_remarks : what it breaks.
    """

    instance: Any
    family: Family
    price_now: int | None
    pending: int
    chosen: Point
    front: tuple[Point, ...]
    shortage: Shortage | None = None
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    is_infeasible: bool = False
    drain: tuple[dict[str, Any], ...] = ()
    plan_remarks: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The unit in which prices are shown."""
        return self.family.unit_of(self.instance)

    @property
    def counts_moves(self) -> bool:
        """Whether disruption is the number of tasks that move."""
        return cluster_of(self.family).counts_moves(self.instance)

    @property
    def whole_disruption(self) -> int:
        """The disruption if all that runs had to go, in 1 / `Cluster.disruption_scale`."""
        return cluster_of(self.family).whole_disruption(self.instance)

    def in_tasks(self, disruption: int | None) -> float | int | None:
        """Return an amount of disruption in tasks."""
        scale = cluster_of(self.family).disruption_scale
        return None if disruption is None else disruption / scale if disruption % scale else disruption // scale

    @property
    def saves(self) -> int | None:
        """What the plan costs less than what runs."""
        return None if self.price_now is None or self.chosen.price is None else self.price_now - self.chosen.price

    @property
    def saves_at_most(self) -> int | None:
        """What no plan can save more than."""
        return None if self.price_now is None or self.chosen.floor is None else self.price_now - self.chosen.floor

    def by_type(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return how many machines run, and are in the plan, with types that differ by node only as one."""
        cluster, plan = cluster_of(self.family), self.chosen.plan
        after = {} if plan is None else cluster.machines_of(self.instance, plan)
        before = cluster.machines_now(self.instance)
        return cluster.folded(self.instance, before), cluster.folded(self.instance, after)

    def line(self) -> str:
        """Return price, floor and plan in a sentence."""
        scale, chosen = self.family.objective_scale, self.chosen
        shown = (("now", self.price_now), ("floor", chosen.floor), ("plan", chosen.price))
        parts = [f"{what} {value / scale:,.4f} {self.unit}" for what, value in shown if value is not None]
        parts += [] if chosen.price is not None else ["no plan yet"]
        return ", ".join(parts) + ("" if chosen.gap is None else f", gap {100 * chosen.gap:.2f}%")

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap floor --json` prints; prices in the unit that is shown."""
        cluster, scale = cluster_of(self.family), self.family.objective_scale
        plan, lack, months = self.chosen.plan, self.shortage, MONTH_H if self.unit == HOURLY else None
        before, after = self.by_type()

        def shown(point: Point) -> dict[str, Any]:
            return {
                "max_disruption": self.in_tasks(point.max_disruption),
                "price": _in_units(point.price, scale),
                "floor": _in_units(point.floor, scale),
                "gap": point.gap,
                "disruption": self.in_tasks(point.disruption),
                "moves": point.moves,
                "why": point.why,
            }

        return {
            "instance": self.instance.name,
            "digest": self.instance.digest,
            "unit": self.unit,
            "price_now": _in_units(self.price_now, scale),
            "pending": self.pending,
            **shown(self.chosen),
            "saves": _in_units(self.saves, scale),
            "saves_at_most": _in_units(self.saves_at_most, scale),
            "hours_a_month": months,
            "shortage": None if lack is None else {"tasks": lack.tasks, "lacks": lack.lacks, "said": lack.sentences},
            "machines_now": cluster.machines_now(self.instance),
            "machines": None if plan is None else cluster.machines_of(self.instance, plan),
            "by_type": [
                {"type": name, "now": before.get(name, 0), "plan": None if plan is None else after.get(name, 0)}
                for name in dict.fromkeys((*after, *before))
            ],
            "front": [shown(point) for point in self.front],
            "problems": list(self.problems),
            "remarks": list(self.remarks),
            "plan_remarks": list(self.plan_remarks),
            "notes": list(self.instance.notes),
        }


def cluster_of(family: Family) -> Cluster:
    """Return how instances of a family are clusters.

    Raises
    ------
    InstanceError
        if they are none.
    """
    if family.cluster is None or not family.floor_method:
        raise InstanceError(f"instances of family {family.name} are no running clusters; give one of provisioning.")
    return family.cluster


def _in_units(value: int | None, scale: int) -> float | None:
    return None if value is None else value / scale


# Limits on disruption, as shares of what it is if all that runs has to go, of which the front is made.
SHARES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5)
# Seconds for each of the methods that are asked first.
FIRST_S = 5.0
# What fails so often in the same way is not tried again.
MOST_FAILURES = 2


def floor(
    instance: Any,
    *,
    family: str = DEFAULT_FAMILY,
    time_limit_s: float = 60.0,
    max_disruption: int | None = None,
    front: bool = True,
    jobs: int | None = None,
    memory_mib: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Floor:
    """Bracket the price of a cluster, and of plans that disrupt little of it.

    time_limit_s : for the point that is asked for; half as much for each other one. max_disruption : of the point that is
    asked for, in 1 / `Cluster.disruption_scale`; None for what the instance says. front : whether to look at other limits,
    too. memory_mib, jobs : as in `gap`. on_progress : gets the points that are done; with the first answer, and a better
    one, its line as a note.

    First `Family.floor_first` are asked of every point, then `Family.floor_method`, where they left something open, with
    `Family.floor_beside` at the same time where two runs at a time are allowed. A plan is one under every limit that it keeps
    to, and a floor under more disruption is one under less: points take over what is better.

    Raises
    ------
    InstanceError
        if the family has no running clusters, or nothing runs that could move.
    """
    known = find_family(family)
    cluster = cluster_of(known)
    family_of([instance], family)
    max_disruption = cluster.most_disruption(instance) if max_disruption is None else max_disruption
    limited, lack = cluster.with_disruption(instance, max_disruption), cluster.shortage(instance)
    max_disruption, scale = cluster.most_disruption(limited), cluster.disruption_scale
    whole = cluster.whole_disruption(instance)
    # Whole numbers of tasks, as people choose them.
    limits: set[int | None] = (
        {int(share * (whole // scale)) * scale for share in SHARES} | {None} if front and whole else set()
    )
    others = sorted(limits - {max_disruption}, key=lambda most: (most is None, most or 0))
    order = [max_disruption, *(others if lack is None else ())]
    tell, how = on_progress or (lambda _: None), {"family": family, "jobs": jobs, "memory_mib": memory_mib}
    search = _Search(known, limited, order, time_limit_s, how, tell)
    if lack is not None:
        point = Point(max_disruption, why=lack.sentences[0])
        return replace(search.found(), chosen=point, front=(point,), shortage=lack, remarks=())
    search.first()
    search.better()
    return search.found()


class _Search:
    """The points of one cluster, which get better. order : their limits on disruption, that of the point asked for first."""

    def __init__(
        self,
        known: Family,
        instance: Any,
        order: Sequence[int | None],
        time_limit_s: float,
        how: dict[str, Any],
        tell: Callable[[Progress], None],
    ) -> None:
        self.known, self.instance, self.order, self.how, self.tell = known, instance, order, how, tell
        self.limit_s = [time_limit_s / (1 if i == 0 else 2) for i in range(len(order))]
        self.points = {most: Point(most) for most in order}
        self.failures: Counter[tuple[str, str]] = Counter()
        self.infeasible: list[int | None] = []
        self.problems: list[str] = []
        self.told = ""

    @cached_property
    def cluster(self) -> Cluster:
        """What the family says of clusters."""
        return cluster_of(self.known)

    @property
    def _beside(self) -> tuple[str, ...]:
        """The methods that run at the time of the method of floors: none where they would only take time from it."""
        at_once = self.how["jobs"] or os.cpu_count() or 1
        return self.known.floor_beside[: min(at_once, os.cpu_count() or 1) - 1]

    def first(self) -> None:
        """Ask the methods that answer at once, of every point; the point asked for is told as soon as it is known."""
        for most, limit_s in zip(self.order, self.limit_s, strict=True):
            self._run(most, self.known.floor_first, min(limit_s, FIRST_S))
            self._tell(0)

    def better(self) -> None:
        """Ask the method of floors, where the point is open."""
        for done, most in enumerate(self.order):
            method = self.known.floor_method
            if (how := self._ended()) is not None:
                self._why(most, f"{method} was not tried: {how}")
            elif self._is_open(most):
                record, *_ = self._run(most, (method, *self._beside), self.limit_s[done])
                self._heard(most, record)
            self._tell(done + 1)
        if (how := self._ended()) is not None:
            self.problems.append(f"{self.known.floor_method} is not tried on further points: {how}.")

    def found(self, *, with_steps: bool = True) -> Floor:
        """Return what is known."""
        points = _shared(sorted(self.points.values(), key=lambda p: (p.max_disruption is None, p.max_disruption or 0)))
        chosen = next(point for point in points if point.max_disruption == self.order[0])
        method = self.known.floor_method
        remarks = [
            f"with {self._limit(most)} no plan holds all tasks, by the word of {method}." for most in self.infeasible
        ]
        plan, is_infeasible = chosen.plan, self._is_infeasible(self.order[0])
        if plan is None and not is_infeasible:
            remarks.append("No plan was found; it is not proven that there is none.")
        cluster, instance = self.cluster, self.instance
        return Floor(
            instance,
            self.known,
            cluster.price_now(instance),
            cluster.pending(instance),
            chosen,
            tuple(points),
            problems=tuple(self.problems),
            remarks=tuple(remarks),
            is_infeasible=is_infeasible,
            drain=() if plan is None or not with_steps else tuple(cluster.drain(instance, plan)),
            plan_remarks=() if plan is None else tuple(cluster.plan_remarks(instance, plan)),
        )

    def _run(self, most: int | None, methods: Sequence[str], limit_s: float) -> tuple[Record, ...]:
        """Ask methods of a point, which takes what is better."""
        limited = self.cluster.with_disruption(self.instance, most)
        with TemporaryDirectory(prefix="schedgap-floor-") as folder:
            result = gap(limited, methods, solutions=Path(folder), time_limit_s=limit_s, **self.how)
            paths = {record.key: Path(folder) / f"{record.run.label}.json" for record in result.records}
            there = [r for r in result.records if r.measurement.objective is not None and paths[r.key].exists()]
            best = min(there, key=lambda r: r.measurement.objective or 0, default=None)
            plan = None if best is None else self.known.read_solution(limited, paths[best.key])
        price = None if best is None else best.measurement.objective
        done = (
            (None, None) if plan is None else (self.cluster.moved(limited, plan), self.cluster.disrupted(limited, plan))
        )
        whys = [_why(record) for record in result.records if record.measurement.objective is None]
        new = Point(most, price, result.best.bound, *done, plan, "; ".join(filter(None, whys)) or None)
        self.points[most] = _better(self.points[most], new)
        return result.records

    def _heard(self, most: int | None, record: Record) -> None:
        """Note how a run of the method of floors ended."""
        if record.status in FAILED:
            reason = record.measurement.reason or ""
            self.problems.append(f"with {self._limit(most)}: {record.status}, {reason}")
            self.failures[record.status, re.sub(r"[\d.,]+", "#", reason)] += 1
        if record.status == Status.INFEASIBLE:
            self.infeasible.append(most)

    def _ended(self) -> str | None:
        """Return the failure that came so often that the method is not tried again."""
        often = [status for (status, _), number in self.failures.items() if number >= MOST_FAILURES]
        return f"it failed {MOST_FAILURES} times in the same way ({often[0]})" if often else None

    def _limit(self, most: int | None) -> str:
        what = "moves" if self.cluster.counts_moves(self.instance) else "disruption"
        if most is None:
            return "any number of moves" if what == "moves" else "any disruption"
        shown = most / self.cluster.disruption_scale
        return f"at most {shown:.10g} moves" if what == "moves" else f"a disruption of at most {shown:.10g}"

    def _is_infeasible(self, most: int | None) -> bool:
        return any(more is None or (most is not None and most <= more) for more in self.infeasible)

    def _is_open(self, most: int | None) -> bool:
        (point,) = (point for point in self.found(with_steps=False).front if point.max_disruption == most)
        return not self._is_infeasible(most) and (point.price is None or point.price != point.floor)

    def _why(self, most: int | None, reason: str) -> None:
        if self.points[most].plan is None:
            self.points[most] = _better(self.points[most], Point(most, why=reason))

    def _tell(self, done: int) -> None:
        """Tell how many points are done, how long the others may take, and what is new of the point asked for."""
        line = self.found(with_steps=False).line()
        notes = () if line == self.told else (line,)
        self.told = line
        self.tell(Progress(done, len(self.order), None, notes, sum(self.limit_s[done:])))


def _why(record: Record) -> str | None:
    """Return why a method has no plan; None of one that is only asked for a floor."""
    reason = record.measurement.reason
    if reason is None and record.status == Status.NO_SOLUTION and record.measurement.bound is not None:
        return None if record.run.method.startswith("bound-") else f"{record.run.label} found none in its time"
    return f"{record.run.label}: {record.status if reason is None else reason}"


def _better(old: Point, new: Point) -> Point:
    """Return the better plan and floor of two points of one limit; without a plan, why there is none."""
    plans = [point for point in (old, new) if point.price is not None]
    floors = [point.floor for point in (old, new) if point.floor is not None]
    whys = [point.why for point in (old, new) if point.why]
    best = min(plans, key=lambda point: (point.price or 0, point.disruption or 0), default=None)
    if best is None:
        return Point(old.max_disruption, floor=max(floors, default=None), why="; ".join(dict.fromkeys(whys)) or None)
    return replace(best, floor=max(floors, default=None), why=None)


def _shared(points: Sequence[Point]) -> list[Point]:
    """Give each point, of rising limits, the best plan that keeps to its limit, and the best floor of those after it."""
    shared: list[Point] = []
    for i, point in enumerate(points):
        most = point.max_disruption
        kept = [
            p
            for p in points
            if p.price is not None and (most is None or (p.disruption is not None and p.disruption <= most))
        ]
        best = min(kept, key=lambda p: (p.price or 0, p.disruption or 0), default=point)
        highest = max((later.floor for later in points[i:] if later.floor is not None), default=None)
        shared.append(replace(best, max_disruption=most, floor=highest))
    return shared
