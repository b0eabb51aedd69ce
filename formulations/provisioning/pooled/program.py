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
steps of cores and memory, a dynamic program (`totals`) solves it at once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import LinearModel, proven_cost
from schedgap.formulations.provisioning.bounds import family_blocks, type_blocks
from schedgap.formulations.provisioning.limits import hardest_apart
from schedgap.formulations.provisioning.pooled.totals import Totals
from schedgap.formulations.provisioning.resource_bound import Block, block_model
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status
from schedgap.instances.provisioning.model import ProvisioningInstance

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
    """The program of an instance, whatever is spared. by_type : a block for each type, and not for each family."""

    def __init__(self, instance: ProvisioningInstance, *, by_type: bool) -> None:
        self.instance, apart = instance, hardest_apart(instance)
        self.blocks: list[Block] = (
            type_blocks(instance, blocking=False, apart=apart)
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
        return block_model(instance, blocks, whole=True)

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
