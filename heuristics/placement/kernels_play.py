"""The loop that all compiled policies share: each pod goes to the node of the highest score, of equals the first.

Scores are kept for each class of pods; those of nodes that have changed since a pod of the class came are computed anew.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.placement.kernels_scores import (
    BOTH,
    FGD,
    FGD_EXACT,
    NONE,
    ONE,
    PWR_FGD,
    RANDOM,
    Rule,
    evaluate,
    first_slice,
    fragment,
    has_room,
)
from schedgap.heuristics.placement.state import State
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below

NOWHERE = NO_GANG = -1
BLOCK = 64


@lean_kernel
def play(s: State, rule: Rule) -> None:
    """Place all pods that arrive.

    O(N / BLOCK) for each pod, and an evaluation for each node that changed since the last pod of its class.
    """
    for n in range(s.nodes.shape[0]):
        _remember(s, rule, n)
    first = 0
    while first < s.pods.shape[0]:
        end = first + 1
        if s.pods[first].node == NOWHERE:
            while end < s.pods.shape[0] and s.pods[first].gang != NO_GANG and s.pods[end].gang == s.pods[first].gang:
                end += 1
            pod = first
            while pod < end and _put(s, rule, pod):
                pod += 1
            is_whole = pod == end
            while not is_whole and pod > first:
                pod -= 1
                _undo(s, rule, pod)
        first = end


@inner_kernel
def _put(s: State, rule: Rule, p: int) -> bool:
    """Place a pod that arrives; return whether there was room."""
    c = s.pods[p].of
    slot = c % s.slots.shape[0]
    _refresh(s, rule, c, slot)
    if rule.kind == RANDOM:
        n = _drawn(s, slot)
    elif rule.kind == PWR_FGD:
        n = _best_of_both(s, rule, slot)
    else:
        n = _first_best(s, slot)
    if n < 0:
        return False
    gpu = evaluate(s, rule, n, c)[1]
    k, g, held = s.classes[c].gpus, s.classes[c].milli, 0
    if rule.kind == RANDOM and k > 0:
        gpu = _drawn_gpu(s, n, c)
    s.pods[p].tags_before = s.nodes[n].tags
    if k > 0:
        s.nodes[n].tags |= 1 << (k if g == ONE else 0)
    for i in range(s.milli.shape[1]):
        if k > 0 and (i == gpu if g < ONE else s.milli[n, i] == ONE):
            held |= 1 << i
            k -= 1
            gpu = i
    s.pods[p].node, s.pods[p].held = n, held
    s.pods[p].start = first_slice(s, n, gpu, c)
    _take(s, rule, p, 1)
    return True


@inner_kernel
def _undo(s: State, rule: Rule, p: int) -> None:
    s.nodes[s.pods[p].node].tags = s.pods[p].tags_before
    _take(s, rule, p, -1)
    s.pods[p].node, s.pods[p].held, s.pods[p].start = NOWHERE, 0, 0


@inner_kernel
def _take(s: State, rule: Rule, p: int, times: int) -> None:
    """Take what a pod asks for from its node, or give it back."""
    c, n, held = s.pods[p].of, s.pods[p].node, s.pods[p].held
    for r in range(s.free.shape[1]):
        s.free[n, r] -= times * s.demand[c, r]
    for i in range(s.milli.shape[1]):
        if held >> i & 1:
            s.milli[n, i] -= times * s.classes[c].milli
            s.taken[n, i] ^= ((1 << s.classes[c].slices) - 1) << s.pods[p].start
    s.nodes[n].asked_cpu += times * s.classes[c].counts_cpu
    s.nodes[n].asked_memory += times * s.classes[c].counts_memory
    s.changed[s.clock[0].changes] = n
    s.clock[0].changes += 1
    _remember(s, rule, n)


@inner_kernel
def _remember(s: State, rule: Rule, n: int) -> None:
    if rule.kind in (FGD, FGD_EXACT, PWR_FGD):
        s.nodes[n].fragment = fragment(s, n, s.free[n, s.cpu], -1, 0, 0)


@inner_kernel
def _refresh(s: State, rule: Rule, c: int, slot: int) -> None:
    """Bring the scores of a class up to date."""
    num_nodes, changes = s.nodes.shape[0], s.clock[0].changes
    seen = s.slots[slot].seen
    is_new = s.slots[slot].owner != c or changes - seen > num_nodes
    s.clock[0].stamp += 1
    for i in range(0 if is_new else seen, num_nodes if is_new else changes):
        n = i if is_new else s.changed[i]
        if s.nodes[n].stamp != s.clock[0].stamp:
            s.nodes[n].stamp = s.clock[0].stamp
            s.score[slot, n] = evaluate(s, rule, n, c)[0]
            if not is_new:
                _find_highest(s, slot, n // BLOCK)
    for b in range(s.best.shape[1] if is_new else 0):
        _find_highest(s, slot, b)
    s.slots[slot].owner, s.slots[slot].seen = c, changes


@inner_kernel
def _find_highest(s: State, slot: int, block: int) -> None:
    highest = NONE
    for n in range(block * BLOCK, min(block * BLOCK + BLOCK, s.score.shape[1])):
        highest = max(highest, s.score[slot, n])
    s.best[slot, block] = highest


@inner_kernel
def _first_best(s: State, slot: int) -> int:
    """Return the first node of the highest score, -1 for none."""
    block, best = -1, NONE
    for b in range(s.best.shape[1]):
        if s.best[slot, b] > best:
            block, best = b, s.best[slot, b]
    if block < 0:
        return -1
    n = block * BLOCK
    while s.score[slot, n] != best:
        n += 1
    return n


@inner_kernel
def _best_of_both(s: State, rule: Rule, slot: int) -> int:
    """Return the first node of the highest weighted sum of FGD's score and the watts that are saved, from 0 to 100."""
    least, most, found, best = 2**60, -(2**60), -1, -1
    for turn in range(2):
        for n in range(s.score.shape[1]):
            if s.score[slot, n] == NONE:
                continue
            both = int(s.score[slot, n])
            watts = both // BOTH
            if turn == 0:
                least, most = min(least, watts), max(most, watts)
                continue
            saved = (watts - least) * 100 // (most - least) if most > least else 100
            score = rule.power * saved + rule.fragment * (both - BOTH * watts)
            if score > best:
                found, best = n, score
    return found


@inner_kernel
def _drawn(s: State, slot: int) -> int:
    """Return one of the nodes with room, -1 for none: drawn until one is found, or from a list where they are few."""
    num_nodes = s.score.shape[1]
    for _ in range(50):
        n = int(np.int64(below(s.random, num_nodes)))
        if s.score[slot, n] != NONE:
            return n
    count = 0
    for n in range(num_nodes):
        count += s.score[slot, n] != NONE
    if count == 0:
        return -1
    skip = int(np.int64(below(s.random, count)))
    n = -1
    while skip >= 0:
        n += 1
        skip -= s.score[slot, n] != NONE
    return n


@inner_kernel
def _drawn_gpu(s: State, n: int, c: int) -> int:
    count = 0
    for i in range(s.milli.shape[1]):
        count += has_room(s, n, i, c)
    skip = int(np.int64(below(s.random, count)))
    i = -1
    while skip >= 0:
        i += 1
        skip -= has_room(s, n, i, c)
    return i
