"""Best fit against a plain version, on random observations."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.kernels_owl import best_fit
from schedgap.heuristics.reconfiguration.monitor import ThroughputMonitor
from schedgap.heuristics.reconfiguration.observation import catalogue_of, present_of

TAU, ROOM, PRICE = 0.875, (10, 5), (10, 6)


def placed(demand, tasks, machines):
    """Each task that is nowhere goes where worth by price is the most, if that is 1 at least; then to the best aligned."""
    types, place, new = list(machines), [m for _, m in tasks], 0
    worth_alone = [6 if d <= 5 else 10 for d in demand]
    for t, (c, m) in enumerate(tasks):
        if m >= 0:
            continue
        options = []
        for k, kind in enumerate(types):
            there = [u for u in range(len(tasks)) if place[u] == k]
            left = ROOM[kind] - sum(demand[tasks[u][0]] for u in there)
            if there and demand[c] <= left:
                worth = sum(worth_alone[tasks[u][0]] * TAU ** len(there) for u in [*there, t])
                score = demand[c] / ROOM[kind] * (left / ROOM[kind])
                # Machines are listed by their first tasks, those of this round after the others.
                options.append((worth / PRICE[kind], score, [-(k >= len(machines)), -there[0]], k))
        options = [option for option in options if option[0] >= 1]
        if options:
            place[t] = max(options)[-1]
        else:
            place[t] = len(types)
            types.append(1 if demand[c] <= 5 else 0)
            new += 1
    return place, types[len(machines) :]


@pytest.mark.parametrize("seed", range(15))
def test_new_tasks_go_where_the_worth_by_price_is_the_most(make_observation, seed):
    rng = np.random.default_rng(seed)
    demand = rng.integers(1, 8, 3).tolist()
    classes = rng.integers(0, 3, 8).tolist()
    tasks = [(c, m if m < 3 and demand[c] <= ROOM[m % 2] else -1) for m, c in enumerate(classes)]
    observation = make_observation([(d,) for d in demand], tasks, [0, 1, 0])
    monitor = ThroughputMonitor(TAU)
    monitor.know_classes(3)
    place, new_types = best_fit(
        catalogue_of(observation), monitor.table, present_of(observation), np.zeros(8, np.bool_), False
    )
    assert (place.tolist(), new_types.tolist()) == placed(demand, tasks, [0, 1, 0])
