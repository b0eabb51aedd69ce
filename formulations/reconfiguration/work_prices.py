"""The method `bound-work` by prices for progress: what work of each class must cost at least, whenever and wherever it is done.

    minimise    sum_p price[type p] x[p]                          x[p]: hours for which machines run pattern p
    subject to  sum_p pattern[p, c] rate[p, c] x[p] >= work[c]    for each task class c, task hours

over all patterns p that a machine holds. Its dual gives each class a price for an hour of progress at full rate such
that no pattern of any machine type progresses faster, in money, than the machine costs. A machine is paid in every
second in which a task on it progresses, so the work of all jobs at these prices is a bound on every schedule. Prices
that violate this are scaled down by the worst pattern found by exact search (Farley, 1990): the bound is proven in
exact integers at any time, and at every size that `contents` lets pass; beyond it is unsupported.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp, LpSolution
from schedgap.formulations.column_generation.master import Generation
from schedgap.formulations.reconfiguration.contents import NANO, ContentPricer, Found, Items, boundable, useful
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.moves import RUNNING, STOCK
from schedgap.instances.reconfiguration.model import FAMILY, ReconfigurationInstance
from schedgap.instances.units import HOUR_S

MICRO = 1e6
# A dollar, in amounts of the bound: linear programs work in dollars an hour.
NANO_DOLLARS = 1e9
# Contents have to gain this share of their machine's price to be worth a column.
GAIN = 1e-7
NODE_LIMIT = 20_000_000
# Of a search with a deadline, before it is known how long a node takes.
FIRST_NODES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class WorkPrices:
    """Prices and what they prove.

    price : (C,) int64, nano-dollars for an hour of progress: no content of any type is worth more than its machine.
    bound : micro-dollars, on every schedule. columns, iterations, nodes : of the search.
    """

    price: IntArray
    bound: int
    columns: int
    iterations: int
    nodes: int


@method("bound-work", version=2, family=FAMILY, supports=boundable, bounds=True, handles=(STOCK, RUNNING))
def bound_work(instance: ReconfigurationInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Bound the cost by work alone: at any time, on machines shared in the best way, interference included."""
    begun = time.perf_counter()
    found = work_prices(instance, None if time_limit_s is None else begun + time_limit_s)
    return Outcome(
        bound=found.bound,
        status=Status.NO_SOLUTION,
        solve_s=time.perf_counter() - begun,
        details={"columns": found.columns, "iterations": found.iterations, "nodes": found.nodes},
    )


def work_s(instance: ReconfigurationInstance) -> IntArray:
    """(C,) int64: the work of all tasks of each class, in task seconds."""
    total = np.zeros(instance.catalogue.num_classes, np.int64)
    np.add.at(total, instance.job2class, instance.work_s * instance.num_tasks)
    return total


def work_prices(instance: ReconfigurationInstance, deadline: float | None = None) -> WorkPrices:
    """Find prices by column generation, until nothing can be gained or the deadline (of `perf_counter`) has passed."""
    search = _Search(instance, deadline)
    search.generate(math.inf if deadline is None else deadline)
    return WorkPrices(search.best, search.bound, search.master.num_columns, search.iterations, search.nodes)


class _Search(Generation):
    """Contents found so far, and the best prices with the bound that they prove."""

    master: GrowingLp

    def __init__(self, instance: ReconfigurationInstance, deadline: float | None) -> None:
        self.catalogue, self.work, self.deadline = instance.catalogue, work_s(instance), deadline
        self.pricer = ContentPricer(instance)
        num_classes = self.catalogue.num_classes
        types = np.arange(self.catalogue.num_types)
        self.types = useful(instance, types, self.catalogue.price, np.zeros((types.size, num_classes), np.int64))
        super().__init__(GrowingLp(self.work / HOUR_S, np.full(num_classes, np.inf)))
        alone = self.catalogue.price[self.catalogue.reservation_type]
        self.master.add_columns(alone / MICRO, np.eye(num_classes))
        self.best, self.bound, self.nodes = np.zeros(num_classes, np.int64), 0, 0

    def price(self, trial: FloatArray, found: LpSolution) -> tuple[bool, bool]:
        """Search every type for a pattern worth more than its machine, and scale the prices down by the dearest one."""
        price = np.floor(np.clip(trial * NANO_DOLLARS, 0, self.pricer.dearest)).astype(np.int64)
        classes = np.arange(price.shape[0])
        items = Items(classes, np.ones_like(classes), classes, self.catalogue.counts, np.zeros_like(classes), price)
        scaled, before = price.tolist(), self.master.num_columns
        for k in self.types:
            paid = int(self.catalogue.price[k])
            if self.deadline is not None and time.perf_counter() >= self.deadline:
                return True, False
            best = _best_in_time(self.pricer, k, items, paid * NANO, self.deadline)
            self.nodes += best.nodes
            if best.upper > paid * NANO:
                scaled = [min(s, int(p) * paid * NANO // best.upper) for s, p in zip(scaled, price, strict=True)]
            progress = best.content * self.pricer.rates(classes, best.content)
            if float(progress @ price) > paid * NANO * (1 + GAIN):
                self.master.add_columns([paid / MICRO], progress[None])
        bound = micro_dollars(sum(s * int(w) for s, w in zip(scaled, self.work, strict=True)))
        if bound > self.bound:
            self.best, self.bound = np.array(scaled, np.int64), bound
        return self.master.num_columns > before, True


def _best_in_time(pricer: ContentPricer, machine_type: int, items: Items, target: int, deadline: float | None) -> Found:
    """Search as `ContentPricer.best` does, with no more nodes than there is time for, as the first ones took."""
    if deadline is None:
        return pricer.best(machine_type, items, target, NODE_LIMIT)
    nodes, spent = FIRST_NODES, 0
    while True:
        begun = time.perf_counter()
        found = pricer.best(machine_type, items, target, nodes)
        now = time.perf_counter()
        spent += found.nodes
        affordable = int(nodes * (deadline - now) / max(now - begun, 1e-9))
        if found.nodes <= nodes or nodes >= NODE_LIMIT or affordable <= nodes:
            return Found(found.content, found.upper, spent)
        nodes = min(NODE_LIMIT, affordable, 100 * nodes)


def micro_dollars(nano_seconds: int) -> int:
    """Return nano-dollars an hour times seconds in whole micro-dollars, rounded up as costs are."""
    return -(-nano_seconds // (HOUR_S * NANO))
