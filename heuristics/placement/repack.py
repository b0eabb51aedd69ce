"""Place what arrives, and move what runs where that makes room: a search with few moves.

Pods are placed by best fit, in several orders, of which the best is kept. In each, every pod that found no place then looks
for the node on which the fewest pods have to leave for it. These go to other nodes, or have others leave in turn. A move
is made only if all that leave find a place, so that what is found is feasible at any time. Gangs are placed as a whole or
not at all. This proves nothing: what it misses may exist.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.method import Outcome, method
from schedgap.instances.placement.model import ANY, FAMILY, NO_GANG, NOWHERE, ONE, Placement, use
from schedgap.instances.placement.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.placement.model import PlacementInstance

# Nodes that are looked at for one pod, and how deep pods that leave make others leave.
NODES, DEPTH = 40, 2
# Orders in which pods are placed: those of random sizes are tried while something is refused.
ORDERS = ("size", "arrival", "density", *["random"] * 9)


class Layout:
    """Where pods are, and what is free: `free` (N, R), and `left` (N, G) thousandths of each GPU, -1 where there is none."""

    def __init__(self, instance: PlacementInstance) -> None:
        self.instance = instance
        self.node, self.gpus = instance.running_node.copy(), instance.running_gpus.copy()
        used, milli = use(instance, self.node, self.gpus)
        self.free = instance.capacity[instance.node2type] - used
        is_there = np.arange(milli.shape[1]) < instance.num_gpus[instance.node2type, None]
        self.left = np.where(is_there, ONE - milli, -1)
        self.admits = instance.admits[:, instance.node2type]
        self.moved = np.zeros(instance.num_pods, np.bool_)
        self.log: list[tuple[int, int, int]] = []
        self.scale = np.maximum(instance.capacity.max(axis=0), 1), max(1, ONE * int(instance.num_gpus.max()))

    @property
    def budget(self) -> int:
        """How many more pods that run may move."""
        most = self.instance.max_moves
        return self.instance.num_pods if most == ANY else most - int(self.moved.sum())

    def put(self, pod: int, node: int, gpus: int) -> None:
        """Move a pod from where it is, or from nowhere, to a node's GPUs, or to nowhere."""
        self.log.append((pod, int(self.node[pod]), int(self.gpus[pod])))
        c = self.instance.pod2class[pod]
        for sign, n, held in ((1, int(self.node[pod]), int(self.gpus[pod])), (-1, node, gpus)):
            if n != NOWHERE:
                self.free[n] += sign * self.instance.demand[c]
                taken = [g for g in range(self.left.shape[1]) if held >> g & 1]
                self.left[n, taken] += sign * self.instance.gpu_milli[c]
        self.node[pod], self.gpus[pod] = node, gpus
        start = (self.instance.running_node[pod], self.instance.running_gpus[pod])
        self.moved[pod] = start[0] != NOWHERE and (node, gpus) != start

    def undo(self, length: int) -> None:
        """Take back all but the first so many changes."""
        while len(self.log) > length:
            pod, node, gpus = self.log.pop()
            self.put(pod, node, gpus)
            self.log.pop()

    def fitting(self, c: int) -> BoolArray:
        """(N,) bool: the nodes that have room for a pod of a class."""
        instance = self.instance
        able: BoolArray = self.admits[c] & (self.free >= instance.demand[c]).all(axis=1)
        if instance.gpus[c]:
            able &= (self.left >= instance.gpu_milli[c]).sum(axis=1) >= instance.gpus[c]
        return able

    def chosen_gpus(self, c: int, node: int) -> int:
        """Return GPUs of a node that has room: the fullest that takes a share, the first ones that are free."""
        instance, left = self.instance, self.left[node]
        able = np.flatnonzero(left >= max(instance.gpu_milli[c], 1))
        order = able[np.argsort(left[able], kind="stable")] if instance.gpu_milli[c] < ONE else able
        return sum(1 << g for g in order[: instance.gpus[c]].tolist())

    def place(self, pod: int, but: int = NOWHERE) -> bool:
        """Put a pod on the node that it leaves the least room on; return whether there was one. but : a node to avoid."""
        instance = self.instance
        c = int(instance.pod2class[pod])
        able = self.fitting(c)
        if but != NOWHERE:
            able[but] = False
        nodes = np.flatnonzero(able)
        if not nodes.size:
            return False
        # Where it was costs no move.
        if instance.running_node[pod] in nodes:
            node = int(instance.running_node[pod])
            held = [g for g in range(self.left.shape[1]) if int(instance.running_gpus[pod]) >> g & 1]
            if (self.left[node, held] >= instance.gpu_milli[c]).all():
                self.put(pod, node, int(instance.running_gpus[pod]))
                return True
        room = (self.free[nodes] / self.scale[0]).sum(axis=1) + np.maximum(self.left[nodes], 0).sum(
            axis=1
        ) / self.scale[1]
        node = int(nodes[np.argmin(room)])
        self.put(pod, node, self.chosen_gpus(c, node))
        return True

    def placement(self) -> Placement:
        """Return what is placed where."""
        return Placement(self.node.copy(), self.gpus.copy())


class Repacking:
    """The search on one instance."""

    def __init__(self, instance: PlacementInstance, ends: float) -> None:
        self.instance, self.ends = instance, ends
        self.layout = Layout(instance)
        self.may_leave = instance.movable | ~instance.is_running
        stays = Layout(
            instance.replace(
                running_node=np.where(instance.movable, NOWHERE, instance.running_node),
                running_gpus=np.where(instance.movable, 0, instance.running_gpus),
            )
        )
        # What is free on each node once all that may leave have left.
        self.empty_free, self.empty_left = stays.free, stays.left

    def units(self, order: str, rng: np.random.Generator) -> list[IntArray]:
        """Return what arrives: pods alone, and gangs, in an order: one of `ORDERS`."""
        instance = self.instance
        arrive = np.flatnonzero(~instance.is_running)
        begins = np.flatnonzero(
            (instance.gang[arrive] == NO_GANG) | np.concatenate(([True], np.diff(instance.gang[arrive]) != 0))
        )
        units = np.split(arrive, begins[1:])
        if order != "arrival":
            total = np.maximum(self.empty_free.sum(axis=0), 1), max(1, int(np.maximum(self.empty_left, 0).sum()))
            milli = instance.gpus * instance.gpu_milli
            size = np.maximum((instance.demand / total[0]).max(axis=1), milli / total[1])
            if order == "density":
                size = instance.value / np.maximum(size, 1e-9)
            if order == "random":
                size = size * rng.random(size.shape)
            units.sort(key=lambda pods: -float(size[instance.pod2class[pods]].max()))
        return units

    def fill(self, units: list[IntArray], room: Callable[[int], bool]) -> None:
        """Place what finds a place by `room`; a class that found none is not tried again."""
        failed: set[int] = set()
        classes = self.instance.pod2class
        for pods in units:
            if time.perf_counter() > self.ends:
                return
            if self.layout.node[pods[0]] != NOWHERE or (pods.size == 1 and int(classes[pods[0]]) in failed):
                continue
            mark = len(self.layout.log)
            for pod in pods.tolist():
                if not room(pod):
                    self.layout.undo(mark)
                    failed.add(int(classes[pod]))
                    break

    def make_room(self, pod: int, depth: int = DEPTH, but: int = NOWHERE) -> bool:
        """Place a pod where it fits, or where the fewest others have to leave; return whether that was possible."""
        layout, instance = self.layout, self.instance
        if layout.place(pod, but):
            return True
        if not depth:
            return False
        c = int(instance.pod2class[pod])
        able = layout.admits[c] & (self.empty_free >= instance.demand[c]).all(axis=1)
        if instance.gpus[c]:
            able &= (self.empty_left >= instance.gpu_milli[c]).sum(axis=1) >= instance.gpus[c]
        if but != NOWHERE:
            able[but] = False
        nodes = np.flatnonzero(able)
        short = np.maximum(instance.demand[c] - layout.free[nodes], 0) / layout.scale[0]
        missing = np.maximum(
            instance.gpus[c] - (layout.left[nodes] >= max(int(instance.gpu_milli[c]), 1)).sum(axis=1), 0
        )
        options = []
        for node in nodes[np.argsort(short.sum(axis=1) + missing, kind="stable")][:NODES].tolist():
            if (leaving := self.leaving(c, node)) is not None:
                options.append((int((instance.is_running & ~layout.moved)[leaving].sum()), len(leaving), node, leaving))
        options.sort(key=lambda option: option[:3])
        # First without others that leave in turn, on any of the nodes.
        return any(
            moved <= layout.budget and self.exchange(pod, node, leaving, nested)
            for nested in range(depth)
            for moved, _, node, leaving in options
        )

    def exchange(self, pod: int, node: int, leaving: list[int], depth: int) -> bool:
        """Put a pod in the place of others, if these find places elsewhere; return whether they do."""
        layout, instance = self.layout, self.instance
        mark = len(layout.log)
        for other in leaving:
            layout.put(other, NOWHERE, 0)
        layout.put(pod, node, layout.chosen_gpus(int(instance.pod2class[pod]), node))
        # The largest first.
        leaving = sorted(leaving, key=lambda other: -int(instance.gpus[instance.pod2class[other]]))
        if all(self.make_room(other, depth, node) for other in leaving) and layout.budget >= 0:
            return True
        layout.undo(mark)
        return False

    def leaving(self, c: int, node: int) -> list[int] | None:
        """Return few pods without which a node has room for a pod of a class; None where that is not found."""
        layout, instance = self.layout, self.instance
        on = np.flatnonzero(layout.node == node)
        on = on[self.may_leave[on]]
        classes = instance.pod2class[on]
        gone = self._from_gpus(c, node, on)
        if gone is None:
            return None
        free = layout.free[node] + instance.demand[classes[gone]].sum(axis=0)
        for r in range(free.size):
            order = np.argsort(-instance.demand[classes, r], kind="stable")
            for e in order[~gone[order]].tolist():
                if free[r] >= instance.demand[c, r]:
                    break
                gone[e] = True
                free = free + instance.demand[classes[e]]
        return on[gone].tolist() if (free >= instance.demand[c]).all() else None

    def _from_gpus(self, c: int, node: int, on: IntArray) -> BoolArray | None:
        """Return which of a node's pods leave for enough GPUs to have room: from the GPU on, that the fewest must leave."""
        layout, instance = self.layout, self.instance
        gone = np.zeros(on.size, np.bool_)
        needs, milli = int(instance.gpus[c]), int(instance.gpu_milli[c])
        left = layout.left[node].copy()
        held = (layout.gpus[on][:, None] >> np.arange(left.size)) & 1 == 1
        each = instance.gpu_milli[instance.pod2class[on]]
        while needs and (left >= milli).sum() < needs:
            best: tuple[int, list[int]] | None = None
            for g in np.flatnonzero((left >= 0) & (left < milli)).tolist():
                room, out = int(left[g]), []
                here = np.flatnonzero(held[:, g] & ~gone)
                for e in here[np.argsort(-each[here], kind="stable")].tolist():
                    if room >= milli:
                        break
                    room += int(each[e])
                    out.append(e)
                if room >= milli and (best is None or len(out) < best[0]):
                    best = len(out), out
            if best is None:
                return None
            gone[best[1]] = True
            left = left + (held[best[1]] * each[best[1], None]).sum(axis=0)
        return gone


@method("repack", family=FAMILY, handles=("running", "gangs"), stochastic=True)
def repack(
    instance: PlacementInstance,
    *,
    rng: np.random.Generator,
    time_limit_s: float | None = None,
    found: Callable[..., None] | None = None,
) -> Outcome:
    """Place what arrives by best fit, then move pods that run for what found no place."""
    begun = time.perf_counter()
    ends = begun + (60.0 if time_limit_s is None else 0.8 * time_limit_s)
    best: tuple[int, Placement, int] | None = None
    alike = np.unique(instance.pod2class[~instance.is_running]).size <= 1
    for order in ORDERS[:1] if alike else ORDERS:
        if best is not None and (best[0] == 0 or time.perf_counter() > ends):
            break
        search = Repacking(instance, ends)
        units = search.units(order, rng)
        for room in (search.layout.place, search.make_room):
            search.fill(units, room)
            refused = verify(instance, search.layout.placement())
            if best is None or refused < best[0]:
                best = refused, search.layout.placement(), int(search.layout.moved.sum())
                if found is not None:
                    found(best[1])
    assert best is not None
    return Outcome(best[1], details={"moves": best[2]})
