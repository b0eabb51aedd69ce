"""What is on machines and what it is worth, against plain Python."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.eva.kernels_pack import worth_and_price
from schedgap.heuristics.reconfiguration.kernels_owl import contents
from schedgap.heuristics.reconfiguration.kernels_player import Packing
from schedgap.heuristics.reconfiguration.monitor import ThroughputMonitor
from schedgap.heuristics.reconfiguration.observation import catalogue_of, present_of

TAU = 0.75
DEMAND = [(1,), (2,), (6,)]


def drawn(make_observation, seed):
    """Six tasks, jobs of two, all over three machines and a new one; throughput of a pair is 0.75."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(rng.integers(0, 3, 3), 2).tolist()
    observation = make_observation(
        DEMAND, [(c, -1) for c in classes], [0, 1, 0], sizes=[2, 2, 2], capacity=[(40,), (30,)]
    )
    return observation, rng.integers(0, 4, 6)


@pytest.mark.parametrize("seed", range(8))
def test_tasks_of_machines_are_listed_in_order_and_take_room(make_observation, seed):
    observation, place = drawn(make_observation, seed)
    types = np.array([0, 1, 0, 1])
    found = contents(catalogue_of(observation), present_of(observation), types, place)
    for m in range(4):
        listed, t = [], int(found.first[m])
        while t >= 0:
            listed.append(t)
            t = int(found.after[t])
        assert listed == np.flatnonzero(place == m).tolist()
        used = sum(DEMAND[observation.task_class[t]][0] for t in listed)
        assert found.left[m].tolist() == [(40, 30)[types[m]] - used]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sizes", [False, True])
def test_a_plan_is_worth_its_tasks_at_their_throughputs(make_observation, seed, sizes):
    observation, place = drawn(make_observation, seed)
    monitor = ThroughputMonitor(TAU)
    monitor.know_classes(3)
    packing = Packing(place, np.ones(3, np.bool_), np.ones(6, np.int64), np.ones(1, np.int64))
    given = (catalogue_of(observation), monitor.table, present_of(observation), packing, sizes)
    # Every class fits the small type, of $6 an hour, alone.
    worth = 0.0
    for t in range(6):
        throughput = TAU ** (np.count_nonzero(place == place[t]) - 1)
        worth += 6_000_000 * (max(0.0, 1 - 2 * (1 - throughput)) if sizes else throughput)
    used = set(place.tolist())
    price = sum((10, 6, 10, 6)[m] * 1_000_000 for m in used)
    assert worth_and_price(*given) == pytest.approx((worth, price, 6_000_000 if 3 in used else 0))
