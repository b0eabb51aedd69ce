"""First item values, which prove a bound without any search: prices of one resource, and items of which no two fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.column_generation.resource_prices import single_resource_prices
from schedgap.formulations.provisioning.limits import MAX_NANO
from schedgap.instances.provisioning.dual_bound import NANO

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.branch_price.program import Program
    from schedgap.instances.arrays import BoolArray, IntArray

# Pairs of items are looked at up to so many.
MAX_ITEMS = 1_500


def first_values(program: Program) -> IntArray:
    """(n,) int64, nano-dollars: values at which no content of a machine is worth more than its price; the best that are known."""
    candidates = [single_resource_prices(program.instance)]
    if program.num_items <= MAX_ITEMS:
        candidates.append(clique_values(program))
    worth = [int(values.astype(object) @ program.counts) for values in candidates]
    return candidates[int(np.argmax(worth))]


def clique_values(program: Program) -> IntArray:
    """(n,) int64, nano-dollars: for items of which no two fit one machine, the price of the cheapest machine each fits.

    Every machine holds at most one of them. The clique is the heaviest of those that a greedy search finds. O(n^2 K R).
    """
    price = program.instance.price * NANO
    value = np.where(program.fits, price[:, None], np.iinfo(np.int64).max).min(axis=0)
    value = np.minimum(value, MAX_NANO // int(program.counts.sum()))
    share = (program.demand / np.maximum(program.capacity.max(axis=0), 1)).max(axis=0)
    apart = ~_fit_together(program)
    best: IntArray = np.zeros(program.num_items, np.int64)
    for key in (*share.T, share.sum(axis=1), share.max(axis=1), apart.sum(axis=1)):
        member = _greedy_clique(apart, np.argsort(-key, kind="stable"))
        # A class of several tasks counts for each of them only where two of its own do not fit together.
        alone = np.where(np.diag(apart), program.counts, 1)
        values = np.where(member & (alone >= program.counts), value, 0)
        if int(values.astype(object) @ program.counts) > int(best.astype(object) @ program.counts):
            best = values
    return best


def _fit_together(program: Program) -> BoolArray:
    """(n, n): whether some machine type holds one of each item of a pair, or two of one item."""
    together = np.zeros((program.num_items, program.num_items), np.bool_)
    for k, f in enumerate(program.instance.type2family):
        fits = program.fits[k][:, None] & program.fits[k]
        for r, capacity in enumerate(program.capacity[k]):
            size = program.demand[f][:, r]
            fits &= size[:, None] + size <= capacity
        together |= fits
    return together


def _greedy_clique(apart: BoolArray, order: IntArray) -> BoolArray:
    """(n,): items taken in order, each if no taken one fits beside it."""
    member, can_join = np.zeros(apart.shape[0], np.bool_), np.ones(apart.shape[0], np.bool_)
    for i in order:
        if can_join[i]:
            member[i] = True
            can_join &= apart[i]
            can_join[i] = False
    return member
