"""The branch and bound against all contents, one by one."""

from itertools import product

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.kernels_contents import NOT_RUNNING, RATE_UNIT
from schedgap.formulations.reconfiguration.kernels_contents import best_content as best_of
from schedgap.formulations.reconfiguration.kernels_items import Candidates

ENDLESS = 10**9


def rounded_up(worth, rate):
    return -(-worth * rate // RATE_UNIT)


def worth_of(content, worth, speed_worth, workload, throughput):
    """In whole numbers, every factor rounded up: at most a millionth of the worth for each task above the true one."""
    total = 0
    for i, copies in enumerate(content):
        rate = RATE_UNIT
        for j, others in enumerate(content):
            if workload[i] == NOT_RUNNING or workload[j] == NOT_RUNNING:
                continue
            for _ in range(others - (i == j)):
                rate = -(-rate * throughput[workload[i], workload[j]] // 1000)
        total += copies * (worth[i] + (rounded_up(speed_worth[i], rate) if workload[i] != NOT_RUNNING else 0))
    return total


def drawn(seed):
    rng = np.random.default_rng(seed)
    n, workloads = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    demand = rng.integers(0, 4, (n, 2))
    if rng.random() < 0.3:
        demand[rng.integers(n)] = -1
    return {
        "worth": rng.integers(0, 1000, n) * 1000,
        "speed_worth": rng.integers(0, 1000, n) * 1000 * int(rng.integers(0, 4)),
        "workload": rng.integers(NOT_RUNNING, workloads, n),
        "group": rng.integers(0, 3, n),
        "limit": rng.integers(1, 4, 3),
        "demand": demand,
        "capacity": rng.integers(1, 9, 2),
        "throughput": rng.integers(200, 1001, (workloads, workloads)),
    }


def best_content(given, target, node_limit, content):
    *candidates, throughput = given.values()
    return best_of(Candidates(*candidates), throughput, target, node_limit, content)


def feasible(content, given):
    in_group = np.bincount(given["group"], content, 3)
    used = np.array(content) @ np.maximum(given["demand"], 0)
    allowed = all(copies == 0 or (row >= 0).all() for copies, row in zip(content, given["demand"], strict=True))
    return allowed and (in_group <= given["limit"]).all() and (used <= given["capacity"]).all()


@pytest.mark.parametrize("seed", range(150))
def test_it_finds_the_most_valuable_content(seed):
    given = drawn(seed)
    given["speed_worth"] = np.where(given["workload"] == NOT_RUNNING, 0, given["speed_worth"])
    value = (given["worth"], given["speed_worth"], given["workload"], given["throughput"])
    every = product(range(4), repeat=given["worth"].shape[0])
    most = max(worth_of(content, *value) for content in every if feasible(content, given))
    content = np.zeros(given["worth"].shape[0], np.int64)
    best, upper, _ = best_content(given, 0, ENDLESS, content)
    # Rounding up in another order moves a rate by a few millionths.
    assert abs(best - most) <= 1e-4 * most
    assert upper == best
    assert feasible(content, given)
    assert abs(worth_of(content, *value) - best) <= 1e-4 * most
    nothing = np.ones_like(content)
    assert best_content(given, best, ENDLESS, nothing)[:2] == (best, best)
    assert not nothing.any()


@pytest.mark.parametrize("seed", range(30))
def test_a_search_cut_short_still_bounds(seed):
    given = drawn(seed)
    given["speed_worth"] = np.where(given["workload"] == NOT_RUNNING, 0, given["speed_worth"])
    content = np.zeros(given["worth"].shape[0], np.int64)
    best = best_content(given, 0, ENDLESS, content)[0]
    for limit in (0, 1, 3):
        some, upper, _ = best_content(given, 0, limit, content)
        assert some <= best <= upper
