"""Repacking a cluster by column generation: a bound proven at any time, and plans from the patterns that it finds.

The master chooses among patterns of machines to rent and of running machines to keep; pricing finds better ones
by exact knapsacks, in which a task is worth more on the machine that it is on. The relaxation without stocks and limits
gives the first class prices and patterns. What is known of instances without a limit on disruption or a stock is better told
by `column-generation`; this method is for those with them.

    minimise    sum_p price[kind p] x[p]                                    x[p] >= 0: machines with pattern p
    subject to  sum_p pattern[p, c] x[p] >= counts[c]                       for each class c            dual u
                sum_p (sum_c weight[c] stay[p, c] + node[kind p]) x[p] >= stay      what is not disrupted       dual m
                sum_{p of group g} x[p] <= size[g]                          running machines alike
                sum_{p of type k} x[p] <= stock[k]                          where there is a stock      dual -s

For any u, m, s >= 0, every plan costs at least

    sum_c counts[c] u[c] + m stay - sum_k stock[k] s[k] + sum_j limit[j] min(0, price[j] + s[type j] - worth[j])

where worth[j] is the most that a pattern of kind j is worth at u, and at u + m weight for tasks that stay, with m node[j].
Kinds without a limit need price >= worth: all duals are scaled down until it is so. Whole numbers and fractions of them
throughout. A weight is what it counts that a task leaves its machine, node[j] what it counts that a running machine goes.

Kinds of machines to choose from: types to rent, and groups of running machines that are alike; plans of such machines.

A running machine is worth keeping for what it costs and for the tasks that need not move, so pricing sees it as a machine
family of its own, on which some tasks of each class, those that are there, count as staying.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from schedgap.formulations.backends.highs_lp import LpSolution
from schedgap.formulations.column_generation.master import Generation, Master
from schedgap.formulations.provisioning.column_generation.column_generation import supported
from schedgap.formulations.provisioning.column_generation.relaxation import Relaxation
from schedgap.formulations.provisioning.limits import MAX_NANO
from schedgap.formulations.provisioning.search import Search, restoring
from schedgap.instances import exact
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.provisioning.classes import merge_equal_classes, with_classes
from schedgap.instances.provisioning.cluster import whole_disruption
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import DISRUPTION, PER_MACHINE, STOCK, disruption, unlimited
from schedgap.instances.provisioning.pricing import NANO, Pricer
from schedgap.instances.provisioning.running import ANY_NUMBER, ONE_TASK
from schedgap.instances.provisioning.solution import NEW, Provisioning
from schedgap.instances.provisioning.verify import cost, price_step
from schedgap.instances.units import DOLLAR


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """J kinds: the K machine types first, then G groups of running machines of equal type, pattern and cost.

    machine_type : (J,) int64. limit : (J,) int64, how many there are, -1 for any number; the stock of a type counts its
    running machines, too. before : (G, C) int64, what is on each machine of a group. members : G arrays of running
    machines. weight : (C,) int64 and node : (J,) int64, in 1 / `ONE_TASK`, what it counts that a task leaves, and that a machine
    of a group goes. stay : so much must not be disrupted, at least.
    """

    instance: ProvisioningInstance
    machine_type: IntArray
    limit: IntArray
    before: IntArray
    members: tuple[IntArray, ...]
    weight: IntArray
    node: IntArray
    stay: int

    @property
    def num_types(self) -> int:
        """Number of machine types, the first kinds."""
        return self.instance.num_types

    def staying(self, kind: IntArray, pattern: IntArray) -> IntArray:
        """(P, C) int64: of patterns (P, C) of machines of these kinds (P,), the tasks that were there before."""
        stays = np.zeros_like(pattern)
        runs = kind >= self.num_types
        stays[runs] = np.minimum(pattern[runs], self.before[kind[runs] - self.num_types])
        return stays

    def expanded(self) -> tuple[ProvisioningInstance, IntArray, IntArray]:
        """Return an instance whose machine types are the kinds, for pricing.

        Its classes are those of the instance, and after them a twin of each class for the tasks that stay, which is allowed
        on groups only. With it (S,) int64, the class of each twin, and (F + G, C + S) int64, how many of each class a
        machine of each family holds at most.
        """
        instance, num_families = self.instance, len(self.instance.families)
        num_groups, num_classes = self.before.shape
        family_of_group = instance.type2family[self.machine_type[self.num_types :]]
        fits = instance.fits()[self.machine_type[self.num_types :]]
        twins = np.flatnonzero(((self.before > 0) & fits).any(axis=0))
        demand = np.full((num_families + num_groups, num_classes + twins.size, len(instance.resources)), -1, np.int64)
        demand[:num_families, :num_classes] = instance.demand
        demand[num_families:, :num_classes] = instance.demand[family_of_group]
        stays = (self.before[:, twins] > 0) & fits[:, twins]
        demand[num_families:, num_classes:][stays] = instance.demand[family_of_group][:, twins][stays]
        most = np.zeros(demand.shape[:2], np.int64)
        together = instance.most_together
        stay = np.minimum(self.before, together)
        # A task that stays is worth at least as much as one that comes: where only so many may share a machine, others come
        # once all that may stay do.
        most[:, :num_classes] = together
        most[num_families:, :num_classes] -= np.where(together < instance.counts, stay, 0)
        most[num_families:, num_classes:] = stay[:, twins]
        groups = tuple(f"running-{g}" for g in range(num_groups))
        expanded = with_classes(
            instance,
            demand,
            np.concatenate((instance.counts, np.maximum(self.before[:, twins].max(axis=0, initial=1), 1))),
            name=f"{instance.name}-kinds",
            families=instance.families + groups,
            type_names=instance.type_names + groups,
            type2family=np.concatenate((instance.type2family, num_families + np.arange(num_groups))),
            capacity=instance.capacity[self.machine_type],
            price=instance.price[self.machine_type],
            **dict.fromkeys(("stock", "fee", "max_disruption")),
        )
        return expanded, twins, most


def kinds_of(instance: ProvisioningInstance) -> Kinds:
    """Return the kinds of an instance; running machines count only where disruption is limited."""
    stock = np.full(instance.num_types, ANY_NUMBER) if instance.stock is None else instance.stock
    types = np.arange(instance.num_types)
    running = instance.running
    weight, free = instance.weight, np.zeros_like(types)
    if instance.max_disruption is None or running is None or running.size == 0:
        return Kinds(instance, types, stock, np.zeros((0, instance.num_classes), np.int64), (), weight, free, 0)
    pattern = running.contents(instance.num_classes)
    node = np.zeros(running.size, np.int64) if running.node_disruption is None else running.node_disruption
    rows, inverse = np.unique(np.column_stack((running.machine_type, pattern, node)), axis=0, return_inverse=True)
    members = tuple(np.flatnonzero(inverse.reshape(-1) == g) for g in range(rows.shape[0]))
    return Kinds(
        instance,
        np.concatenate((types, rows[:, 0])),
        np.concatenate((stock, [len(machines) for machines in members])),
        np.ascontiguousarray(rows[:, 1:-1]),
        members,
        weight,
        np.concatenate((free, rows[:, -1])),
        whole_disruption(instance) - instance.max_disruption,
    )


def plan_of(kinds: Kinds, kind: IntArray, repeat: IntArray, pattern: IntArray) -> Provisioning | None:
    """Return the solution of `repeat` (P,) machines of each kind (P,) with patterns (P, C); None if a class is not covered.

    Patterns may cover a class too often: what is too much is taken off again, never a task that stays, of which there are
    no more than the class has.
    """
    types, keeps, rows, stays = [], [], [], []
    used = [0] * len(kinds.members)
    for p in np.flatnonzero(repeat > 0).tolist():
        number, j = int(repeat[p]), int(kind[p])
        group = j - kinds.num_types
        stay = kinds.staying(kind[p : p + 1], pattern[p : p + 1])[0]
        for _ in range(number):
            types.append(int(kinds.machine_type[j]))
            keeps.append(int(kinds.members[group][used[group]]) if group >= 0 else NEW)
            if group >= 0:
                used[group] += 1
            rows.append(pattern[p])
            stays.append(stay)
    if not rows:
        return None
    matrix = np.array(rows, np.int64)
    surplus = matrix.sum(axis=0) - kinds.instance.counts
    if (surplus < 0).any():
        return None
    stayed, kept = np.array(stays, np.int64), np.array(keeps)
    trim(matrix, stayed, surplus)
    needed = _needed(kinds, kept, matrix, stayed)
    return grouped_plan(np.array(types)[needed], kept[needed], matrix[needed])


def trim(matrix: IntArray, stays: IntArray, surplus: IntArray) -> None:
    """Take tasks off that are too many, from the last machines first; in place."""
    for c in np.flatnonzero(surplus).tolist():
        free = (matrix[:, c] - stays[:, c])[::-1]
        taken = np.diff(np.minimum(np.cumsum(free), surplus[c]), prepend=0)[::-1]
        matrix[:, c] -= taken


def _needed(kinds: Kinds, keeps: IntArray, matrix: IntArray, stays: IntArray) -> BoolArray:
    """(M,) bool: which machines have tasks, or must be kept without any, the cheapest ones, so that no more is disrupted."""
    needed: BoolArray = np.asarray(matrix.any(axis=1))
    running = kinds.instance.running
    if running is None or running.node_disruption is None:
        return needed
    node = np.where(keeps == NEW, 0, running.node_disruption[keeps])
    spare = int(exact.dot(stays.sum(axis=0), kinds.weight)) + sum(node.tolist()) - kinds.stay
    price = kinds.instance.price[running.machine_type[keeps]]
    for m in np.flatnonzero(~needed & (node > 0))[np.argsort(-price[~needed & (node > 0)], kind="stable")].tolist():
        needed[m] = node[m] > spare
        spare -= 0 if needed[m] else int(node[m])
    return needed


def grouped_plan(types: IntArray, keeps: IntArray, matrix: IntArray) -> Provisioning:
    """Group the newly rented machines that are alike."""
    rows, first, repeat = np.unique(
        np.column_stack((keeps, types, matrix)), axis=0, return_index=True, return_counts=True
    )
    plan = Provisioning.from_patterns(types[first], repeat, matrix[first])
    return Provisioning(plan.machine_type, plan.repeat, plan.indptr, plan.task_class, plan.count, keeps=rows[:, 0])


MAX_CELLS = 60_000_000
# First patterns of one task of each class and type that it fits.
MAX_ALONE = 10_000
SMOOTHING = 0.8
FIRST_NODE_LIMIT, LAST_NODE_LIMIT = 4_000, 400_000
# Shares of the time limit: for the relaxation without limits, and for the master's own.
FREE_SHARE, RELAXATION_SHARE = 0.1, 0.6
UNLIMITED_S = 60.0
CONVERGED = 1e-9


def supports(instance: ProvisioningInstance) -> str | None:
    """Return None, or why the cluster cannot be priced, or not in reasonable memory."""
    if (reason := supported(instance)) is not None:
        return reason
    running = 0 if instance.running is None or instance.max_disruption is None else instance.running.size
    cells = (running + len(instance.families)) * instance.num_classes * 2 * len(instance.resources)
    if cells > MAX_CELLS:
        return f"{running} running machines with {instance.num_classes} classes have {cells} cells, over {MAX_CELLS}"
    return None


@method(
    "consolidation", version=2, family=FAMILY, supports=supports, bounds=True, handles=(STOCK, DISRUPTION, PER_MACHINE)
)
def consolidation(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1, found: Found = untold
) -> Outcome:
    """Repack a running cluster by column generation, within its stocks and the disruption that is allowed."""
    started = time.perf_counter()
    merged = merge_equal_classes(instance)
    search = _Consolidation(merged.instance, started, time_limit_s, threads, restoring(found, merged.restore))
    build_s = time.perf_counter() - started
    search.run()
    columns, groups = search.master.num_columns, len(search.kinds.members)
    details = {"iterations": search.iterations, "columns": columns, "groups": groups}
    return search.outcome_for(instance, merged.restore, build_s, details)


class ClusterMaster(Master):
    """Patterns found so far; duals are (C + 1 + L + G,): classes, staying, stocks, groups."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds, self.instance = kinds, kinds.instance
        self.limited = np.flatnonzero(kinds.limit[: kinds.num_types] != ANY_NUMBER)
        self.stock = kinds.limit[self.limited]
        # Row of the stock of each kind's type, -1 for none.
        place = np.full(kinds.num_types, -1)
        place[self.limited] = np.arange(self.limited.size)
        self.stock_of: IntArray = place[kinds.machine_type]
        most = np.concatenate(([np.inf], self.stock, kinds.limit[kinds.num_types :]))
        least = np.concatenate(([kinds.stay / ONE_TASK], np.full(most.shape[0] - 1, -np.inf)))
        super().__init__(self.instance.price[kinds.machine_type], self.instance.counts, least, most)

    def is_of_use(self, kind: int, pattern: IntArray) -> bool:
        """Return whether a machine holds a task, or it counts that it goes."""
        return bool(pattern.any() or self.kinds.node[kind])

    def others(self, kind: IntArray, patterns: IntArray) -> FloatArray:
        """(m, 1 + L + G): what is not disrupted, in tasks, and one machine of the stock and of the group that are used."""
        rows = np.zeros((kind.size, self.low.shape[0]))
        rows[:, 0] = (self.kinds.staying(kind, patterns) @ self.kinds.weight + self.kinds.node[kind]) / ONE_TASK
        which = np.flatnonzero(self.stock_of[kind] >= 0)
        rows[which, 1 + self.stock_of[kind[which]]] = 1
        which = np.flatnonzero(kind >= self.kinds.num_types)
        rows[which, 1 + self.limited.size - self.kinds.num_types + kind[which]] = 1
        return rows

    def allows(self, patterns: IntArray) -> BoolArray:
        """(m,) all: classes may be covered too often, `plan_of` takes off what is too much."""
        return np.ones(patterns.shape[0], np.bool_)

    def proven(self, values: IntArray, stay: int, stocks: IntArray, worth: IntArray) -> int:
        """Return the bound, micro-dollars, that duals in nano-dollars prove.

        values : (C,) of the classes. stay : for a task of weight one that stays. stocks : (L,), what a machine of a limited
        type costs beyond its price. worth : (J,), the most that a pattern of each kind is worth, with its `node`.
        """
        kinds = self.kinds
        price = [int(p) * NANO for p in self.instance.price[kinds.machine_type]]
        extra = [0 if row < 0 else int(stocks[row]) for row in self.stock_of]
        free = [j for j in range(kinds.num_types) if kinds.limit[j] == ANY_NUMBER and int(worth[j]) > price[j]]
        share = min((Fraction(price[j], int(worth[j])) for j in free), default=Fraction(1))
        total = int(values.astype(object) @ self.instance.counts) + stay * kinds.stay // ONE_TASK
        total -= sum(int(s) * int(n) for s, n in zip(stocks, self.stock, strict=True))
        bound = share * total
        for j, limit in enumerate(kinds.limit.tolist()):
            if limit != ANY_NUMBER:
                bound += limit * min(Fraction(0), price[j] + share * (extra[j] - int(worth[j])))
        step = price_step(self.instance) * NANO
        return max(0, math.ceil(bound / step)) * price_step(self.instance)


class _Consolidation(Search, Generation):
    """One run: kinds, master, pricing, the best plan and the bound."""

    master: ClusterMaster

    def __init__(
        self, instance: ProvisioningInstance, started: float, time_limit_s: float | None, threads: int, found: Found
    ) -> None:
        Search.__init__(self, started, UNLIMITED_S if time_limit_s is None else time_limit_s, found)
        self.instance, self.threads = instance, threads
        self.kinds: Kinds = kinds_of(instance)
        Generation.__init__(self, ClusterMaster(self.kinds))
        expanded, self.twins, self.most = self.kinds.expanded()
        self.pricer = Pricer(expanded)
        self.total = expanded.num_tasks
        self.centre = np.zeros(instance.num_classes + self.master.low.shape[0])
        self.share, self.node_limit = SMOOTHING, FIRST_NODE_LIMIT

    def run(self) -> None:
        """Relax, generate patterns, and look for the best plan of them."""
        self._begin()
        self._plan(0.05 * self.limit_s)
        self.generate(self._deadline(RELAXATION_SHARE))
        self._plan(self.left_s)

    def _deadline(self, share: float) -> float:
        return self.start + share * self.limit_s

    def _begin(self) -> None:
        """Take the patterns and class prices of the relaxation without limits, and each machine as it runs."""
        instance, kinds = self.instance, self.kinds
        relaxation = Relaxation(unlimited(instance))
        relaxation.solve(self._deadline(FREE_SHARE))
        self.raise_bound(relaxation.bound)
        self.centre[: instance.num_classes] = relaxation.proof / (DOLLAR * NANO)
        self.master.add(relaxation.master.kind, relaxation.master.patterns)
        self._add_alone()
        groups = np.arange(kinds.num_types, kinds.machine_type.shape[0])
        family = instance.type2family[kinds.machine_type[groups]]
        fits = instance.fits()[kinds.machine_type[groups]]
        pattern = np.where(fits, kinds.before, 0)
        used = (pattern[:, :, None] * np.maximum(instance.demand[family], 0)).sum(axis=1)
        whole = (used <= instance.capacity[kinds.machine_type[groups]]).all(axis=1)
        whole &= (pattern <= instance.most_together).all(axis=1)
        self.master.add(groups[whole], pattern[whole])
        self.master.add(groups, np.zeros_like(pattern))

    def _add_alone(self) -> None:
        """Take each class alone on the cheapest types that it fits, so many that their stocks last.

        They last for all tasks together, or where that is too much, for those of the class.
        """
        instance, fits = self.instance, self.instance.fits()
        wanted = (
            np.full(instance.num_classes, instance.num_tasks) if fits.sum() <= MAX_ALONE else instance.counts.copy()
        )
        for k in np.argsort(instance.price, kind="stable").tolist():
            limit = int(self.kinds.limit[k])
            classes = np.flatnonzero(fits[k] & (wanted > 0))
            if limit != 0 and classes.size:
                self.master.add(np.full(classes.size, k), np.eye(instance.num_classes, dtype=np.int64)[classes])
                wanted[classes] -= wanted[classes] if limit == ANY_NUMBER else limit

    def ended(self, found: LpSolution) -> bool | None:
        """End where the bound is that of the relaxation."""
        return True if self.bound >= found.objective * DOLLAR * (1 - CONVERGED) else None

    def longer(self) -> bool:
        """Search ten times as many nodes."""
        is_short = self.node_limit < LAST_NODE_LIMIT
        self.node_limit *= 10 if is_short else 1
        return is_short

    def price(self, trial: FloatArray, found: LpSolution) -> tuple[bool, bool]:
        """Price all kinds, in which a task is worth more on the machine that it is on."""
        kinds, num_classes = self.kinds, self.instance.num_classes
        # Duals of stocks are not positive.
        duals = np.where(np.arange(trial.size) > num_classes, -trial, trial)
        nano = np.floor(np.maximum(duals, 0.0) * DOLLAR * NANO)
        most = MAX_NANO // (2 * max(1, self.total))
        values = np.minimum(nano[:num_classes], most).astype(np.int64)
        heaviest = max(ONE_TASK, int(kinds.weight.max()), int(kinds.node.max()))
        stay = int(min(nano[num_classes], most * ONE_TASK // heaviest)) if kinds.members else 0
        stocks = np.minimum(nano[num_classes + 1 :][: self.master.stock.size], MAX_NANO).astype(np.int64)
        num_groups = len(kinds.members)
        given = np.zeros((self.most.shape[0], num_classes + self.twins.size), np.int64)
        given[:, :num_classes] = values
        if num_groups:
            given[-num_groups:, num_classes:] = values[self.twins] + _rounded_up(stay, kinds.weight[self.twins])
        node = _rounded_up(stay, kinds.node)
        extra = np.append(stocks, 0)[self.master.stock_of]
        target = self.instance.price[kinds.machine_type] * NANO + extra
        # A kind with a limit lowers the bound by what it is worth beyond its price: no pattern below that matters.
        priced = self.pricer.price(given, target - node, self.node_limit, counts=self.most)
        before, bound = self.bound, self.master.proven(values, stay, stocks, priced.upper + node)
        if bound > before:
            self.centre = trial
            self.raise_bound(bound)
        patterns = priced.pattern[:, :num_classes].copy()
        # Each twin is another class's, so no place is added to twice.
        patterns[:, self.twins] += priced.pattern[:, num_classes:]
        good = self.master.improving(np.arange(patterns.shape[0]), patterns, found.row_duals)
        added = self.master.add(good, patterns[good])
        is_complete = bool((priced.upper <= np.maximum(priced.value, target - node)).all())
        return added > 0 or (self.share > 0 and bound > before), is_complete

    def _plan(self, seconds: float) -> None:
        """Look for the best plan of the known patterns; once more, with less disruption, if the solver's breaks the limit."""
        end = time.perf_counter() + seconds
        for _ in range(2):
            left = end - time.perf_counter()
            if left <= 0 or self.is_proven:
                return
            repeat = self.master.solve_integer(left, self.objective, self.threads)
            plan = None if repeat is None else plan_of(self.kinds, self.master.kind, repeat, self.master.patterns)
            if plan is None:
                return
            most = self.instance.max_disruption
            over = 0 if most is None else disruption(self.instance, plan) - most
            if over <= 0:
                self.keep(plan, cost(self.instance, plan))
                return
            low = self.master.low.copy()
            low[0] += over / ONE_TASK
            self.master.limit(low, self.master.high)


def _rounded_up(stay: int, weight: IntArray) -> IntArray:
    """(n,) int64: what weights (n,) are worth at `stay` for a task. Rounded up: a pattern may be worth more, a bound never is."""
    return np.array([-(-stay * w // ONE_TASK) for w in weight.tolist()], np.int64)
