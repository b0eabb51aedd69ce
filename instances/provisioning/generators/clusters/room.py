"""What is left on the nodes of a generated cluster, and on which of them a pod is placed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.generators.clusters.workloads import GPU

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.provisioning.generators.clusters.dice import Dice

RESOURCES = ("cpu", "ram_bytes", GPU, "pods", "ephemeral_bytes")
# Nodes have had different pasts: the last in favour gets half of what the first does.
LEAST_FAVOUR = 0.5


class Room:
    """Nodes by what is left of their allocatable amounts. capacity, free : (R, N) int64, fine units."""

    def __init__(self, dice: Dice, allocatable: Sequence[Mapping[str, int]]) -> None:
        self.capacity = np.array([vector(each) for each in allocatable]).T.copy()
        self.free = self.capacity.copy()
        self._dice = dice
        self._favour = LEAST_FAVOUR + (1 - LEAST_FAVOUR) * dice.shares(len(allocatable))

    def take(self, node: int, asked: IntArray) -> None:
        """Take a pod's request off a node."""
        self.free[:, node] -= asked

    def place(self, asked: IntArray, allowed: BoolArray) -> int:
        """Take a node with room, one with much left, as the scheduler does, and return it; -1 for none. O(N R)."""
        fits = allowed & (self.free >= asked[:, None]).all(axis=0)
        if not fits.any():
            return -1
        left = (self.free[:2] / self.capacity[:2]).min(axis=0) * self._favour
        node = int(np.where(fits, left * (1 + self._dice.shares(fits.size)), -1.0).argmax())
        self.take(node, asked)
        return node

    def load(self, nodes: BoolArray) -> float:
        """Return the share of what is allocatable on nodes that is asked for: of CPU, memory or GPUs, whichever is most."""
        whole, left = (each[:3, nodes].sum(axis=1) for each in (self.capacity, self.free))
        return float((1 - left / np.maximum(whole, 1))[whole > 0].max())


def vector(amounts: Mapping[str, int]) -> IntArray:
    """Return amounts by the order of `RESOURCES`."""
    return np.array([amounts.get(name, 0) for name in RESOURCES], np.int64)
