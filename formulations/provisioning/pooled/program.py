"""Which machines to rent if only their capacities together had to hold the tasks: a small integer program.

Sets        b blocks of machine types: those of a family, or each type alone
Variables   X[b, c] tasks of class c on machines of block b, shares allowed;  Y[k] machines of type k, whole
Minimise    sum_k price[k] Y[k]
Rows        sum_b X[b, c] >= counts[c]                                                         for each class c
            sum_{k in b} (capacity[k, r] - spare[r]) Y[k] - sum_c demand[b, c, r] X[b, c] >= 0     for each b, r
            most[c] sum_{k in b} Y[k] - X[b, c] >= 0        for each b, and the hardest c of which only so many share a machine

Packing wastes some of each machine, which `spare` accounts for. Without it every solution is one of the program, so its
bound is one: the linear programs of `bound-resource-prices` and `bound-type-prices`, but with whole machines. Where machines
are large beside tasks, as in clouds, little is lost by pooling. By families the program is small and its bound soon found;
by types no task counts on a machine that it does not fit. Where all tasks may run on all machines, and these come in whole
steps of cores and memory, a dynamic program solves it at once.

The pooled program by a dynamic program, where the sizes of machines are steps: providers sell whole cores and GiB.

A machine of type k has capacity unit[r] step[k, r] - lost[r] of resource r: whole steps, less what the system takes of every
machine. So n machines hold a demand of D[r] if their steps add up to (D[r] + n lost[r]) / unit[r], rounded up: for each n, the
least price of n machines of each total is enough. With prices q[r] >= 0 of the resources, a machine costs at least
q capacity[k] + m, m the least that is left of any type's price; so more than n machines cost at least q D + (n + 1) m, and
once that is more than the best, nothing better is left. All in exact integers. Prices at which no type costs more than its whole
steps are worth leave what is lost of each machine. Where nothing is, nothing limits n, and there are no totals.

Two resources are looked at, those that cost the most alone: a relaxation, which leaves a bound one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import LinearModel, proven_cost
from schedgap.formulations.provisioning.bounds import family_blocks, type_blocks
from schedgap.formulations.provisioning.limits import hardest_apart
from schedgap.formulations.provisioning.pooled.kernels_place import add_machine
from schedgap.formulations.provisioning.resource_bound import Block, block_model
from schedgap.instances.arrays import FloatArray, IntArray, first_true
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.units import NEVER

AXES = 2
# Most machines, totals, and steps of the dynamic program, some nanoseconds each, for one more machine.
MAX_MACHINES, MAX_CELLS, MAX_STEPS = 60, 600_000, 30_000_000
# Prices of resources are whole numbers of micro-dollars / 2^24.
PRICE_BITS = 24


class Totals:
    """The totals of an instance whose tasks may all run on every type, with equal demands.

    prices_at : returns good prices (R,) of the resources, micro-dollars a unit, for machines of capacities (K, R).
    """

    def __init__(self, instance: ProvisioningInstance, prices_at: Callable[[IntArray], FloatArray]) -> None:
        self.price = instance.price
        self.demand: list[int] = (instance.counts.astype(object) @ instance.demand[0].astype(object)).tolist()
        self.capacity = instance.capacity
        self.unit = np.maximum(np.gcd.reduce(self.capacity - self.capacity[0], axis=0), 1)
        self.lost = -self.capacity[0] % self.unit
        alone = [
            need * int(rate) if (rate := _cheapest(self.price, self.capacity[:, r])) is not None else 0
            for r, need in enumerate(self.demand)
        ]
        self.axes = sorted(range(len(alone)), key=lambda r: -alone[r])[:AXES]
        self.step = ((self.capacity + self.lost) // self.unit)[:, self.axes]
        shape = [self._needed(r, MAX_MACHINES, 0) + 1 for r in self.axes] + [1] * (AXES - len(self.axes))
        self.step = np.pad(self.step, ((0, 0), (0, AXES - len(self.axes))))
        cells = shape[0] * shape[1]
        self.is_coarse = bool(self.lost.any()) and cells <= MAX_CELLS and cells * self.price.size <= MAX_STEPS
        self.layers: list[IntArray] = []
        if self.is_coarse:
            first = np.full(shape, NEVER, np.int64)
            first[0, 0] = 0
            self.layers.append(first)
        prices = prices_at(self.capacity + self.lost) if self.is_coarse else np.zeros(len(alone))
        self.worth = [int(price * (1 - 1e-9) * 2**PRICE_BITS) for price in np.maximum(prices, 0.0).tolist()]
        self.rest = min(
            (int(price) << PRICE_BITS) - sum(w * int(c) for w, c in zip(self.worth, row, strict=True))
            for price, row in zip(self.price, self.capacity, strict=True)
        )

    def rent(self, spared: IntArray, until: float) -> tuple[IntArray, int] | None:
        """Return machines (K,) of each type that hold all, `spared` (R,) of each left free, and a bound on their price.

        None where totals are too many, or the time is over.
        """
        best, place = NEVER, (0, 0, 0)
        for n in range(1, MAX_MACHINES + 1):
            needed = [self._needed(r, n, int(spared[r])) for r in self.axes] + [0] * (AXES - len(self.axes))
            layer = self._layer(n, until)
            if layer is None or needed[0] >= layer.shape[0] or needed[1] >= layer.shape[1]:
                return None
            part = layer[needed[0] :, needed[1] :]
            cheapest = int(part.min())
            if cheapest < best:
                a, b = divmod(int(part.argmin()), part.shape[1])
                best, place = cheapest, (n, needed[0] + a, needed[1] + b)
            if self._more_than(n) >= best:
                return self._machines(*place), best
        return None

    def _needed(self, r: int, machines: int, spared: int) -> int:
        """Return the steps that so many machines must have together."""
        return -(-(self.demand[r] + machines * (int(self.lost[r]) + spared)) // int(self.unit[r]))

    def _more_than(self, machines: int) -> int:
        """Return what more machines cost at least; 0 where nothing is known."""
        if self.rest <= 0:
            return 0
        worth = sum(w * need for w, need in zip(self.worth, self.demand, strict=True))
        return -(-(worth + (machines + 1) * self.rest) >> PRICE_BITS)

    def _layer(self, machines: int, until: float) -> IntArray | None:
        """Return (A, B): the least price of so many machines of each total; None where that takes too long."""
        if not self.is_coarse:
            return None
        while len(self.layers) <= machines:
            if time.perf_counter() >= until:
                return None
            layer = np.empty_like(self.layers[-1])
            add_machine(np.ascontiguousarray(self.step), self.price, self.layers[-1], layer)
            self.layers.append(layer)
        return self.layers[machines]

    def _machines(self, number: int, a: int, b: int) -> IntArray:
        """(K,): so many machines of that total at the least price, found from the last one back."""
        machines = np.zeros(self.price.size, np.int64)
        last = self.layers[0].shape[0] - 1, self.layers[0].shape[1] - 1
        for n in range(number, 0, -1):
            before, paid = self.layers[n - 1], int(self.layers[n][a, b])
            for k, (size_a, size_b) in enumerate(self.step.tolist()):
                # The last row and column stand for all that is larger.
                rows = slice(max(0, a - size_a), a + 1 if a == last[0] else max(0, a - size_a + 1))
                columns = slice(max(0, b - size_b), b + 1 if b == last[1] else max(0, b - size_b + 1))
                part = before[rows, columns]
                if (size_a <= a or a == last[0]) and (size_b <= b or b == last[1]):
                    found = first_true((part == paid - self.price[k]).ravel())
                    if found is not None:
                        more_a, more_b = divmod(found, part.shape[1])
                        a, b = rows.start + more_a, columns.start + more_b
                        machines[k] += 1
                        break
        return machines


def _cheapest(price: IntArray, capacity: IntArray) -> float | None:
    """Return the least price of a unit, in millionths of a micro-dollar, or None where no type has any."""
    has = capacity > 0
    return float((price[has] * 1e6 / capacity[has]).min()) if has.any() else None


# Most units of a resource that a machine has in the program.
COARSE = 2**20
# Above so many tasks' shares a block for each type is too large.
MAX_SHARES = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Rented:
    """machines : (K,) int64 of each type, or None. bound : micro-dollars, proven only where nothing is spared.

    is_cut : whether the time was over before the program was solved.
    """

    machines: IntArray | None
    bound: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """The linear program's optimum, approximately.

    machines : (K,) float64 of each type. shares : (B, C) float64, tasks of a class on machines of a block.
    value : (C,) float64, micro-dollars, what one task more of the class would cost.
    """

    machines: FloatArray
    shares: FloatArray
    value: FloatArray


class Pooled:
    """The program of an instance, whatever is spared. by_type : a block for each type, and not for each family.

    whole : tasks are whole, and at most as many of a class are on a machine as fit it alone; by types only.
    """

    def __init__(self, instance: ProvisioningInstance, *, by_type: bool, whole: bool = False) -> None:
        self.instance, self.whole, apart = instance, whole, hardest_apart(instance)
        self.blocks: list[Block] = (
            type_blocks(instance, blocking=False, apart=apart, copies=whole)
            if by_type
            else family_blocks(instance, np.arange(len(instance.families)), apart)
        )
        # A row for classes that are kept apart is none of a resource.
        is_free = len(self.blocks) == 1 and not by_type and not apart.size and instance.stock is None
        is_free = is_free and bool(self.blocks[0].allowed.all())
        self.totals: Totals | None = Totals(instance, self._resource_prices) if is_free else None

    def _resource_prices(self, capacity: IntArray) -> FloatArray:
        """(R,) micro-dollars: what a unit more of each resource would cost on machines of such capacities (K, R)."""
        model = block_model(self.instance, [replace(self.blocks[0], capacity=capacity.T)], whole=True)
        try:
            found = solve(model, relax=True)
        except BackendError:
            return np.zeros(len(self.instance.resources))
        duals = np.zeros(model.row_lower.size) if found.row_duals is None else found.row_duals
        return np.abs(duals[self.instance.num_classes :]) * model.objective_scale

    def _spared(self, spare: float) -> IntArray:
        """(R,) int64: what is spared of each machine. spare : in what an average task demands."""
        instance = self.instance
        demand = np.where(instance.demand >= 0, instance.demand, 0).max(axis=0)
        average = (instance.counts @ demand) / instance.num_tasks
        # Cut in floats: what is spared may leave 64 bits.
        spared: IntArray = np.minimum(np.floor(spare * average), instance.capacity.max(axis=0)).astype(np.int64)
        return spared

    def model(self, spare: float = 0.0) -> LinearModel:
        """Build the program. spare : of each machine, in what an average task demands."""
        instance, spared = self.instance, self._spared(spare)
        blocks = []
        for block in self.blocks:
            capacity = block.capacity.copy()
            capacity[: spared.size] = np.maximum(capacity[: spared.size] - spared[:, None], 0)
            blocks.append(coarse(replace(block, capacity=capacity), instance.counts))
        model = block_model(instance, blocks, whole=True)
        return replace(model, integral=np.ones_like(model.integral)) if self.whole else model

    def solve(self, spare: float, time_limit_s: float, threads: int) -> Rented:
        """Solve the program in the time given; no machines and a bound of 0 where the solver has no answer."""
        if self.totals is not None:
            rented = self.totals.rent(self._spared(spare), time.perf_counter() + time_limit_s)
            if rented is not None:
                return Rented(*rented)
        model = self.model(spare)
        try:
            found = solve(model, time_limit_s=max(0.0, time_limit_s), threads=threads)
        except BackendError:
            # HiGHS refuses programs whose numbers are too far apart.
            return Rented(None, 0)
        machines = None if found.x is None else np.rint(found.x[-self.instance.num_types :]).astype(np.int64)
        is_cut = found.status is Status.FEASIBLE and found.unproven is None
        return Rented(machines, proven_cost(found.bound) * model.objective_scale, is_cut)

    def relax(self, time_limit_s: float) -> Relaxed | None:
        """Solve the linear program, machines in shares too, in the time given; None if the solver has no answer."""
        model = self.model()
        try:
            found = solve(model, time_limit_s=max(0.0, time_limit_s), relax=True)
        except BackendError:
            return None
        if found.x is None or found.row_duals is None:
            return None
        shares = np.zeros((len(self.blocks), self.instance.num_classes))
        allowed = np.array([block.allowed for block in self.blocks])
        shares[allowed] = found.x[: -self.instance.num_types]
        value = found.row_duals[: self.instance.num_classes] * model.objective_scale
        return Relaxed(found.x[-self.instance.num_types :], shares, value)


def coarse(block: Block, counts: IntArray) -> Block:
    """Return a block with capacities of at most 2^20 units: demands rounded down, capacities up, so that a bound stays one.

    A search proves nothing with bytes; and no machine needs more of a resource than all tasks take.
    """
    size, capacity = block.size.copy(), block.capacity.copy()
    for r in np.flatnonzero(capacity.max(axis=1) > COARSE).tolist():
        row = size[r]
        taken = int(row[block.allowed].astype(object) @ counts[block.allowed].astype(object))
        capacity[r] = np.minimum(capacity[r], max(1, taken))
        unit = -(-int(capacity[r].max()) // COARSE)
        size[r], capacity[r] = row // unit, -(-capacity[r] // unit)
    return replace(block, size=size, capacity=capacity)


def spread(content: IntArray, classes: IntArray, number: int) -> IntArray:
    """(M, number) int64: contents (M, P) of some classes (P,) among all classes."""
    whole = np.zeros((content.shape[0], number), np.int64)
    whole[:, classes] = content
    return whole
