"""Small problems of the look-ahead policy, and what plans cost, in plain Python."""

import itertools

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.lookahead.kernels_problem import MOST_ON_MACHINE, DraftRows, Problem


def random_problem(seed, tasks=5):
    """Two rented machines, each with a task or two, others queued; two families, of which a class may lack one."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(1, 5, (2, 3, 2))
    if seed % 3 == 0:
        demand[1, 2] = -1
    task_class = rng.integers(0, 3, tasks)
    kind = np.array([2, 3])
    origin = np.full(tasks, -1)
    capacity = np.array([[4, 4], [8, 8], [9, 9], [12, 12]])
    type2family = np.array([0, 0, 0, 1])
    for t in range(min(3, tasks)):
        used = sum(
            (demand[type2family[kind[t % 2]], task_class[u]] for u in range(t) if origin[u] == t % 2), np.zeros(2)
        )
        need = demand[type2family[kind[t % 2]], task_class[t]]
        if (need >= 0).all() and (used + need <= capacity[kind[t % 2]]).all():
            origin[t] = t % 2
    movable = rng.random(tasks) < 0.8
    movable[origin < 0] = True
    weight = rng.random(tasks) + 0.2
    problem = Problem(
        capacity=capacity,
        price=np.array([1.0, 1.9, 2.1, 2.5]),
        type2family=type2family,
        by_price=np.arange(4),
        boot=np.array([0.1, 0.1, 0.2, 0.1]),
        setup=np.array([0.1, 0.2, 0.2, 0.3]),
        demand=demand,
        task_class=task_class,
        workload=task_class.copy(),
        weight=weight,
        alone=np.array([1.0, 1.2, 1.4])[task_class],
        leave=np.where(origin >= 0, weight * 0.05, 0.0),
        movable=movable,
        origin=origin,
        rate=rng.uniform(0.6, 1.0, (3, 3)),
        horizon=2.0,
        known=2,
    )
    rows = 2 + tasks + 1
    kinds = np.zeros(rows, np.int64)
    kinds[:2] = kind
    dirty = np.zeros(rows, np.int64)
    dirty[:2] = 1
    draft = DraftRows(
        kinds,
        np.zeros(rows, np.int64),
        np.zeros((rows, MOST_ON_MACHINE), np.int64),
        np.zeros((rows, 2), np.int64),
        np.full(tasks, -1),
        dirty,
        np.array([12345], np.uint64),
    )
    return problem, draft


def cost_on(p, group, kind, machine):
    """What a machine with these tasks costs; machine is None for a new one."""
    if not group:
        return 0.0
    family = p.type2family[kind]
    need = p.demand[family, p.task_class[list(group)]]
    if (need < 0).any() or (need.sum(axis=0) > p.capacity[kind]).any():
        return np.inf
    total = p.horizon * p.price[kind] + (p.setup[kind] if machine is None else 0.0)
    rates = [np.prod([p.rate[p.workload[t], p.workload[u]] for u in group if u != t]) for t in group]
    loss = sum(p.weight[t] * (1 - rate) for t, rate in zip(group, rates, strict=True))
    if p.price[kind] > sum(p.alone[t] * rate for t, rate in zip(group, rates, strict=True)):
        loss = max(loss, sum(p.alone[t] * (1 / rate - 1) for t, rate in zip(group, rates, strict=True)))
    total += p.horizon * loss
    for t in group:
        if machine is None:
            total += p.leave[t] + p.weight[t] * p.boot[kind]
        elif p.origin[t] != machine:
            total += p.leave[t]
    return total


def cheapest_new(p, group):
    """A new machine is of the cheapest type that fits."""
    for kind in p.by_price:
        cost = cost_on(p, group, kind, None)
        if cost < np.inf:
            return cost
    return np.inf


def least_cost(p, kinds):
    """Over all ways to put each task on one of the two machines or on one of as many new ones as there are tasks."""
    tasks = range(p.weight.shape[0])
    least = np.inf
    places = [()]
    for t in tasks:
        # A new machine is the next one, or one that an earlier task is on.
        allowed = (lambda made: range(max((1, *made)) + 2)) if p.movable[t] else (lambda _, b=p.origin[t]: (b,))
        places = [(*made, b) for made in places for b in allowed(made)]
    for made in places:
        groups = [[t for t in tasks if made[t] == b] for b in range(2 + len(tasks))]
        total = sum(cost_on(p, groups[b], kinds[b], b) for b in range(2))
        least = min(least, total + sum(cheapest_new(p, group) for group in groups[2:] if group))
    return least


def cost_of(p, d):
    groups = [d.content[b, : d.size[b]].tolist() for b in range(d.kind.shape[0])]
    assert sorted(itertools.chain(*groups)) == list(range(p.weight.shape[0]))
    for b, group in enumerate(groups):
        assert all(d.place[t] == b for t in group)
    known = sum(cost_on(p, groups[b], d.kind[b], b) for b in range(2))
    return known + sum(cost_on(p, group, d.kind[b], None) for b, group in enumerate(groups) if b >= 2)


@pytest.fixture(name="random_problem")
def random_problem_fixture():
    return random_problem


@pytest.fixture(name="least_cost")
def least_cost_fixture():
    return least_cost


@pytest.fixture(name="cost_of")
def cost_of_fixture():
    return cost_of
