"""What a running cluster pays above the least that anybody could: the floor, the best plan, and price against moves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from schedgap.bench.api import Progress, gap
from schedgap.bench.records.measurement import FAILED
from schedgap.bench.suites.source import family_of
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import DEFAULT_FAMILY, Cluster, Family, find_family
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


# Limits on moves, as shares of the tasks that run, of which the front is made.
SHARES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class Point:
    """The best that is known with a limit on moves: None for none.

    price, floor : of the best plan, and below which no plan is, in the unit of the objective; None where there is none.
    moves : tasks that the plan moves, where something runs. plan : the verified solution.
    """

    max_moves: int | None
    price: int | None
    floor: int | None
    moves: int | None
    plan: Any

    @property
    def gap(self) -> float | None:
        """Share of the plan's price that is not proven necessary."""
        return None if not self.price or self.floor is None else (self.price - self.floor) / self.price


@dataclass(frozen=True, slots=True)
class Floor:
    """What is known of a cluster.

    instance : with the limit on moves that was asked for. price_now : what runs costs; None where nothing runs. pending :
    tasks that run nowhere. chosen : the point that was asked for. front : points of rising limits on moves, the last
    without; only `chosen` where nothing runs. problems : why runs failed. remarks : limits that are proven to be too low.
    """

    instance: Any
    family: Family
    price_now: int | None
    pending: int
    chosen: Point
    front: tuple[Point, ...]
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap floor --json` prints; prices in the family's shown unit."""
        cluster, scale = _cluster(self.family), self.family.objective_scale

        def shown(point: Point) -> dict[str, Any]:
            return {
                "max_moves": point.max_moves,
                "price": _in_units(point.price, scale),
                "floor": _in_units(point.floor, scale),
                "gap": point.gap,
                "moves": point.moves,
            }

        plan = self.chosen.plan
        return {
            "instance": self.instance.name,
            "digest": self.instance.digest,
            "unit": self.family.objective_unit,
            "price_now": _in_units(self.price_now, scale),
            "pending": self.pending,
            **shown(self.chosen),
            "machines_now": cluster.machines_now(self.instance),
            "machines": None if plan is None else cluster.machines_of(self.instance, plan),
            "front": [shown(point) for point in self.front],
            "problems": list(self.problems),
            "remarks": list(self.remarks),
            "notes": list(self.instance.notes),
        }


def floor(
    instance: Any,
    *,
    family: str = DEFAULT_FAMILY,
    time_limit_s: float = 60.0,
    max_moves: int | None = None,
    front: bool = True,
    jobs: int | None = None,
    memory_mib: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Floor:
    """Bracket the price of a cluster, and of plans that move few of its tasks.

    time_limit_s : for the point that is asked for; half as much for each other one. max_moves : of the point that is asked
    for; None for what the instance says. front : whether to look at other limits on moves, too. memory_mib, jobs : as in
    `gap`.

    A plan is one under every limit that it keeps to, and a floor under more moves is one under fewer: points take over what
    is better.

    Raises
    ------
    InstanceError
        if the family has no running clusters, or nothing runs that could move.
    """
    known = find_family(family)
    cluster = _cluster(known)
    family_of([instance], family)
    max_moves = cluster.most_moves(instance) if max_moves is None else max_moves
    tasks = sum(cluster.machines_now(instance).values()) and instance.num_tasks - cluster.pending(instance)
    limits = {int(share * tasks) for share in SHARES} if front and tasks else set()
    limits |= set() if max_moves is None else {max_moves}
    wanted: list[int | None] = [*sorted(limits), *([None] if front or max_moves is None or not tasks else [])]
    points, problems, remarks = [], [], []
    how = {"family": family, "jobs": jobs, "memory_mib": memory_mib, "on_progress": on_progress}
    for most in wanted:
        limit_s = time_limit_s if most == max_moves else time_limit_s / 2
        point, status, reason = _point(known, instance, most, time_limit_s=limit_s, **how)
        points.append(point)
        problems += [f"with {_limit(most)}: {status}, {reason}"] if status in FAILED else []
        remarks += [f"with {_limit(most)} no plan holds all tasks, proven."] if status == Status.INFEASIBLE else []
    shared = _shared(points)
    chosen = next(point for point in shared if point.max_moves == max_moves)
    return Floor(
        cluster.with_moves(instance, max_moves),
        known,
        cluster.price_now(instance),
        cluster.pending(instance),
        chosen,
        tuple(shared),
        tuple(problems),
        tuple(remarks),
    )


def _point(known: Family, instance: Any, most: int | None, **how: Any) -> tuple[Point, str, str | None]:
    """Return what is known with a limit on moves, and the run's status and reason. how : as for `gap`."""
    cluster = _cluster(known)
    limited = cluster.with_moves(instance, most)
    with TemporaryDirectory(prefix="schedgap-floor-") as folder:
        result = gap(limited, [known.floor_method], solutions=Path(folder), **how)
        record = result.records[0]
        path = Path(folder) / f"{record.run.label}.json"
        plan = known.read_solution(limited, path) if path.exists() else None
    moves = None if plan is None else cluster.moved(instance, plan)
    return Point(most, result.best.objective, result.best.bound, moves, plan), record.status, record.measurement.reason


def _shared(points: Sequence[Point]) -> list[Point]:
    """Give each point, of rising limits, the best plan that keeps to its limit, and the best floor of those after it."""
    shared: list[Point] = []
    for i, point in enumerate(points):
        most = point.max_moves
        kept = [
            p for p in points if p.price is not None and (most is None or (p.moves is not None and p.moves <= most))
        ]
        best = min(kept, key=lambda p: (p.price or 0, p.moves or 0), default=point)
        highest = max((later.floor for later in points[i:] if later.floor is not None), default=None)
        shared.append(Point(most, best.price, highest, best.moves, best.plan))
    return shared


def _cluster(family: Family) -> Cluster:
    if family.cluster is None or not family.floor_method:
        raise InstanceError(f"instances of family {family.name} are no running clusters; give one of provisioning.")
    return family.cluster


def _limit(most: int | None) -> str:
    return "any number of moves" if most is None else f"at most {most} moves"


def _in_units(value: int | None, scale: int) -> float | None:
    return None if value is None else value / scale
