"""The order in which machines are emptied: played back step by step, against capacities, limits and stocks."""

from collections import Counter

import numpy as np
import pytest

from schedgap.instances.provisioning import Provisioning, ProvisioningInstance, Running, keeping, verify
from schedgap.instances.provisioning.plans import drain_order


def cluster(content, capacity, counts, **changes):
    """Machines n0, n1, ... of one type at $1 hold so much of the classes a, b, ..., tasks of 1, 2, ... cores."""
    sizes = np.arange(1, len(counts) + 1)
    instance = ProvisioningInstance(
        name="drained",
        resources=("cpu",),
        families=("m",),
        type_names=("m",),
        type2family=[0],
        capacity=[[capacity * 1000]],
        price=[1_000_000],
        demand=[(sizes * 1000)[:, None]],
        counts=counts,
        class_names=tuple("abcdef"[: len(counts)]),
        running=Running.from_contents([f"n{e}" for e in range(len(content))], [0] * len(content), content),
    )
    return instance.replace(**changes)


def plan(content, keeps):
    """One machine a row of type m."""
    rows = np.array(content)
    made = Provisioning.from_patterns([0] * len(rows), [1] * len(rows), rows)
    return Provisioning(made.machine_type, made.repeat, made.indptr, made.task_class, made.count, keeps=np.array(keeps))


def replay(instance, solution):
    """Play the steps; return them. Each is checked by itself, with sums that are made anew."""
    steps = drain_order(instance, solution)
    running, names = instance.running, [instance.class_name(c) for c in range(instance.num_classes)]
    types = dict(zip(running.names, running.machine_type.tolist(), strict=True))
    at = {name: Counter() for name in running.names}
    for e, c, n in zip(running.machine.tolist(), running.task_class.tolist(), running.count.tolist(), strict=True):
        at[running.names[e]][names[c]] += n
    first = {name: used(instance, types[name], content) for name, content in at.items()}
    late, dropped = [], set()
    kept = set() if solution.keeps is None else {running.names[e] for e in solution.keeps.tolist() if e >= 0}
    for step in steps:
        for move in step["moves"]:
            assert at[step["machine"]][move["task"]] >= move["count"] > 0
            at[step["machine"]][move["task"]] -= move["count"]
            if step.get("evicts_first"):
                late.append(move)
            else:
                arrive(instance, at, types, move)
        if step.get("stays"):
            assert step["machine"] in kept
        else:
            assert not at.pop(step["machine"]).total()
            dropped.add(step["machine"])
        check(instance, at, types, first)
    for move in late:
        arrive(instance, at, types, move)
    check(instance, at, types, first)
    assert dropped == set(running.names) - kept
    # What is there now is the solution but for pending tasks.
    held, content = solution.machines(instance.num_classes)
    keeps = np.full(len(solution.repeat), -1) if solution.keeps is None else solution.keeps
    left = Counter()
    for k, row, e in zip(held.tolist(), content.tolist(), np.repeat(keeps, solution.repeat).tolist(), strict=True):
        title = instance.type_names[k]
        left[title] += e < 0
        name = running.names[e] if e >= 0 else f"new {title} #{left[title]}"
        for c, n in zip(names, row, strict=True):
            assert at.get(name, Counter())[c] <= n
    for c, name in enumerate(names):
        assert sum(held[name] for held in at.values()) == running.placed(instance.num_classes)[c]
    return steps


def arrive(instance, at, types, move):
    if move["to"] not in at:
        assert move["to"].startswith("new ")
        types[move["to"]] = instance.type_names.index(move["to"][4:].rpartition(" #")[0])
        at[move["to"]] = Counter()
    at[move["to"]][move["task"]] += move["count"]


def used(instance, k, content):
    index = {instance.class_name(c): c for c in range(instance.num_classes)}
    demand = instance.demand[instance.type2family[k]]
    return sum((n * demand[index[c]] for c, n in content.items() if n), np.zeros(len(instance.resources), np.int64))


def check(instance, at, types, first):
    for name, content in at.items():
        room = np.maximum(instance.capacity[types[name]], first.get(name, 0))
        assert (used(instance, types[name], content) <= room).all(), name
        for c in range(instance.num_classes):
            assert content[instance.class_name(c)] <= instance.most_together[c]
    if instance.stock is not None:
        number = Counter(types[name] for name in at)
        assert all(stock < 0 or number[k] <= stock for k, stock in enumerate(instance.stock.tolist()))


def test_empty_machines_go_first_and_tasks_go_where_there_is_room():
    """n2 is empty; n1's two tasks fit beside n0's one; a pending one takes the fourth place."""
    instance = cluster([[1], [2], [0]], 4, [4])
    steps = replay(instance, plan([[4]], [0]))
    assert steps == [
        {"machine": "n2", "moves": []},
        {"machine": "n1", "moves": [{"task": "a", "count": 2, "to": "n0"}]},
    ]


def test_a_kept_machine_makes_room_first():
    """n1's b (2 cores) fits on n0 only when n0's two a have left it for n2, which has room."""
    instance = cluster([[2, 0], [0, 1], [1, 0]], 3, [3, 1])
    steps = replay(instance, plan([[0, 1], [3, 0]], [0, 2]))
    assert [(step["machine"], "stays" in step) for step in steps] == [("n0", True), ("n1", False)]
    assert steps[0]["moves"] == [{"task": "a", "count": 2, "to": "n2"}]


def test_machines_that_wait_for_each_other_in_part():
    """n0 and n1 are full and swap b for a: n2 gives n0's b its place first, as it wants one of them."""
    instance = cluster([[0, 2], [4, 0], [0, 0]], 4, [4, 2])
    steps = replay(instance, plan([[2, 1], [2, 1]], [0, 1]))
    # Nothing is free, n2 goes and is wanted by nobody: one of both evicts first.
    assert sum(step.get("evicts_first", False) for step in steps) == 1
    instance = cluster([[0, 2], [2, 0]], 4, [2, 2])
    assert not any("evicts_first" in step for step in replay(instance, plan([[1, 1], [1, 1]], [0, 1])))


def test_a_new_machine_is_started_when_its_stock_permits():
    """Three of a type can be had and run. A plan that keeps none starts its two after some have gone."""
    instance = cluster([[1], [1], [0]], 4, [2], stock=[3])
    solution = plan([[1], [1]], [-1, -1])
    steps = replay(instance, solution)
    assert [step["machine"] for step in steps] == ["n2", "n0", "n1"]
    full = cluster([[1], [1]], 4, [2], stock=[2])
    assert [step.get("evicts_first", False) for step in replay(full, solution)] == [True, False]


def test_at_most_so_many_of_a_class_share_a_machine_at_any_time():
    instance = cluster([[1, 1], [1, 0], [0, 1]], 6, [2, 2], per_machine=[1, -1])
    replay(instance, plan([[1, 2], [1, 0]], [0, 1]))


def test_nothing_runs():
    assert drain_order(cluster([[1]], 1, [1], running=None), plan([[1]], [-1])) == []


@pytest.mark.parametrize("seed", range(40))
def test_random_plans_are_played_back(seed):
    """Two resources, stocks and limits; machines before and after hold tasks at random, as many of them kept as can be."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(1, 5))
    demand = rng.integers(0, 4, (classes, 2)) * 1000
    demand[(demand == 0).all(axis=1)] = 1000
    capacity, most = np.array([[8000, 8000], [16000, 12000]]), np.where(rng.random(classes) < 0.3, 2, -1)
    counts = rng.integers(1, 7, classes)

    def packed():
        types, rows, left = [], [], counts.copy()
        while left.any():
            k, row = int(rng.integers(2)), np.zeros(classes, np.int64)
            for c in rng.permutation(np.repeat(np.arange(classes), left)).tolist():
                more = row + (np.arange(classes) == c)
                if (more @ demand <= capacity[k]).all() and (most[c] < 0 or more[c] <= most[c]) and rng.random() < 0.8:
                    row = more
            left -= row
            if row.any():
                types.append(k)
                rows.append(row)
        return types, np.array(rows)

    (types, before), (new_types, after) = packed(), packed()
    for _ in range(int(rng.integers(0, 3))):
        before[tuple(rng.integers(0, n) for n in before.shape)] //= 2
    both = [max(types.count(k), new_types.count(k)) for k in range(2)]
    instance = ProvisioningInstance(
        name="random",
        resources=("cpu", "gpu"),
        families=("m",),
        type_names=("m", "n"),
        type2family=[0, 0],
        capacity=capacity,
        price=[1_000_000, 1_500_000],
        demand=[demand],
        counts=counts,
        stock=[max(both[k], 1) + int(rng.integers(0, 2)) for k in range(2)] if rng.random() < 0.5 else None,
        per_machine=most,
        running=Running.from_contents([f"n{e}" for e in range(len(types))], types, before),
    )
    solution = Provisioning.from_machines(new_types, after)
    for cand in (solution, keeping(instance, solution)):
        verify(instance, cand)
        replay(instance, cand)
