"""Putting tasks on given machines: the linear program over shares, rounded down, and the rest where it fits best.

    maximise    sum_m sum_c value[c] x[m, c]
    subject to  sum_m x[m, c] <= counts[c]                                  for each class c
                sum_c demand[c, r] x[m, c] <= capacity[m, r]                for each machine m and resource r
                x[m, c] <= most[c]                                          of which so many may share a machine

A vertex of it has at most as many shares that are not whole as there are rows of the second kind, so few tasks are left to
the rest, whatever their number. On few machines the integer program is solved instead. On many, the machines of a type are
one in the program, and its tasks are dealt out to them, each class alike but for one task.

What an optimal solution can do without: machine types in whose place others are as good, and differences of tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import LinearModel, Rows
from schedgap.formulations.provisioning.column_generation.filling import fleet_of
from schedgap.formulations.provisioning.column_generation.kernels_fill import anneal
from schedgap.formulations.provisioning.limits import without_interference
from schedgap.formulations.provisioning.pooled.kernels_place import place_best
from schedgap.formulations.provisioning.pooled.program import MAX_SHARES, Pooled
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.classes import Merged, merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE, STOCK, anew, keeping
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.units import NEVER


@dataclass(frozen=True, slots=True, eq=False)
class Offered:
    """An instance with fewer machine types. kept : (K',) int64, of the source's types, in the order of the instance's."""

    instance: ProvisioningInstance
    kept: IntArray

    def restore(self, solution: Provisioning) -> Provisioning:
        """Return the same solution of the source."""
        return replace(solution, machine_type=self.kept[solution.machine_type])


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """An instance with equal classes merged, dominated types dropped, and what then is equal merged again."""

    instance: ProvisioningInstance
    steps: tuple[Merged, Offered, Merged]

    def restore(self, solution: Provisioning) -> Provisioning:
        """Return the same solution of the source."""
        for step in reversed(self.steps):
            solution = step.restore(solution)
        return solution


def reduced(instance: ProvisioningInstance) -> Reduced:
    """Reduce an instance; what runs and limits on moves go. Classes may differ on dropped machine families only."""
    first = merge_equal_classes(anew(instance))
    offered = without_dominated(first.instance)
    last = merge_equal_classes(offered.instance)
    return Reduced(last.instance, (first, offered, last))


def without_dominated(instance: ProvisioningInstance) -> Offered:
    """Drop each machine type in place of which another is as good; exact without interference and limits on moves.

    Another is, if any number of it can be had, it costs no more, has no less of any resource, and each task that may run on
    the one may run on the other and demands no more there. Of equal types the first stays. O(K^2 R + F^2 C R).
    """
    price, capacity, family = instance.price, instance.capacity, instance.type2family
    demand, allowed = instance.demand, instance.demand[:, :, 0] >= 0
    takes = np.array(
        [
            [bool(b[a].all() and (d[a] >= e[a]).all()) for b, e in zip(allowed, demand, strict=True)]
            for a, d in zip(allowed, demand, strict=True)
        ]
    )
    stock = np.full(instance.num_types, ANY_NUMBER) if instance.stock is None else instance.stock
    kept: list[int] = []
    for k in np.lexsort((np.arange(instance.num_types), -capacity.sum(axis=1), stock != ANY_NUMBER, price)).tolist():
        others = np.array(kept, np.int64)
        better = takes[family[k], family[others]] & (capacity[others] >= capacity[k]).all(axis=1)
        if not (better & (stock[others] == ANY_NUMBER)).any():
            kept.append(k)
    order = np.sort(np.array(kept, np.int64))
    if order.size == instance.num_types:
        return Offered(instance, order)
    families = np.array(list(dict.fromkeys(family[order].tolist())))
    place = np.full(len(instance.families), -1)
    place[families] = np.arange(families.size)
    fewer = instance.replace(
        type_names=tuple(instance.type_names[k] for k in order),
        type2family=place[family[order]],
        families=tuple(instance.families[f] for f in families),
        capacity=capacity[order],
        price=price[order],
        fee=None,
        stock=None if instance.stock is None else stock[order],
        running=None,
        demand=demand[families],
        job_value=instance.job_value,
    )
    return Offered(fewer, order)


def without_places(instance: ProvisioningInstance) -> tuple[ProvisioningInstance, list[IntArray]]:
    """Return an instance in which families that offer the same machines at the same prices are one, as zones are: a relaxation.

    Returns with it the types that each of its types stands for. A task may run where one of its families lets it, at the least
    that it demands in any; stocks add up.
    """
    offered = [(*row, price) for row, price in zip(instance.capacity.tolist(), instance.price.tolist(), strict=True)]
    sets = [
        frozenset(offered[k] for k in np.flatnonzero(instance.type2family == f)) for f in range(len(instance.families))
    ]
    place = {machines: g for g, machines in enumerate(dict.fromkeys(sets))}
    group = np.array([place[machines] for machines in sets])
    if len(place) == group.size:
        return instance, [np.array([k]) for k in range(instance.num_types)]
    known = np.where(instance.demand < 0, NEVER, instance.demand)
    demand = np.array([known[group == g].min(axis=0) for g in range(len(place))])
    members: dict[object, list[int]] = {}
    for k, machine in enumerate(offered):
        members.setdefault((group[instance.type2family[k]], machine), []).append(k)
    first = np.array([each[0] for each in members.values()])
    stocks = np.full(instance.num_types, ANY_NUMBER) if instance.stock is None else instance.stock
    stock = [ANY_NUMBER if (stocks[each] == ANY_NUMBER).any() else stocks[each].sum() for each in members.values()]
    joined = anew(instance).replace(
        type_names=tuple(instance.type_names[k] for k in first),
        type2family=group[instance.type2family[first]],
        families=tuple(f"f{g}" for g in range(len(place))),
        capacity=instance.capacity[first],
        price=instance.price[first],
        fee=None,
        stock=None if instance.stock is None else np.array(stock),
        running=None,
        demand=np.where(demand == NEVER, -1, demand),
        job_value=instance.job_value,
    )
    return joined, [np.array(each) for each in members.values()]


class Joined:
    """A reduced instance with zones that offer the same joined and its types that each type stands for; None without any."""

    def __init__(self, instance: ProvisioningInstance) -> None:
        joined, members = without_places(instance)
        fewer = reduced(joined)
        self.members = [members[k] for k in fewer.steps[1].kept.tolist()]
        self.instance = None if joined is instance else fewer.instance


def bounding(instance: ProvisioningInstance) -> list[Callable[[], Pooled]]:
    """Return what makes the programs that bound a reduced instance: what is soon solved first, zones joined.

    Of small ones also whole tasks, at most as many of a class on a machine as fit it alone.
    """
    joined = Joined(instance).instance
    made: list[Callable[[], Pooled]] = []
    for each in (instance,) if joined is None else (joined, instance):
        made.append(partial(Pooled, each, by_type=False))
        if 1 < each.num_types <= MAX_SHARES // max(1, each.num_classes):
            made.append(partial(Pooled, each, by_type=True))
            if is_small(each) and each is (instance if joined is None else joined):
                made.append(partial(Pooled, each, by_type=True, whole=True))
    return made


# Most tasks that settle by annealing, and its moves for each. Temperatures: what is beyond capacity counts in mean machines.
MOST_SETTLED, SETTLING, HOT, COLD = 5_000, 1_000, 0.03, 5e-5
# Shares of tasks on machines up to which the program is solved whole, and above which types take the machines' place.
WHOLE_SHARES, MOST_SHARES = 600, 40_000


def pack(instance: ProvisioningInstance, machine_type: IntArray, time_limit_s: float) -> IntArray:
    """(M, C) int64: tasks of each class on machines of given types (M,); not all tasks, where there is no room.

    At least one task is placed if it fits. In place of the linear program, where that is too large or not solved in the time
    given, all tasks are placed in turn.
    """
    fits = instance.fits()[machine_type]
    content = np.zeros(fits.shape, np.int64)
    number = int(fits.sum())
    if number == 0:
        return content
    ways = (_dealt,) if number > MOST_SHARES else (_rounded, _whole) if number <= WHOLE_SHARES else (_rounded,)
    for way in ways:
        shares = way(instance, machine_type, fits, max(0.0, time_limit_s))
        cand = _completed(instance, machine_type, fits, np.zeros_like(content) if shares is None else shares)
        if _worth(instance, cand) > _worth(instance, content):
            content = cand
        if (content.sum(axis=0) == instance.counts).all():
            break
    return content


def settle(
    instance: ProvisioningInstance,
    machine_type: IntArray,
    fits: BoolArray,
    counts: IntArray,
    random: Any,
    moves: int = SETTLING,
) -> IntArray | None:
    """(M, C) int64: tasks (C,) of each class all on machines of given types (M,), by annealing; None if in vain.

    fits : (M, C), whether a task fits the machine. random : (1,) uint64, not 0, in and out.
    """
    if counts.sum() > MOST_SETTLED:
        return None
    task_class = np.repeat(np.arange(instance.num_classes), counts)
    number = fits.sum(axis=0)
    if not number[task_class].all():
        return None
    # Tasks of a class begin on machines that they fit alone, one after the other.
    places = np.argsort(~fits, axis=0, kind="stable")
    machine = places[np.arange(task_class.size) % number[task_class], task_class]
    fleet = fleet_of(instance, machine_type, task_class, counts)
    if not anneal(fleet, machine, HOT, COLD, moves * task_class.size, random):
        return None
    settled = np.zeros(fits.shape, np.int64)
    np.add.at(settled, (machine, task_class), 1)
    return settled


def _rounded(
    instance: ProvisioningInstance, machine_type: IntArray, fits: BoolArray, time_limit_s: float, *, relax: bool = True
) -> IntArray | None:
    """Return the program's shares (M, C), rounded down; None if it was not solved."""
    machine, task_class = np.nonzero(fits)
    most = instance.most_together[task_class]
    model = _model(instance, machine_type, instance.capacity[machine_type], most, machine, task_class)
    x = _solved(model, time_limit_s, relax=relax)
    if x is None:
        return None
    shares = np.zeros(fits.shape, np.int64)
    # A solver's share just below a whole number is one; what does not fit is taken off later.
    shares[machine, task_class] = np.floor(x + 1e-6).astype(np.int64)
    return shares


_whole = partial(_rounded, relax=False)


def _dealt(
    instance: ProvisioningInstance, machine_type: IntArray, fits: BoolArray, time_limit_s: float
) -> IntArray | None:
    """Return shares (M, C) of the program over types, dealt out to the machines of each type, the emptiest first."""
    types, first, number = np.unique(machine_type, return_index=True, return_counts=True)
    place, task_class = np.nonzero(fits[first])
    most = np.minimum(instance.most_together[task_class] * number[place], instance.counts[task_class])
    model = _model(instance, types, instance.capacity[types] * number[:, None], most, place, task_class)
    x = _solved(model, time_limit_s, relax=True)
    if x is None:
        return None
    of_type = np.zeros((types.size, instance.num_classes), np.int64)
    of_type[place, task_class] = np.floor(x + 1e-6).astype(np.int64)
    shares = np.zeros(fits.shape, np.int64)
    for t, k in enumerate(types.tolist()):
        machines = np.flatnonzero(machine_type == k)
        demand = np.maximum(instance.demand[instance.type2family[k]], 0)
        scale = 1.0 / np.maximum(instance.capacity[k], 1)
        rest = np.tile(instance.capacity[k], (machines.size, 1))
        for c in np.argsort(-(demand * scale).max(axis=1), kind="stable").tolist():
            every, more = divmod(int(of_type[t, c]), machines.size)
            free = (rest * scale).min(axis=1)
            given = np.full(machines.size, every)
            given[np.argsort(-free, kind="stable")[:more]] += 1
            used = demand[c] > 0
            if used.any():
                given = np.minimum(given, (rest[:, used] // demand[c, used]).min(axis=1))
            given = np.minimum(given, instance.most_together[c])
            rest -= given[:, None] * demand[c]
            shares[machines, c] = given
    return shares


def _solved(model: LinearModel, time_limit_s: float, *, relax: bool) -> FloatArray | None:
    try:
        return solve(model, time_limit_s=time_limit_s, relax=relax).x
    except BackendError:
        # HiGHS refuses programs whose numbers are too far apart.
        return None


def _worth(instance: ProvisioningInstance, content: IntArray) -> int:
    return int(content.sum(axis=0).astype(object) @ instance.reservation_price)


def _completed(instance: ProvisioningInstance, machine_type: IntArray, fits: BoolArray, shares: IntArray) -> IntArray:
    """(M, C) int64: whole shares (M, C), without what does not fit or is too many, and all else where it fits best."""
    family = instance.type2family[machine_type]
    demand = np.maximum(instance.demand[family], 0)
    rest = instance.capacity[machine_type] - np.einsum("mc,mcr->mr", shares, demand)
    content = np.where((rest < 0).any(axis=1)[:, None], 0, shares)
    earlier = np.cumsum(content, axis=0) - content
    content = np.asarray(np.minimum(content, np.maximum(instance.counts - earlier, 0)), np.int64)
    rest = instance.capacity[machine_type] - np.einsum("mc,mcr->mr", content, demand)
    left = instance.counts - content.sum(axis=0)
    scale = 1.0 / np.maximum(instance.capacity.max(axis=0), 1)
    sizes = (np.where(fits[:, :, None], demand, 0).max(axis=0, initial=0) * scale).sum(axis=1)
    turn = np.argsort(-sizes, kind="stable")
    place_best(turn, left, fits, instance.most_together, family, instance.demand, rest, scale, content)
    return content


def _model(
    instance: ProvisioningInstance,
    machine_type: IntArray,
    capacity: IntArray,
    most: IntArray,
    machine: IntArray,
    task_class: IntArray,
) -> LinearModel:
    """Build the program over shares of classes (N,) on machines (N,) of given types (M,) and capacities (M, R).

    most : (N,), of each share.
    """
    rows, columns = Rows(machine.size), np.arange(machine.size)
    rows.add("tasks", (task_class, columns, 1.0), upper=instance.counts)
    demand = instance.demand[instance.type2family[machine_type[machine]], task_class]
    for r, resource in enumerate(instance.resources):
        unit = max(1, int(capacity[:, r].max()))
        rows.add(resource, (machine, columns, demand[:, r] / unit), upper=capacity[:, r] / unit)
    # Tasks worth little for what they take stay until last; a different price a machine makes the vertex unique.
    value = instance.reservation_price[task_class] * (1 + 1e-3 * machine / max(machine_type.size, 1))
    return rows.model("packing", -value / 1e6, most, 1_000_000)


# Pairs of a type and a class that fits it up to which a search finds good solutions.
MAX_PAIRS = 8_000


def is_small(instance: ProvisioningInstance) -> bool:
    """Whether the program is small enough for a search."""
    return int(instance.fits().sum()) <= MAX_PAIRS


def _with_running(instance: ProvisioningInstance) -> str | None:
    if instance.running is None or instance.running.size == 0:
        return "no machine runs"
    return f"more than {MOST_SETTLED} tasks" if instance.num_tasks > MOST_SETTLED else without_interference(instance)


@method("settled", family=FAMILY, supports=_with_running, handles=(STOCK, PER_MACHINE))
def settled(instance: ProvisioningInstance) -> Outcome:
    """Settle all tasks on the machines that run, where any number may move: a plan where pending ones find room at once."""
    assert instance.running is not None
    types, random = instance.running.machine_type, np.array([1], np.uint64)
    content = settle(instance, types, instance.fits()[types], instance.counts, random)
    if content is None:
        return Outcome()
    used = content.any(axis=1)
    return Outcome(keeping(instance, Provisioning.from_machines(types[used], content[used])))
