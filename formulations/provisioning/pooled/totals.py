"""The pooled program by a dynamic program, where the sizes of machines are steps: providers sell whole cores and GiB.

A machine of type k has capacity unit[r] step[k, r] - lost[r] of resource r: whole steps, less what the system takes of every
machine. So n machines hold a demand of D[r] if their steps add up to (D[r] + n lost[r]) / unit[r], rounded up: for each n, the
least price of n machines of each total is enough. With prices q[r] >= 0 of the resources, a machine costs at least
q capacity[k] + m, m the least that is left of any type's price; so more than n machines cost at least q D + (n + 1) m, and
once that is more than the best, nothing better is left. All in exact integers. Prices at which no type costs more than its whole
steps are worth leave what is lost of each machine. Where nothing is, nothing limits n, and there are no totals.

Two resources are looked at, those that cost the most alone: a relaxation, which leaves a bound one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from schedgap.formulations.provisioning.pooled.kernels_place import add_machine
from schedgap.instances.arrays import FloatArray, IntArray, first_true
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.units import NEVER

AXES = 2
# Most machines, totals, and steps of the dynamic program, some nanoseconds each, for one more machine.
MAX_MACHINES, MAX_CELLS, MAX_STEPS = 60, 600_000, 30_000_000
# Prices of resources are whole numbers of micro-dollars / 2^24.
PRICE_BITS = 24


class Totals:
    """The totals of an instance whose tasks may all run on every type, with equal demands.

    prices_at : returns good prices (R,) of the resources, micro-dollars a unit, for machines of capacities (K, R).
    """

    def __init__(self, instance: ProvisioningInstance, prices_at: Callable[[IntArray], FloatArray]) -> None:
        self.price = instance.price
        self.demand: list[int] = (instance.counts.astype(object) @ instance.demand[0].astype(object)).tolist()
        self.capacity = instance.capacity
        self.unit = np.maximum(np.gcd.reduce(self.capacity - self.capacity[0], axis=0), 1)
        self.lost = -self.capacity[0] % self.unit
        alone = [
            need * int(rate) if (rate := _cheapest(self.price, self.capacity[:, r])) is not None else 0
            for r, need in enumerate(self.demand)
        ]
        self.axes = sorted(range(len(alone)), key=lambda r: -alone[r])[:AXES]
        self.step = ((self.capacity + self.lost) // self.unit)[:, self.axes]
        shape = [self._needed(r, MAX_MACHINES, 0) + 1 for r in self.axes] + [1] * (AXES - len(self.axes))
        self.step = np.pad(self.step, ((0, 0), (0, AXES - len(self.axes))))
        cells = shape[0] * shape[1]
        self.is_coarse = bool(self.lost.any()) and cells <= MAX_CELLS and cells * self.price.size <= MAX_STEPS
        self.layers: list[IntArray] = []
        if self.is_coarse:
            first = np.full(shape, NEVER, np.int64)
            first[0, 0] = 0
            self.layers.append(first)
        prices = prices_at(self.capacity + self.lost) if self.is_coarse else np.zeros(len(alone))
        self.worth = [int(price * (1 - 1e-9) * 2**PRICE_BITS) for price in np.maximum(prices, 0.0).tolist()]
        self.rest = min(
            (int(price) << PRICE_BITS) - sum(w * int(c) for w, c in zip(self.worth, row, strict=True))
            for price, row in zip(self.price, self.capacity, strict=True)
        )

    def rent(self, spared: IntArray, until: float) -> tuple[IntArray, int] | None:
        """Return machines (K,) of each type that hold all, `spared` (R,) of each left free, and a bound on their price.

        None where totals are too many, or the time is over.
        """
        best, place = NEVER, (0, 0, 0)
        for n in range(1, MAX_MACHINES + 1):
            needed = [self._needed(r, n, int(spared[r])) for r in self.axes] + [0] * (AXES - len(self.axes))
            layer = self._layer(n, until)
            if layer is None or needed[0] >= layer.shape[0] or needed[1] >= layer.shape[1]:
                return None
            part = layer[needed[0] :, needed[1] :]
            cheapest = int(part.min())
            if cheapest < best:
                a, b = divmod(int(part.argmin()), part.shape[1])
                best, place = cheapest, (n, needed[0] + a, needed[1] + b)
            if self._more_than(n) >= best:
                return self._machines(*place), best
        return None

    def _needed(self, r: int, machines: int, spared: int) -> int:
        """Return the steps that so many machines must have together."""
        return -(-(self.demand[r] + machines * (int(self.lost[r]) + spared)) // int(self.unit[r]))

    def _more_than(self, machines: int) -> int:
        """Return what more machines cost at least; 0 where nothing is known."""
        if self.rest <= 0:
            return 0
        worth = sum(w * need for w, need in zip(self.worth, self.demand, strict=True))
        return -(-(worth + (machines + 1) * self.rest) >> PRICE_BITS)

    def _layer(self, machines: int, until: float) -> IntArray | None:
        """Return (A, B): the least price of so many machines of each total; None where that takes too long."""
        if not self.is_coarse:
            return None
        while len(self.layers) <= machines:
            if time.perf_counter() >= until:
                return None
            layer = np.empty_like(self.layers[-1])
            add_machine(np.ascontiguousarray(self.step), self.price, self.layers[-1], layer)
            self.layers.append(layer)
        return self.layers[machines]

    def _machines(self, number: int, a: int, b: int) -> IntArray:
        """(K,): so many machines of that total at the least price, found from the last one back."""
        machines = np.zeros(self.price.size, np.int64)
        last = self.layers[0].shape[0] - 1, self.layers[0].shape[1] - 1
        for n in range(number, 0, -1):
            before, paid = self.layers[n - 1], int(self.layers[n][a, b])
            for k, (size_a, size_b) in enumerate(self.step.tolist()):
                # The last row and column stand for all that is larger.
                rows = slice(max(0, a - size_a), a + 1 if a == last[0] else max(0, a - size_a + 1))
                columns = slice(max(0, b - size_b), b + 1 if b == last[1] else max(0, b - size_b + 1))
                part = before[rows, columns]
                if (size_a <= a or a == last[0]) and (size_b <= b or b == last[1]):
                    found = first_true((part == paid - self.price[k]).ravel())
                    if found is not None:
                        more_a, more_b = divmod(found, part.shape[1])
                        a, b = rows.start + more_a, columns.start + more_b
                        machines[k] += 1
                        break
        return machines


def _cheapest(price: IntArray, capacity: IntArray) -> float | None:
    """Return the least price of a unit, in millionths of a micro-dollar, or None where no type has any."""
    has = capacity > 0
    return float((price[has] * 1e6 / capacity[has]).min()) if has.any() else None
