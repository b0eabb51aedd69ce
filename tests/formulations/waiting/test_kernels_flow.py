"""Machines bought and given back one after the other, and jobs taken out, against all sets of jobs."""

import itertools

import numpy as np

from schedgap.formulations.waiting.no_wait import (
    GONE,
    Arcs,
    Flow,
    Paths,
    change_machines,
    first_potentials,
    take_out,
)


class Network:
    """A random network of a few jobs, and the flow through it."""

    def __init__(self, rng):
        self.nodes, self.number = int(rng.integers(2, 7)), int(rng.integers(1, 8))
        tail = np.sort(rng.integers(0, self.nodes - 1, self.number))
        head = rng.integers(tail + 1, self.nodes)
        by_head, every = np.argsort(head, kind="stable"), np.arange(self.nodes + 1)
        leaving, entering = np.searchsorted(tail, every), np.searchsorted(head[by_head], every)
        self.arcs = Arcs(tail, head, rng.integers(-20, 6, self.number), leaving, by_head, entering)
        zeros = np.zeros(self.number, np.int64), np.zeros(self.nodes - 1, np.int64), np.zeros(self.nodes, np.int64)
        self.flow, self.paths = Flow(*zeros), Paths(*np.empty((2, self.nodes), np.int64))
        first_potentials(self.arcs, self.flow.potential)

    def change(self, cost, slots, is_bought):
        return change_machines(self.arcs, cost, slots, is_bought, self.flow, self.paths)

    def cost(self, units):
        """Return what the flow costs, which is so many units."""
        inside = self.flow.idle.copy()
        for a in np.flatnonzero(self.flow.used == 1):
            inside[self.arcs.tail[a] : self.arcs.head[a]] += 1
        assert (self.flow.idle >= 0).all()
        assert (inside == units).all()
        return int(self.arcs.cost[self.flow.used == 1].sum())

    def least(self, units):
        """Return the least cost of so many units, by trying every set of the arcs that are there."""
        best = 0
        for used in itertools.product((0, 1), repeat=self.number):
            inside = np.zeros(self.nodes - 1, np.int64)
            for a, one in enumerate(used):
                inside[self.arcs.tail[a] : self.arcs.head[a]] += one
            if (inside <= units).all() and not (np.array(used)[self.flow.used == GONE]).any():
                best = min(best, int(self.arcs.cost @ used))
        return best


def test_each_machine_is_the_cheapest():
    bought = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        network, slots, price, units = Network(rng), int(rng.integers(1, 3)), int(rng.integers(0, 24)), 0
        while network.change(price, slots, True):
            units += slots
            assert network.cost(units) == network.least(units)
            bought += 1
        assert network.cost(units) == network.least(units) <= network.least(units + slots) + price
    assert bought > 60


def test_flows_stay_the_cheapest_where_jobs_leave_and_prices_rise():
    given_back = rerouted = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        network, slots, price, units = Network(rng), int(rng.integers(1, 3)), int(rng.integers(0, 12)), 0
        while network.change(price, slots, True):
            units += slots
        for _ in range(2):
            leave = np.flatnonzero((rng.random(network.number) < 0.3) & (network.flow.used != GONE))
            rerouted += int((network.flow.used[leave] == 1).sum())
            take_out(network.arcs, leave, network.flow, network.paths)
            assert network.cost(units) == network.least(units)
            price += int(rng.integers(0, 6))
            while units and network.change(price, slots, False):
                units -= slots
                assert network.cost(units) == network.least(units)
                given_back += 1
            assert not units or network.least(units) + price <= network.least(units - slots)
    assert given_back > 60
    assert rerouted > 60
