"""How a solution stands to the machines that run: what it keeps, moves and disrupts, and whether the stock lasts.

What an instance has beside machines that can be rented without end: stocks, running machines, limits on disruption and classes.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances import exact
from schedgap.instances.arrays import IntArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running import ANY_NUMBER, Running, shown_disruption
from schedgap.instances.provisioning.solution import NEW, Provisioning

# What a method must be able to take into account; see `features`. Machines that run are a start, and here no more than that.
STOCK, DISRUPTION, RUNNING, PER_MACHINE = "stock", "disruption", "running", "per_machine"


# Fields that say nothing where nothing runs.
NOTHING_RUNS = {"disruption": None, "max_disruption": None}


def features(instance: ProvisioningInstance) -> frozenset[str]:
    """Return what a method must take into account: `stock` where it ends, `disruption` where it is limited.

    `per_machine` where only so many tasks of some class may share a machine.
    """
    limited = {DISRUPTION: instance.max_disruption, PER_MACHINE: getattr(instance, "per_machine", None)}
    asked = {STOCK: has_stock(instance)} | {feature: limit is not None for feature, limit in limited.items()}
    return frozenset(feature for feature, is_asked in asked.items() if is_asked)


def has_stock(instance: ProvisioningInstance) -> bool:
    """Return whether only so many machines of some type can be had."""
    return instance.stock is not None and bool((instance.stock != ANY_NUMBER).any())


def anew(instance: ProvisioningInstance) -> ProvisioningInstance:
    """Return the instance without running machines and what they are for: a cluster made anew of what can be had."""
    return instance if instance.running is None else instance.replace(running=None, **NOTHING_RUNS)


def unlimited(instance: ProvisioningInstance) -> ProvisioningInstance:
    """Return the instance without stocks, running machines and limits on disruption: its best solution costs no more.

    How many tasks of a class may share a machine is kept.
    """
    if instance.running is None and not features(instance) - {PER_MACHINE}:
        return instance
    return instance.replace(stock=None, running=None, **NOTHING_RUNS)


# Above so many pairs of a running machine and one of a solution, of one type, machines are matched one by one.
MAX_PAIRS = 4_000_000
# Places of machines and classes above which nothing is matched: the tables would not fit.
MAX_CELLS = 40_000_000


def moves(instance: ProvisioningInstance, solution: Provisioning) -> int:
    """Return how many tasks leave the running machine that they are on; O(N log N).

    A running machine that is kept loses what it holds less of each class than before, any other all that is on it.
    """
    assert instance.running is not None
    return int(instance.running.count.sum()) - int(staying(instance, solution).sum())


def staying(instance: ProvisioningInstance, solution: Provisioning) -> IntArray:
    """(N,) int64: of each entry of the running machines' content, how many tasks stay."""
    running = instance.running
    assert running is not None
    if solution.keeps is None:
        return np.zeros_like(running.count)
    machine = solution.keeps[solution.entry2group]
    kept = machine != NEW
    keys = machine[kept] * instance.num_classes + solution.task_class[kept]
    order = np.argsort(keys)
    keys, counts = np.append(keys[order], -1), np.append(solution.count[kept][order], 0)
    wanted = running.machine * instance.num_classes + running.task_class
    place = np.searchsorted(keys[:-1], wanted)
    return np.where(keys[place] == wanted, np.minimum(counts[place], running.count), 0)


def disruption(instance: ProvisioningInstance, solution: Provisioning) -> int:
    """Return, in 1 / `ONE_TASK`, how much a solution disrupts what runs; O(N log N).

    The summed weight of the tasks that leave the running machine that they are on, as in `moves`, and the `node_disruption` of
    each running machine that is not kept.
    """
    running = instance.running
    assert running is not None
    tasks = exact.dot(running.count - staying(instance, solution), instance.weight[running.task_class])
    left = int(tasks)
    if running.node_disruption is None:
        return left
    gone = np.ones(running.size, np.bool_)
    if solution.keeps is not None:
        gone[solution.keeps[solution.keeps != NEW]] = False
    return left + int(sum(running.node_disruption[gone].tolist()))


def check_stock(instance: ProvisioningInstance, solution: Provisioning) -> None:
    """Refuse a solution with more machines of a type than can be had.

    Raises
    ------
    VerifyError
        naming the type and both numbers.
    """
    if instance.stock is None:
        return
    used = exact.sums(solution.machine_type, solution.repeat, instance.num_types)
    if (k := first_true((instance.stock != ANY_NUMBER) & (used > instance.stock))) is not None:
        raise VerifyError(
            f"{used[k]} machines of type {instance.type_names[k]} are used, {instance.stock[k]} can be had."
        )


def check_moves(instance: ProvisioningInstance, solution: Provisioning) -> None:
    """Refuse a solution that keeps what does not run, keeps it twice or as another type, or disrupts too much.

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    running, keeps = instance.running, solution.keeps
    if keeps is not None:
        size = 0 if running is None else running.size
        if keeps.size and (keeps.min() < NEW or keeps.max() >= size):
            raise VerifyError(f"a machine group keeps running machine {keeps.max()}; the instance has {size}.")
        kept = np.flatnonzero(keeps != NEW)
        if running is not None and kept.size:
            _check_kept(instance, running, solution, kept)
    most = instance.max_disruption
    if most is not None and (amount := disruption(instance, solution)) > most:
        if instance.counts_moves:
            raise VerifyError(
                f"{shown_disruption(amount)} tasks leave their machines, at most {shown_disruption(most)} may."
            )
        raise VerifyError(
            f"the disruption is {shown_disruption(amount)}: {moves(instance, solution)} tasks leave their machines, and some "
            f"machines go; at most {shown_disruption(most)} may be."
        )


def _check_kept(instance: ProvisioningInstance, running: Running, solution: Provisioning, kept: IntArray) -> None:
    assert solution.keeps is not None
    machines, times = np.unique(solution.keeps[kept], return_counts=True)
    times = exact.sums(np.searchsorted(machines, solution.keeps[kept]), solution.repeat[kept], machines.size)
    if (twice := first_true(times > 1)) is not None:
        raise VerifyError(
            f"running machine {running.names[machines[twice]]} is kept {times[twice]} times; keep it once."
        )
    other = kept[running.machine_type[solution.keeps[kept]] != solution.machine_type[kept]]
    if other.size:
        p = int(other[0])
        e = int(solution.keeps[p])
        raise VerifyError(
            f"machine group {p} is a {instance.type_names[solution.machine_type[p]]} and keeps {running.names[e]}, "
            f"a {instance.type_names[running.machine_type[e]]}; a machine keeps its type."
        )


def keeping(instance: ProvisioningInstance, solution: Provisioning) -> Provisioning:
    """Return the same machines, with as many tasks as possible left where they are, by what they count as disruption.

    Machines of a type are matched to the running ones of that type so that the least is disrupted: exactly, in O(n^3) for n
    machines of a type, and one by one, most first, beyond `MAX_PAIRS` pairs. Tasks keep no names. Beyond `MAX_CELLS` places
    of machines and classes nothing is kept.
    """
    running = instance.running
    if running is None or max(running.size, solution.num_machines) * instance.num_classes > MAX_CELLS:
        return solution
    types, content = solution.machines(instance.num_classes)
    before = running.contents(instance.num_classes)
    cost = np.zeros(running.size, np.int64) if running.node_disruption is None else running.node_disruption
    keeps = np.full(types.shape[0], NEW, np.int64)
    for k in np.intersect1d(types, running.machine_type).tolist():
        rented, runs = np.flatnonzero(types == k), np.flatnonzero(running.machine_type == k)
        chosen, of = _matched(content[rented], before[runs], instance.weight, cost[runs])
        keeps[rented[chosen]] = runs[of]
    new = Provisioning.from_machines(types[keeps == NEW], content[keeps == NEW])
    kept = np.flatnonzero(keeps != NEW)
    old = Provisioning.from_patterns(types[kept], np.ones(kept.size, np.int64), content[kept])
    return Provisioning(
        np.concatenate((old.machine_type, new.machine_type)),
        np.concatenate((old.repeat, new.repeat)),
        np.concatenate((old.indptr, old.indptr[-1] + new.indptr[1:])),
        np.concatenate((old.task_class, new.task_class)),
        np.concatenate((old.count, new.count)),
        keeps=np.concatenate((keeps[kept], np.full(new.repeat.shape[0], NEW))),
    )


def _matched(rented: IntArray, runs: IntArray, weight: IntArray, cost: IntArray) -> tuple[IntArray, IntArray]:
    """Return pairs of a row of `rented` (A, C) and one of `runs` (B, C) that share the most together.

    weight : (C,) what a task counts. cost : (B,) what it counts beside that a row of `runs` has a pair.
    """
    # Here, since SciPy's optimisers take long to import, and only plans for running machines need one.
    from scipy.optimize import linear_sum_assignment

    if rented.shape[0] * runs.shape[0] <= MAX_PAIRS:
        shared = np.array([np.minimum(row, runs) @ weight + cost for row in rented]).reshape(rented.shape[0], -1)
        first, second = linear_sum_assignment(shared, maximize=True)
        return np.asarray(first, np.int64), np.asarray(second, np.int64)
    free = np.ones(runs.shape[0], np.bool_)
    pairs = []
    for a in np.argsort(-rented.sum(axis=1), kind="stable")[: runs.shape[0]].tolist():
        shared = np.where(free, np.minimum(rented[a], runs) @ weight + cost, -1)
        b = int(np.argmax(shared))
        free[b] = False
        pairs.append((a, b))
    table = np.array(pairs, np.int64)
    return table[:, 0], table[:, 1]
