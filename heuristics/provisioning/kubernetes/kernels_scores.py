"""kube-scheduler: the node of the highest score among those with room, task after task.

kubernetes/kubernetes, pkg/scheduler: plugins/noderesources/{least_allocated,most_allocated,requested_to_capacity_ratio,
balanced_allocation}.go, schedule_one.go. Scores are whole numbers from 0 to 100, by whole division as there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from schedgap.heuristics.provisioning.kubernetes.kernels_claims import first_fit, fits, take
from schedgap.heuristics.provisioning.kubernetes.state import Catalogue, Nodes, Tasks
from schedgap.instances.jit import inlined_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below

LEAST, MOST, RATIO = 0, 1, 2


class Scoring(NamedTuple):
    """How nodes are scored.

    strategy : `LEAST`, `MOST` or `RATIO`. balanced : whether BalancedAllocation is added. roles : (2,) int64 resources of
    CPU and memory, -1 for none. missing : (2,) int64, what a task that asks for none counts as. asked : (M, 2) int64, what
    the tasks of each node count as together. at_random : whether ties are broken so; else the first node. whole, reserved :
    (M, 2) int64, what each node has in all, and what is taken of it that is no task. skips_idle : whether BalancedAllocation
    leaves out tasks that ask for neither.
    """

    strategy: int
    balanced: bool
    roles: Any
    missing: Any
    asked: Any
    at_random: bool
    whole: Any
    reserved: Any
    skips_idle: bool


@inlined_kernel
def weight(scoring: Scoring, catalogue: Catalogue, f: int, c: int, i: int) -> int:
    """Return what a task counts as in the score of a node of a family, in the i-th role."""
    demand = catalogue.demand[f, c, scoring.roles[i]]
    return demand if demand > 0 else scoring.missing[i]


@lean_kernel
def fit_score(strategy: int, asked: int, capacity: int) -> int:
    """Return the score of one resource of a node, with the task on it. RATIO has the shape 0 at 0 and 10 at 100 percent."""
    if strategy == LEAST:
        return 0 if asked > capacity else (capacity - asked) * 100 // capacity
    return min(asked, capacity) * 100 // capacity


@lean_kernel
def balance_score(first: float, second: float) -> int:
    """Return the score of two shares in use, each at most 1: lower, the farther they are from each other."""
    return int((1.0 - abs(first - second) / 2.0) * 100.0)


@inlined_kernel
def _score(scoring: Scoring, catalogue: Catalogue, nodes: Nodes, m: int, c: int) -> int:
    """Return the score of a node that a task is added to. O(1)."""
    k = nodes.machine_type[m]
    f = catalogue.type2family[k]
    total, number, scored = 0, 0, 0
    first, second, asks = 0.0, 0.0, False
    for i in range(2):
        r = scoring.roles[i]
        if r < 0 or scoring.whole[m, i] == 0:
            continue
        capacity = scoring.whole[m, i]
        asks |= catalogue.demand[f, c, r] > 0
        value = fit_score(scoring.strategy, scoring.asked[m, i] + weight(scoring, catalogue, f, c, i), capacity)
        total += value
        scored += value > 0
        used = catalogue.capacity[k, r] - nodes.left[m, r] + scoring.reserved[m, i]
        share = min((used + catalogue.demand[f, c, r]) / capacity, 1.0)
        first, second = share if number == 0 else first, share
        number += 1
    if scoring.strategy == RATIO:
        score = (2 * total + scored) // (2 * scored) if scored > 0 else 0
    else:
        score = total // number if number > 0 else 0
    balances = scoring.balanced and number > 0 and (asks or not scoring.skips_idle)
    return score + balance_score(first, second) if balances else score


@lean_kernel
def schedule(
    waiting: Any,
    tasks: Tasks,
    catalogue: Catalogue,
    nodes: Nodes,
    num_nodes: int,
    scoring: Scoring,
    at: int,
    random: Any,
) -> int:
    """Put each task on the node of the highest score with room, among the first found from node `at` on; return the next.

    Of 100 nodes or more, (50 - nodes / 125)%, at least 5% and at least 100, are found and scored. random : (1,) uint64.
    O(T M R) at worst; a class that found no room is not looked for again.
    """
    wanted = num_nodes
    if num_nodes >= 100:
        wanted = max(100, num_nodes * max(5, 50 - num_nodes // 125) // 100)
    for t in waiting:
        c = tasks.task2class[t]
        low = first_fit(catalogue, nodes, num_nodes, c)
        if low == num_nodes:
            continue
        best, best_score, ties, found, looked, m = -1, -1, 0, 0, 0, at
        while looked < num_nodes and found < wanted:
            if m >= low and fits(catalogue, nodes, m, c):
                found += 1
                score = _score(scoring, catalogue, nodes, m, c)
                if score > best_score:
                    best, best_score, ties = m, score, 1
                elif score == best_score:
                    ties += 1
                    taken = below(random, ties) == 0 if scoring.at_random else m < best
                    best = m if taken else best
            looked += 1
            m = m + 1 if m + 1 < num_nodes else 0
        at = m
        f = catalogue.type2family[nodes.machine_type[best]]
        for i in range(2):
            if scoring.roles[i] >= 0:
                scoring.asked[best, i] += weight(scoring, catalogue, f, c, i)
        take(catalogue, nodes, best, c, 1)
        tasks.place[t] = best
    return at
