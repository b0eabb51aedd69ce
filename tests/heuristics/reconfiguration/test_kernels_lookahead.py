"""The compiled parts of the look-ahead policy, against plain Python."""

import itertools

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.kernels_lookahead import MOST_ON_MACHINE, Draft, Problem, new_work
from schedgap.heuristics.reconfiguration.kernels_lookahead_learn import learn_rates, mark_changed, revalue, tally
from schedgap.heuristics.reconfiguration.kernels_lookahead_search import begin, insert_queued, search


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
    draft = Draft(
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
    for t in group:
        rate = np.prod([p.rate[p.workload[t], p.workload[u]] for u in group if u != t])
        total += p.horizon * p.weight[t] * (1 - rate)
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


def state_that_draws(number, below):
    """A state of the random stream, xorshift64, whose next number is the one given."""
    for state in range(1, 10_000):
        x = state ^ (state << 13) % 2**64
        x ^= x >> 7
        x ^= (x << 17) % 2**64
        if (x >> 11) % below == number:
            return state
    raise AssertionError


@pytest.mark.parametrize("seed", range(20))
def test_regrouping_two_machines_finds_the_least_cost(seed):
    p, d = random_problem(seed, tasks=4)
    p.capacity[2:] = 16
    p.demand[:] = np.maximum(p.demand, 1)
    p.origin[:] = np.arange(4) % 2
    begin(p, d)
    before = cost_of(p, d)
    # One try: machine 0 has changed, and machine 1 is the first partner drawn.
    d.dirty[1] = 0
    d.random[0] = state_that_draws(1, d.kind.shape[0])
    search(p, d, new_work(9, 3, 7, 2, 2), 9, 4, 1, 1, 0)
    assert before >= cost_of(p, d) == pytest.approx(least_cost(p, d.kind[:2]), rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_search_makes_an_insertion_no_worse(seed):
    p, d = random_problem(seed)
    begin(p, d)
    insert_queued(p, d)
    inserted = cost_of(p, d)
    search(p, d, new_work(9, 3, 6, 2, 2), 9, 3, 100, 100, 50)
    assert least_cost(p, d.kind[:2]) - 1e-9 <= cost_of(p, d) <= inserted + 1e-9


def test_what_may_not_move_stays():
    p, d = random_problem(4)
    p.movable[p.origin >= 0] = False
    begin(p, d)
    insert_queued(p, d)
    search(p, d, new_work(9, 3, 6, 2, 2), 9, 3, 100, 100, 50)
    held = p.origin >= 0
    assert held.any()
    assert (d.place[held] == p.origin[held]).all()


def test_few_tasks_at_once_are_regrouped_when_there_are_many():
    p, d = random_problem(7, tasks=12)
    begin(p, d)
    insert_queued(p, d)
    before = cost_of(p, d)
    search(p, d, new_work(3, 3, 6, 2, 2), 3, 3, 100, 100, 50)
    assert cost_of(p, d) <= before + 1e-9


def test_pairwise_throughputs_are_learned_from_products():
    # On one machine workloads 0, 1, 1, on another 0 and 1, on a third one 0 alone.
    rate = np.array([[1.0, 0.8], [0.9, 0.7]])
    log_rate = np.full((2, 2), np.log(0.95))
    held_on = np.array([0, 0, 0, 1, 1, 2])
    workload = np.array([0, 1, 1, 0, 1, 0])
    shown = np.array([0.8 * 0.8, 0.9 * 0.7, 0.9 * 0.7, 0.8, 0.9, 1.0])
    dirty = np.zeros(3, np.int64)
    for _ in range(100):
        learn_rates(log_rate, np.arange(2), workload, np.arange(6), held_on, shown, dirty)
    assert dirty.tolist() == [1, 1, 0]
    assert np.exp(log_rate[0, 1]) == pytest.approx(rate[0, 1], rel=1e-6)
    assert np.exp(log_rate[1]) == pytest.approx(rate[1], rel=1e-6)
    # No two tasks of workload 0 were together.
    assert np.exp(log_rate[0, 0]) == pytest.approx(0.95)


def test_the_slowest_task_of_a_job_is_blamed_and_none_is_slower_than_the_job():
    # One job with a task of workload 0 beside workload 1 (believed to run at 0.9) and one beside workload 2 (0.5).
    believed = np.array([[0.95, 0.9, 0.5], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    classes, jobs, held_on = np.array([0, 0, 1, 2]), np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1])
    for shown, wanted in ((0.4, (0.9, 0.4)), (0.7, (0.9, 0.7)), (0.95, (0.95, 0.95))):
        log_rate, dirty = np.log(believed), np.zeros(2, np.int64)
        learn_rates(log_rate, np.arange(3), classes, jobs, held_on, np.array([shown, shown, 1.0, 1.0]), dirty)
        assert np.exp(log_rate[0, 1:]) == pytest.approx(wanted)
        assert dirty.tolist() == [int(wanted[0] != 0.9), 1]


def test_a_machine_on_which_a_task_shows_nothing_teaches_nothing():
    log_rate, dirty = np.log(np.full((1, 1), 0.95)), np.zeros(1, np.int64)
    learn_rates(log_rate, np.zeros(1, np.int64), np.zeros(2, np.int64), np.arange(2), np.zeros(2, np.int64),
                np.array([0.5, -1.0]), dirty)  # fmt: skip
    assert np.exp(log_rate[0, 0]) == 0.95
    assert dirty.tolist() == [0]


def test_values_move_towards_the_price_of_their_machine():
    p, d = random_problem(1)
    begin(p, d)
    factor = np.ones(3)
    revalue(p, d, factor, 0.5)
    on_first = [t for t in range(5) if d.place[t] == 0]
    worth = 0.0
    for t in on_first:
        rate = np.prod([p.rate[p.workload[t], p.workload[u]] for u in on_first if u != t])
        worth += p.weight[t] * rate
    others = {int(p.task_class[t]) for t in range(5) if d.place[t] == 1}
    mine = [int(p.task_class[t]) for t in on_first if int(p.task_class[t]) not in others]
    assert mine
    for c in set(mine):
        assert factor[c] == pytest.approx(min(2.0, (p.price[2] / worth) ** (0.5 * mine.count(c))))


def test_machines_that_changed_are_marked():
    planned = np.array([[3, 2, 2], [5, 1, 0], [9, 4, 4]])
    size, free = tally(np.array([0, 0, 1, 2, -1]), np.array([True, True, True, False, True]), 3)
    assert (size.tolist(), free.tolist()) == ([2, 1, 1], [2, 1, 0])
    dirty = np.ones(3, np.int64)
    # Machine 3 is as planned; a task of machine 5 may move again; machine 7 is not in the plan.
    mark_changed(np.array([3, 5, 7]), size, free, planned, dirty)
    assert dirty.tolist() == [0, 1, 1]
