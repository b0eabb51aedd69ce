"""Placement constraints as jobs in Google's clusters have them, calibrated to Eunomia's Figure 5b.

After Sharma et al., "Modeling and synthesizing task placement constraints in Google compute clusters" (SoCC 2011): a
machine has attributes; a job either runs anywhere or asks for one attribute, or for two at once. How often machines
have an attribute is assumed. Letters used for shapes: M machines, P predicates, J jobs.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.draws import drawn, shuffled
from schedgap.instances.errors import InstanceError

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

# Shares of machines with each value: instruction set, kernel, Ethernet, number of disks.
DRAWN_ATTRIBUTES = {
    "isa": (0.6, 0.3, 0.1),
    "kernel": (0.4, 0.25, 0.2, 0.1, 0.05),
    "ethernet": (0.7, 0.3),
    "disks": (0.2, 0.4, 0.3, 0.1),
}
# Of these a job names a value; of all others it asks for at least so much.
NOMINAL = ("isa",)
# Figure 5b: "about 18% of jobs can be run at any nodes while 50% of nodes can run 35% of jobs". The second half is read
# as an upper tail, as the first one is: 35 % of the jobs can run on half of the machines or more; or as what the curve
# of a distribution function shows: 35 % can run on fewer than half.
ANYWHERE = 0.18
ON_HALF = {"upper": 0.35, "lower": 0.65}
TENTHS = 10
EXACT, EVEN = 1000.0, 0.01


def draw_attributes(rng: np.random.Generator, machines: int) -> dict[str, IntArray]:
    """Return (M,) int64 for each attribute that is independent of a machine's shape and speed."""
    return {
        name: drawn(rng, np.arange(len(shares)), shares, machines).astype(np.int64)
        for name, shares in DRAWN_ATTRIBUTES.items()
    }


def predicates(attributes: dict[str, IntArray]) -> BoolArray:
    """Return (P, M) bool, which machines each predicate holds for; the first holds for all.

    Single ones, and conjunctions of two attributes, as far as they hold for some machine and not for all.
    """
    singles: list[tuple[str, BoolArray]] = []
    for name, values in attributes.items():
        for value in np.unique(values):
            singles.append((name, values == value if name in NOMINAL else values >= value))
    singles = [(name, holds) for name, holds in singles if not holds.all()]
    rows = [holds for _, holds in singles]
    rows += [one & other for (a, one), (b, other) in combinations(singles, 2) if a != b]
    anywhere = np.ones(next(iter(attributes.values())).shape[0], np.bool_)
    return np.array([anywhere, *(row for row in rows if row.any())])


def fit_weights(fraction: FloatArray, on_half: float) -> FloatArray:
    """Return (P,) float64, how often predicates are drawn so that Figure 5b holds, by non-negative least squares.

    fraction : (P,) of the machines for which a predicate holds. on_half : share of jobs with at least half of them.
    Beside the figure's two points, each tenth below one half is to be drawn equally often, each tenth above too, and so
    is each predicate within a tenth.

    Raises
    ------
    InstanceError
        if no weights make the figure's points hold.
    """
    # Here, since it takes a tenth of a second to import and `schedgap list` needs none of it.
    from scipy.optimize import nnls

    points = np.array([np.ones(fraction.shape[0]), fraction >= 1, fraction >= 0.5], np.float64)
    wanted = np.array([1.0, ANYWHERE, on_half])
    tenth = np.minimum((fraction * TENTHS).astype(np.int64), TENTHS)
    tenths = (tenth[None, :] == np.arange(TENTHS)[:, None]).astype(np.float64)
    half = TENTHS // 2
    even = np.repeat([(1 - on_half) / half, (on_half - ANYWHERE) / half], half)
    rows = np.concatenate((EXACT * points, tenths, EVEN * np.eye(fraction.shape[0])))
    weights, _ = nnls(rows, np.concatenate((EXACT * wanted, even, np.zeros(fraction.shape[0]))))
    if np.abs(points @ weights - wanted).max() > 1e-4:
        raise InstanceError(
            f"the machines' attributes allow no constraints by which {ANYWHERE:.0%} of the jobs run anywhere and "
            f"{on_half:.0%} on half of the machines; give another seed or more machines."
        )
    return np.asarray(weights, np.float64)


def draw_constraints(rng: np.random.Generator, holds: BoolArray, jobs: int, reading: str) -> BoolArray:
    """Return (J, M) bool, where jobs may run; the shares of Figure 5b hold for any number of jobs, but for rounding.

    holds : (P, M), see `predicates`. reading : of the figure, one of `ON_HALF`.

    Raises
    ------
    InstanceError
        for another reading, or if no weights make the figure's points hold.
    """
    if reading not in ON_HALF:
        raise InstanceError(f"reading is '{reading}'; choose one of {', '.join(ON_HALF)}.")
    fraction = holds.mean(axis=1)
    weights = fit_weights(fraction, ON_HALF[reading])
    anywhere, on_half = round(ANYWHERE * jobs), round(ON_HALF[reading] * jobs)
    groups = (
        (fraction >= 1, anywhere),
        ((fraction >= 0.5) & (fraction < 1), on_half - anywhere),
        (fraction < 0.5, jobs - on_half),
    )
    chosen = [drawn(rng, np.flatnonzero(group), weights[group], number) for group, number in groups if number]
    return holds[shuffled(rng, np.concatenate(chosen))]
