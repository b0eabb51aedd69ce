"""A cluster that a rule changes: nodes, tasks on them, and what can still be rented; from an instance, to a solution.

Which nodes a controller may give back, and how many of each pool at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.kernels_claims import settle
from schedgap.heuristics.provisioning.kubernetes.state import GONE, Catalogue, Nodes, Tasks
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.method import Outcome
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.moves import DISRUPTION, PER_MACHINE, STOCK
from schedgap.instances.provisioning.running import (
    ANY_NUMBER,
    EMPTY,
    GOING,
    HELD,
    NEVER,
    ONE_TASK,
    STARTING,
    UNMANAGED,
    Disruption,
    Pool,
    Running,
    shown_disruption,
)
from schedgap.instances.provisioning.solution import NEW, Provisioning

Offer: TypeAlias = "tuple[IntArray, IntArray, IntArray, IntArray, IntArray]"
# In place of a stock: more machines than any solution has.
PLENTY = 2**62
# What all of these rules take into account.
HANDLED = (STOCK, DISRUPTION, PER_MACHINE)
# Of machines that are not said to be of a pool: all may go.
ANY = Pool("")
# Karpenter's consolidation policies of NodePools, and each pool's own.
WHEN_EMPTY, WHEN_UNDERUTILIZED, BALANCED = "when-empty", "when-empty-or-underutilized", "balanced"
AS_POOLS = "as-pools"
POLICIES = (AS_POOLS, WHEN_EMPTY, WHEN_UNDERUTILIZED, BALANCED)


@dataclass(slots=True, eq=False)
class Cluster:
    """Nodes 0..number - 1 in the order in which they are tried, the first `num_running` of them running from the start.

    stock : (K,) int64, machines of each type that can still be had. nodes : with rows to spare. ran : (E,) int64, the
    types of what ran from the start. amounts : of these, (E, R) int64 each: what it has in all, and what is taken of it that
    is no task. Others as in `Catalogue`.
    """

    demand: IntArray
    type2family: IntArray
    capacity: IntArray
    price: IntArray
    stock: IntArray
    tasks: Tasks
    nodes: Nodes
    number: int
    num_running: int
    slot: IntArray
    most: IntArray
    ran: IntArray
    amounts: tuple[IntArray, IntArray]
    spot: BoolArray

    @classmethod
    def of(cls, instance: ProvisioningInstance, queue: IntArray) -> Cluster:
        """Return the present of an instance: running machines by `in_order`. Those that go already have no room.

        queue : (T,) int64, the tasks in the order in which the rule takes them.
        """
        home, types, running = np.full(instance.num_tasks, -1, np.int64), np.empty(0, np.int64), instance.running
        names = in_order(running)
        if running is not None:
            types, home = running.machine_type[names], _homes(instance, names)
        stock = np.full(instance.num_types, PLENTY)
        if instance.stock is not None:
            used = np.bincount(types, minlength=instance.num_types)
            stock = np.where(instance.stock == ANY_NUMBER, PLENTY, np.maximum(instance.stock - used, 0))
        offer = (instance.demand, instance.type2family, instance.capacity, instance.price, stock)
        classes = np.array(instance.task_classes())
        cluster = cls.start(offer, types, home, classes, queue, instance.per_machine, instance.disruption)
        if running is not None:
            if running.node_disruption is not None:
                cluster.nodes.disruption[: names.size] = running.node_disruption[names]
            whole, reserved = cluster.amounts
            cluster.amounts = (
                whole if running.whole is None else running.whole[names],
                reserved if running.reserved is None else running.reserved[names],
            )
            if running.disruption is not None:
                cluster.spot[running.disruption.spot] = True
                marks = running.disruption.marks[names]
                cluster.nodes.starting[: names.size] = marks & STARTING != 0
                cluster.nodes.left[np.flatnonzero(marks & GOING)] = -1
        return cluster

    @classmethod
    def start(
        cls,
        offer: Offer,
        types: IntArray,
        home: IntArray,
        task2class: IntArray,
        queue: IntArray,
        per_machine: IntArray | None = None,
        weight: IntArray | None = None,
    ) -> Cluster:
        """Return a present: tasks stay where they run as far as there is room, the others wait.

        offer : `demand`, `type2family`, `capacity`, `price` and `stock`. types : (M,) of the nodes. home : (T,) the node of
        each task, -1 for none. task2class, queue : as in `Tasks`. per_machine : (C,), as of an instance. weight : (C,), as in
        `Tasks`, None for one task each.
        """
        demand, _, capacity, _, _ = offer
        rank = np.empty_like(home)
        rank[queue] = np.arange(home.shape[0])
        weight = np.full(demand.shape[1], ONE_TASK) if weight is None else np.array(weight)
        tasks = Tasks(task2class, np.array(queue), rank, np.full_like(home, -1), home, weight)
        most = np.full(demand.shape[1], ANY_NUMBER) if per_machine is None else np.array(per_machine)
        slot = np.where(most == ANY_NUMBER, -1, np.cumsum(most != ANY_NUMBER) - 1)
        number, none = types.shape[0], np.zeros((types.shape[0], capacity.shape[1]), np.int64)
        held, starting = np.zeros((number, int((slot >= 0).sum())), np.int32), np.zeros(number, np.bool_)
        nodes = Nodes(
            types.copy(), capacity[types], np.zeros(demand.shape[1], np.int64), held, starting, none[:, 0].copy()
        )
        spot = np.zeros(capacity.shape[0], np.bool_)
        cluster = cls(*offer, tasks, nodes, number, number, slot, most, types, (capacity[types], none), spot)
        settle(tasks, cluster.catalogue(), nodes)
        return cluster

    @property
    def waiting(self) -> IntArray:
        """Tasks that no node has, in list order."""
        return np.flatnonzero(self.tasks.place < 0)

    @property
    def num_nodes(self) -> int:
        """Number of nodes that there are."""
        return int((self.nodes.machine_type[: self.number] != GONE).sum())

    @property
    def num_moved(self) -> int:
        """Number of tasks that are no longer where they ran."""
        return int(((self.tasks.home >= 0) & (self.tasks.home != self.tasks.place)).sum())

    @property
    def disruption(self) -> int:
        """What has been disrupted: tasks that are no longer where they ran, and nodes that are no longer there."""
        moved = (self.tasks.home >= 0) & (self.tasks.home != self.tasks.place)
        number = np.bincount(self.tasks.task2class[moved], minlength=self.tasks.weight.size)
        return int(number @ self.tasks.weight) + int(self.nodes.disruption[: self.number][~self.is_there()].sum())

    def disruption_left(self, most: int | None) -> int:
        """Return how much more may be disrupted, if so much may; `PLENTY` for None."""
        return PLENTY if most is None else most - self.disruption

    def is_there(self) -> BoolArray:
        """(M,) bool: whether a node has not gone."""
        there: BoolArray = self.nodes.machine_type[: self.number] != GONE
        return there

    def there(self) -> IntArray:
        """Return the nodes that have not gone."""
        return np.flatnonzero(self.is_there())

    def node_cost(self) -> IntArray:
        """(M,) int64: Karpenter's cost of a node, one and what its tasks count, in 1 / `ONE_TASK`; of those gone as well."""
        placed = self.tasks.place >= 0
        cost = np.full(self.number, ONE_TASK)
        np.add.at(cost, self.tasks.place[placed], self.tasks.weight[self.tasks.task2class[placed]])
        return cost

    def idle(self) -> BoolArray:
        """(M,) bool: whether a node is empty to Karpenter: no task of it counts. New ones have no task at all then."""
        idle: BoolArray = self.node_cost() == ONE_TASK
        held = np.bincount(self.tasks.place[self.tasks.place >= 0], minlength=self.number) > 0
        idle[self.num_running :] &= ~held[self.num_running :]
        return idle

    def affordable(self, rows: IntArray, most: int | None) -> IntArray:
        """Return the first of the nodes that disrupt together no more than is left of `most`; None for any."""
        return rows[np.cumsum(self.nodes.disruption[rows]) <= self.disruption_left(most)]

    def catalogue(self, pool: IntArray | None = None) -> Catalogue:
        """Return what can be rented now; pool : (F,) the NodePool of each family, None for a single one."""
        families = self.demand.shape[0]
        widest, start = [], [0]
        for f in range(families):
            widest += _widest(self.capacity, np.flatnonzero((self.type2family == f) & (self.stock > 0)))
            start.append(len(widest))
        return Catalogue(
            self.demand,
            self.type2family,
            self.capacity,
            self.price,
            np.argsort(self.price, kind="stable"),
            self.stock,
            np.zeros(families, np.int64) if pool is None else pool,
            np.array(widest, np.int64),
            np.array(start),
            self.slot,
            self.most,
            self.spot,
        )

    def make_room(self, more: int) -> None:
        """See to it that there are so many spare rows of nodes."""
        spare = self.number + more - self.nodes.machine_type.shape[0]
        if spare > 0:
            spare = max(spare, self.number)
            self.nodes = Nodes(
                np.concatenate((self.nodes.machine_type, np.full(spare, GONE))),
                np.concatenate((self.nodes.left, np.zeros((spare, self.nodes.left.shape[1]), np.int64))),
                self.nodes.low,
                np.concatenate((self.nodes.held, np.zeros((spare, self.nodes.held.shape[1]), np.int32))),
                np.concatenate((self.nodes.starting, np.zeros(spare, np.bool_))),
                np.concatenate((self.nodes.disruption, np.zeros(spare, np.int64))),
            )

    def add_nodes(self, machine_type: int, number: int) -> None:
        """Rent empty machines of a type."""
        self.make_room(number)
        rows = slice(self.number, self.number + number)
        self.nodes.machine_type[rows] = machine_type
        self.nodes.left[rows] = self.capacity[machine_type]
        self.nodes.held[rows] = 0
        self.stock[machine_type] -= number
        self.number += number

    def empty(self) -> IntArray:
        """Return the machines without tasks."""
        empty = np.bincount(self.tasks.place[self.tasks.place >= 0], minlength=self.number)[: self.number] == 0
        return np.flatnonzero(empty & self.is_there())

    def remove(self, rows: IntArray) -> None:
        """Give back machines; their tasks, if any, wait."""
        if rows.size:
            self.tasks.place[np.isin(self.tasks.place, rows)] = -1
        np.add.at(self.stock, self.nodes.machine_type[rows], 1)
        self.nodes.machine_type[rows] = GONE

    def now(self) -> tuple[IntArray, IntArray]:
        """(M, R) int64 twice: what each node has in all, and what is taken of it that is no task.

        A new one has both of a node of its type that ran from the start, the first, or else its capacity and nothing.
        """
        types = self.nodes.machine_type[: self.number]
        kinds, first = np.unique(self.ran, return_index=True)
        made = []
        for of_type, rows in zip((self.capacity, np.zeros_like(self.capacity)), self.amounts, strict=True):
            table = of_type.copy()
            table[kinds] = rows[first]
            made.append(np.concatenate((rows, table[types[self.num_running :]])))
        return made[0], made[1]

    def outcome(self, instance: ProvisioningInstance, stay: IntArray | None = None) -> Outcome:
        """Return the solution, without machines that hold nothing; none, and why, where tasks wait or too many moved.

        stay : machines that ran from the start and stay, though they hold nothing.
        """
        waiting, moved = self.waiting.shape[0], self.num_moved
        if waiting:
            return Outcome(details={"reason": f"{waiting} tasks are not placed: the machines that fit them ran out"})
        if (most := instance.max_disruption) is not None:
            if self.disruption > most:
                reason = f"{moved} tasks moved from overfull machines, max_disruption {shown_disruption(most)}"
                return Outcome(details={"reason": reason})
            empty = self.empty()
            stay = np.setdiff1d(empty, self.affordable(empty, most)) if stay is None else stay
        rows, task2machine = np.unique(self.tasks.place, return_inverse=True)
        if stay is not None:
            rows = np.concatenate((rows, np.setdiff1d(stay[stay < self.num_running], rows)))
        solution = Provisioning.from_tasks(instance, self.nodes.machine_type[rows], task2machine)
        if instance.running is not None:
            names = in_order(instance.running)
            keeps = np.concatenate((names, np.full(self.number - self.num_running, NEW)))[rows]
            solution = replace(solution, keeps=keeps)
        return Outcome(solution)


def in_order(running: Running | None) -> IntArray:
    """Return the running machines in the order of their names' code points, those that have not started yet last."""
    if running is None:
        return np.empty(0, np.int64)
    names = np.array(sorted(range(running.size), key=running.names.__getitem__), np.int64)
    if running.disruption is None:
        return names
    ordered: IntArray = names[np.argsort(running.disruption.marks[names] & STARTING != 0, kind="stable")]
    return ordered


def sizes_of(instance: ProvisioningInstance) -> IntArray:
    """(C, R) int64, what a task counts as: what it asks for on the family of its reservation-price type."""
    return instance.demand[instance.type2family[instance.reservation_type], np.arange(instance.num_classes)]


def _homes(instance: ProvisioningInstance, names: IntArray) -> IntArray:
    """(T,) int64, the row of the running machine of each task; the first tasks of a class run, row after row."""
    running = instance.running
    assert running is not None
    row = np.empty_like(names)
    row[names] = np.arange(names.shape[0])
    rows = row[running.machine]
    order = np.lexsort((rows, running.task_class))
    classes = np.repeat(running.task_class[order], running.count[order])
    within = np.arange(classes.shape[0]) - np.searchsorted(classes, classes)
    members = np.argsort(instance.task_classes(), kind="stable")
    start = np.cumsum(instance.counts) - instance.counts
    home = np.full(instance.num_tasks, -1, np.int64)
    home[members[start[classes] + within]] = np.repeat(rows[order], running.count[order])
    return home


def _widest(capacity: IntArray, types: IntArray) -> list[int]:
    """Return the types whose capacity is not within that of another one, the first of equal ones."""
    kept: list[int] = []
    for k in types[np.argsort(-capacity[types].sum(axis=1, dtype=np.float64), kind="stable")].tolist():
        if not any((capacity[k] <= capacity[j]).all() for j in kept):
            kept.append(k)
    return kept


# Beside the marks of an instance: tasks came or went a short while ago, by what the pool says.
UNSETTLED = 2 * GOING


def settling(pools: tuple[Pool, ...], pool: IntArray, quiet_s: IntArray | None) -> IntArray:
    """(N,) int64, the marks of machines by their pools and by how long (N,) no task came or went; None for long."""
    after = np.array([*(p.consolidate_after_s for p in pools), 0], np.int64)[pool]
    is_settled = True if quiet_s is None else quiet_s >= after
    marks: IntArray = np.where(after == NEVER, HELD, np.where(is_settled, 0, UNSETTLED))
    return marks


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Pools, and the pool and marks of nodes.

    pools : the last one of new machines of which nobody knows whose they are. pool, marks : (E,) int64, of the first nodes;
    the others are new. type2pool : (K,) int64, of new machines. at_s : the present, by which budgets hold. gone : (P,) int64,
    so many of each pool are about to go already, and are no nodes any more.
    """

    pools: tuple[Pool, ...]
    pool: IntArray
    marks: IntArray
    type2pool: IntArray
    at_s: int | None
    gone: IntArray

    @classmethod
    def of(cls, instance: ProvisioningInstance, policy: str = AS_POOLS) -> Limits | None:
        """Return those of an instance; None where it says nothing of them, and all nodes may go. policy : of all pools.

        New machines are of the pool of the first node of their family.
        """
        running = instance.running
        if running is None or (running.disruption is None and policy == AS_POOLS):
            return None
        names = in_order(running)
        given = Disruption.of(running.size) if running.disruption is None else running.disruption
        pools: tuple[Pool, ...] = (*given.pools, ANY)
        if policy != AS_POOLS:
            pools = tuple(replace(p, only_empty=policy == WHEN_EMPTY, balanced=policy == BALANCED) for p in pools)
        pool = given.pool[names] if given.pools else np.zeros(names.size, np.int64)
        family = instance.type2family[running.machine_type[names]]
        owners = [pool[(family == f) & (pool != UNMANAGED)] for f in range(len(instance.families))]
        family2pool = np.array([int(own[0]) if own.size else len(given.pools) for own in owners], np.int64)
        marks = given.marks[names] | settling(pools, pool, None if given.quiet_s is None else given.quiet_s[names])
        return cls(pools, pool, marks, family2pool[instance.type2family], given.at_s, np.zeros(len(pools), np.int64))

    def may_go(self, cluster: Cluster, reason: str) -> IntArray:
        """Return the nodes that may go for a reason: empty ones (`Cluster.idle`), or others."""
        nodes, pool, marks = self._now(cluster)
        is_empty = cluster.idle()[nodes]
        only_empty = np.array([p.only_empty for p in self.pools])
        fits = is_empty if reason == EMPTY else ~is_empty & ~only_empty[pool]
        found: IntArray = nodes[fits & (pool != UNMANAGED) & (marks & (HELD | STARTING | GOING | UNSETTLED) == 0)]
        return found

    def unsettled(self, cluster: Cluster) -> IntArray:
        """Return the nodes that take no tasks of others that go, as if they were not there."""
        nodes, _, marks = self._now(cluster)
        found: IntArray = nodes[marks & UNSETTLED != 0]
        return found

    def budgets(self, cluster: Cluster, reason: str) -> list[int]:
        """Return how many of each pool may go now: of those that have started, less what is unwell or goes already."""
        _, pool, marks = self._now(cluster)
        started, going = (pool != UNMANAGED) & (marks & STARTING == 0), marks & GOING != 0
        total = (np.bincount(pool[started], minlength=len(self.pools)) + self.gone).tolist()
        less = (np.bincount(pool[started & going], minlength=len(self.pools)) + self.gone).tolist()
        return [max(p.allowed(n, reason, self.at_s) - m, 0) for p, n, m in zip(self.pools, total, less, strict=True)]

    def within(self, cluster: Cluster, nodes: IntArray, reason: str) -> IntArray:
        """Return the first of the nodes that the budgets of their pools admit together."""
        left, kept = self.budgets(cluster, reason), []
        for m, p in zip(nodes.tolist(), self.pools_of(cluster, nodes).tolist(), strict=True):
            if left[p] > 0:
                left[p] -= 1
                kept.append(m)
        return np.array(kept, np.int64)

    def in_turn(self, cluster: Cluster, nodes: IntArray, reason: str) -> IntArray:
        """Return the nodes of pools that may lose one, one pool after another in turn, each in its order."""
        left, pool = np.array(self.budgets(cluster, reason)), self.pools_of(cluster, nodes)
        rank, seen = np.zeros(nodes.size, np.int64), np.zeros(len(self.pools), np.int64)
        for i, p in enumerate(pool.tolist()):
            rank[i], seen[p] = seen[p], seen[p] + 1
        order = np.argsort(rank, kind="stable")
        turned: IntArray = nodes[order][left[pool[order]] > 0]
        return turned

    def pools_of(self, cluster: Cluster, nodes: IntArray) -> IntArray:
        """(N,) int64, the pool of each node, -1 for none."""
        types = cluster.nodes.machine_type[nodes]
        pool: IntArray = self.type2pool[types]
        first = nodes < self.pool.size
        pool[first] = self.pool[nodes[first]]
        return pool

    def _now(self, cluster: Cluster) -> tuple[IntArray, IntArray, IntArray]:
        """Return the nodes that there are, their pools and marks."""
        nodes = cluster.there()
        marks = np.zeros(cluster.number, np.int64)
        marks[: self.marks.size] = self.marks
        return nodes, self.pools_of(cluster, nodes), marks[nodes]
