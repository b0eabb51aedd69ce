"""Machines bought one after the other, against all sets of jobs."""

import itertools

import numpy as np

from schedgap.formulations.waiting.kernels_flow import Arcs, Flow, Paths, buy_machine, first_potentials


def cheapest(tail, head, cost, idle_cost, units):
    """Return the least cost of so many units from the first node to the last, by trying every set of arcs."""
    best = None
    for used in itertools.product((0, 1), repeat=len(tail)):
        inside = np.zeros(len(idle_cost), np.int64)
        for a, one in enumerate(used):
            inside[tail[a] : head[a]] += one
        if (inside <= units).all():
            total = int(cost @ used) + int(idle_cost @ (units - inside))
            best = total if best is None else min(best, total)
    return best


def test_each_machine_is_the_cheapest():
    bought = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        nodes, number, slots = int(rng.integers(2, 7)), int(rng.integers(1, 8)), int(rng.integers(1, 3))
        tail = np.sort(rng.integers(0, nodes - 1, number))
        head = rng.integers(tail + 1, nodes)
        cost, idle_cost = rng.integers(-20, 6, number), rng.integers(0, 6, nodes - 1)
        buy_cost = int(rng.integers(0, 12))
        by_head, every = np.argsort(head, kind="stable"), np.arange(nodes + 1)
        leaving, entering = np.searchsorted(tail, every), np.searchsorted(head[by_head], every)
        arcs = Arcs(tail, head, cost, leaving, by_head, entering, idle_cost)
        flow = Flow(np.zeros(number, np.int64), np.zeros(nodes - 1, np.int64))
        paths = Paths(*np.empty((3, nodes), np.int64))
        first_potentials(arcs, paths.potential)
        units = 0
        while buy_machine(arcs, buy_cost, slots, flow, paths):
            units += slots
            assert cost @ flow.used + idle_cost @ flow.idle == cheapest(tail, head, cost, idle_cost, units)
            bought += 1
        now, more = (cheapest(tail, head, cost, idle_cost, n) + n * buy_cost for n in (units, units + slots))
        assert more >= now
        assert cost @ flow.used + idle_cost @ flow.idle + units * buy_cost == now
    assert bought > 60
