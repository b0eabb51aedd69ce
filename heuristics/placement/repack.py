"""Place what arrives, and move what runs where that makes room: a search with few moves.

Pods are placed by best fit, in several orders, of which the best is kept. In each, every pod that found no place then looks
for the node on which the fewest pods have to leave for it. These go to other nodes, or have others leave in turn. A move
is made only if all that leave find a place, so that what is found is feasible at any time. Gangs are placed as a whole or
not at all. This proves nothing: what it misses may exist. Placing is O(P N (R + G)) for each order, in whole arrays of nodes; a
pod without a place looks at `NODES` of them, and so does each that leaves for it, `DEPTH` deep.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.method import Outcome, method
from schedgap.instances.placement.model import (
    ANY,
    FAMILY,
    NO_GANG,
    NOWHERE,
    ONE,
    Placement,
    PlacementInstance,
    devices_of,
)
from schedgap.instances.placement.stranded import open_gpus, open_start, room_of
from schedgap.instances.placement.verify import verify

# Nodes that are looked at for one pod, and how deep pods that leave make others leave.
NODES, DEPTH = 40, 2
# Orders in which pods are placed: those of random sizes are tried while something is refused.
ORDERS = ("size", "arrival", "density", *["random"] * 9)


# A node, its GPUs as bits, and the first slice.
Place: TypeAlias = tuple[int, int, int]
AWAY: Place = (NOWHERE, 0, 0)


class Layout:
    """Where pods are, and what is free.

    free : (N, R). left : (N, G), thousandths of each GPU, -1 where there is none. taken : (N, G), a bit for each slice.
    """

    def __init__(self, instance: PlacementInstance, kept: BoolArray | None = None) -> None:
        """Begin with the pods that run, or those of them that are kept."""
        self.instance = instance
        kept = instance.is_running if kept is None else kept & instance.is_running
        start = np.zeros(instance.num_pods, np.int64) if instance.running_start is None else instance.running_start
        rows = np.stack((instance.running_node, instance.running_gpus, start), axis=1)
        self.places: list[Place] = [tuple(row) for row in np.where(kept[:, None], rows, AWAY).tolist()]
        self.begins = list(self.places)
        self.node = np.where(kept, instance.running_node, NOWHERE)
        room = room_of(instance, kept)
        self.free, self.left, self.taken = room.left, room.milli, room.taken
        self.slices = np.zeros(instance.gpus.size, np.int64) if instance.slices is None else instance.slices
        self.fits = instance.fits()[:, instance.node2type]
        self.moved = np.zeros(instance.num_pods, np.bool_)
        self.log: list[tuple[int, Place]] = []
        self.scale = np.maximum(instance.capacity.max(axis=0), 1), max(1, ONE * int(instance.num_gpus.max()))

    @property
    def budget(self) -> int:
        """How many more pods that run may move."""
        most = self.instance.max_moves
        return self.instance.num_pods if most == ANY else most - int(self.moved.sum())

    def _gpus(self, place: Place) -> tuple[int, list[int]]:
        return place[0], [g for g in range(self.left.shape[1]) if place[1] >> g & 1]

    def mask(self, pod: int, place: Place) -> int:
        """Return the slices of each of its GPUs that a pod takes at a place, as bits."""
        return ((1 << int(self.slices[self.instance.pod2class[pod]])) - 1) << place[2]

    def put(self, pod: int, place: Place) -> None:
        """Move a pod from where it is, or from nowhere, to a place that has room for it, or to nowhere."""
        before = self.places[pod]
        self.log.append((pod, before))
        c = self.instance.pod2class[pod]
        for sign, at in ((1, before), (-1, place)):
            if at[0] != NOWHERE:
                self.free[at[0]] += sign * self.instance.demand[c]
                self.left[self._gpus(at)] += sign * self.instance.gpu_milli[c]
                self.taken[self._gpus(at)] ^= self.mask(pod, at)
        self.places[pod] = place
        self.node[pod] = place[0]
        self.moved[pod] = self.begins[pod] != AWAY and place != self.begins[pod]

    def undo(self, length: int) -> None:
        """Take back all but the first so many changes."""
        while len(self.log) > length:
            self.put(*self.log.pop())
            self.log.pop()

    def open_gpus(self, c: int, nodes: IntArray | slice, left: IntArray, taken: IntArray) -> BoolArray:
        """Return which GPUs of nodes have room for a pod of a class. left, taken : (nodes, G), of these GPUs."""
        return open_gpus(self.instance, c, self.instance.node2type[nodes], left, taken)

    def fitting(self, c: int) -> BoolArray:
        """(N,) bool: the nodes that have room for a pod of a class."""
        instance = self.instance
        able: BoolArray = self.fits[c] & (self.free >= instance.demand[c]).all(axis=1)
        if instance.gpus[c]:
            able &= self.open_gpus(c, slice(None), self.left, self.taken).sum(axis=1) >= instance.gpus[c]
        return able

    def chosen(self, c: int, node: int) -> Place:
        """Return the place on a node that has room: the fullest GPU that takes a share, the first ones that are free."""
        instance, one = self.instance, np.array([node])
        able = np.flatnonzero(self.open_gpus(c, one, self.left[one], self.taken[one])[0])
        is_whole = instance.gpu_milli[c] == ONE
        order = able if is_whole else able[np.argsort(self.left[node, able], kind="stable")]
        held = order[: instance.gpus[c]]
        start = 0
        if self.slices[c]:
            start = int(open_start(instance, c, instance.node2type[one], self.taken[node, held])[0])
        return node, sum(1 << g for g in held.tolist()), start

    def place(self, pod: int, but: int = NOWHERE) -> bool:
        """Put a pod on the node that it leaves the least room on; return whether there was one. O(N (R + G)).

        but : a node to avoid.
        """
        c = int(self.instance.pod2class[pod])
        able = self.fitting(c)
        if but != NOWHERE:
            able[but] = False
        nodes = np.flatnonzero(able)
        if not nodes.size:
            return False
        begun = self.begins[pod]
        if begun[0] in nodes:
            # Where it was costs no move.
            left, taken = self.left[self._gpus(begun)], self.taken[self._gpus(begun)]
            if (left >= self.instance.gpu_milli[c]).all() and not (taken & self.mask(pod, begun)).any():
                self.put(pod, begun)
                return True
        free = (self.free[nodes] / self.scale[0]).sum(axis=1)
        idle = np.maximum(self.left[nodes], 0).sum(axis=1) / self.scale[1]
        self.put(pod, self.chosen(c, int(nodes[np.argmin(free + idle)])))
        return True

    def placement(self) -> Placement:
        """Return what is placed where."""
        return Placement(*np.array(self.places, np.int64).reshape(-1, 3).T)


class Repacking:
    """The search on one instance."""

    def __init__(self, instance: PlacementInstance, ends: float) -> None:
        self.instance, self.ends = instance, ends
        self.layout = Layout(instance)
        self.may_leave = instance.movable | ~instance.is_running
        # What there is on each node once all that may leave have left.
        self.emptied = Layout(instance, ~instance.movable)

    def units(self, order: str, rng: np.random.Generator) -> list[IntArray]:
        """Return what arrives: pods alone, and gangs, in an order: one of `ORDERS`."""
        instance = self.instance
        arrive = np.flatnonzero(~instance.is_running)
        begins = np.flatnonzero(
            (instance.gang[arrive] == NO_GANG) | np.concatenate(([True], np.diff(instance.gang[arrive]) != 0))
        )
        units = np.split(arrive, begins[1:])
        if order != "arrival":
            total = np.maximum(self.emptied.free.sum(axis=0), 1), max(1, int(np.maximum(self.emptied.left, 0).sum()))
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
        able = self.emptied.fitting(c)
        if but != NOWHERE:
            able[but] = False
        nodes = np.flatnonzero(able)
        short = np.maximum(instance.demand[c] - layout.free[nodes], 0) / layout.scale[0]
        is_open = layout.open_gpus(c, nodes, layout.left[nodes], layout.taken[nodes])
        missing = np.maximum(instance.gpus[c] - is_open.sum(axis=1), 0)
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
            layout.put(other, AWAY)
        layout.put(pod, layout.chosen(int(instance.pod2class[pod]), node))
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
        layout, instance, one = self.layout, self.instance, np.array([node])
        gone = np.zeros(on.size, np.bool_)
        needs = int(instance.gpus[c])
        places = [layout.places[pod] for pod in on.tolist()]
        held = devices_of(np.array([place[1] for place in places], np.int64), layout.left.shape[1])
        milli = instance.gpu_milli[instance.pod2class[on]]
        masks = [layout.mask(pod, place) for pod, place in zip(on.tolist(), places, strict=True)]
        left, taken = layout.left[one].copy(), layout.taken[one].copy()
        while needs and (is_open := layout.open_gpus(c, one, left, taken)[0]).sum() < needs:
            best: list[int] | None = None
            for g in np.flatnonzero((left[0] >= 0) & ~is_open).tolist():
                room, bits, out = left[:, g : g + 1].copy(), taken[:, g : g + 1].copy(), []
                here = np.flatnonzero(held[:, g] & ~gone)
                for e in here[np.argsort(-milli[here], kind="stable")].tolist():
                    room += milli[e]
                    bits &= ~masks[e]
                    out.append(e)
                    if layout.open_gpus(c, one, room, bits)[0, 0]:
                        best = out if best is None or len(out) < len(best) else best
                        break
            if best is None:
                return None
            gone[best] = True
            for e in best:
                left[0, held[e]] += milli[e]
                taken[0, held[e]] &= ~masks[e]
        return gone


@method("repack", family=FAMILY, handles=("running", "gangs", "slices"), stochastic=True)
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
