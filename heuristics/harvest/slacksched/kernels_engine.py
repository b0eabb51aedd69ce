"""The prediction engine (SlackSched, section 3.1): how likely a VM lets a task complete, and when it would have done so.

X is the time between two changes of a VM, of all VMs together; S(t) = P(X > t) and I(t) its integral from 0 to t. P(x) is
the probability that the next change is a shrink if the last one went in direction x. With e' = e + a and

    A(e', d) = I(e' + d) - I(e') - d S(e' + d) = E[(X - e') 1(e' < X < e' + d)]

Equation 2, whose last term is itself with e = a = 0 and x = grown, becomes

    R(d) = d + P(grown) A(0, d) / (1 - P(grown) (1 - S(d)))
    E(x, a, e, d) = a + d + P(x) / S(e') ((S(e') - S(e' + d)) (R(d) - d) + A(e', d))

S is known on a uniform grid, linear in between, I its exact integral. From the quantile on at which too few gaps are left to
count, S goes on as a Pareto distribution: the gaps of a day say nothing of VMs that have not changed for longer than that.
"""

from __future__ import annotations

import numpy as np

# At run time, too: what is compiled depends on the fields.
from schedgap.heuristics.harvest.slacksched.state import Engine
from schedgap.instances.arrays import Records
from schedgap.instances.harvest.simulator.state import GREW, NOBODY, SHRANK, Change, State, Vm
from schedgap.instances.jit import inlined_kernel, inner_kernel, lean_kernel
from schedgap.instances.kernels.sort import sort

# Values of `EngineOptions.survival`: how S is estimated.
ECDF, KAPLAN_MEIER, PLAIN = 0, 1, 2
# Values of `EngineOptions.span`, what X is the time between: two changes, or a change and the next shrink of the VM (Equation 3),
# after which P(x) = 1.
CHANGE_TO_CHANGE, CHANGE_TO_SHRINK = 0, 1

FINEST_STEP_MS = 5_000.0
TAIL_SHARE = 0.02
# A Hill estimate of fewer gaps than these is noise.
LEAST_TAIL = 10
LEAST_ALPHA, MOST_ALPHA = 0.3, 10.0
LONGEST_MS = 1e18


@inlined_kernel
def look(g: Engine, ms: float) -> tuple[float, float]:
    """Return S and I at `ms` >= 0."""
    tail = g.fitted[0].tail_ms
    if ms >= tail:
        survival = g.fitted[0].tail_survival * (ms / tail) ** -g.fitted[0].tail_alpha
        beyond = (g.fitted[0].tail_survival * tail - survival * ms) / (g.fitted[0].tail_alpha - 1.0)
        return survival, g.fitted[0].tail_integral + beyond
    step = g.fitted[0].step
    place = ms / step
    cell = min(int(place), g.fitted[0].cells - 1)
    share = place - cell
    left = g.curve[cell].survival
    slope = g.curve[cell + 1].survival - left
    return left + share * slope, g.curve[cell].integral + share * step * (left + 0.5 * share * slope)


@inlined_kernel
def p_shrink(g: Engine, x: int) -> float:
    """Return P(x)."""
    return g.fitted[0].p_if_shrank if x == SHRANK else g.fitted[0].p_if_grew


@inner_kernel
def restart_loss(g: Engine, d: float) -> float:
    """Return R(d) - d: what a task of length d loses to shrinks on VMs that have just come to be, until it completes."""
    survival, integral = look(g, d)
    p = g.fitted[0].p_if_grew
    # Written so that it is not 0 where S is next to nothing and p is 1.
    return float(p * max(integral - d * survival, 0.0) / ((1.0 - p) + p * survival))


@inner_kernel
def loss_from(g: Engine, x: int, age: float, d: float, again: float) -> float:
    """Return what a task of length d loses that starts when the VM is of that age. again : its `restart_loss`.

    Rises with d: that prunes.
    """
    survival, integral = look(g, age)
    last, last_integral = look(g, age + d)
    # Rounding may leave differences of 1e-10 below zero.
    started = max(last_integral - integral - d * last, 0.0)
    return float(p_shrink(g, x) / survival * (max(survival - last, 0.0) * again + started))


@inner_kernel
def completes_by(g: Engine, x: int, e: float, d: float) -> float:
    """Return the completion probability (Equation 1)."""
    survival, _ = look(g, e)
    last, _ = look(g, e + d)
    return float(1.0 - p_shrink(g, x) * (1.0 - last / survival))


@inner_kernel
def wasted_from(g: Engine, e: float, d: float) -> float:
    """Return the integral of t f(t) from e to e + d: what a task of length d is expected to waste at a VM's age e (SciSpot)."""
    survival, integral = look(g, e)
    last, last_integral = look(g, e + d)
    return float(e * survival - (e + d) * last + last_integral - integral)


@lean_kernel
def keep_fresh(s: State, g: Engine) -> bool:
    """Look at the log of the last day again if it is time to, and return whether it was. O(N log N + G) if so."""
    now = s.clock[0].now
    if now < g.fitted[0].next_refresh:
        return False
    g.fitted[0].next_refresh = now + g.options.refresh_ms
    observe(g, now, s.clock[0].changes, s.log, s.vms)
    return True


@lean_kernel
def observe(g: Engine, now: int, last: int, log: Records[Change], vms: Records[Vm]) -> None:
    """Fit S, I and P(x) to the changes of the window that ends now; `last` are in the log, as `State` has it."""
    begin, first = now - g.options.window_ms, g.fitted[0].first
    while first < last and log[first].ms <= begin:
        first += 1
    g.fitted[0].first = first
    if g.options.span == CHANGE_TO_SHRINK:
        g.fitted[0].p_if_grew = 1.0
        g.fitted[0].p_if_shrank = 1.0
    else:
        g.fitted[0].p_if_grew = _shrinks_after(g, GREW, first, last, log)
        g.fitted[0].p_if_shrank = _shrinks_after(g, SHRANK, first, last, log)
    size = 0
    if g.options.survival == KAPLAN_MEIER:
        # The spans that go on, of VMs that are there.
        for vm in range(vms.shape[0]):
            if vms[vm].cores > 0 and now > vms[vm].changed:
                size = _add(g, size, vms[vm].changed, now, 0, begin)
    for vm in range(vms.shape[0]):
        g.spans[vm].next_shrink = NOBODY
    for i in range(last - 1, first - 1, -1):
        start, end, ended = log[i].ms - log[i].gap, log[i].ms, 1
        if g.options.span == CHANGE_TO_SHRINK:
            if log[i].after == SHRANK:
                g.spans[log[i].vm].next_shrink = end
            elif g.spans[log[i].vm].next_shrink != NOBODY:
                end = g.spans[log[i].vm].next_shrink
            else:
                end, ended = now, 0
        if ended or g.options.survival == KAPLAN_MEIER:
            size = _add(g, size, start, end, ended, begin)
    fit(g, size)


@inner_kernel
def _shrinks_after(g: Engine, x: int, first: int, last: int, log: Records[Change]) -> float:
    """Estimate P(x) from pairs of successive changes, each pair counted once more than it was seen, if not `PLAIN`."""
    added = 1e-9 if g.options.survival == PLAIN else 1.0
    shrinks, all_changes = added, 2.0 * added
    for i in range(first, last):
        if log[i].before == x:
            all_changes += 1.0
            if log[i].after == SHRANK:
                shrinks += 1.0
    return shrinks / all_changes


@inlined_kernel
def _add(g: Engine, size: int, start: int, end: int, is_end: int, begin: int) -> int:
    g.spans[size].exit = end - start
    # A span that began before the window was seen from some age on, which only one of the two estimates knows.
    g.spans[size].entry = max(begin - start, 0) if g.options.survival == KAPLAN_MEIER else 0
    g.spans[size].is_end = is_end
    return size + 1


@lean_kernel
def fit(g: Engine, size: int) -> None:
    """Fit S and I to the first intervals: the product-limit estimate, which is the ECDF if all of them are whole.

    Where all of a risk set end at once, it counts as one larger, lest S be 0 from there on.
    """
    left_ends = 0
    for k in range(size):
        g.spans[k].order = 2 * g.spans[k].exit + g.spans[k].is_end
        g.spans[k].joins = g.spans[k].entry
        left_ends += g.spans[k].is_end
    sort(g.spans.order, g.spans.scratch, size)
    if g.options.survival == KAPLAN_MEIER:
        sort(g.spans.joins, g.spans.scratch, size)
    # Without a tail, what is left of S after the last gap is next to nothing.
    tail_ends = 0.0 if g.options.survival == PLAIN else max(TAIL_SHARE * left_ends, LEAST_TAIL)
    g.fitted[0].tail_ms = LONGEST_MS
    steps, joined, survival, i = 0, 0, 1.0, 0
    while i < size:
        at = g.spans[i].order >> 1
        while joined < size and g.spans[joined].joins < at:
            joined += 1
        at_risk, died = joined - i, 0
        while i < size and g.spans[i].order >> 1 == at:
            died += g.spans[i].order & 1
            i += 1
        left_ends -= died
        if died:
            survival *= 1.0 - died / max(at_risk, died + 1)
            g.spans[steps].step_ms = at
            g.spans[steps].step_survival = survival
            steps += 1
            if left_ends <= tail_ends:
                g.fitted[0].tail_ms = at
                break
    _tail(g, size)
    _grid(g, steps)


@inner_kernel
def _tail(g: Engine, size: int) -> None:
    """Fit the Pareto tail: the Hill estimate, for intervals that are seen from an age on or up to an age only."""
    tail, ends, logs = g.fitted[0].tail_ms, 0, 0.0
    for k in range(size):
        if g.spans[k].exit > tail:
            ends += g.spans[k].is_end
            logs += np.log(g.spans[k].exit / max(g.spans[k].entry, tail))
    alpha = ends / logs if logs > 0.0 else MOST_ALPHA
    alpha = min(max(alpha, LEAST_ALPHA), MOST_ALPHA)
    # The integral of t ** -alpha has another form at 1.
    g.fitted[0].tail_alpha = alpha if abs(alpha - 1.0) > 1e-6 else 1.0 + 1e-6


@inner_kernel
def _grid(g: Engine, steps: int) -> None:
    """Sample the step function up to the tail."""
    tail = g.fitted[0].tail_ms
    cells = int(min(max(np.ceil(tail / FINEST_STEP_MS), 1.0), g.curve.shape[0] - 1))
    step = tail / cells
    at, survival = 0, 1.0
    g.curve[0].survival = 1.0
    g.curve[0].integral = 0.0
    for j in range(1, cells + 1):
        ms = tail if j == cells else j * step
        while at < steps and g.spans[at].step_ms <= ms:
            survival = g.spans[at].step_survival
            at += 1
        g.curve[j].survival = survival
        g.curve[j].integral = g.curve[j - 1].integral + 0.5 * step * (g.curve[j - 1].survival + survival)
    g.fitted[0].step = step
    g.fitted[0].tail_survival = survival
    g.fitted[0].tail_integral = g.curve[cells].integral
    g.fitted[0].cells = cells
