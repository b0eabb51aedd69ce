"""Column generation over contents of nodes: the linear program of `packing`, and the bound that its duals prove."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from schedgap.formulations.backends.highs_lp import LpSolution
from schedgap.formulations.column_generation.master import Generation, Master
from schedgap.formulations.placement.packing import Packing, Pricing
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.placement.model import ONE

# How much of the centre is in the duals that are priced, and by what part of a thousandth a column has to improve the master.
SMOOTHING, GAIN = 0.8, 1e-7
# Values of single GPUs stay below this, so that sums of them over a node fit 64 bits.
MOST_VALUE = 2**42
# States that an exact search for the dearest content of a node looks at: quickly first, longer where no column is found so.
NODE_LIMITS = (2_000, 20_000, 200_000)


class NodeMaster(Master):
    """Columns are contents of nodes, whose kinds are limited in number; refused pods cost their value, in thousands."""

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        kinds = packing.numbers.size
        nothing = np.zeros(kinds, np.int64)
        super().__init__(nothing, packing.counts, np.full(kinds, -np.inf), packing.numbers.astype(np.float64))

    def covers(self) -> tuple[FloatArray, FloatArray]:
        """Return what refusing costs, and the rows of pods that it covers."""
        packing = self.packing
        cost = np.where(packing.is_forced, packing.dearest, packing.value) / ONE
        return cost, np.eye(cost.size, cost.size + packing.numbers.size)

    def others(self, kind: IntArray, patterns: IntArray) -> IntArray:
        """(m, K): the kind of node that a column takes one of."""
        others: IntArray = (kind[:, None] == np.arange(self.packing.numbers.size)).astype(np.int64)
        return others


class Relaxation(Generation):
    """The linear program over contents, and its best bound.

    bound : on the refused value. prices : (C,) and `resource_prices` : (K, R), that prove it. contents : of each
    column, (B + 1, C) as in `kernels_node`.
    """

    master: NodeMaster

    def __init__(self, packing: Packing, node_limits: Sequence[int] = NODE_LIMITS) -> None:
        super().__init__(NodeMaster(packing))
        self.packing, self.pricing, self.node_limits = packing, Pricing(packing), list(node_limits)
        self.bound = -1
        self.prices: IntArray = np.zeros_like(packing.counts)
        self.resource_prices = self.pricing.price.copy()
        self.contents: dict[bytes, IntArray] = {}
        self.centre = np.zeros(packing.counts.size + packing.numbers.size)
        self.share = SMOOTHING

    @property
    def is_open(self) -> bool:
        """Whether the master's value is not proven yet."""
        return self.found is None or math.ceil(self.found.objective * ONE - 1e-6) > self.bound

    def try_prices(self, prices: FloatArray) -> list[tuple[int, IntArray]]:
        """Return the dearest content found of each kind at prices (C,), in thousandths, and prove what they prove."""
        packing = self.packing
        whole = packing.clipped(prices)
        priced = [self.pricing.best(k, whole, self.node_limits[0]) for k in range(packing.numbers.size)]
        worth = [bound for bound, _ in priced]
        total = sum(number * most for number, most in zip(packing.numbers.tolist(), worth, strict=True))
        bound = packing.bounded(whole.tolist(), total, packing.scale)
        if bound > self.bound:
            self.bound, self.prices = bound, whole
            self.resource_prices = self.pricing.price.copy()
            self.centre[: whole.size] = whole / packing.scale / ONE
            self.centre[whole.size :] = -np.array(worth) / packing.scale / ONE
            self.share = SMOOTHING
        return [(k, content) for k, (_, content) in enumerate(priced)]

    def add(self, contents: list[tuple[int, IntArray]], duals: FloatArray | None = None) -> int:
        """Add contents of kinds as columns; with duals only those that improve the master. Returns how many."""
        kind = np.array([k for k, _ in contents], np.int64)
        patterns = np.array([content.sum(axis=0) for _, content in contents]).reshape(
            kind.size, self.packing.counts.size
        )
        good = np.arange(kind.size)
        if duals is not None:
            good = np.flatnonzero(self.master.reduced_costs(kind, patterns, duals) < -GAIN)
        for i in good.tolist():
            self.contents.setdefault(key_of(int(kind[i]), patterns[i]), contents[i][1])
        return self.master.add(kind[good], patterns[good])

    def price(self, trial: FloatArray, found: LpSolution) -> tuple[bool, bool]:
        """Price at given duals, and add the contents that improve the master."""
        contents = self.try_prices(trial[: self.packing.counts.size] * ONE)
        return self.add(contents, found.row_duals) > 0, len(self.node_limits) == 1

    def longer(self) -> bool:
        """Search longer for dearest contents."""
        self.node_limits = self.node_limits[1:]
        return True


def key_of(kind: int, pattern: IntArray) -> bytes:
    """Return what names a column."""
    return kind.to_bytes(4, "little") + pattern.tobytes()


def by_gpu(packing: Packing) -> tuple[Packing, IntArray, int]:
    """Return the packing of single GPUs, the class there of each class or -1, and by what its values are multiplied.

    Of each pod of k GPUs it has k, each worth a k-th; resources, models and nodes are left out. Where numbers of GPUs have a
    large common multiple parts are rounded down, which proves less and nothing false.
    """
    with_gpu = np.flatnonzero(packing.gpus)
    largest = max(1, int(packing.value.max(initial=0)))
    factor = min(math.lcm(*packing.gpus[with_gpu].tolist()), max(1, MOST_VALUE // largest))
    gpus, value = packing.gpus[with_gpu], packing.value[with_gpu]
    value = np.where(value < 0, -1, value * factor // gpus)
    rows = np.stack((packing.milli[with_gpu], value), axis=1)
    kinds, inverse = np.unique(rows, axis=0, return_inverse=True)
    place = np.full(packing.gpus.size, -1)
    place[with_gpu] = inverse.ravel()
    counts = np.zeros(len(kinds), np.int64)
    np.add.at(counts, inverse.ravel(), packing.counts[with_gpu] * gpus)
    left, where = np.unique(packing.left, return_inverse=True)
    numbers = np.zeros(left.size, np.int64)
    np.add.at(numbers, where.reshape(packing.left.shape), packing.numbers[:, None])
    one = replace(
        packing,
        demand=np.zeros((len(kinds), 0), np.int64),
        gpus=np.ones(len(kinds), np.int64),
        milli=kinds[:, 0],
        counts=counts,
        value=kinds[:, 1],
        classes=np.zeros(len(kinds), np.int64),
        free=np.zeros((np.count_nonzero(left), 0), np.int64),
        left=left[left > 0][:, None],
        numbers=numbers[left > 0],
        types=np.zeros(np.count_nonzero(left), np.int64),
        fits=kinds[:, :1] <= left[left > 0],
        step=packing.step * factor,
    )
    return one, place, factor
