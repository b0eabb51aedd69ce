"""How good each rule finds a node for a pod. Whole numbers where the source has them, by its own operations and truncation.

Weng et al., USENIX ATC 2023, and their simulator (github.com/hkust-adsl/kubernetes-scheduler-simulator, `pkg/simulator/plugin`):
best fit, dot product, clustering, packing, FGD. kube-scheduler: kubernetes/kubernetes, `pkg/scheduler/framework/plugins/
noderesources`. Volcano: `pkg/scheduler/plugins/binpack`. KAI: `pkg/scheduler/plugins/{nodeplacement,gpusharingorder,
resourcetype}`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.jit import inner_kernel, lean_kernel

if TYPE_CHECKING:
    from schedgap.heuristics.placement.state import Fleet, Target

ONE = 1000
NONE = -math.inf
# The largest node of the trace: what the simulator divides by.
MAX_CPU, MAX_GPU = 128_000.0, 8_000.0
RANDOM, FIRST_FIT, BEST_FIT, DOT_PRODUCT, CLUSTERING, PACKING, FGD, FGD_EXACT = range(8)


class Rule(NamedTuple):
    """kind : which rule it is."""

    kind: int


@inner_kernel
def fits(s: Fleet, n: int, c: int) -> bool:
    """Return whether a node has room for a pod of a class. O(R + G)."""
    if not s.admits[c, s.node2type[n]]:
        return False
    for r in range(s.free.shape[1]):
        if s.demand[c, r] > s.free[n, r]:
            return False
    k, g = s.gpus[c], s.gpu_milli[c]
    if k > 0:
        for i in range(s.milli.shape[1]):
            k -= s.milli[n, i] >= g
    return bool(k <= 0)


@inner_kernel
def tightest(s: Fleet, n: int, g: int) -> int:
    """Return the GPU with the least left that suffices, of equals the first."""
    found = -1
    for i in range(s.milli.shape[1]):
        if s.milli[n, i] >= g and (found < 0 or s.milli[n, i] < s.milli[n, found]):
            found = i
    return found


@inner_kernel
def idle(s: Fleet, n: int) -> int:
    """Return the thousandths of GPUs that are left on a node."""
    total = 0
    for i in range(s.milli.shape[1]):
        total += s.milli[n, i]
    return total


@lean_kernel
def fragment(s: Fleet, target: Target, n: int, cpu: int, gpu: int, taken: int, whole: int) -> float:
    """Return what is no use to the mix on a node with so much CPU left, after `taken` of a GPU, and the first `whole` free ones.

    In thousandths of a GPU: F of FGD. gpu : -1 for none. O(M G).
    """
    total = -taken - ONE * whole + idle(s, n)
    t = s.node2type[n]
    booked = 0
    for m in range(target.cpu.shape[0]):
        milli = target.milli[m]
        if milli == 0 or not target.admits[m, t] or cpu < target.cpu[m]:
            booked += target.pods[m] * total
            continue
        enough, too_small, skip = 0, 0, whole
        for i in range(s.num_gpus[t]):
            left = s.milli[n, i]
            if i == gpu:
                left -= taken
            elif skip > 0 and left == ONE:
                skip -= 1
                left = 0
            if left >= milli:
                enough += 1
            else:
                too_small += left
        booked += target.pods[m] * (total if enough < target.gpus[m] else too_small)
    return booked / target.total


@inner_kernel
def _fgd(s: Fleet, target: Target, n: int, c: int, is_exact: bool) -> tuple[float, int]:
    """Return the score, and the GPU for a share."""
    before, cpu = target.fragment[n], s.free[n, s.cpu] - s.demand[c, s.cpu]
    g = s.gpu_milli[c]
    if s.gpus[c] != 1 or g == ONE:
        gain = before - fragment(s, target, n, cpu, -1, 0, s.gpus[c])
        return (gain if is_exact else truncated(gain)), -1
    best, gpu = NONE, -1
    for i in range(s.milli.shape[1]):
        left = s.milli[n, i]
        is_new = left >= g
        for j in range(i):
            is_new &= s.milli[n, j] != left
        if is_new:
            gain = before - fragment(s, target, n, cpu, i, g, 0)
            score = gain if is_exact else truncated(gain)
            if score > best:
                best, gpu = score, i
    return best, gpu


@lean_kernel
def truncated(gain: float) -> float:
    """Return the whole number from 0 to 100 that FGD gives to less fragment."""
    return math.floor(100.0 / (1.0 + math.exp(-gain / 1000.0)))


@inner_kernel
def _clustering(s: Fleet, n: int, c: int) -> int:
    k = s.gpus[c]
    if k == 0:
        return 0
    tag = 1 if s.gpu_milli[c] < ONE else 1 << k
    full = int(25 * (MAX_GPU - idle(s, n)) / MAX_GPU)
    tags = s.tags[n]
    if tags & tag:
        return full + 75 if tags == tag else full + 50
    return full + 25 if tags == 0 else full


@inner_kernel
def _packing(s: Fleet, n: int, c: int) -> int:
    k = s.gpus[c]
    if k == 0:
        return 0
    free, all_gpus = 0, s.num_gpus[s.node2type[n]]
    for i in range(all_gpus):
        free += s.milli[n, i] == ONE
    if free == all_gpus:
        return max(33 - free, free)
    if s.gpu_milli[c] == ONE:
        return int(max(50 - k, 33))
    left = s.milli[n, tightest(s, n, s.gpu_milli[c])]
    if left == ONE:
        return 49
    return int(max(100 - left * 100 // ONE // 10, 50))


@lean_kernel
def evaluate(s: Fleet, rule: Rule, target: Target, n: int, c: int) -> tuple[float, float, int]:
    """Return both scores of a node for a pod of a class, -inf where it does not fit, and the GPU for a share."""
    if not fits(s, n, c):
        return NONE, NONE, -1
    kind = rule.kind
    if kind in (FGD, FGD_EXACT):
        score, gpu = _fgd(s, target, n, c, kind == FGD_EXACT)
        return score, 0.0, gpu
    score, asked = 0.0, s.gpus[c] * s.gpu_milli[c]
    if kind == BEST_FIT:
        lost = (s.free[n, s.cpu] - s.demand[c, s.cpu]) / MAX_CPU * 0.5
        lost += (idle(s, n) - asked) / MAX_GPU * 0.5
        score = float(int((1.0 - lost) * 100.0))
    elif kind == DOT_PRODUCT:
        product = (s.free[n, s.cpu] / MAX_CPU) * (s.demand[c, s.cpu] / MAX_CPU)
        product += (idle(s, n) / MAX_GPU) * (asked / MAX_GPU)
        score = float(int(100.0 * (1.0 - product / 2.0)))
    elif kind == CLUSTERING:
        score = float(_clustering(s, n, c))
    elif kind == PACKING:
        score = float(_packing(s, n, c))
    return score, 0.0, tightest(s, n, s.gpu_milli[c])
