"""What one machine can hold, priced: the offers of machines, and the contents worth more than they cost.

An offer is a machine of some type for a stretch of time: it costs so much, and running tasks progress during some share
of that time. Prices are nano-dollars (1e-3 micro-dollars) an hour throughout.

What the bounds assume of interference: that throughputs are products of pairs.

Up to which prices the search for contents stays within 62 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.formulations.reconfiguration.kernels_contents import NOT_RUNNING, best_content
from schedgap.formulations.reconfiguration.kernels_items import FAR, RATE_UNIT, Candidates
from schedgap.instances.arrays import FloatArray, IntArray, locked_ints
from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.model import ReconfigurationInstance
from schedgap.instances.units import NANO as NANO

# Prices are nano-dollars (1e-3 micro-dollars) an hour.
LARGEST = (1 << 62) - 1
# A class is there as tasks that progress, that are only there, and that need not be there any more.
ITEMS = 3


def largest_price(instance: ReconfigurationInstance) -> int:
    """Return the largest price, micro-dollars an hour, for which contents are priced without overflow.

    A price times a rate, rounded up, stays within 62 bits; and so does what the tasks that fit a machine are worth
    together, each at most twice the dearest price (for being there and for progress), beside the rounding of resource
    prices, at most 1 for each unit of capacity.
    """
    catalogue = instance.catalogue
    largest = (LARGEST - RATE_UNIT + 1) // RATE_UNIT
    counts = catalogue.counts.tolist()
    for k, row in enumerate(catalogue.capacity.tolist()):
        tasks = 0
        for count, needs in zip(counts, catalogue.demand[catalogue.type2family[k]].tolist(), strict=True):
            if needs[0] >= 0:
                tasks += ITEMS * min([count, *(c // d for c, d in zip(row, needs, strict=True) if d > 0)])
        if tasks:
            largest = min(largest, (FAR - sum(row)) // (2 * tasks))
    return max(0, largest // NANO)


def too_dear(instance: ReconfigurationInstance) -> str | None:
    """Return why the bounds cannot take this instance, or None: prices whose sums leave 62 bits."""
    dearest, largest = int(instance.catalogue.price.max()), largest_price(instance)
    if dearest > largest:
        return (
            f"its dearest machine costs {dearest} micro-dollars an hour, of which contents would overflow 62 bits; "
            f"give at most {largest}"
        )
    return None


def products_of_pairs(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why a bound that prices pairs cannot take the instance."""
    if instance.stored_sets is None:
        return None
    return "has stored_sets, whose throughputs may exceed the products of pairs that this counts on; leave them out"


def boundable(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why the bounds on work and presence cannot take the instance."""
    return products_of_pairs(instance) or too_dear(instance)


THOUSAND = 1000


def useful(
    instance: ReconfigurationInstance, machine_type: IntArray, price: IntArray, speed_price: IntArray
) -> list[int]:
    """Return the numbers of offers that no other one makes superfluous: as cheap, for whatever fits, at as good progress.

    machine_type, price : (N,). speed_price : (N, C). Of equal ones the first stays. Types that nobody would rent cost a bound
    neither time nor the last digits of its prices.
    """
    catalogue = instance.catalogue
    family, capacity = catalogue.type2family[machine_type], catalogue.capacity[machine_type]
    kept: list[int] = []
    # Whatever makes an offer superfluous comes before it, or is its equal.
    for n in np.lexsort((np.arange(price.size), -speed_price.sum(axis=1), -capacity.sum(axis=1), price)).tolist():
        mine = catalogue.demand[family[n]]
        for m in kept:
            others = catalogue.demand[family[m]]
            fits = (mine[:, :1] < 0) | ((others >= 0) & (others <= mine))
            if (capacity[m] >= capacity[n]).all() and (speed_price[m] >= speed_price[n]).all() and fits.all():
                break
        else:
            kept.append(n)
    return sorted(kept)


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Tasks that may be put on a machine, priced.

    task_class : (N,). runs : (N,), 1 for a task that progresses and contends, 0 for one that is only there.
    group : (N,), limit : (G,), at most so many of a group together. worth : (N,) for being there. speed_worth : (N,)
    for progress, at full rate. Neither is beyond the price of the dearest machine, and no class is in over three items.
    """

    task_class: IntArray
    runs: IntArray
    group: IntArray
    limit: IntArray
    worth: IntArray
    speed_worth: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The most valuable content of one offer. content : (N,), zeros if none is worth more than asked for.

    upper : proven, no content is worth more than this or the target. nodes : of the search.
    """

    content: IntArray
    upper: int
    nodes: int


class ContentPricer:
    """Prices contents of an instance's machine types; interference included.

    Raises
    ------
    InstanceError
        if sums over a machine's content could leave 62 bits.
    """

    def __init__(self, instance: ReconfigurationInstance) -> None:
        if (reason := too_dear(instance)) is not None:
            raise InstanceError(f"{instance.name}: {reason}.")
        catalogue = instance.catalogue
        self.dearest = int(catalogue.price.max()) * NANO
        self.demand = [np.ascontiguousarray(catalogue.demand[f]) for f in range(len(catalogue.families))]
        self.type2family = catalogue.type2family
        self.capacity = catalogue.capacity.copy()
        workload, self.throughput = merged_workloads(instance.throughput)
        self.class2workload = workload[instance.class2workload]

    def best(self, machine_type: int, items: Items, target: int, node_limit: int) -> Found:
        """Search for the content of a machine type that is worth most above the target."""
        workload = np.where(items.runs == 1, self.class2workload[items.task_class], NOT_RUNNING)
        # A task that disturbs nobody and is not disturbed needs no rate.
        alone = (workload == NOT_RUNNING) & (items.runs == 1)
        content = np.zeros(items.worth.shape[0], np.int64)
        candidates = Candidates(
            worth=items.worth + np.where(alone, items.speed_worth, 0),
            speed_worth=np.where(workload == NOT_RUNNING, 0, items.speed_worth),
            workload=workload,
            group=items.group,
            # Numba would compile everything once more for arrays that are locked.
            limit=items.limit.copy(),
            demand=self.demand[self.type2family[machine_type]][items.task_class],
            capacity=self.capacity[machine_type],
        )
        _, upper, nodes = best_content(candidates, self.throughput, target, node_limit, content)
        return Found(content, int(upper), int(nodes))

    def rates(self, task_class: IntArray, number: IntArray) -> FloatArray:
        """(N,) float64: the rate of a running task of each class beside the others; number : (N,) tasks of each."""
        workload = self.class2workload[task_class]
        disturbed = np.flatnonzero(workload >= 0)
        mine, rates = workload[disturbed], np.ones(number.shape[0])
        running = np.bincount(mine, number[disturbed], self.throughput.shape[0])
        others = running - np.eye(self.throughput.shape[0])[mine]
        rates[disturbed] = np.prod((self.throughput / THOUSAND)[mine] ** np.maximum(others, 0), axis=1)
        return rates


def merged_workloads(throughput: IntArray) -> tuple[IntArray, IntArray]:
    """Merge workloads that disturb and are disturbed alike.

    throughput : (W, W) thousandths. Returns (W,), the merged workload of each, NOT_RUNNING for one without any
    interference, and the throughputs of the merged ones.
    """
    merged = np.full(throughput.shape[0], NOT_RUNNING)
    kept: list[int] = []
    for w in range(throughput.shape[0]):
        if (throughput[w] == THOUSAND).all() and (throughput[:, w] == THOUSAND).all():
            continue
        for number, v in enumerate(kept):
            if _alike(throughput, v, w):
                merged[w] = number
                break
        else:
            merged[w] = len(kept)
            kept.append(w)
    return locked_ints(merged), np.ascontiguousarray(throughput[np.ix_(kept, kept)])


def _alike(throughput: IntArray, v: int, w: int) -> bool:
    own = {int(throughput[a, b]) for a in (v, w) for b in (v, w)}
    others = np.setdiff1d(np.arange(throughput.shape[0]), (v, w))
    same = (throughput[v, others] == throughput[w, others]) & (throughput[others, v] == throughput[others, w])
    return len(own) == 1 and bool(same.all())
