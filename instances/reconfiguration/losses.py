"""Where a cluster lost money: what was paid hour by hour, what presence was worth at a bound's prices, and why they differ.

A bound on presence has prices of tasks that no machine's content exceeds (`formulations/reconfiguration/presence.py`). So
a node loses what it cost above the worth of its tasks. No loss is negative, and all add up to what was paid less the floor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.family import Losses
from schedgap.instances.reconfiguration.model import MILLION, Past, ReconfigurationInstance, ReconfigurationSchedule
from schedgap.instances.reconfiguration.verify import played
from schedgap.instances.units import DOLLAR, HOUR_S, NANO

# Why a node cost more than its tasks were worth.
EMPTY, TYPE, SPOT, DAEMONS, SPREAD = (
    "nodes without pods",
    "a cheaper type holds the same pods",
    "spot would hold them",
    "DaemonSets take more of small nodes",
    "room left free",
)
# How the reader of clusters calls types that are spare capacity: `m5.large (spot, eu-west-1a)`.
SPOT_NAME = re.compile(r"\((.*, )?spot\b")
REASONS = (EMPTY, TYPE, SPOT, DAEMONS, SPREAD)


def paid(instance: ReconfigurationInstance) -> int | None:
    """Return what was paid for the nodes that there were, micro-dollars; None where the past is not known."""
    return None if instance.past is None else instance.past.paid_micro(instance.catalogue.price)


def span(instance: ReconfigurationInstance) -> tuple[int, int]:
    """Return the unix second of second 0, and how many seconds the past has; without one, until the last job ends at best."""
    past = instance.past
    return (0, int((instance.arrival_s + instance.work_s).max())) if past is None else (past.start, past.end_s)


def ran(instance: ReconfigurationInstance) -> str:
    """Return how many pods ran on how many nodes."""
    nodes = "" if instance.past is None else f" on {len(instance.past.names)} nodes"
    return f"{int(instance.num_tasks.sum()):,} pods{nodes}"


def paid_hourly(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule | None = None) -> FloatArray:
    """(H,) dollars paid in each hour of the window: by a schedule, or in truth."""
    if schedule is None:
        paid_s: FloatArray = _paid_of_nodes(instance).sum(axis=0)
        return paid_s
    leases = played(instance, schedule).leases
    price = instance.catalogue.price[schedule.machine_type]
    rows = [_overlap(leases["paid_from"], leases["paid_until"], a, b) @ price for a, b in _pairs(hour_edges(instance))]
    return np.array(rows, np.float64) / _SCALE


def losses(instance: ReconfigurationInstance, proof: Mapping[str, Any]) -> Losses:
    """Return what was lost by hour and reason. proof : of `bound-presence`, as its certificate has it. O(H J + N H)."""
    past = _past(instance)
    edges, worth = hour_edges(instance), _Worth(instance, proof)
    cost = _paid_of_nodes(instance)
    arrival, end, node = instance.arrival_s, instance.arrival_s + instance.work_s, past.job_node
    hours = edges.size - 1
    lost, floor, tasks = np.zeros((len(REASONS), hours)), np.zeros(hours), np.zeros(hours, np.int64)
    cheapest = _Cheapest(instance)
    # Of each node what DaemonSets take of it beyond what they take of the node of which they take least.
    taken = np.full(cost.shape[0], -1) if past.daemons is None else past.daemons
    small = np.maximum(taken - taken[taken >= 0].min(initial=MILLION), 0) / MILLION
    for h, (begin, until) in enumerate(_pairs(edges)):
        there = np.flatnonzero((arrival < until) & (end > begin))
        worths = worth.of(instance.job2class[there], np.maximum(arrival[there], begin), np.minimum(end[there], until))
        floor[h] = worths.sum()
        middle = there[(arrival[there] <= (begin + until) // 2) & (end[there] > (begin + until) // 2)]
        tasks[h] = middle.size
        held = there[node[there] >= 0]
        by_node = np.bincount(node[held], worths[node[there] >= 0], cost.shape[0])
        # Below 0 on a node that the proof says cannot be: nothing hides it.
        above = cost[:, h] - by_node
        holds = np.bincount(node[held], minlength=cost.shape[0]) > 0
        least, least_any = cheapest.prices(node, middle[node[middle] >= 0], past.machine_type)
        price = instance.catalogue.price[past.machine_type]
        share = cost[:, h] / np.maximum(price, 1)
        of_type = np.where(holds, np.minimum((price - least) * share, above), 0)
        of_spot = np.where(holds, np.minimum((least - least_any) * share, above - of_type), 0)
        rest = above * holds - of_type - of_spot
        of_daemons = np.minimum(cost[:, h] * small * holds, np.maximum(rest, 0))
        parts = (above * ~holds, of_type, of_spot, of_daemons, rest - of_daemons)
        lost[:, h] = [part.sum() for part in parts]
    return Losses(cost.sum(axis=0), floor, tasks, dict(zip(REASONS, lost, strict=True)))


_SCALE = HOUR_S * DOLLAR


def hour_edges(instance: ReconfigurationInstance) -> IntArray:
    """(H + 1,) seconds at which the hours of the window begin, and its end."""
    _, end_s = span(instance)
    return np.append(np.arange(0, max(end_s, 1), HOUR_S), end_s)


def _past(instance: ReconfigurationInstance) -> Past:
    assert instance.past is not None
    return instance.past


def _pairs(edges: IntArray) -> Iterator[tuple[int, int]]:
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def _overlap(begin: IntArray, end: IntArray, since: int, until: int) -> IntArray:
    seconds: IntArray = np.maximum(np.minimum(end, until) - np.maximum(begin, since), 0)
    return seconds


def _paid_of_nodes(instance: ReconfigurationInstance) -> FloatArray:
    """(N, H) dollars paid for each node in each hour."""
    past = _past(instance)
    price = instance.catalogue.price[past.machine_type]
    columns = [_overlap(past.from_s, past.until_s, a, b) * price for a, b in _pairs(hour_edges(instance))]
    return np.stack(columns, axis=1) / _SCALE


class _Worth:
    """What presence of a task of a class is worth, summed from second 0: (C, G + 1) at the edges of spells."""

    def __init__(self, instance: ReconfigurationInstance, proof: Mapping[str, Any]) -> None:
        spells = proof["spells"]
        share = proof["window_s"] / instance.period_s
        self.edges = np.array(
            [*(spell["from_s"] for spell in spells), spells[-1]["until_s"] if spells else 0], np.int64
        )
        price = np.zeros((instance.catalogue.num_classes, len(spells)))
        for g, spell in enumerate(spells):
            price[spell["classes"], g] = np.array(spell["prices"], np.float64) * share
        self.rate = price / (NANO * _SCALE)
        self.sums = np.concatenate(
            (np.zeros((price.shape[0], 1)), np.cumsum(self.rate * np.diff(self.edges), axis=1)), axis=1
        )

    def of(self, task_class: IntArray, begin: IntArray, end: IntArray) -> FloatArray:
        """(N,) dollars for presence of tasks of classes from `begin` until `end`, all (N,)."""
        return self._until(task_class, end) - self._until(task_class, begin)

    def _until(self, task_class: IntArray, second: IntArray) -> FloatArray:
        if self.edges.size < 2:
            return np.zeros(second.size)
        inside = np.clip(second, self.edges[0], self.edges[-1])
        spell = np.clip(np.searchsorted(self.edges, inside, side="right") - 1, 0, self.rate.shape[1] - 1)
        found: FloatArray = self.sums[task_class, spell] + self.rate[task_class, spell] * (inside - self.edges[spell])
        return found


class _Cheapest:
    """The cheapest machine type that holds what a node holds, found once for each content."""

    def __init__(self, instance: ReconfigurationInstance) -> None:
        self.catalogue, self.job2class = instance.catalogue, instance.job2class
        self.is_spot: BoolArray = np.zeros(self.catalogue.num_types, np.bool_)
        self.is_spot[[k for k, name in enumerate(self.catalogue.type_names) if SPOT_NAME.search(name)]] = True
        self.known: dict[bytes, tuple[int, int]] = {}

    def prices(self, node: IntArray, jobs: IntArray, node2type: IntArray) -> tuple[IntArray, IntArray]:
        """(N,), (N,): the least price that holds what each node holds, of types that are spot as it is, and of any.

        jobs : those that are there, each on a node. A node without any has its own price.
        """
        own = self.catalogue.price[node2type]
        least, least_any = own.copy(), own.copy()
        if not jobs.size:
            return least, least_any
        order = np.lexsort((self.job2class[jobs], node[jobs]))
        nodes, classes = node[jobs][order], self.job2class[jobs][order]
        places, starts = np.unique(nodes, return_index=True)
        for e, content in zip(places.tolist(), np.split(classes, starts[1:]), strict=True):
            plain, anyway = self._price(content)
            bound = anyway if self.is_spot[node2type[e]] else plain
            least[e] = min(own[e], bound)
            least_any[e] = min(least[e], anyway)
        return least, least_any

    def _price(self, content: IntArray) -> tuple[int, int]:
        key = content.tobytes()
        if key not in self.known:
            catalogue = self.catalogue
            needs = catalogue.demand[:, content]
            has_room: BoolArray = (needs.sum(axis=1)[catalogue.type2family] <= catalogue.capacity).all(axis=1)
            fits: BoolArray = has_room & (needs.min(axis=(1, 2))[catalogue.type2family] >= 0)
            price, most = catalogue.price, np.iinfo(np.int64).max
            plain = price[np.logical_and(fits, np.logical_not(self.is_spot))].min(initial=most)
            self.known[key] = (int(plain), int(price[fits].min(initial=most)))
        return self.known[key]
