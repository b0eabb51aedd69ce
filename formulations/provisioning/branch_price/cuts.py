"""Subset-row cuts: of three tasks, at most one machine holds two or more (Jepsen, Petersen, Spoorendonk and Pisinger, 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.branch_price.kernels_cuts import violated_triples
from schedgap.formulations.provisioning.branch_price.pricing import Cut

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.branch_price.relaxation import Relaxation
    from schedgap.instances.arrays import FloatArray

# Cuts that are violated by less are not worth their row; so many come in at a time, of one item at most so many.
LEAST, CANDIDATES, NEW, OF_ITEM = 0.02, 400, 40, 4
# Bounds on the O(n^3) search.
MAX_ITEMS = 1_200


def violated_cuts(relaxation: Relaxation) -> list[Cut]:
    """Return cuts that the last solution of a relaxation violates, the most violated first; of items that are single tasks."""
    program, found = relaxation.program, relaxation.found
    if found is None or program.num_items > MAX_ITEMS or (program.counts > 1).any():
        return []
    used = np.flatnonzero(found.x > 1e-7)
    contents, x = relaxation.master.contents[used].astype(np.float64), found.x[used]
    pair = shared(contents, x)
    item, column = np.nonzero(contents.T)
    start = np.searchsorted(item, np.arange(program.num_items + 1))
    triples, by = violated_triples(pair, start, column, contents, x, LEAST, CANDIDATES)
    known = {tuple(np.flatnonzero(cut.numerators)) for cut in relaxation.master.cuts}
    times = np.zeros(program.num_items, np.int64)
    cuts: list[Cut] = []
    for t in np.argsort(-by, kind="stable"):
        if len(cuts) == NEW:
            break
        triple = tuple(triples[t].tolist())
        if triple not in known and (times[triples[t]] < OF_ITEM).all():
            times[triples[t]] += 1
            numerators = np.zeros(program.num_items, np.int64)
            numerators[triples[t]] = 1
            cuts.append(Cut(numerators, 2, 1))
    return cuts


def shared(contents: FloatArray, x: FloatArray) -> FloatArray:
    """(n, n): how many machines hold both items of a pair, by contents (P, n) and their machines x (P,); diagonal 0."""
    pair: FloatArray = (contents.T * x) @ contents
    np.fill_diagonal(pair, 0.0)
    return pair
