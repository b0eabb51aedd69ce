"""From contents of the relaxation to pods on nodes: whole columns, what is left priced node by node, then parts packed again."""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.placement.packing import Packing
from schedgap.formulations.placement.relaxation import Relaxation, key_of
from schedgap.instances.arrays import IntArray
from schedgap.instances.placement.model import NOWHERE, ONE, Placement, PlacementInstance, devices_of
from schedgap.instances.placement.stranded import room_of

# States that a search for a content looks at; the most nodes that are packed again, and by how much prices change for that.
# Seconds that a content takes to be put on nodes. Rounds without gain after which it ends, more of them a node, and at most.
NODE_LIMIT, MOST_AGAIN, NOISE, PUT_S = 1_000, 4, 0.05, 1e-3
PATIENCE, A_NODE, MOST_PATIENCE = 200, 16, 20_000


class Packer:
    """A content for every node.

    table : contents, (m, 3) int64 each: a row as in `kernels_node`, a class, how many; the first is empty. which : (N,), of each
    node; uses : by how many. left : (C,) pods that are on none.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation, self.packing = relaxation, relaxation.packing
        self.table: list[IntArray] = [np.zeros((0, 3), np.int64)]
        self.which = np.zeros(self.packing.kinds.size, np.int64)
        self.uses = [0]
        self.left = self.packing.counts.copy()
        self.value = np.maximum(self.packing.value, 0)
        # Prices of the bound, and a little of the values: of contents that the bound holds for equal, the dearer.
        self.prices = relaxation.prices + np.maximum(self.value * self.packing.scale - relaxation.prices, 0) // 64

    @property
    def refused(self) -> int:
        """The value of what is on no node."""
        return int(self.value @ self.left)

    def put(self, nodes: IntArray, content: IntArray) -> None:
        """Give empty nodes a content, of which there are enough pods."""
        self.which[nodes] = len(self.table)
        self.table.append(_sparse(content))
        self.uses.append(nodes.size)
        self.left -= nodes.size * content.sum(axis=0)

    def round(self, deadline: float) -> None:
        """Take whole columns of the master's solution, those with the largest parts left once more, and price the rest."""
        master, found = self.relaxation.master, self.relaxation.found
        spare = [np.flatnonzero(self.packing.kinds == k) for k in range(self.packing.numbers.size)]
        if found is not None:
            for part in (np.floor(found.x + 1e-6), np.rint(found.x - np.floor(found.x + 1e-6))):
                for p in np.argsort(-found.x, kind="stable").tolist():
                    self._put_column(spare, int(master.kind[p]), master.patterns[p], int(part[p]))
        for k, nodes in enumerate(spare):
            while nodes.size and time.perf_counter() < deadline:
                _, content = self.relaxation.pricing.best(k, self.prices, NODE_LIMIT, self.left)
                self.relaxation.add([(k, content)])
                nodes = self._put_most(nodes, content, -(-nodes.size // 2))

    def _put_column(self, spare: list[IntArray], k: int, pattern: IntArray, times: int) -> None:
        if times > 0:
            spare[k] = self._put_most(spare[k], self.relaxation.contents[key_of(k, pattern)], times)

    def _put_most(self, nodes: IntArray, content: IntArray, times: int) -> IntArray:
        """Give a content to so many of the nodes, or as many as there are pods for; return the other nodes."""
        pattern = content.sum(axis=0)
        used = pattern > 0
        times = min(times, nodes.size, int((self.left[used] // pattern[used]).min(initial=times)))
        if times:
            self.put(nodes[:times], content)
        return nodes[times:]

    def improve(self, deadline: float, rng: np.random.Generator, enough: int) -> int:
        """Pack a few nodes again and again until the deadline, or until no more than `enough` is refused; how often."""
        packing, rounds, stale = self.packing, 0, 0
        must = packing.is_forced
        patience = min(PATIENCE + A_NODE * packing.kinds.size, MOST_PATIENCE)
        while stale < patience and self.refused > enough:
            if time.perf_counter() > deadline - PUT_S * len(self.table):
                break
            rounds, stale = rounds + 1, stale + 1
            number = int(rng.integers(1, MOST_AGAIN + 1))
            nodes = rng.choice(packing.kinds.size, min(number, packing.kinds.size), replace=False)
            pool = self.left.copy()
            for node in nodes.tolist():
                old = self.table[self.which[node]]
                np.add.at(pool, old[:, 1], old[:, 2])
            new = []
            prices = (self.prices * (1 + NOISE * rng.standard_normal(self.prices.size)).clip(0.5)).astype(np.int64)
            for node in nodes.tolist():
                _, content = self.relaxation.pricing.best(int(packing.kinds[node]), prices, NODE_LIMIT, pool)
                new.append(content)
                pool = pool - content.sum(axis=0)
            if self.value @ pool <= self.refused and (pool[must] <= self.left[must]).all():
                stale = 0 if self.value @ pool < self.refused else stale
                self.left = pool
                for node, content in zip(nodes.tolist(), new, strict=True):
                    self._replace(node, content)
        return rounds

    def _replace(self, node: int, content: IntArray) -> None:
        index = int(self.which[node])
        if index and self.uses[index] == 1:
            self.table[index] = _sparse(content)
            return
        self.uses[index] -= 1
        self.which[node] = len(self.table)
        self.table.append(_sparse(content))
        self.uses.append(1)


def _sparse(content: IntArray) -> IntArray:
    row, c = np.nonzero(content)
    return np.stack((row, c, content[row, c]), axis=1)


class Slots:
    """Places of pods: node, class of the packing and GPUs of each; and what nodes have left."""

    def __init__(self, instance: PlacementInstance, packing: Packing, fixed: np.ndarray) -> None:
        self.instance, self.packing = instance, packing
        self.parts: list[tuple[IntArray, IntArray, IntArray]] = []
        room = room_of(instance, fixed)
        self.free, self.gpu_left = room.left, np.maximum(room.milli, 0)

    def _take(self, node: IntArray, classes: IntArray, gpus: IntArray) -> None:
        instance = self.instance
        np.subtract.at(self.free, node, instance.demand[classes])
        held = devices_of(gpus, self.gpu_left.shape[1]) * instance.gpu_milli[classes, None]
        np.subtract.at(self.gpu_left, node, held)

    def put(self, nodes: IntArray, content: IntArray) -> None:
        """Put a content, as in a table, on nodes of its kind."""
        order = np.argsort(-self.gpu_left[nodes], axis=1, kind="stable")
        new = []
        for row, c, number in content.tolist():
            k = int(self.packing.gpus[c])
            gpus = (1 << order[:, row : row + k]).sum(axis=1) if k else np.zeros(nodes.size, np.int64)
            new += [(nodes, np.full(nodes.size, c), gpus)] * number
        for part in new:
            self._take(part[0], self.packing.classes[part[1]], part[2])
        self.parts += new

    def fill(self, left: IntArray) -> IntArray:
        """Put what still fits anywhere, the largest first and where least GPU is left; return what is left (C,)."""
        packing, instance, left = self.packing, self.instance, left.copy()
        takes = instance.takes(packing.classes)[:, instance.node2type]
        for c in np.lexsort((-packing.demand[:, 0], -packing.milli * packing.gpus, -packing.value)).tolist():
            k, milli, demand = int(packing.gpus[c]), int(packing.milli[c]), packing.demand[c]
            while left[c] > 0:
                room = takes[c] & (self.free >= demand).all(axis=1)
                room &= (self.gpu_left >= max(milli, 1)).sum(axis=1) >= k
                nodes = np.flatnonzero(room)
                nodes = nodes[np.argsort(self.gpu_left[nodes].sum(axis=1), kind="stable")][: left[c]]
                if nodes.size == 0:
                    break
                tight = np.where(self.gpu_left[nodes] >= max(milli, 1), self.gpu_left[nodes], 2 * ONE)
                gpus = (1 << np.argsort(tight, axis=1, kind="stable")[:, :k]).sum(axis=1)
                self.parts.append((nodes, np.full(nodes.size, c), gpus))
                self._take(nodes, np.full(nodes.size, packing.classes[c]), gpus)
                left[c] -= nodes.size
        return left

    def placement(self) -> Placement:
        """Return the placement: pods of a class in order of arrival."""
        instance, packing = self.instance, self.packing
        place, gpus = instance.running_node.copy(), instance.running_gpus.copy()
        if not self.parts:
            return Placement(place, gpus)
        node, classes, masks = (np.concatenate(some) for some in zip(*self.parts, strict=True))
        order = np.argsort(classes, kind="stable")
        starts = np.searchsorted(classes[order], np.arange(packing.counts.size + 1))
        arriving = place == NOWHERE
        for c in range(packing.counts.size):
            slots = order[starts[c] : starts[c + 1]]
            pods = np.flatnonzero(arriving & (instance.pod2class == packing.classes[c]))[: slots.size]
            place[pods], gpus[pods] = node[slots], masks[slots]
        return Placement(place, gpus)


def placed(instance: PlacementInstance, packer: Packer) -> Placement:
    """Return what a packer found as a placement, filled up; what runs stays."""
    slots = Slots(instance, packer.packing, instance.is_running)
    order = np.argsort(packer.which, kind="stable")
    starts = np.searchsorted(packer.which[order], np.arange(len(packer.table) + 1))
    for index, content in enumerate(packer.table):
        if index and starts[index] < starts[index + 1]:
            slots.put(order[starts[index] : starts[index + 1]], content)
    slots.fill(packer.left)
    return slots.placement()
