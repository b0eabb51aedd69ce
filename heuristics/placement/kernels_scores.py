"""How good each rule finds a node for a pod. Whole numbers where the source has them, by its own operations and truncation.

Weng et al., USENIX ATC 2023, and their simulator (github.com/hkust-adsl/kubernetes-scheduler-simulator, `pkg/simulator/plugin`):
best fit, dot product, clustering, packing, FGD. PWR: github.com/Fr4nz83/PWR-plugin-kubernetes. kube-scheduler:
kubernetes/kubernetes, `pkg/scheduler/framework/plugins/noderesources`. Volcano: `pkg/scheduler/plugins/binpack`. KAI:
`pkg/scheduler/plugins/{nodeplacement,gpusharingorder,resourcetype,gpupack,gpuspread}`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from schedgap.heuristics.placement.state import State
from schedgap.instances.jit import inner_kernel, lean_kernel

ONE = 1000
NONE = -math.inf
# The largest node of the trace: what the simulator divides by.
MAX_CPU, MAX_GPU = 128_000.0, 8_000.0
RANDOM, FIRST_FIT, BEST_FIT, DOT_PRODUCT, CLUSTERING, PACKING, FGD, FGD_EXACT = range(8)
PWR, PWR_FGD, KUBE, VOLCANO, KAI_BINPACK, KAI_SPREAD, PRICED = range(8, 15)
LEAST, MOST, RATIO, BALANCED = range(4)
# PWR_FGD keeps both scores in one number: watts times this, and FGD's, which is at most 100.
BOTH = 1000
# KAI's plug-ins have weights so far apart that one decides before the next.
FIRST_OF_ALL = 2.0**50
# Weights of `PRICED`, in whole GPUs; scores are rounded down to a hundredth of one, so that the first of equals is taken.
SURPLUS, OPENED, SOUGHT, ROUNDED = 0.3, 0.05, 0.02, 0.01


class Rule(NamedTuple):
    """kind : which rule it is. strategy, balances : of `KUBE`. power, fragment : weights of `PWR_FGD`."""

    kind: int
    strategy: int = LEAST
    balances: bool = False
    power: int = 0
    fragment: int = 0


@inner_kernel
def first_slice(s: State, n: int, i: int, c: int) -> int:
    """Return where a pod of a class starts on a GPU: the last slice that is open, as the first stay free longest; -1 for none.

    0 for a pod that takes no slices. O(slices).
    """
    size = s.classes[c].slices
    start = s.kinds[s.nodes[n].of].slices - size if size > 0 else 0
    while (
        size > 0 and start >= 0 and (not s.classes[c].starts >> start & 1 or s.taken[n, i] >> start & ((1 << size) - 1))
    ):
        start -= 1
    return start


@inner_kernel
def has_room(s: State, n: int, i: int, c: int) -> bool:
    """Return whether a GPU has room for a pod of a class that takes some."""
    return bool(s.milli[n, i] >= s.classes[c].milli and (s.classes[c].slices == 0 or first_slice(s, n, i, c) >= 0))


@inner_kernel
def fits(s: State, n: int, c: int) -> bool:
    """Return whether a node has room for a pod of a class. O(R + G)."""
    if not s.admits[c, s.nodes[n].of]:
        return False
    for r in range(s.free.shape[1]):
        if s.demand[c, r] > s.free[n, r]:
            return False
    k = s.classes[c].gpus
    if k > 0:
        for i in range(s.milli.shape[1]):
            k -= has_room(s, n, i, c)
    return bool(k <= 0)


@inner_kernel
def _gpu_by_left(s: State, n: int, c: int, is_most: bool) -> int:
    """Return the GPU with the least left that suffices, or the most, of equals the first."""
    found = -1
    for i in range(s.milli.shape[1]):
        left = s.milli[n, i]
        if has_room(s, n, i, c) and (found < 0 or (left > s.milli[n, found] if is_most else left < s.milli[n, found])):
            found = i
    return found


@inner_kernel
def _idle(s: State, n: int) -> int:
    total = 0
    for i in range(s.milli.shape[1]):
        total += s.milli[n, i]
    return total


@lean_kernel
def fragment(s: State, n: int, cpu: int, gpu: int, taken: int, whole: int) -> float:
    """Return what is no use to the mix on a node with so much CPU left, after `taken` of a GPU, and the first `whole` free ones.

    In thousandths of a GPU: F of FGD. gpu : -1 for none. O(M G).
    """
    total = _idle(s, n) - taken - ONE * whole
    t = s.nodes[n].of
    booked = pods = 0
    for m in range(s.mix.shape[0]):
        milli = s.mix[m].milli
        pods += s.mix[m].pods
        if milli == 0 or not s.mix_admits[m, t] or cpu < s.mix[m].cpu:
            booked += s.mix[m].pods * total
            continue
        enough, too_small, skip = 0, 0, whole
        for i in range(s.kinds[t].num_gpus):
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
        booked += s.mix[m].pods * (total if enough < s.mix[m].gpus else too_small)
    return booked / pods


@lean_kernel
def truncated(gain: float) -> float:
    """Return the whole number from 0 to 100 that FGD gives to less fragment."""
    return float(math.floor(100.0 / (1.0 + math.exp(-gain / 1000.0))))


@inner_kernel
def _fgd(s: State, n: int, c: int, is_exact: bool) -> tuple[float, int]:
    """Return the score, and the GPU for a share."""
    before, cpu = s.nodes[n].fragment, s.free[n, s.cpu] - s.classes[c].cpu
    k, g = s.classes[c].gpus, s.classes[c].milli
    is_share = k == 1 and g < ONE
    best, gpu = NONE, -1
    for i in range(s.milli.shape[1] if is_share else 1):
        left = s.milli[n, i]
        is_new = not is_share or has_room(s, n, i, c)
        for j in range(i):
            is_new &= s.milli[n, j] != left or not has_room(s, n, j, c)
        if is_new:
            gain = before - fragment(s, n, cpu, i if is_share else -1, g if is_share else 0, 0 if is_share else k)
            score = gain if is_exact else truncated(gain)
            if score > best:
                best, gpu = score, i
    return best, gpu


@inner_kernel
def _clustering(s: State, n: int, c: int) -> int:
    k = s.classes[c].gpus
    if k == 0:
        return 0
    tag = 1 if s.classes[c].milli < ONE else 1 << k
    full = int(25 * (MAX_GPU - _idle(s, n)) / MAX_GPU)
    tags = s.nodes[n].tags
    if tags & tag:
        return full + 75 if tags == tag else full + 50
    return full + 25 if tags == 0 else full


@inner_kernel
def _packing(s: State, n: int, c: int) -> int:
    k, g = s.classes[c].gpus, s.classes[c].milli
    if k == 0:
        return 0
    free, all_gpus = 0, s.kinds[s.nodes[n].of].num_gpus
    for i in range(all_gpus):
        free += s.milli[n, i] == ONE
    if free == all_gpus:
        return max(33 - free, free)
    if g == ONE:
        return int(max(50 - k, 33))
    left = s.milli[n, _gpu_by_left(s, n, c, False)]
    return 49 if left == ONE else int(max(100 - left * 100 // ONE // 10, 50))


@inner_kernel
def _active(s: State, n: int, left: int) -> int:
    """Return how many processors of a node draw all they can, with so much CPU left; two thousandfold CPUs are a core."""
    kind = s.kinds[s.nodes[n].of]
    working = -(-kind.cpu // (2 * ONE)) - left // (2 * ONE)
    return -(-working // kind.cores)


@inner_kernel
def _watts(s: State, n: int, c: int) -> int:
    """Return the watts that a pod adds."""
    kind, k, g = s.kinds[s.nodes[n].of], s.classes[c].gpus, s.classes[c].milli
    if k > 0 and g < ONE and s.milli[n, _gpu_by_left(s, n, c, False)] < ONE:
        k = 0
    left = s.free[n, s.cpu]
    processors = _active(s, n, left - s.classes[c].cpu) - _active(s, n, left)
    return k * (kind.full_w - kind.idle_w) + processors * (kind.processor_full_w - kind.processor_idle_w)


@inner_kernel
def _kube(s: State, rule: Rule, n: int, c: int) -> float:
    """Return the score over CPU, memory, and GPUs where the pod takes some; `VOLCANO` counts what the pod asks for alone."""
    kind, node, a = s.kinds[s.nodes[n].of], s.nodes[n], s.classes[c]
    total, scored, number, share_sum, squares, asked_share = 0, 0, 0, 0.0, 0.0, 0.0
    for i in range(3):
        if i == 0:
            whole, counted, asks = kind.cpu, node.asked_cpu + a.counts_cpu, a.cpu
            used = whole - s.free[n, s.cpu] + asks
        elif i == 1:
            whole, counted, asks = kind.memory, node.asked_memory + a.counts_memory, a.memory
            used = whole - s.free[n, s.memory] + asks if whole > 0 else 0
        else:
            whole, asks = ONE * kind.num_gpus, a.gpus * a.milli
            counted = used = whole - _idle(s, n) + asks
        if whole == 0 or (i == 2 and asks == 0) or (rule.kind == VOLCANO and asks == 0):
            continue
        number += 1
        share = min(used / whole, 1.0)
        share_sum, squares = share_sum + share, squares + share * share
        asked_share += used / whole
        over = counted > whole
        value = (
            (0 if over else (whole - counted) * 100 // whole)
            if rule.strategy == LEAST
            else min(counted, whole) * 100 // whole
        )
        total, scored = total + value, scored + (value > 0)
    if number == 0:
        return 0.0
    if rule.kind == VOLCANO:
        return asked_share / number * 100.0
    if rule.strategy == RATIO:
        score = (2 * total + scored) // (2 * scored) if scored > 0 else 0
    else:
        score = 0 if rule.strategy == BALANCED else total // number
    if rule.balances or rule.strategy == BALANCED:
        variance = max(squares / number - (share_sum / number) ** 2, 0.0)
        score += int((1.0 - math.sqrt(variance)) * 100.0)
    return float(score)


@inner_kernel
def _kai(s: State, n: int, c: int, is_spread: bool) -> tuple[float, int]:
    """Return the score, and the GPU for a share."""
    kind, k, g = s.kinds[s.nodes[n].of], s.classes[c].gpus, s.classes[c].milli
    gpu = _gpu_by_left(s, n, c, is_spread)
    left, whole = (_idle(s, n), ONE * kind.num_gpus) if k > 0 else (s.free[n, s.cpu], kind.cpu)
    score = float(-left)
    if is_spread:
        score = left / whole if whole > 0 else 0.0
    if k == 0:
        score += 0.0 if kind.num_gpus > 0 else 2.0 if is_spread else FIRST_OF_ALL
    elif not is_spread and g < ONE and s.milli[n, gpu] < ONE:
        score += FIRST_OF_ALL
    return score, gpu


@inner_kernel
def _stranded(s: State, n: int, c: int, gpu: int) -> float:
    """Return GPUs of a node that lack other resources for the mix, and a part of the CPU that lacks GPUs, as GPUs.

    c : a pod that is added, -1 for none. O(R).
    """
    lacks, surplus = 0.0, 0.0
    for r in range(s.free.shape[1]):
        if s.per_gpu[r] > 0.0:
            left = s.free[n, r] - (s.demand[c, r] if c >= 0 else 0)
            enough_for = left / s.per_gpu[r]
            lacks = max(lacks, gpu - enough_for)
            if r == s.cpu:
                surplus = max(0.0, enough_for - gpu)
    return (lacks + SURPLUS * surplus) / ONE


@inner_kernel
def _priced(s: State, n: int, c: int) -> tuple[float, int]:
    """Return what is left of the node's worth to the expected mix, in whole GPUs, and the GPU for a share."""
    k, g, t = s.classes[c].gpus, s.classes[c].milli, s.nodes[n].of
    idle = _idle(s, n)
    lost = _stranded(s, n, c, idle - k * g) - _stranded(s, n, -1, idle)
    lost += SOUGHT * s.kinds[t].sought * k * g / ONE
    if k != 1 or g == ONE:
        return float(math.floor(-lost / ROUNDED)), -1
    best, gpu = NONE, -1
    for i in range(s.kinds[t].num_gpus):
        left = s.milli[n, i]
        if has_room(s, n, i, c):
            hole = s.worth[left] - s.worth[left - g] - s.worth[g] + (OPENED if left == ONE else 0.0)
            score = float(math.floor(-(lost + hole) / ROUNDED))
            if score > best:
                best, gpu = score, i
    return best, gpu


@lean_kernel
def evaluate(s: State, rule: Rule, n: int, c: int) -> tuple[float, int]:
    """Return the score of a node for a pod of a class, -inf where it does not fit, and the GPU for a share."""
    if not fits(s, n, c):
        return NONE, -1
    kind = rule.kind
    if kind == PRICED:
        return _priced(s, n, c)
    if kind in (KAI_BINPACK, KAI_SPREAD):
        return _kai(s, n, c, kind == KAI_SPREAD)
    if kind in (FGD, FGD_EXACT, PWR_FGD):
        score, gpu = _fgd(s, n, c, kind == FGD_EXACT)
        if kind == PWR_FGD:
            score -= float(BOTH * _watts(s, n, c))
        return score, gpu
    a, score = s.classes[c], 0.0
    if kind == BEST_FIT:
        lost = (s.free[n, s.cpu] - a.cpu) / MAX_CPU * 0.5
        lost += (_idle(s, n) - a.gpus * a.milli) / MAX_GPU * 0.5
        score = float(int((1.0 - lost) * 100.0))
    elif kind == DOT_PRODUCT:
        product = (s.free[n, s.cpu] / MAX_CPU) * (a.cpu / MAX_CPU)
        product += (_idle(s, n) / MAX_GPU) * (a.gpus * a.milli / MAX_GPU)
        score = float(int(100.0 * (1.0 - product / 2.0)))
    elif kind == CLUSTERING:
        score = float(_clustering(s, n, c))
    elif kind == PACKING:
        score = float(_packing(s, n, c))
    elif kind == PWR:
        score = float(-_watts(s, n, c))
    elif kind in (KUBE, VOLCANO):
        score = _kube(s, rule, n, c)
    gpu = _gpu_by_left(s, n, c, False)
    if kind == PWR and gpu >= 0 and s.milli[n, gpu] < ONE:
        # The first of those in use, as all of them add as much.
        gpu = 0
        while s.milli[n, gpu] == ONE or not has_room(s, n, gpu, c):
            gpu += 1
    return score, gpu
