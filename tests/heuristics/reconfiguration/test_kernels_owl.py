"""Owl's pairs against a plain version, on random observations."""

import itertools

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.kernels_owl import owl_plan
from schedgap.heuristics.reconfiguration.observation import catalogue_of, present_of

ROOM, PRICE = (10, 5), (10, 6)


def planned(demand, tasks, machines, throughput):
    """Single classes and pairs by falling worth per price of the cheapest type, singles first, then by number."""
    on = [[u for u, (_, m) in enumerate(tasks) if m == k] for k in range(len(machines))]
    free = [t for t, (_, m) in enumerate(tasks) if m < 0 or len(on[m]) < 2]
    free.sort(key=lambda t: tasks[t][1])
    waiting = {c: [t for t in free if tasks[t][0] == c] for c in range(len(demand))}
    alone = [1 if d <= 5 else 0 for d in demand]
    options = [(-1.0, 0, c, -1, alone[c]) for c in waiting if waiting[c]]
    for a, b in itertools.combinations_with_replacement([c for c in waiting if waiting[c]], 2):
        kinds = [k for k in (1, 0) if demand[a] + demand[b] <= ROOM[k]]
        worth = PRICE[alone[a]] * throughput[a, b] + PRICE[alone[b]] * throughput[b, a]
        if kinds and worth > PRICE[kinds[0]]:
            options.append((-worth / PRICE[kinds[0]], 1, a, b, kinds[0]))
    place, new = [m for _, m in tasks], []
    for _, _, a, b, kind in sorted(options):
        while waiting[a] and (b < 0 or len(waiting[b]) > (a == b)):
            t = waiting[a].pop(0)
            if b < 0 and place[t] >= 0 and machines[place[t]] == kind:
                continue
            for u in [t] if b < 0 else [t, waiting[b].pop(0)]:
                place[u] = len(machines) + len(new)
            new.append(kind)
    return place, new


@pytest.mark.parametrize("seed", range(15))
def test_pairs_are_those_of_the_plain_rules(make_observation, seed):
    rng = np.random.default_rng(seed)
    demand = rng.integers(1, 8, 3).tolist()
    throughput = rng.choice([0.5, 0.75, 0.9, 1.0], (3, 3))
    tasks = [(int(c), -1) for c in rng.integers(0, 3, 7)]
    tasks[0] = (tasks[0][0], 0)
    observation = make_observation([(d,) for d in demand], tasks, [0], throughput=throughput)
    place, new_types = owl_plan(
        catalogue_of(observation), present_of(observation), np.zeros(7, np.bool_), observation.class2workload,
        observation.throughput,
    )  # fmt: skip
    assert (place.tolist(), new_types.tolist()) == planned(demand, tasks, [0], throughput)
