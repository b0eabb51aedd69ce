"""Compiled placements against the same in Python, on small random tasks; what they place fits."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kernels_fit import Apart, Beside, Placed, place_in_turn, synergy_place


def drawn(seed):
    """Twelve tasks of four classes; the first type takes every class on family 0."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 4, (2, 4, 2))
    demand[1, rng.random(4) < 0.4] = -1
    capacity = np.array([[6, 6], [4, 5], [8, 3]])
    return demand, rng.integers(0, 4, 12), np.array([0, 0, 1]), capacity, np.zeros(4, np.int64), rng


def check(number, placed, demand, task2class, type2group, capacity):
    """Whether machines hold what was placed on them, and know what is left."""
    used = np.zeros((number, 2), np.int64)
    group = type2group[placed.machine_type[placed.task2machine]]
    needs = demand[group, task2class]
    assert (needs >= 0).all()
    np.add.at(used, placed.task2machine, needs)
    assert (capacity[placed.machine_type[:number]] - used == placed.left[:number]).all()
    assert (placed.left[:number] >= 0).all()


def in_turn(order, demand, task2class, type2group, capacity, opens, best, most):
    """Place tasks one by one as plainly as can be: the machine of each, or the first of those with least room left."""
    machines, place = [], {}
    for t in order.tolist():
        c = task2class[t]
        rooms = {}
        for m, (k, left, held) in enumerate(machines):
            need = demand[type2group[k], c]
            if need[0] >= 0 and (need <= left).all() and (most[c] < 0 or held.count(c) < most[c]):
                rooms[m] = ((left - need) / capacity[k]).sum() if best else 0
        if rooms:
            place[t] = min(rooms, key=rooms.get)
        else:
            place[t] = len(machines)
            machines.append([opens[c], capacity[opens[c]], []])
        k, left, held = machines[place[t]]
        machines[place[t]] = [k, left - demand[type2group[k], c], [*held, c]]
    return len(machines), [place[t] for t in range(len(task2class))]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("best", [True, False])
@pytest.mark.parametrize("most", [-1, 1, 2])
def test_tasks_are_placed_in_turn(seed, best, most):
    """Any number of the first class on a machine, or one, or two."""
    *given, opens, rng = drawn(seed)
    order, limits = rng.permutation(12), np.array([most, -1, -1, -1])
    placed = Placed(np.zeros(12, np.int64), np.zeros((12, 2), np.int64), np.zeros(12, np.int64))
    apart = Apart(limits, np.full(4, -1), np.full(12, -1), np.zeros(12, np.int64))
    number = place_in_turn(order, *given, opens, best, apart, placed)
    check(number, placed, *given)
    assert (number, placed.task2machine.tolist()) == in_turn(order, *given, opens, best, limits)


@pytest.mark.parametrize("seed", range(10))
def test_synergy_places_by_worth(seed):
    *given, opens, rng = drawn(seed)
    throughput = np.append(rng.uniform(0.5, 1.0, (2, 3)), np.ones((1, 3)), axis=0)
    ways = []
    for place in (synergy_place, synergy_place.py_func):
        work = (np.zeros(12), np.zeros(12, np.int64), np.zeros(12, np.int64))
        placed = Placed(np.zeros(12, np.int64), np.zeros((12, 2), np.int64), np.zeros(12, np.int64))
        beside = Beside(np.arange(4) % 3, throughput, *work)
        number = place(*given, np.array([10, 6, 7]), opens, beside, placed)
        check(number, placed, *given)
        ways.append((number, *(array.tolist() for array in placed)))
        for t in range(12):
            others = [u for u in range(12) if u != t and placed.task2machine[u] == placed.task2machine[t]]
            product = np.prod([throughput[given[1][t] % 3, given[1][u] % 3] for u in others])
            assert beside.factor[t] == pytest.approx(product)
    assert ways[0] == ways[1]
