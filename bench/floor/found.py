"""What is known of a cluster: points of price against moves, what no plan can have, and the same as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedgap.instances.errors import InstanceError

if TYPE_CHECKING:
    from schedgap.instances.family import Cluster, Family, Shortage

# Of prices an hour, so many make a month.
MONTH_H, HOURLY = 730, "$/h"


@dataclass(frozen=True, slots=True)
class Point:
    """The best that is known with a limit on moves: None for none.

    price, floor : of the best plan, and below which no plan is, in the unit of the objective; None where there is none.
    moves : tasks that the plan moves, where something runs. plan : the verified solution. why : there is no plan.
    """

    max_moves: int | None
    price: int | None = None
    floor: int | None = None
    moves: int | None = None
    plan: Any = None
    why: str | None = None

    @property
    def gap(self) -> float | None:
        """Share of the plan's price that is not proven necessary."""
        return None if not self.price or self.floor is None else (self.price - self.floor) / self.price


@dataclass(frozen=True, slots=True)
class Floor:
    """What is known of a cluster.

    instance : with the limit on moves that was asked for. price_now : what runs costs; None where nothing runs. pending :
    tasks that run nowhere. chosen : the point that was asked for. front : points of rising limits on moves, the last
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
                "max_moves": point.max_moves,
                "price": _in_units(point.price, scale),
                "floor": _in_units(point.floor, scale),
                "gap": point.gap,
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
