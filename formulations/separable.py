"""At which size of numbers a solver's search over whole variables stops being a proof.

A branch-and-bound code works in floating point with tolerances of 1e-6 to 1e-9 of what it measures them against, CP-SAT
with 64-bit integers whose products its presolve takes. A row whose numbers lie far apart loses its smallest ones in either,
and then feasible points are cut off: the bound is too high, or the program is called infeasible. Measured on assignment
programs of 1 to 7 tasks: at coefficients up to 2^23 nothing is lost; near 2^25 CBC loses optima, near 2^30 SCIP does, near
2^40 CP-SAT and HiGHS do.

So a bound, or a claim of infeasibility, from a search counts only where every row is *separable*: its coefficients, and
the sides that it can reach, are exact as floats, and the largest is at most 2^21 times the smallest step that the row can
take. That step is the greatest common divisor of the coefficients where they and the row's variables are whole, and
otherwise the smallest coefficient. Costs are summed, not compared, and last longer: near 2^37 nothing is lost, near 2^41
HiGHS and SCIP lose optima, and CBC calls programs infeasible whose costs are all the same 10^15. They may go up to 2^38
units of the objective, which builders choose as large as they can (an ordinary schedule of jobs in milliseconds has 2^37).
LPs need none of this: their bounds come from the duals
(`backends.certificate`).

`backends.solve` asks this of every program with whole variables; where it is not so, its answer is a solution at best, and
`ModelResult.unproven` is the reason. A formulation may ask first, and refuse the instance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csc_array

from schedgap.formulations.linear_model import LinearModel
from schedgap.instances.arrays import FloatArray

# The largest coefficient of a row in its steps; and the size at which floats no longer hold every whole number.
SEPARABLE = 2**21
DEAREST = 2**38
EXACT = 2**53


def inseparable(model: LinearModel) -> str | None:
    """Return None, or why no search over the whole variables of a model proves anything; O(entries)."""
    return separated(model)[1]


def separated(model: LinearModel) -> tuple[LinearModel, str | None]:
    """Return an equivalent model for the solver, and None or why a search over its whole variables proves nothing.

    Rows that are too wide as they stand are divided by their steps, and rows with shares by their largest number; every other
    row stays as it is.
    """
    if not model.integral.any():
        return model, None
    if (largest_number := _largest_number(model)) >= EXACT:
        return model, f"the program has numbers up to {largest_number:.3g}: floats hold them all up to {EXACT:.3g} only"
    if (reason := _too_costly(np.abs(model.cost))) is not None:
        return model, reason
    rows = model.matrix.tocsr()
    used = np.flatnonzero(np.diff(rows.indptr))
    starts, values = rows.indptr[used], np.abs(rows.data)
    if used.size == 0:
        return model, None
    largest, smallest = np.maximum.reduceat(values, starts), np.minimum.reduceat(values, starts)
    # Without a fraction no step is below 1, and no smaller than the smallest coefficient is needed to be sure.
    is_whole = np.logical_and.reduceat((values == np.rint(values)) & model.integral[rows.indices], starts)
    wide = np.flatnonzero(largest > SEPARABLE * np.where(is_whole, 1.0, smallest))
    steps, scales = np.ones(rows.shape[0]), np.ones(rows.shape[0])
    # HiGHS takes 2 + 3e-10 for 2, and that breaks a row of large numbers by more than it allows: of 1,496 programs of whole
    # machines and shares with tight rows 22 lost their optimum at numbers near 10^9, 4 near 10^3, none at 1.
    mixed = np.flatnonzero(~is_whole & (largest > 1))
    scales[used[mixed]] = largest[mixed]
    if wide.size == 0:
        return (_divided(model, steps, scales) if mixed.size else model), None
    for i in wide.tolist():
        step = smallest[i]
        if is_whole[i]:
            step = float(np.gcd.reduce(values[starts[i] : rows.indptr[used[i] + 1]].astype(np.int64)))
            steps[used[i]] = step
        if largest[i] > SEPARABLE * step:
            name = f"row {used[i]}" if model.row_names is None else model.row_names[used[i]]
            return model, (
                f"{name} of the program has coefficients up to {largest[i] / step:.3g} of its steps, over {SEPARABLE}: "
                "solvers' tolerances do not tell them apart"
            )
    return _divided(model, steps, scales), None


def _largest_number(model: LinearModel) -> float:
    """Return the size of the largest coefficient, cost, bound and side; of sides only those that a row can reach."""
    sizes = np.abs(np.concatenate((model.matrix.data, model.cost, model.lower, model.upper)))
    sides = np.stack((model.row_lower, model.row_upper))
    far = np.isfinite(sides) & (np.abs(sides) >= EXACT)
    if far.any():
        reach = abs(model.matrix) @ np.minimum(
            np.maximum(np.abs(model.lower), np.abs(model.upper)), np.finfo(float).max
        )
        sizes = np.concatenate((sizes, np.abs(sides[far & (reach >= EXACT)])))
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def _too_costly(cost: FloatArray) -> str | None:
    dearest = float(cost.max(initial=0.0))
    if dearest <= DEAREST:
        return None
    return f"a cost of the program is {dearest:.3g} units, over {DEAREST}: solvers' arithmetic does not hold them"


def _divided(model: LinearModel, steps: FloatArray, scales: FloatArray) -> LinearModel:
    """Return the model with its rows divided by `steps` and `scales` (m,); sides of rows with a step become whole."""
    divided = steps > 1
    matrix = model.matrix.tocoo()
    entries = (matrix.data / (steps * scales)[matrix.row], (matrix.row, matrix.col))
    return replace(
        model,
        matrix=csc_array(entries, shape=matrix.shape),
        row_lower=np.where(divided, np.ceil(np.ceil(model.row_lower) / steps), model.row_lower / scales),
        row_upper=np.where(divided, np.floor(np.floor(model.row_upper) / steps), model.row_upper / scales),
    )
