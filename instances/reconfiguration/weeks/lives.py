"""What there was in an invented past: pods and nodes with their times, and the nodes by what is free on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.provisioning.generators.clusters.build import Made
from schedgap.instances.provisioning.generators.clusters.machines import Json

# After all that happens.
NEVER = 2**40
# A node of which less than this share is asked for is one too many.
HALF = 0.5


@dataclass(slots=True, eq=False)
class Template:
    """What alike pods have in common. owner : kind and name."""

    namespace: str
    labels: dict[str, str]
    owner: tuple[str, str]
    spec: Json
    asked: IntArray
    tolerates: bool = False


@dataclass(slots=True, eq=False)
class Life:
    """A pod: seconds at which it was created, started on its node, completed, and deleted; `NEVER` for what does not happen.

    document : of a pod that comes with its node.
    """

    template: Template
    name: str
    digits: str
    created_s: int
    start_s: int = NEVER
    end_s: int = NEVER
    gone_s: int = NEVER
    node: NodeLife | None = None
    document: Json | None = None

    @property
    def stops_s(self) -> int:
        """The second at which it leaves its node."""
        return min(self.end_s, self.gone_s)


@dataclass(slots=True, eq=False)
class NodeLife:
    """A node: seconds at which it registered, was ready, and went. pods : those that come with it."""

    made: Made
    created_s: int
    ready_s: int
    gone_s: int = NEVER
    pods: list[Life] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Week:
    """A cluster's past. looks : unix seconds at which somebody looked. pods : without those that come with nodes."""

    name: str
    looks: range
    pods: list[Life]
    nodes: list[NodeLife]

    def lives(self) -> Iterator[Life]:
        """Yield all pods."""
        yield from self.pods
        for each in self.nodes:
            yield from each.pods


class Places:
    """Nodes by what is left of them, in slots that a later node takes again. free, whole : (S, R) int64."""

    def __init__(self) -> None:
        self.free = np.zeros((0, 5), np.int64)
        self.whole = np.ones((0, 5), np.int64)
        self.open = np.zeros(0, np.bool_)
        self.tainted = np.zeros(0, np.bool_)
        self.favour = np.zeros(0)
        # Since when each is half empty.
        self.low_s = np.zeros(0, np.int64)
        self.nodes: list[NodeLife | None] = []
        self.pods: list[dict[Life, None]] = []
        self.slot: dict[NodeLife, int] = {}
        self._unused: list[int] = []

    def add(self, node: NodeLife, whole: IntArray, taken: IntArray, now: int, favour: float) -> None:
        """Add a node that is ready."""
        if not self._unused:
            more = max(64, len(self.nodes))
            self._unused = list(range(len(self.nodes) + more - 1, len(self.nodes) - 1, -1))
            self.free = np.concatenate((self.free, np.zeros((more, 5), np.int64)))
            self.whole = np.concatenate((self.whole, np.ones((more, 5), np.int64)))
            for name in ("open", "tainted", "favour", "low_s"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate((old, np.zeros(more, old.dtype))))
            self.nodes += [None] * more
            self.pods += [{} for _ in range(more)]
        slot = self._unused.pop()
        self.whole[slot], self.free[slot] = np.maximum(whole, 1), whole - taken
        self.open[slot], self.tainted[slot] = True, node.made.group.taint is not None
        self.favour[slot], self.low_s[slot] = favour, now
        self.nodes[slot], self.slot[node] = node, slot

    def remove(self, slot: int) -> None:
        """Take out a node that nothing is on any more."""
        node = self.nodes[slot]
        assert node is not None and not self.pods[slot]
        del self.slot[node]
        self.nodes[slot], self.open[slot] = None, False
        self._unused.append(slot)

    def place(self, asked: IntArray, tolerates: bool) -> int:
        """Take a request off the open node with most left, and return its slot; -1 for none. O(S R)."""
        fits = self.open & (self.free >= asked).all(axis=1)
        if not tolerates:
            fits &= ~self.tainted
        slots = np.flatnonzero(fits)
        if not slots.size:
            return -1
        left = (self.free[slots, :2] / self.whole[slots, :2]).min(axis=1) * self.favour[slots]
        slot = int(slots[left.argmax()])
        self.free[slot] -= asked
        return slot

    def half_empty(self) -> BoolArray:
        """Return the open nodes of whose cores and memory less than half is asked for."""
        used = 1 - (self.free[:, :2] / self.whole[:, :2]).min(axis=1)
        found: BoolArray = self.open & (used < HALF)
        return found
