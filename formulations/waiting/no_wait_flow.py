"""Nobody waits: which jobs run fixed, and on how many machines, as a least-cost flow of slots through time.

With jobs of one kind a machine is k slots (`slots`), and the jobs that run fixed are a set that overlaps at most s k
times: a flow of s k units along the time line. A unit either idles from one submission to the next, or takes a job's
arc from its start to the first submission at or after its end.

Nodes       distinct submissions in order, and an end
Arcs        idle  i -> i + 1   cost price x time from i to i + 1, capacity: all the jobs
            job   i -> e       cost price x time from i to e - k x rent x runtime, capacity 1
            buy   end -> 0     cost price x the time that is paid and that no other arc crosses
Minimise    the cost of a circulation, in k-ths of an amount; plus the rent of all jobs

Its matrix is totally unimodular but for the row that makes slots whole machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.export import model_builder
from schedgap.formulations.rows import Rows
from schedgap.formulations.waiting.kernels_flow import buy_machines
from schedgap.formulations.waiting.scaled import scale
from schedgap.formulations.waiting.slots import slots_per_machine
from schedgap.instances.errors import MethodError
from schedgap.instances.waiting.model import FAMILY

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.formulations.waiting.scaled import Scaled
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.waiting.model import WaitingInstance

# Amounts of one path.
MAX_AMOUNT = 2**61


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Arcs of the circulation, in order of their tails; the last one buys slots. Costs are multiples of `unit`.

    tail, head, capacity, cost : (A,) int64. jobs : (A,) int64, the job of `Scaled` that an arc stands for, or -1.
    """

    tail: IntArray
    head: IntArray
    capacity: IntArray
    cost: IntArray
    jobs: IntArray
    num_nodes: int
    unit: int


def network(scaled: Scaled, slots: int, paid: int, until: int) -> Network:
    """Return the circulation where machines are paid for `paid`, and jobs that end after `until` are rented."""
    price = scaled.instance.fixed_price
    jobs = np.flatnonzero(scaled.submit + scaled.runtime <= until)
    submit, runtime = scaled.submit[jobs], scaled.runtime[jobs]
    nodes = np.unique(submit)
    count = nodes.shape[0]
    start = np.searchsorted(nodes, submit)
    end = np.searchsorted(nodes, submit + runtime)
    # Paid time is counted up to `paid` only; the end node lies at the last submission.
    stands = np.minimum(np.append(nodes, nodes[-1]), paid)
    largest = (price + slots * int(scaled.rent.max())) * max(paid, int((scaled.submit + scaled.runtime).max()))
    if largest > MAX_AMOUNT:
        raise MethodError(f"{scaled.instance.name}: amounts of {largest:.3g} exceed 62 bits; use coarser times.")
    idle = np.arange(count)
    tail = np.concatenate((start, idle))
    head = np.concatenate((end, idle + 1))
    cost = price * (stands[head] - stands[tail])
    cost[: jobs.shape[0]] -= slots * scaled.rent[jobs] * runtime
    number = np.concatenate((jobs, np.full(count, -1)))
    order = np.argsort(tail, kind="stable")
    buy = price * (paid - int(stands[-1]) + int(stands[0]))
    cost = np.append(cost[order], buy)
    unit = max(1, int(np.gcd.reduce(cost)))
    capacity = np.where(number[order] < 0, jobs.shape[0], 1)
    return Network(
        np.append(tail[order], count),
        np.append(head[order], 0),
        np.append(capacity, jobs.shape[0]),
        cost // unit,
        np.append(number[order], -1),
        count + 1,
        unit,
    )


def flow_model(name: str, net: Network, slots: int) -> LinearModel:
    """Build the integer program of a circulation; its last variable counts machines."""
    arcs = np.arange(net.tail.shape[0])
    rows = Rows(arcs.shape[0] + 1)
    rows.add(
        "balance",
        np.concatenate((net.tail, net.head)),
        np.concatenate((arcs, arcs)),
        np.repeat([1.0, -1.0], arcs.shape[0]),
        np.zeros(net.num_nodes),
        np.zeros(net.num_nodes),
    )
    rows.add(
        "whole", np.zeros(2, np.int64), np.array([arcs[-1], arcs[-1] + 1]), np.array([1.0, -slots]), *np.zeros((2, 1))
    )
    capacity = np.append(net.capacity, net.capacity[-1])
    return rows.model(
        name,
        np.append(net.cost, 0).astype(np.float64),
        np.zeros(capacity.shape[0]),
        capacity.astype(np.float64),
        np.ones(capacity.shape[0], np.bool_),
        1,
    )


def cheapest_flow(net: Network, slots: int) -> IntArray:
    """Return a circulation of whole machines of least cost, by successive shortest paths."""
    jobs = np.flatnonzero(net.jobs >= 0)
    stays = np.flatnonzero(net.jobs[:-1] < 0)
    tail, head, cost = net.tail[jobs], net.head[jobs], net.cost[jobs]
    by_head = np.argsort(head, kind="stable")
    nodes = np.arange(net.num_nodes + 1)
    used, idle = np.zeros(jobs.shape[0], np.int64), np.zeros(stays.shape[0], np.int64)
    work = np.empty((3, net.num_nodes), np.int64)
    machines = buy_machines(
        tail,
        head,
        cost,
        np.searchsorted(tail, nodes),
        by_head,
        np.searchsorted(head[by_head], nodes),
        net.cost[stays],
        int(net.cost[-1]),
        slots,
        used,
        idle,
        *work,
    )
    flow = np.empty(net.tail.shape[0], np.int64)
    flow[jobs], flow[stays], flow[-1] = used, idle, machines * slots
    return flow


@model_builder("clairvoyant-no-wait-program", family=FAMILY)
def build(instance: WaitingInstance) -> LinearModel:
    """Build the flow's program, with machines paid for the horizon alone.

    Raises
    ------
    MethodError
        if machines are not just slots, or no job fits one.
    """
    scaled, slots = scale(instance), slots_per_machine(instance)
    if slots is None or not scaled.num_jobs:
        raise MethodError(f"{instance.name}: jobs of several kinds, or none that fits; there is no such flow.")
    until = int((scaled.submit + scaled.runtime).max())
    return flow_model(f"no-wait-{instance.name}", network(scaled, slots, scaled.horizon, until), slots)
