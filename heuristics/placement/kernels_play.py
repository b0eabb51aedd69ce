"""The loop that all compiled policies share: each pod goes to the node of the highest score, of equals the first.

Scores are kept for each class of pods; those of nodes that have changed since a pod of the class came are computed anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.heuristics.placement.kernels_scores import FGD, FGD_EXACT, NONE, ONE, RANDOM, evaluate, fragment
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below

if TYPE_CHECKING:
    from schedgap.heuristics.placement.kernels_scores import Rule
    from schedgap.heuristics.placement.state import Fleet, Scores, Target

NOWHERE = NO_GANG = -1
BLOCK = 64


@lean_kernel
def play(s: Fleet, rule: Rule, target: Target, scores: Scores, random: Any) -> int:
    """Place all pods that arrive; return the thousandths of GPUs that they hold. random : (1,) uint64, for `RANDOM`.

    O(N / BLOCK) for each pod, and an evaluation for each node that changed since the last pod of its class.
    """
    for n in range(s.node2type.shape[0]):
        _remember(s, rule, target, n)
    pod, placed = 0, 0
    while pod < s.pod2class.shape[0]:
        end = pod + 1
        if s.node[pod] != NOWHERE:
            pod = end
            continue
        while end < s.gang.shape[0] and s.gang[pod] != NO_GANG and s.gang[end] == s.gang[pod]:
            end += 1
        at = pod
        while at < end and _put(s, rule, target, scores, random, at):
            placed += s.gpus[s.pod2class[at]] * s.gpu_milli[s.pod2class[at]]
            at += 1
        if at < end:
            for p in range(at - 1, pod - 1, -1):
                placed -= s.gpus[s.pod2class[p]] * s.gpu_milli[s.pod2class[p]]
                _undo(s, rule, target, scores, p)
        pod = end
    return placed


@inner_kernel
def _put(s: Fleet, rule: Rule, target: Target, scores: Scores, random: Any, pod: int) -> bool:
    """Place a pod that arrives; return whether there was room."""
    c = s.pod2class[pod]
    slot = c % scores.owner.shape[0]
    _refresh(s, rule, target, scores, c, slot)
    n = _drawn(scores, slot, random) if rule.kind == RANDOM else _first_best(scores, slot)
    if n < 0:
        return False
    gpu = evaluate(s, rule, target, n, c)[2]
    if rule.kind == RANDOM and s.gpus[c] > 0:
        gpu = _drawn_gpu(s, n, s.gpu_milli[c], random)
    k, g, held = s.gpus[c], s.gpu_milli[c], 0
    for i in range(s.milli.shape[1]):
        if k > 0 and (i == gpu if g < ONE else s.milli[n, i] == ONE):
            held |= 1 << i
            k -= 1
    s.tags_before[pod] = s.tags[n]
    if s.gpus[c] > 0:
        s.tags[n] |= 1 << (s.gpus[c] if g == ONE else 0)
    _take(s, c, n, held, 1)
    s.node[pod], s.held[pod] = n, held
    _changed(s, rule, target, scores, n)
    return True


@inner_kernel
def _undo(s: Fleet, rule: Rule, target: Target, scores: Scores, pod: int) -> None:
    n = s.node[pod]
    _take(s, s.pod2class[pod], n, s.held[pod], -1)
    s.tags[n] = s.tags_before[pod]
    s.node[pod], s.held[pod] = NOWHERE, 0
    _changed(s, rule, target, scores, n)


@inner_kernel
def _take(s: Fleet, c: int, n: int, held: int, times: int) -> None:
    for r in range(s.free.shape[1]):
        s.free[n, r] -= times * s.demand[c, r]
    for i in range(s.milli.shape[1]):
        if held >> i & 1:
            s.milli[n, i] -= times * s.gpu_milli[c]


@inner_kernel
def _changed(s: Fleet, rule: Rule, target: Target, scores: Scores, n: int) -> None:
    scores.changed[scores.at[0]] = n
    scores.at[0] += 1
    _remember(s, rule, target, n)


@inner_kernel
def _remember(s: Fleet, rule: Rule, target: Target, n: int) -> None:
    if rule.kind in (FGD, FGD_EXACT):
        target.fragment[n] = fragment(s, target, n, s.free[n, s.cpu], -1, 0, 0)


@inner_kernel
def _refresh(s: Fleet, rule: Rule, target: Target, scores: Scores, c: int, slot: int) -> None:
    """Bring the scores of a class up to date."""
    num_nodes, made = s.node2type.shape[0], scores.at[0]
    seen = scores.seen[slot]
    if scores.owner[slot] != c or seen < 0 or made - seen > num_nodes:
        for n in range(num_nodes):
            _score(s, rule, target, scores, c, slot, n)
        for b in range(scores.best.shape[1]):
            scores.best[slot, b] = _highest(scores, slot, b)
    else:
        scores.at[1] += 1
        for i in range(seen, made):
            n = scores.changed[i]
            if scores.stamp[n] != scores.at[1]:
                scores.stamp[n] = scores.at[1]
                _score(s, rule, target, scores, c, slot, n)
                scores.best[slot, n // BLOCK] = _highest(scores, slot, n // BLOCK)
    scores.owner[slot], scores.seen[slot] = c, made


@inner_kernel
def _score(s: Fleet, rule: Rule, target: Target, scores: Scores, c: int, slot: int, n: int) -> None:
    score, second, _ = evaluate(s, rule, target, n, c)
    scores.score[slot, n] = score
    if scores.second.shape[1] > 1:
        scores.second[slot, n] = second


@inner_kernel
def _highest(scores: Scores, slot: int, block: int) -> float:
    highest = NONE
    for n in range(block * BLOCK, min(block * BLOCK + BLOCK, scores.score.shape[1])):
        highest = max(highest, scores.score[slot, n])
    return highest


@inner_kernel
def _first_best(scores: Scores, slot: int) -> int:
    """Return the first node of the highest score, -1 for none."""
    block, best = -1, NONE
    for b in range(scores.best.shape[1]):
        if scores.best[slot, b] > best:
            block, best = b, scores.best[slot, b]
    if block < 0:
        return -1
    n = block * BLOCK
    while scores.score[slot, n] != best:
        n += 1
    return n


@inner_kernel
def _drawn(scores: Scores, slot: int, random: Any) -> int:
    """Return one of the nodes with room, -1 for none: drawn until one is found, or from a list where they are few."""
    num_nodes = scores.score.shape[1]
    for _ in range(50):
        n = int(np.int64(below(random, num_nodes)))
        if scores.score[slot, n] != NONE:
            return n
    count = 0
    for n in range(num_nodes):
        count += scores.score[slot, n] != NONE
    if count == 0:
        return -1
    skip = int(np.int64(below(random, count)))
    n = -1
    while skip >= 0:
        n += 1
        skip -= scores.score[slot, n] != NONE
    return n


@inner_kernel
def _drawn_gpu(s: Fleet, n: int, g: int, random: Any) -> int:
    count = 0
    for i in range(s.milli.shape[1]):
        count += s.milli[n, i] >= g
    skip = int(np.int64(below(random, count)))
    i = -1
    while skip >= 0:
        i += 1
        skip -= s.milli[n, i] >= g
    return i
