"""Bounds from prices on what a machine's pattern uses: a small linear program, and a certificate in integers.

Sets        b blocks of machine types; m rows of a block: every pattern x of a machine of type k in b satisfies
            sum_c size[b, m, c] x[c] <= capacity[b, m, k]
Variables   X[b, c] tasks of class c on machines of block b;  Y[k] machines of type k; shares allowed
Minimise    sum_k price[k] Y[k]
Rows        sum_b X[b, c] >= counts[c]                                     for each class c
            sum_k capacity[b, m, k] Y[k] - sum_c size[b, m, c] X[b, c] >= 0        for each b, m
            sum_k Y[k] <= machines                                         where machines are limited

The duals of the second rows are prices w on what patterns use. Rounded down to integers and scaled so that no machine's
capacity is worth more than its price (plus the dual u of the last row), they prove

    price >= sum_c counts[c] min_b (w[b] @ size[b, :, c]) - machines u

for every solution, by exact arithmetic alone. Interference only adds to the price, so the bound holds with it too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import LinearModel, Rows
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.verify import price_step
from schedgap.instances.units import DOLLAR

# Prices are whole multiples of 2^-40 micro-dollars for one unit of a row.
PRICE_SCALE = 2**40
# Rounds of adding violated rows, new rows a block and round, and machines by which a row must be violated.
MAX_ROUNDS, MAX_NEW, VIOLATED = 30, 8, 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Machine types with common rows.

    types : (n,) int64. allowed : (C,) bool. size : (m, C) int64. capacity : (m, n) int64.
    core : rows that the linear program has from the start; None for all. The others come in where they are violated.
    """

    types: IntArray
    allowed: BoolArray
    size: IntArray
    capacity: IntArray
    core: int | None = None

    def part(self, rows: IntArray) -> Block:
        """Return the block with some of its rows, all of them in the program."""
        return Block(self.types, self.allowed, self.size[rows], self.capacity[rows])


def block_model(
    instance: ProvisioningInstance, blocks: list[Block], machines: int | None = None, *, whole: bool = False
) -> LinearModel:
    """Build the linear program; prices in dollars, every block row divided by its largest capacity.

    whole : machines are whole, at most as many of a type as there are tasks or can be had, and so are all numbers: prices
    count in steps.
    """
    classes = [np.flatnonzero(block.allowed) for block in blocks]
    num_x = sum(inside.size for inside in classes)
    columns = num_x + instance.num_types
    rows = Rows(columns)
    rows.add("cover", (np.concatenate(classes), np.arange(num_x), 1.0), lower=instance.counts)
    first = 0
    for b, (block, inside) in enumerate(zip(blocks, classes, strict=True)):
        number = block.capacity.shape[0]
        unit = 1 if whole else _units(block)[:, None]
        taken = np.concatenate((first + np.arange(inside.size), num_x + block.types))
        parts = np.hstack((-block.size[:, inside] / unit, block.capacity / unit)).ravel()
        row = np.repeat(np.arange(number), taken.size)
        rows.add(f"use_{b}", (row, np.tile(taken, number), parts), lower=np.zeros(number))
        first += inside.size
    if machines is not None:
        rows.add("machines", (0, np.arange(num_x, columns), 1.0), upper=np.array([machines]))
    scale = price_step(instance) if whole else DOLLAR
    cost, upper = np.zeros(columns), np.full(columns, np.inf)
    cost[num_x:] = instance.price / scale
    if whole:
        stock = np.full(instance.num_types, ANY_NUMBER) if instance.stock is None else instance.stock
        upper[num_x:] = np.where(stock == ANY_NUMBER, instance.num_tasks, np.minimum(stock, instance.num_tasks))
    integral = (np.arange(columns) >= num_x) & whole
    return rows.model(f"prices-{instance.name}", cost, upper, scale, integral=integral)


def block_bound(
    instance: ProvisioningInstance,
    blocks: list[Block],
    *,
    machines: int | None = None,
    time_limit_s: float | None = None,
) -> int | None:
    """Return a proven lower bound in micro-dollars per hour, or None where the linear program met the limit.

    blocks : every machine type in exactly one of them.
    """
    solved = _solved_prices(instance, blocks, machines, time_limit_s)
    if solved is None:
        return None
    parts, duals = solved
    rent = 0.0 if machines is None else max(0.0, -float(duals[-1]) * DOLLAR)
    return certified(instance, parts, _row_prices(instance, parts, duals), machines or 0, rent)


def block_worths(
    instance: ProvisioningInstance, blocks: list[Block], *, time_limit_s: float | None = None
) -> list[int] | None:
    """Return what a task of each class is worth, in parts of a micro-dollar of which there are `PRICE_SCALE`.

    No pattern of a machine is worth more than the machine. None where the linear program met the limit.
    """
    solved = _solved_prices(instance, blocks, None, time_limit_s)
    return None if solved is None else worths(instance, solved[0], _row_prices(instance, *solved))


def _row_prices(instance: ProvisioningInstance, parts: list[Block], duals: FloatArray) -> list[FloatArray]:
    """(m,) float64 a block: micro-dollars for one unit of each row."""
    first, prices = instance.num_classes, []
    for part in parts:
        prices.append(duals[first : first + len(part.size)] / _units(part) * DOLLAR)
        first += len(part.size)
    return prices


def _solved_prices(
    instance: ProvisioningInstance, blocks: list[Block], machines: int | None, time_limit_s: float | None
) -> tuple[list[Block], FloatArray] | None:
    """Return the blocks' rows in the last program and its duals, or None where the limit came first."""
    start = time.perf_counter()
    chosen = [np.arange(len(block.size) if block.core is None else block.core) for block in blocks]
    last = None
    for _ in range(MAX_ROUNDS):
        parts = [block.part(rows) for block, rows in zip(blocks, chosen, strict=True)]
        left = None if time_limit_s is None else max(0.0, time_limit_s - (time.perf_counter() - start))
        result = solve(block_model(instance, parts, machines), time_limit_s=left)
        if result.row_duals is None or result.x is None:
            return last
        last = parts, result.row_duals
        violated = _violated(instance, blocks, result.x)
        grown = [np.union1d(rows, new) for rows, new in zip(chosen, violated, strict=True)]
        if all(map(np.array_equal, grown, chosen)):
            break
        chosen = grown
    return last


def _violated(instance: ProvisioningInstance, blocks: list[Block], x: FloatArray) -> list[IntArray]:
    """Return the rows of each block that a solution of the linear program breaks, at most MAX_NEW of them."""
    machines, first, rows = x[-instance.num_types :], 0, []
    for block in blocks:
        inside = np.flatnonzero(block.allowed)
        share = x[first : first + inside.size]
        over = (block.size[:, inside] @ share - block.capacity @ machines[block.types]) / _units(block)
        worst = np.argsort(-over, kind="stable")[:MAX_NEW]
        rows.append(worst[over[worst] > VIOLATED])
        first += inside.size
    return rows


def certified(
    instance: ProvisioningInstance, blocks: list[Block], prices: list[FloatArray], machines: int = 0, rent: float = 0.0
) -> int:
    """Return the bound that given prices prove, in exact arithmetic; any non-negative prices do.

    prices : (m,) float64 a block, micro-dollars for one unit of the row. rent : micro-dollars a machine, the dual of
    their number.
    """
    whole_rent = int(rent * PRICE_SCALE) + 1 if rent > 0 else 0
    worth = worths(instance, blocks, prices, whole_rent)
    total = sum(int(n) * v for n, v in zip(instance.counts, worth, strict=True)) - machines * whole_rent
    step = price_step(instance) * PRICE_SCALE
    return max(0, -(-total // step)) * price_step(instance)


def worths(
    instance: ProvisioningInstance, blocks: list[Block], prices: list[FloatArray], whole_rent: int = 0
) -> list[int]:
    """Return what a task of each class is worth at given prices: the least over the blocks, exactly.

    Prices are lowered until no pattern of a machine is worth more than it and `whole_rent`, in the unit of `block_worths`.
    """
    worth: list[int | None] = [None] * instance.num_classes
    for block, price in zip(blocks, prices, strict=True):
        weights = np.array([int(max(p, 0.0) * PRICE_SCALE) for p in price], dtype=object)
        room = [int(instance.price[k]) * PRICE_SCALE + whole_rent for k in block.types]
        used = weights @ block.capacity.astype(object) if weights.size else [0] * block.types.size
        tight = [(has, needs) for has, needs in zip(room, used, strict=True) if needs > has]
        if tight:
            has, needs = min(tight, key=lambda pair: pair[0] / pair[1])
            # One part in 2^40 covers the choice of the least ratio by floating point.
            weights = weights * (has - (has >> 40)) // needs
            assert all(u <= h for u, h in zip(weights @ block.capacity.astype(object), room, strict=True))
        inside = np.flatnonzero(block.allowed)
        values = weights @ block.size[:, inside].astype(object) if weights.size else [0] * inside.size
        for c, value in zip(inside, values, strict=True):
            known = worth[c]
            worth[c] = value if known is None else min(known, value)
    return [v or 0 for v in worth]


def _units(block: Block) -> FloatArray:
    """(m,) float64: the largest capacity of each row, 1 where there is none."""
    units: FloatArray = np.maximum(block.capacity.max(axis=1), 1).astype(np.float64)
    return units
