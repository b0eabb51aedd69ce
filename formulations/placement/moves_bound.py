"""How many pods fit when at most so many that run may move: a bound from what leaves each node.

For a pod class and a node, let slots(j) be how many pods of the class the node takes once j of its pods have left, whichever
these are. A pod that leaves and asks for at least as much as one of the class takes a slot itself, on some node, so it frees
only what it has beyond that. All others need room elsewhere as well, which is left out, so that slots(j) is never too low:

    resources   what is free and the j largest demands of pods that may move, over what one pod takes
    GPUs        a pod of k GPUs that leaves pays 1/k for each of them; for what j pods pay, the most slots on all GPUs, by
                dynamic programming over GPUs, each of which is emptied of its largest shares first

No plan places more of the class than the most that sum_n slots_n(j_n) can be with sum_n j_n <= max_moves, by dynamic
programming over nodes: U[c]. All pods that ask for at least as much as c, of every resource and of GPUs, on no more types,
count towards U[c]. The least value that must be refused under these limits is a small program, whose bound is proven.

O(N G J^2 + N J K) for each class, where J pods of a node may move, and K in all. Exact whole numbers throughout.

Bounds from prices on what nodes have: a linear program over classes of pods and types of nodes, proven in whole numbers.

Sets        c classes of pods; t types of nodes; r resources, and thousandths of GPUs as one more
Variables   X[c, t] pods of a class on nodes of a type that fits it;  Y[c] refused pods;  shares allowed
Minimise    sum_c value[c] Y[c]
Rows        Y[c] + sum_t X[c, t] >= counts[c]                         for each class c
            sum_c demand[c, r] X[c, t] <= free[t, r]                  for each type t and resource r, of all its nodes

The duals of the second rows are prices of resources. At any such prices p, rounded to whole numbers, a pod is worth the least
of its value and of what it takes of any type that fits it, and all nodes what is free of them:

    refused value >= sum_c counts[c] min(value[c], min_t p[t] @ demand[c]) - sum_t p[t] @ free[t].
"""

from __future__ import annotations

import time
from math import lcm

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import LinearModel, Rows, proven_cost
from schedgap.formulations.placement.assignment import HANDLES, gangs_of, objective_step
from schedgap.formulations.placement.packing import Packing, allocated_percent, certificate, in_percent, packing_of
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.method import Outcome, method
from schedgap.instances.placement.model import ANY, FAMILY, NOWHERE, ONE, PlacementInstance, devices_of

# More of anything than there is.
MANY = 2**40


class Movable:
    """What the pods of each node leave free, and what they free when they leave.

    order : running pods, node by node. first : (N + 1,), where those of a node begin.
    """

    def __init__(self, instance: PlacementInstance) -> None:
        self.instance = instance
        running = np.flatnonzero(instance.is_running)
        self.order = running[np.argsort(instance.running_node[running], kind="stable")]
        self.first = np.searchsorted(instance.running_node[self.order], np.arange(instance.num_nodes + 1))
        most = instance.max_moves if instance.max_moves != ANY else instance.num_pods
        self.most = min(most, int((instance.is_running & instance.movable).sum()))
        self.more = at_least(instance)

    def slots(self, c: int) -> int:
        """Return the most pods of a class that all nodes take when at most `max_moves` pods leave."""
        instance = self.instance
        best, known = np.zeros(self.most + 1, np.int64), {}
        for node in np.flatnonzero(instance.fits()[c, instance.node2type]).tolist():
            pods = self.order[self.first[node] : self.first[node + 1]]
            signature = np.stack((instance.pod2class[pods], instance.running_gpus[pods], instance.movable[pods]))
            key = (int(instance.node2type[node]), signature.tobytes())
            if key not in known:
                known[key] = self._of_node(c, node, pods)
            gains = known[key]
            options = [best[: best.size - j] + gain for j, gain in enumerate(gains.tolist()) if j < best.size]
            total = options[0]
            for j, option in enumerate(options[1:], 1):
                total[j:] = np.maximum(total[j:], option)
            best = total
        return int(best[-1])

    def _of_node(self, c: int, node: int, pods: IntArray) -> IntArray:
        """Return slots(0), slots(1), ... up to where they no longer grow."""
        instance = self.instance
        kind, classes = instance.node2type[node], instance.pod2class[pods]
        leaves = instance.movable[pods]
        number = min(self.most, int(leaves.sum())) + 1
        slots = np.full(number, MANY)
        for r in np.flatnonzero(instance.demand[c]).tolist():
            demand = instance.demand[classes, r]
            net = demand - np.where(self.more[c, classes], instance.demand[c, r], 0)
            freed = np.concatenate(([0], np.cumsum(np.sort(net[leaves])[::-1])))[:number]
            slots = np.minimum(slots, (instance.capacity[kind, r] - demand.sum() + freed) // instance.demand[c, r])
        if instance.gpus[c]:
            slots = np.minimum(slots, self._on_gpus(c, int(instance.num_gpus[kind]), pods, leaves, number))
        if slots[0] == MANY:
            slots[:] = instance.num_pods
        return np.maximum.accumulate(slots)[: int(np.argmax(slots)) + 1]

    def _on_gpus(self, c: int, num_gpus: int, pods: IntArray, leaves: BoolArray, number: int) -> IntArray:
        instance = self.instance
        classes = instance.pod2class[pods]
        held = devices_of(instance.running_gpus[pods], num_gpus)
        takes = np.maximum(instance.gpus[classes], 1)
        unit = lcm(*takes.tolist())
        needs, milli = int(instance.gpus[c]), int(instance.gpu_milli[c])
        # What a pod frees of each of its GPUs, beyond its own slot where that is known to be there.
        own = np.where(self.more[c, classes] & (takes == 1), milli, 0) if milli < ONE else 0
        net, slot = instance.gpu_milli[classes] - own, self.more[c, classes] * (unit * needs // takes) * (milli == ONE)
        best = np.zeros((number - 1) * unit + 1, np.int64)
        for gpu in range(num_gpus):
            on = held[:, gpu]
            free = ONE - int(instance.gpu_milli[classes[on]].sum())
            going = np.flatnonzero(on & leaves)
            going = going[np.argsort(-net[going], kind="stable")]
            room = free + np.concatenate(([0], np.cumsum(net[going])))
            cost = np.concatenate(([0], np.cumsum(unit // takes[going])))
            gain = unit * (room // milli) - np.concatenate(([0], np.cumsum(slot[going])))
            total = np.zeros_like(best)
            for paid, fits in zip(cost.tolist(), gain.tolist(), strict=True):
                if paid < best.size:
                    total[paid:] = np.maximum(total[paid:], best[: best.size - paid] + fits)
            best = total
        slots: IntArray = best[::unit] // (unit * needs)
        return slots


def at_least(instance: PlacementInstance) -> BoolArray:
    """(C, C) bool: whether pods of the second class ask for at least as much as those of the first, on no more types."""
    fits = instance.fits()
    more: BoolArray = (instance.gpus[:, None] <= instance.gpus) & (instance.gpu_milli[:, None] <= instance.gpu_milli)
    for r in range(len(instance.resources)):
        more &= instance.demand[:, r][:, None] <= instance.demand[:, r]
    for t in range(fits.shape[1]):
        more &= fits[:, t][:, None] | ~fits[:, t]
    return more


@method("bound-moves", family=FAMILY, bounds=True, handles=HANDLES)
def bound_moves(instance: PlacementInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Prove how much must be refused when at most `max_moves` pods move, from what leaves each node."""
    begun = time.perf_counter()
    arrive = instance.running_node == NOWHERE
    asked = np.bincount(instance.pod2class[arrive], minlength=len(instance.class_names))
    movable = Movable(instance)
    limits: dict[int, int] = {}
    for c in np.flatnonzero(asked).tolist():
        if limits and time_limit_s is not None and time.perf_counter() - begun > time_limit_s / 2:
            break
        limits[c] = movable.slots(c)
    _, size = gangs_of(instance)
    most = np.full(asked.size, MANY)
    most[list(limits)] = list(limits.values())
    never = (size > most).any(axis=1)
    able = np.minimum(asked - size[never].sum(axis=0), most)
    step = objective_step(instance)
    rows, more = Rows(asked.size), at_least(instance)
    for c, limit in limits.items():
        which = np.flatnonzero(more[c] & (asked > 0))
        rows.add(f"like_{c}", (0, which, 1), lower=[int(asked[which].sum()) - limit])
    cost = (instance.value // step).astype(np.float64)
    model = rows.model(f"moves-{instance.name}", cost, asked, step, lower=(asked - able).astype(np.float64))
    # A variable is how many pods of a class are refused.
    result = solve(model, "highs", time_limit_s=time_limit_s, threads=1)
    alone = int((asked - able) @ instance.value)
    bound = alone if result.bound is None else max(alone, proven_cost(result.bound) * step)
    fits = int(sum(min(limits[c], int(asked[c])) for c in limits))
    return Outcome(
        bound=bound, details={"classes": len(limits), "most_that_fit": fits, "gangs_that_never_fit": int(never.sum())}
    )


# Prices are whole multiples of 2^-40 thousandths of the value's unit for one unit of a resource.
SCALE = 2**40


class Totals:
    """What nodes of each type have together, and what pods take of it.

    types : (T,). free : (T, R + 1), `demand` : (C, R + 1), thousandths of GPUs last. fits : (C, T) bool.
    """

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.types, place = np.unique(packing.types, return_inverse=True)
        each = np.hstack((packing.free, packing.left.sum(axis=1)[:, None]))
        self.free: IntArray = np.zeros((self.types.size, each.shape[1]), np.int64)
        np.add.at(self.free, place.ravel(), each * packing.numbers[:, None])
        self.demand: IntArray = np.hstack((packing.demand, (packing.gpus * packing.milli)[:, None]))
        self.fits: BoolArray = np.stack(
            [packing.fits[:, place.ravel() == t].any(axis=1) for t in range(self.types.size)], axis=1
        )

    def model(self, placed: BoolArray | None = None) -> LinearModel:
        """Return the linear program. placed : (C,) bool, of which classes no pod may be refused."""
        packing = self.packing
        pod, where = np.nonzero(self.fits)
        classes, each = packing.counts.size, self.free.shape[1]
        rows = Rows(classes + pod.size)
        refused, put = np.arange(classes), classes + np.arange(pod.size)
        rows.add("pods", (refused, refused, 1.0), (pod, put, 1.0), lower=packing.counts)
        unit = np.maximum(self.free, 1)
        parts = self.demand[pod] / unit[where]
        row = where[:, None] * each + np.arange(each)
        upper = np.where(self.free > 0, 1.0, 0.0).ravel()
        rows.add("free", (row.ravel(), np.repeat(put, each), parts.ravel()), upper=upper)
        cost, most = np.zeros(classes + pod.size), np.full(classes + pod.size, np.inf)
        cost[:classes] = np.where(packing.is_forced, packing.dearest, packing.value) / ONE
        if placed is not None:
            most[:classes][placed & self.fits.any(axis=1)] = 0.0
        return rows.model("prices", cost, most, ONE, integral=False)

    def proven(self, duals: FloatArray, placed: BoolArray | None = None) -> tuple[int, list[int], list[list[int]]]:
        """Return the bound that duals of the program prove, prices of pods and of resources that do, times `SCALE`.

        placed : as for `model`; such pods may be worth more than their value.
        """
        packing = self.packing
        per_unit = np.maximum(-duals[packing.counts.size :].reshape(self.free.shape), 0) / np.maximum(self.free, 1)
        whole = [[int(price * ONE * SCALE) for price in row] for row in per_unit.tolist()]
        taken = np.array(whole, object) @ self.demand.T.astype(object)
        most = np.where(
            packing.is_forced | (placed if placed is not None else False), packing.dearest, packing.value
        ).tolist()
        prices = [
            min([value * SCALE, *taken[fits, c]]) for c, (value, fits) in enumerate(zip(most, self.fits, strict=True))
        ]
        worth = int((np.array(whole, object) * self.free.astype(object)).sum())
        return packing.bounded(prices, worth, SCALE), prices, [row[:-1] for row in whole]


@method("bound-resources", family=FAMILY, bounds=True, handles=(*HANDLES, "accepts"))
def bound_resources(instance: PlacementInstance, time_limit_s: float | None = None) -> Outcome:
    """Prices on each type's CPU, memory and GPUs: a bound proven by a sum; gangs and slices are left out, moves are free.

    The detail `kept_allocated_percent` bounds placements that refuse no pod without a GPU, as one that may not refuse what fits,
    and never runs out of room for these, has it. It is no bound on all placements, so it is not the method's.
    """
    packing = packing_of(instance)
    totals = Totals(packing)
    result = solve(totals.model(), time_limit_s=time_limit_s)
    if result.row_duals is None:
        return Outcome()
    bound, prices, multipliers = totals.proven(result.row_duals)
    details = in_percent(instance, bound)
    worthless = packing.value == 0
    if instance.unit == "GPUs" and worthless.any():
        kept = solve(totals.model(worthless), time_limit_s=time_limit_s)
        if kept.row_duals is not None:
            proven, _, _ = totals.proven(kept.row_duals, worthless)
            details["kept_allocated_percent"] = allocated_percent(instance, max(bound, proven))
    proof = certificate(instance, packing, bound, SCALE, prices, multipliers)
    return Outcome(bound=bound, details=details, certificate=proof)
