"""What a cluster could hold: by arithmetic at once, then by methods, for few moves and for any number of them.

Each question is an instance of placement: pods that run, and pods that ask for a place and count one each. A plan for at
most so many moves is one for more, and what is proven for more moves is proven for fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from schedgap.bench.api import Progress, gap
from schedgap.bench.catalogue import load_catalogue
from schedgap.bench.records.runs import FAILED, Record
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY
from schedgap.instances.placement import FAMILY, Placement, PlacementInstance, moves, stranded
from schedgap.instances.placement.model import ANY
from schedgap.instances.placement.stranded import Group, Idle, Room, room_of
from schedgap.instances.placement.verify import steps
from schedgap.instances.units import resource_scales

# What finds plans, solves exactly, and proves bounds; a method that does not take an instance says so.
METHODS = ("repack", "assignment", "bound-moves", "bound-node-patterns", "bound-resources", "bound-gpu-cutting-stock")
ONE = 1000
# Limits on moves that are looked at beside the one that is asked for, where so many pods may move at all.
FEW = (0, 1, 2, 5, 10)
# Pods that ask for a place in a question that methods are asked: beyond it there is arithmetic alone.
MOST_ASKED = 5000
# Runs shorter than this find nothing.
LEAST_S = 0.5


@dataclass(frozen=True, slots=True)
class Point:
    """How many of the pods that ask fit with at most so many moves: None for any number.

    found, moves, plan : of the best plan. at_most : proven.
    """

    max_moves: int | None
    found: int = 0
    at_most: int = 0
    moves: int = 0
    plan: Placement | None = None

    @property
    def is_closed(self) -> bool:
        """Whether nothing is open: the plan is proven to be the best."""
        return self.found == self.at_most


@dataclass(slots=True)
class Question:
    """How many of the pods that arrive fit.

    name : of what is asked, for people. instance : of placement, with pods as its unit; None where there is nothing to search.
    asked : pods that ask. points : by limit on moves.
    """

    name: str
    instance: PlacementInstance | None
    asked: int
    points: dict[int | None, Point] = field(default_factory=dict)

    def point(self, most: int | None) -> Point:
        """Return the best that is known with a limit on moves, by points of others too."""
        at_most = min((p.at_most for p in self.points.values() if _covers(p.max_moves, most)), default=self.asked)
        kept = [p for p in self.points.values() if p.plan is not None and (most is None or p.moves <= most)]
        best = max(kept, key=lambda p: (p.found, -p.moves), default=None)
        if best is None:
            return Point(
                most, max((p.found for p in self.points.values() if _covers(most, p.max_moves)), default=0), at_most
            )
        return replace(best, max_moves=most, at_most=at_most)

    @property
    def rows(self) -> list[Point]:
        """The points, by rising limit."""
        return [self.point(most) for most in sorted(self.points, key=lambda most: (most is None, most or 0))]

    def least(self) -> tuple[Point, bool]:
        """Return the plan of the most pods with the fewest moves, and whether fewer are proven not to be enough."""
        limit = max(self.points, key=lambda most: (most is None, most or 0))
        best = self.point(limit)
        fewer = self.point(best.moves - 1) if best.moves else None
        return best, fewer is None or fewer.at_most < best.found

    def to_json(self) -> dict[str, Any]:
        """Return it as `--json` has it."""
        best, is_least = self.least()
        points = [{"max_moves": p.max_moves, "fit": p.found, "at_most": p.at_most, "moves": p.moves} for p in self.rows]
        known = {"fit": best.found, "moves": best.moves, "at_most": best.at_most, "fewest_moves_proven": is_least}
        return {"of": self.name, "pods": self.asked, **known, "points": points}


def _covers(one: int | None, other: int | None) -> bool:
    """Whether a limit allows at least as many moves as another."""
    return one is None or (other is not None and other <= one)


@dataclass(frozen=True, slots=True)
class Shape:
    """Pods of a class, and of others that ask for the same. runs, waits : how many do.

    fits : how many more as it is, exactly. at_most : proven, whatever moves. idle : what it cannot use, by cause.
    """

    c: int
    name: str
    runs: int
    waits: int
    fits: int
    at_most: int
    idle: tuple[Idle, ...]

    def to_json(self, class_name: str, scale: Mapping[str, int]) -> dict[str, Any]:
        """Return it as `--json` has it. scale : units in one that is shown."""
        idle = [
            {
                **{"what": each.what, "idle": each.idle / scale[each.what], "usable": each.usable / scale[each.what]},
                "causes": {why: amount / scale[each.what] for why, amount in each.causes.items()},
            }
            for each in self.idle
        ]
        counts = {"runs": self.runs, "waits": self.waits, "fit_now": self.fits, "at_most": self.at_most}
        return {"name": self.name, "class": class_name, **counts, "idle": idle}


@dataclass(slots=True)
class Capacity:
    """What is known of a cluster.

    groups : its nodes. shapes : those that run, the largest first, or the one that is asked for. pending : the pods that wait,
    None where none does. more : pods of the shape that is asked for, or of the largest that runs. cleared : nodes of which all
    GPUs are free, `wide` each; whole nodes where that is 0. max_moves : the limit that was asked for. problems : failed runs.
    remarks : what was not searched.
    """

    instance: PlacementInstance
    groups: list[Group]
    shapes: list[Shape]
    pending: Question | None
    more: Question | None
    cleared: Question | None
    wide: int
    is_given: bool
    max_moves: int | None
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def questions(self) -> list[Question]:
        """What is asked, in the order of importance."""
        order = (self.more, self.pending, self.cleared) if self.is_given else (self.pending, self.more, self.cleared)
        return [question for question in order if question is not None]

    def plan(self) -> tuple[Question, Point, list[dict[str, Any]]] | None:
        """Return the plan that is shown, and its steps: of the first question that has one which places something."""
        for question in self.questions[:1]:
            best, _ = question.least()
            if question.instance is not None and best.plan is not None and best.found:
                return question, best, steps(question.instance, best.plan)
        return None

    def refused(self) -> list[str]:
        """Return the names of the pending pods without a place in the plan that is shown, in their order."""
        planned, instance = self.plan(), self.instance
        if planned is None or planned[0] is not self.pending:
            return []
        asked, plan = planned[0].instance, planned[1].plan
        assert asked is not None
        assert plan is not None
        placed = {asked.pod_name(pod) for pod in np.flatnonzero(plan.node >= 0).tolist()}
        waits = np.flatnonzero(~instance.is_running).tolist()
        return [name for name in map(instance.pod_name, waits) if name not in placed]

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap capacity --json` prints."""
        instance, planned, cleared = self.instance, self.plan(), self.cleared
        scale = dict(zip(instance.resources, resource_scales(instance.resources).tolist(), strict=True))
        scale[stranded.GPUS] = ONE

        def amounts(given: dict[str, int]) -> dict[str, float]:
            return {key: value / scale[key] for key, value in given.items()}

        found: dict[str, Any] = {"instance": instance.name, "digest": instance.digest, "nodes": instance.num_nodes}
        found |= {"running": int(instance.is_running.sum()), "pending_pods": int((~instance.is_running).sum())}
        found["groups"] = [
            {"name": g.name, "nodes": g.nodes, "used": amounts(g.used), "total": amounts(g.total)} for g in self.groups
        ]
        found["shapes"] = [shape.to_json(instance.class_names[shape.c], scale) for shape in self.shapes]
        found["pending"] = None if self.pending is None else self.pending.to_json()
        found["more"] = None if self.more is None else self.more.to_json()
        found["freed"] = None if cleared is None else {"gpus_each": self.wide, **cleared.to_json()}
        found["plan"] = None
        if planned is not None:
            question, best, done = planned
            found["plan"] = {
                "for": question.name,
                "moves": best.moves,
                "steps": done,
                "without_a_place": self.refused(),
            }
        return found | {"problems": self.problems, "remarks": self.remarks, "notes": list(instance.notes)}


def capacity(
    instance: PlacementInstance,
    *,
    shape: int | None = None,
    max_moves: int | None = None,
    time_limit_s: float = 60.0,
    jobs: int | None = None,
    memory_mib: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_first: Callable[[Capacity], None] | None = None,
) -> Capacity:
    """Say what a cluster could hold.

    shape : the class of which more pods are asked for; by default the largest that runs or waits. max_moves : how many pods
    that run may move; None for what the instance says. time_limit_s : for all runs, one after another. on_first : gets what
    arithmetic knows, before runs start. on_progress : how many questions are done, and what is new.

    Raises
    ------
    InstanceError
        for an instance of another family.
    """
    if max_moves is None and instance.max_moves != ANY:
        max_moves = instance.max_moves
    known = _first(instance, shape, max_moves)
    if on_first is not None:
        on_first(known)
    search = _Search(known, time_limit_s, {"jobs": jobs, "memory_mib": memory_mib}, on_progress or (lambda _: None))
    search.ask()
    return known


def _first(instance: PlacementInstance, shape: int | None, max_moves: int | None) -> Capacity:
    """Answer what arithmetic can: use, what is stranded, what fits without moves, and what never does."""
    runs = instance.is_running
    now, tied = (room_of(instance, pods) for pods in (runs, runs & ~instance.movable))
    shapes = _shapes(instance, now, tied, shape)
    pending, more = None, None
    if waits := int((~runs).sum()):
        asked = np.bincount(instance.pod2class[~runs], minlength=len(instance.class_names))
        most = {c: min(stranded.at_most(instance, now, tied, c), int(asked[c])) for c in np.flatnonzero(asked).tolist()}
        pending = Question(f"the {waits} pending pod{'s' * (waits != 1)}", stranded.arriving(instance, most), waits)
        pending.points[max_moves] = Point(max_moves, 0, sum(most.values()))
    if shapes:
        first = shapes[0]
        wanted = stranded.asking(instance, first.c, first.at_most) if 0 < first.at_most <= MOST_ASKED else None
        more = Question(f"pods of {first.name}", wanted, first.at_most)
        more.points = {max_moves: Point(max_moves, first.fits, first.at_most), 0: Point(0, first.fits, first.fits)}
    cleared, wide = _cleared(instance, now, tied, max_moves)
    groups = stranded.groups(instance, now)
    return Capacity(instance, groups, shapes, pending, more, cleared, wide, shape is not None, max_moves)


def _shapes(instance: PlacementInstance, now: Room, tied: Room, shape: int | None) -> list[Shape]:
    """Return the shape asked for, or all that run or wait, those of equal amounts together, the largest first."""
    pods, runs = (
        instance.class_counts(),
        np.bincount(instance.pod2class[instance.is_running], minlength=len(instance.class_names)),
    )
    size = np.column_stack((instance.gpus * instance.gpu_milli, instance.demand))
    order = [shape] if shape is not None else np.lexsort(-size.T[::-1]).tolist()
    made: dict[tuple[object, ...], Shape] = {}
    # What asks for nothing fits anywhere, any number of times.
    for c in order if shape is not None else (c for c in order if pods[c] and size[c].any()):
        key = (*size[c].tolist(), int(instance.gpus[c]), instance.admits[c].tobytes())
        if key not in made:
            fits = int(stranded.fitting(instance, now, c).sum())
            most = max(fits, stranded.at_most(instance, now, tied, c))
            idle = tuple(stranded.stranded(instance, now, c))
            made[key] = Shape(c, shape_name(instance, c), 0, 0, fits, most, idle)
        counts = made[key].runs + int(runs[c]), made[key].waits + int(pods[c] - runs[c])
        made[key] = replace(made[key], runs=counts[0], waits=counts[1])
    named = Counter(shape.name for shape in made.values())
    return [
        shape if named[shape.name] == 1 else replace(shape, name=f"{shape.name} ({instance.class_names[shape.c]})")
        for shape in made.values()
    ]


def shape_name(instance: PlacementInstance, c: int) -> str:
    """Return what a pod of a class asks for: `4 GPU, 32 cpu, 240 GiB`."""
    parts = [f"{instance.gpus[c] * instance.gpu_milli[c] / ONE:g} GPU"] if instance.gpus[c] else []
    for name, amount in zip(instance.resources, instance.demand[c].tolist(), strict=True):
        stem, _, unit = name.rpartition("_")
        if not amount or name == "pods":
            continue
        mib = {"gib": 1, "mib": 1, "kib": 2**10, "bytes": 2**20}.get(unit if stem else "")
        parts.append(f"{amount / (1024 * mib):.4g} GiB" if mib else f"{amount / ONE:g} {name}")
    return ", ".join(parts) or "nothing"


def _few(instance: PlacementInstance, max_moves: int | None) -> list[int]:
    """Return the few moves that are looked at: fewer than may be, and than there are pods that may move."""
    able = int((instance.is_running & instance.movable).sum())
    return [most for most in FEW if most < (able if max_moves is None else min(able, max_moves))]


def _cleared(instance: PlacementInstance, now: Room, tied: Room, max_moves: int | None) -> tuple[Question | None, int]:
    """Ask for nodes whose GPUs are all free; what pods have to leave each bounds it for any number of moves."""
    made = stranded.clearing(instance)
    if made is None:
        return None, 0
    wanted, wide = made
    asked = int((~wanted.is_running).sum())
    question = Question(f"slots of {wide} GPUs" if wide else "whole nodes", wanted, asked)
    classes = sorted(set(wanted.pod2class[~wanted.is_running].tolist()))
    free_now = sum(int(stranded.fitting(wanted, now, c).sum()) for c in classes)
    leave = stranded.leaving(instance, wide)
    limits: list[int | None] = [*_few(instance, max_moves), max_moves]
    free = sum(stranded.at_most(wanted, now, tied, c) for c in classes)
    for most in dict.fromkeys(limits):
        total, count = 0, 0
        for number in leave:
            total += number
            if most is not None and total > most:
                break
            count += 1
        question.points[most] = Point(most, free_now, free_now if most == 0 else min(count, free))
    return question, wide


class _Search:
    """Asks methods, question by question, and point by point, until time is up."""

    def __init__(
        self, known: Capacity, time_limit_s: float, how: dict[str, Any], tell: Callable[[Progress], None]
    ) -> None:
        self.known, self.how, self.tell = known, how, tell
        # Of runs alone: kernels that are compiled meanwhile take none of it.
        self.limit_s = self.left_s = time_limit_s
        self.done = 0
        self.told = ""

    @cached_property
    def methods(self) -> list[str]:
        """Those of `METHODS` that there are."""
        load_catalogue((FAMILY,))
        return [name for name in METHODS if (FAMILY, name) in REGISTRY]

    def ask(self) -> None:
        """Answer all questions: with the limit that was asked for, then with the fewest moves, then with a few."""
        self._tell()
        questions = [q for q in self.known.questions if self._is_searched(q)]
        share, limit = self.limit_s / 8, self.known.max_moves
        for question in questions:
            self._point(question, limit, share)
        for question in questions:
            self._fewer(question, share)
        for question in questions:
            for most in _few(self.known.instance, limit):
                self._point(question, most, share)
        self._tell(last=True)

    def _is_searched(self, question: Question) -> bool:
        """Whether methods are asked; arithmetic alone speaks of so many pods that no method would end."""
        best, _ = question.least()
        if question.instance is not None:
            asked = int((~question.instance.is_running).sum())
        else:
            asked = 0 if best.is_closed else question.asked
        if asked > MOST_ASKED:
            self.known.remarks.append(
                f"No search for {question.name}: {asked} may fit, over {MOST_ASKED}; what is said of them is arithmetic."
            )
        return question.instance is not None and asked <= MOST_ASKED

    def _fewer(self, question: Question, share: float) -> None:
        """Look for the fewest moves with which as many fit: halve what is open, as long as there is time."""
        low = -1
        while True:
            best, is_least = question.least()
            if is_least or best.moves - low <= 1 or self.left_s < LEAST_S:
                break
            middle = (low + best.moves) // 2
            self._point(question, middle, share)
            if question.point(middle).found < best.found:
                low = middle

    def _point(self, question: Question, most: int | None, share: float) -> None:
        """Ask methods of a point that is open."""
        known = question.point(most)
        if known.is_closed and (known.plan is not None or not known.found):
            question.points[most] = known
            return
        limit_s = min(share, self.left_s)
        if limit_s < LEAST_S or not self.methods:
            return
        assert question.instance is not None
        limited = question.instance.replace(max_moves=ANY if most is None else most)
        family = find_family(FAMILY)
        with TemporaryDirectory(prefix="schedgap-capacity-") as folder:
            result = gap(limited, self.methods, solutions=Path(folder), time_limit_s=limit_s, family=FAMILY, **self.how)
            paths = {record.key: Path(folder) / f"{record.run.label}.json" for record in result.records}
            there = [r for r in result.records if r.measurement.objective is not None and paths[r.key].exists()]
            best = min(there, key=lambda r: r.measurement.objective or 0, default=None)
            plan: Placement | None = None if best is None else family.read_solution(limited, paths[best.key])
        self._heard(result.records)
        self.left_s -= max((record.measurement.wall_s or 0.0 for record in result.records), default=0.0)
        asked, old = int((~limited.is_running).sum()), question.point(most)
        bounds = [r.measurement.bound for r in result.records if r.measurement.bound is not None]
        proven = min(old.at_most, asked - max((-(-bound // ONE) for bound in bounds), default=0))
        found = 0 if best is None else asked - int(best.measurement.objective or 0) // ONE
        point = replace(old, at_most=max(proven, old.found))
        if plan is not None and (found, old.plan is None) > (old.found, False):
            point = Point(most, found, max(proven, found), moves(limited, plan), plan)
        question.points[most] = point
        self.done += 1
        self._tell()

    def _heard(self, records: Sequence[Record]) -> None:
        for record in records:
            if record.status in FAILED:
                said = f"{record.run.label}: {record.status}, {record.measurement.reason or ''}"
                if said not in self.known.problems:
                    self.known.problems.append(said)

    def _tell(self, *, last: bool = False) -> None:
        line = "; ".join(f"{q.name}: {_short(q)}" for q in self.known.questions)
        notes = () if line == self.told or last else (line,)
        self.told = line
        self.tell(Progress(self.done, self.done if last else self.done + 1, None, notes, max(0.0, self.left_s)))


def _short(question: Question) -> str:
    best, _ = question.least()
    known = f"{best.found} fit" if best.is_closed else f"{best.found} to {best.at_most} fit"
    return f"{known} after {best.moves} moves" if best.moves else known
