"""A dive: fix the largest values of the relaxation, generate columns for what is left, and go on until nothing is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.limits import MAX_NANO, class_values
from schedgap.instances.provisioning.dual_bound import NANO
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from schedgap.formulations.backends.highs_lp import LpSolution
    from schedgap.formulations.provisioning.column_generation.relaxation import Relaxation
    from schedgap.instances.arrays import FloatArray, IntArray

NODE_LIMIT = 1_000
ROUNDS = 8
NEARLY_WHOLE = 0.85


def dive(relaxation: Relaxation, deadline: float, cutoff: int | None) -> Provisioning | None:
    """Return a solution cheaper than `cutoff` micro-dollars, or None. The master keeps the columns it was given.

    Every step fixes whole parts of the restricted master's solution, or else its largest value as one machine; patterns
    with more tasks than are left are forbidden, so nothing is covered twice.
    """
    instance, master = relaxation.instance, relaxation.master
    left = instance.counts.copy()
    types: list[int] = []
    repeats: list[int] = []
    patterns: list[IntArray] = []
    spent = 0
    low, high = master.low, master.high
    try:
        while left.any():
            master.restrict(left)
            solution = _solve(relaxation, left, deadline)
            if solution is None or (cutoff is not None and spent + solution.objective * DOLLAR >= cutoff):
                return None
            before = len(types)
            machine_type, known = master.machine_type, master.patterns
            for p, number in whole_parts(solution.x, known, left, NEARLY_WHOLE):
                types.append(int(machine_type[p]))
                repeats.append(number)
                patterns.append(known[p])
                spent += number * int(instance.price[types[-1]])
                left -= number * known[p]
            if types:
                used = repeats @ master.amounts(np.array(types), np.array(patterns))
                master.limit(low - used, high - used)
            if len(types) == before:
                return None
    finally:
        master.restrict(instance.counts)
        master.limit(low, high)
    if cutoff is not None and spent >= cutoff:
        return None
    return Provisioning.from_patterns(types, repeats, np.array(patterns))


def _solve(relaxation: Relaxation, left: IntArray, deadline: float) -> LpSolution | None:
    """Solve the restricted master for what is left, with a few rounds of quick pricing."""
    instance, master = relaxation.instance, relaxation.master
    for _ in range(ROUNDS):
        left_s = deadline - time.perf_counter()
        solution = master.solve(left_s) if left_s > 0 else None
        if solution is None:
            return None
        worths, shift = relaxation.effective(solution.row_duals)
        most = MAX_NANO // NANO
        target = np.clip(instance.price - shift * DOLLAR, -most, most).astype(np.int64) * NANO
        values = class_values(instance, worths)
        priced = relaxation.pricer.price(values, target, NODE_LIMIT, use_tables=False, counts=left)
        if not relaxation.add(priced, solution.row_duals):
            break
    return solution


def whole_parts(
    x: FloatArray, contents: IntArray, left: IntArray, nearly_whole: float, tabu: frozenset[int] = frozenset()
) -> list[tuple[int, int]]:
    """Choose contents and how many machines of each, all within what is left; at least one if any fits.

    x : (P,) machines in a relaxation. contents : (P, n). left : (n,). nearly_whole : of the part of a machine that counts
    as one; where no content has so much, the one that has most comes once. tabu : contents to leave out.
    """
    left = left.copy()
    chosen: list[tuple[int, int]] = []
    order = np.argsort(-x, kind="stable")
    for p in order[x[order] > 1e-6].tolist():
        value = float(x[p])
        if p in tabu:
            continue
        if chosen and value < nearly_whole:
            break
        used = contents[p] > 0
        room = int((left[used] // contents[p, used]).min())
        times = min(room, int(value + 1 - nearly_whole) or (0 if chosen else 1))
        if times:
            chosen.append((p, times))
            left -= times * contents[p]
    return chosen
