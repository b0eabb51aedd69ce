"""Machines that run already, and what is on each: the state from which tasks move; and what contradicts an instance.

The checks are of stocks, fees, running machines and limits on disruption, and of tasks that fit nowhere.

Which of the running machines controllers may give back: pools with budgets, and what keeps single machines.

Only the rules of real clusters look at it; no plan is bound by it, and no bound knows of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from schedgap.instances.arrays import IntArray, first_true, lock, locked_ints
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.windows import Window
from schedgap.instances.units import DOLLAR, shown_amount

ANY_NUMBER = -1
# Disruption is counted in such parts of what a task counts of which nobody says more: Karpenter's weights are whole numbers of
# them.
ONE_TASK = 2**27
# More for one task or machine than anybody asks for; sums stay within 62 bits.
MOST_DISRUPTION = 1000 * ONE_TASK


def shown_disruption(amount: int) -> str:
    """Return an amount of disruption in tasks, as people write it: `12`, `1.5`."""
    return f"{amount / ONE_TASK:.10g}" if amount % ONE_TASK else str(amount // ONE_TASK)


@dataclass(frozen=True, slots=True)
class Restraint:
    """Tasks that should not all move, as whoever runs them asks; no rule of a solution, and said where one breaks it.

    at_once : so many may move at a time; None for tasks that should not be moved, and `name` is then what says so.
    tasks : machine, class, and how many tasks of that class there are restrained, at most those that it holds.
    """

    name: str
    at_once: int | None
    tasks: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Running:
    """E running machines. A machine may be empty; its content may exceed its capacity, as a fact and not a plan.

    names : E names, unique. machine_type : (E,) int64. indptr : (E + 1,) int64; machine e holds `count[i]` tasks of class
    `task_class[i]` for indptr[e] <= i < indptr[e + 1]. task_class, count : (N,) int64, the counts at least 1.
    whole, reserved : (E, R) int64, what a machine has of each resource in all, and what is taken of it that is no task
    (DaemonSets); None where that is its capacity, and nothing. disruption : which of them controllers may give back. The
    rules of real clusters look at these three, no plan is bound by them.
    node_disruption : (E,) int64, in 1 / `ONE_TASK`, what it counts as disruption that a machine is not kept; None for nothing.
    restraints : tasks that should not all move; no part of the digest.

    Raises `InstanceError` where these do not fit together.
    """

    names: tuple[str, ...]
    machine_type: IntArray
    indptr: IntArray
    task_class: IntArray
    count: IntArray
    whole: IntArray | None = None
    reserved: IntArray | None = None
    disruption: Disruption | None = None
    node_disruption: IntArray | None = None
    restraints: tuple[Restraint, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        optional = [key for key in ("whole", "reserved") if getattr(self, key) is not None]
        if self.node_disruption is not None:
            lock(self, ("node_disruption",))
            if not self.node_disruption.any():
                object.__setattr__(self, "node_disruption", None)
        lock(self, ("machine_type", "indptr", "task_class", "count", *optional))
        size, entries = len(self.names), self.task_class.shape[0]
        if (
            self.machine_type.shape != (size,)
            or self.indptr.shape != (size + 1,)
            or self.count.shape != (entries,)
            or self.indptr[0] != 0
            or self.indptr[-1] != entries
            or (np.diff(self.indptr) < 0).any()
        ):
            raise InstanceError("the arrays of the running machines do not fit together: see the shapes of Running.")
        self._check_optional(optional)
        name, times = Counter(self.names).most_common(1)[0] if size else ("", 0)
        if times > 1:
            raise InstanceError(f"running machine '{name}' is named {times} times; names must be unique.")
        keys = self.machine * (int(self.task_class.max(initial=0)) + 1) + self.task_class
        if np.unique(keys).shape[0] != entries:
            raise InstanceError("a running machine names the same task class twice; give one count for each class.")
        if (self.count < 1).any():
            e = int(self.machine[np.argmax(self.count < 1)])
            raise InstanceError(
                f"running machine {self.names[e]} holds {self.count.min()} tasks of a class; leave it out."
            )

    def _check_optional(self, keys: Sequence[str]) -> None:
        for key in keys:
            values = getattr(self, key)
            if values.ndim != 2 or values.shape[0] != self.size or (values < 0).any():
                raise InstanceError(
                    f"'{key}' of the running machines has shape {values.shape} and least value {values.min(initial=0)}; "
                    f"give {self.size} rows that are not negative."
                )
        cost = self.node_disruption
        if cost is not None and (cost.shape != (self.size,) or cost.min() < 0 or cost.max() > MOST_DISRUPTION):
            raise InstanceError(
                f"'node_disruption' of the running machines has shape {cost.shape} and values {cost.min() / ONE_TASK:g} to "
                f"{cost.max() / ONE_TASK:g}; give {self.size}, from 0 to {MOST_DISRUPTION // ONE_TASK}."
            )
        if self.disruption is not None and {self.disruption.pool.size, self.disruption.marks.size} != {self.size}:
            raise InstanceError(
                f"the pools and marks of running machines are of {self.disruption.pool.size} and "
                f"{self.disruption.marks.size}, there are {self.size}; give one each."
            )

    @property
    def size(self) -> int:
        """Number of running machines."""
        return len(self.names)

    @property
    def machine(self) -> IntArray:
        """(N,) int64: the machine of each entry of `task_class` and `count`."""
        return np.repeat(np.arange(self.size, dtype=np.int64), np.diff(self.indptr))

    def contents(self, num_classes: int) -> IntArray:
        """(E, C) int64: the tasks of each class on each machine."""
        content = np.zeros((self.size, num_classes), np.int64)
        content[self.machine, self.task_class] = self.count
        return content

    def placed(self, num_classes: int) -> IntArray:
        """(C,) int64: the tasks of each class that are on some machine; the others are pending."""
        placed = np.zeros(num_classes, np.int64)
        np.add.at(placed, self.task_class, self.count)
        return placed

    def without(self, counts: IntArray) -> Running:
        """Return the same machines with the classes 0..C-1 of `counts` (C,) only, and at most so many tasks of each.

        Restraints, which name tasks, are gone.
        """
        left = counts.tolist()
        kept = []
        for e, c, number in zip(self.machine.tolist(), self.task_class.tolist(), self.count.tolist(), strict=True):
            taken = min(number, left[c]) if c < len(left) else 0
            if taken:
                left[c] -= taken
                kept.append((e, c, taken))
        table = np.array(kept, np.int64).reshape(-1, 3)
        indptr = np.searchsorted(table[:, 0], np.arange(self.size + 1))
        return replace(self, indptr=indptr, task_class=table[:, 1], count=table[:, 2], restraints=())

    @classmethod
    def from_contents(cls, names: Sequence[str], machine_type: ArrayLike, content: ArrayLike, **more: Any) -> Running:
        """Build from `machine_type` (E,) and `content` (E, C), tasks of each class. more : fields that may be None."""
        matrix = np.asarray(content, np.int64)
        rows, classes = np.nonzero(matrix)
        indptr = np.searchsorted(rows, np.arange(len(names) + 1))
        return cls(tuple(names), locked_ints(machine_type), indptr, classes, matrix[rows, classes], **more)

    def hashed(self) -> tuple[object, ...]:
        """Return what an instance's digest has of it."""
        given = (
            ("whole", self.whole, (self.whole,)),
            ("reserved", self.reserved, (self.reserved,)),
            ("disruption", self.disruption, self.disruption.hashed() if self.disruption is not None else ()),
            ("node_disruption", self.node_disruption, (self.node_disruption,)),
        )
        more = [part for key, value, content in given if value is not None for part in (key, *content)]
        return (self.names, self.machine_type, self.indptr, self.task_class, self.count, *more)


def optional_content(
    stock: IntArray | None,
    fee: IntArray | None,
    running: Running | None,
    max_disruption: int | None,
    per_machine: IntArray | None = None,
    disruption: IntArray | None = None,
) -> list[object]:
    """Return what a digest has of what only some instances say: the digest of the others is as it was before there was any.

    A limit on disruption that counts moves is what it was when it was one on moves.
    """
    parts = running.hashed() if running is not None else ()
    counts_moves = disruption is None and (running is None or running.node_disruption is None)
    most = 0 if max_disruption is None else max_disruption
    limit = ("max_moves", most // ONE_TASK) if counts_moves else ("max_disruption", most)
    given = (
        ("stock", stock, (stock,)),
        ("fee", fee, (fee,)),
        ("running", running, parts),
        (limit[0], max_disruption, limit[1:]),
        ("per_machine", per_machine, (per_machine,)),
        ("disruption", disruption, (disruption,)),
    )
    return [part for key, value, content in given if value is not None for part in (key, *content)]


def check_offer(
    name: str, type_names: tuple[str, ...], price: IntArray, stock: IntArray | None, fee: IntArray | None
) -> None:
    """Refuse stocks below none, and fees (K,) that are negative or over the price (K,).

    Raises
    ------
    InstanceError
        naming the type, the values, and the way out.
    """
    if stock is not None and (k := first_true(stock < ANY_NUMBER)) is not None:
        raise InstanceError(f"{name}: machine type {type_names[k]} has count {stock[k]}; give 0 or more, or none.")
    if fee is not None and (k := first_true((fee < 0) | (fee > price))) is not None:
        raise InstanceError(
            f"{name}: machine type {type_names[k]} has a fee of {fee[k] / DOLLAR:g} within a price of "
            f"{price[k] / DOLLAR:g}; give a fee that is not negative."
        )


def check_running(
    name: str,
    running: Running | None,
    max_disruption: int | None,
    type_names: tuple[str, ...],
    stock: IntArray | None,
    counts: IntArray,
    class_name: Callable[[int], str],
    what: str = "task class",
) -> None:
    """Refuse running machines of unknown types, more than the stock has, and more tasks on them than there are.

    Refuse, too, a limit on disruption that is negative, or where nothing runs. what : the machines' content is counted by.

    Raises
    ------
    InstanceError
        naming the type or class, both values, and the way out.
    """
    shown = None if max_disruption is None else f"{name}: max_disruption is {shown_disruption(max_disruption)}"
    if shown is not None and running is None:
        raise InstanceError(f"{shown}, but no machine runs; give `running`.")
    if max_disruption is not None and max_disruption < 0:
        raise InstanceError(f"{shown}; give 0 or more, or leave it out.")
    if running is None:
        return
    for kind, values, stop in (
        ("machine type", running.machine_type, len(type_names)),
        (what, running.task_class, counts.shape[0]),
    ):
        bad = values[(values < 0) | (values >= stop)]
        if bad.size:
            raise InstanceError(f"{name}: a running machine names {kind} {bad[0]}; there are {stop}.")
    placed = running.placed(counts.shape[0])
    if (c := first_true(placed > counts)) is not None:
        raise InstanceError(
            f"{name}: {placed[c]} tasks of {class_name(c)} are on running machines, the instance has "
            f"{counts[c]}; correct one of them."
        )
    if stock is None:
        return
    used = np.bincount(running.machine_type, minlength=len(type_names))
    if (k := first_true((stock != ANY_NUMBER) & (used > stock))) is not None:
        raise InstanceError(
            f"{name}: {used[k]} machines of type {type_names[k]} run, its count is {stock[k]}; "
            "running machines are among those that can be had: raise the count."
        )


def check_reserved(name: str, running: Running | None, num_resources: int, num_types: int) -> None:
    """Refuse amounts of running machines that are not of each resource, and spare capacity of no type.

    Raises
    ------
    InstanceError
        naming both numbers.
    """
    if running is None:
        return
    for key in ("whole", "reserved"):
        values = getattr(running, key)
        if values is not None and values.shape[1] != num_resources:
            raise InstanceError(
                f"{name}: '{key}' of the running machines is of {values.shape[1]} resources; there are {num_resources}."
            )
    spot = running.disruption.spot if running.disruption is not None else np.zeros(0, np.int64)
    if (bad := spot[(spot < 0) | (spot >= num_types)]).size:
        raise InstanceError(f"{name}: machine type {bad[0]} is spare capacity; there are {num_types} types.")


def fits_nowhere(
    what: str,
    demand: IntArray,
    families: tuple[str, ...],
    type2family: IntArray,
    capacity: IntArray,
    resources: tuple[str, ...],
) -> str:
    """Return why a task, told by `what`, fits no machine type: by its demands (F, R) and the types' capacities (K, R)."""
    allowed = np.flatnonzero(demand[:, 0] >= 0).tolist()
    for f in allowed:
        largest = capacity[type2family == f].max(axis=0)
        if (r := first_true(demand[f] > largest)) is not None:
            return (
                f"{what} needs {shown_amount(demand[f, r], resources[r])} on family {families[f]}, the largest "
                f"type there has {shown_amount(largest[r], resources[r])}; drop the task or add a type."
            )
    if not allowed:
        return f"{what} may run on no family; give it a demand for one, or 'any'."
    return f"{what} fits no machine type: each lacks some resource; drop the task or add a type."


EMPTY, UNDERUTILIZED = "empty", "underutilized"
REASONS = (EMPTY, UNDERUTILIZED)
# A machine of no pool: nobody gives it back.
UNMANAGED = -1
# Karpenter may not empty a machine; cluster-autoscaler may not; it has not started yet; it is not well, or about to go.
HELD, NO_SCALE_DOWN, STARTING, GOING = 1, 2, 4, 8
MARKS = {"do-not-disrupt": HELD, "scale-down-disabled": NO_SCALE_DOWN, "starting": STARTING, "going": GOING}


@dataclass(frozen=True, slots=True)
class Budget:
    """At most so many machines of a pool may go at once for some reasons: a number, or a percentage, rounded up."""

    nodes: int
    is_percent: bool
    reasons: tuple[str, ...] = REASONS
    # None: always.
    window: Window | None = None

    def allows(self, machines: int) -> int:
        """Return how many may go of so many machines."""
        return share_of(machines, self.nodes, self.is_percent)

    def holds(self, at_s: int | None) -> bool:
        """Whether it holds at a second since 1970; one that holds at times only does not where the time is not known."""
        return self.window is None or (at_s is not None and self.window.holds(at_s))


def share_of(number: int, given: int, is_percent: bool) -> int:
    """Return a given number, or such a percentage of another one, rounded up."""
    return -(-number * given // 100) if is_percent else given


@dataclass(frozen=True, slots=True)
class Guard:
    """A PodDisruptionBudget: so many of its tasks must be well (`is_least`), or else so many may be away.

    number : of tasks, or a percentage of those that there are, rounded up.
    """

    name: str
    number: int
    is_percent: bool
    is_least: bool

    def allows(self, present: int, well: int) -> int:
        """Return how many of so many tasks, of which so many are well, may go now."""
        number = share_of(present, self.number, self.is_percent)
        return max(0, well - (number if self.is_least else max(0, present - number)))


# In place of seconds: such machines never go.
NEVER = -1


@dataclass(frozen=True, slots=True)
class Pool:
    """Machines under one policy.

    only_empty : whether none may go that has tasks (WhenEmpty). balanced : whether others go where that is worth the
    disturbance (Balanced). consolidate_after_s : so long after a task came or went a machine neither goes nor takes tasks
    of one that goes; `NEVER` for machines that never go.
    """

    name: str
    budgets: tuple[Budget, ...] = ()
    only_empty: bool = False
    balanced: bool = False
    consolidate_after_s: int = 0

    def allowed(self, machines: int, reason: str, at_s: int | None = None) -> int:
        """Return how many may go for a reason, of so many machines: the least of the budgets that hold at a second."""
        budgets = (b for b in self.budgets if reason in b.reasons and b.holds(at_s))
        return min((b.allows(machines) for b in budgets), default=machines)

    def hashed(self) -> tuple[object, ...]:
        """Return what a digest has of it: what is as by default adds nothing."""
        budgets = [
            (b.nodes, b.is_percent, b.reasons, *((b.window.cron, b.window.duration_s) if b.window else ()))
            for b in self.budgets
        ]
        more = ["balanced"] * self.balanced + ["consolidate_after_s", self.consolidate_after_s] * (
            self.consolidate_after_s != 0
        )
        return (self.name, self.only_empty, budgets, *more)


@dataclass(frozen=True, slots=True, eq=False)
class Disruption:
    """What controllers may do to E running machines.

    pool : (E,) int64 into `pools`, -1 for none. marks : (E,) int64, sums of the values of `MARKS`.
    spot : (S,) int64, machine types that are spare capacity, which may be taken away.
    quiet_s : (E,) int64, for how long no task came or went; None: for long. at_s : the present, in seconds since 1970 (UTC),
    by which budgets hold; over time, that of second 0. None where it is not known.

    Raises `InstanceError` where these do not fit together.
    """

    pools: tuple[Pool, ...]
    pool: IntArray
    marks: IntArray
    spot: IntArray
    quiet_s: IntArray | None = None
    at_s: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pools", tuple(self.pools))
        lock(self, ("pool", "marks", "spot", *(("quiet_s",) if self.quiet_s is not None else ())))
        sizes = {values.shape for values in (self.pool, self.marks, self.quiet_s) if values is not None}
        if sizes != {self.pool.shape} or (self.quiet_s is not None and (self.quiet_s < 0).any()):
            raise InstanceError(
                f"pools, marks and quiet_s are of {sorted(sizes)} running machines; give one of each, quiet_s not negative."
            )
        names = [pool.name for pool in self.pools]
        if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
            raise InstanceError(f"pool '{twice}' is named {names.count(twice)} times; names must be unique.")
        for what, values, least, stop in (
            ("pool", self.pool, UNMANAGED, len(names)),
            ("marks", self.marks, 0, 2 * GOING),
        ):
            if (e := first_true((values < least) | (values >= stop))) is not None:
                raise InstanceError(f"running machine {e} has {what} {values[e]}; give {least} to {stop - 1}.")
        for pool in self.pools:
            if pool.consolidate_after_s < NEVER or (pool.only_empty and pool.balanced):
                raise InstanceError(
                    f"pool '{pool.name:.60}' has consolidate_after_s {pool.consolidate_after_s}, only_empty {pool.only_empty} "
                    f"and balanced {pool.balanced}; give seconds, or {NEVER} for never, and one policy."
                )
            for budget in pool.budgets:
                if budget.nodes < 0 or not budget.reasons or not set(budget.reasons) <= set(REASONS):
                    raise InstanceError(
                        f"pool '{pool.name:.60}' has a budget of {budget.nodes} for {', '.join(budget.reasons) or 'no reason'}; "
                        f"give 0 or more, for some of {', '.join(REASONS)}."
                    )

    @classmethod
    def of(cls, size: int, pools: tuple[Pool, ...] = (), spot: object = ()) -> Disruption:
        """Return what is so of machines of which nothing is said: of no pool, without marks."""
        return cls(pools, np.full(size, UNMANAGED), np.zeros(size, np.int64), np.array(spot, np.int64))

    def hashed(self) -> tuple[object, ...]:
        """Return what an instance's digest has of it."""
        more = [("quiet_s", self.quiet_s), ("at_s", self.at_s)]
        given = [part for key, value in more if value is not None for part in (key, value)]
        return ([pool.hashed() for pool in self.pools], self.pool, self.marks, self.spot, *given)
