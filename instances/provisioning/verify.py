"""Feasibility and objective of a solution, recomputed from nothing but the instance, in exact integers.

What a solution costs, in exact integers.

Without interference the objective is the machines' price. With interference it is price plus the value of lost
throughput: Eva's Full Reconfiguration (section 4.3) seeks to maximise sum of TNRP - price, where TNRP(t) = RP(t) f(t)
and f(t) is the product of the pairwise throughputs of t beside every other task on its machine. Since the sum of RP(t)
is a constant of the instance, minimising

    objective = price + sum over tasks of J(t) (1 - f(t))

is the same problem, has the plain cost as its special case f = 1, and is never negative. J(t) is the summed reservation
price of t's job, RP(t) for single-task jobs (section 4.4: TNRP(t) = RP(t) - sum over the job of (1 - f(t)) RP).
The loss of one machine is rounded up to a whole micro-dollar, so every method computes the same integer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedgap.instances import exact
from schedgap.instances.arrays import first_true, ranges
from schedgap.instances.errors import VerifyError
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.moves import check_moves, check_stock
from schedgap.instances.provisioning.solution import NEW, Provisioning
from schedgap.instances.units import shown_amount


def cost(instance: ProvisioningInstance, solution: Provisioning) -> int:
    """Return the machines' price in micro-dollars per hour."""
    return int(exact.dot(instance.price[solution.machine_type], solution.repeat))


def objective(instance: ProvisioningInstance, solution: Provisioning) -> int:
    """Return price plus lost value in micro-dollars per hour; equal to `cost` without interference."""
    total = cost(instance, solution)
    if instance.throughput is None:
        return total
    for p in range(solution.machine_type.shape[0]):
        span = slice(solution.indptr[p], solution.indptr[p + 1])
        loss = lost_value(instance, solution.task_class[span].tolist(), solution.count[span].tolist())
        total += loss * int(solution.repeat[p])
    return total


def lost_value(instance: ProvisioningInstance, classes: Sequence[int], counts: Sequence[int]) -> int:
    """Return the value per hour that the tasks sharing one machine lose to interference, in micro-dollars, rounded up.

    classes, counts : the classes on the machine and how many tasks of each. A task without a workload neither suffers
    nor disturbs. Exact: f is a ratio of integers, since throughputs are thousandths.
    """
    if instance.throughput is None:
        return 0
    tasks = [(c, int(instance.class2workload[c]), n) for c, n in zip(classes, counts, strict=True)]
    tasks = [task for task in tasks if task[1] >= 0]
    others = sum(n for _, _, n in tasks) - 1
    if others < 1:
        return 0
    whole = 1000**others
    value, loss = instance.job_value, 0
    for c, own, number in tasks:
        product = 1
        for d, other, n in tasks:
            product *= int(instance.throughput[own, other]) ** (n - (c == d))
        loss += number * int(value[c]) * (whole - product)
    return int(-(-loss // whole))


def price_step(instance: ProvisioningInstance) -> int:
    """Return the greatest common divisor of the prices: without interference every objective is a multiple of it."""
    return int(np.gcd.reduce(instance.price)) if instance.throughput is None else 1


def verify(instance: ProvisioningInstance, solution: Provisioning) -> int:
    """Return the objective of a feasible solution, in micro-dollars per hour.

    Every task is placed exactly once, on a machine of a family that it may use; no machine is over its capacity in any
    resource, or holds more tasks of a class than may share one; none is empty but a running one that is kept: the number of
    machines, and with it every sum here, is at most that of the tasks and running machines. There are no more machines of a
    type than its stock, and no more tasks leave running machines than may.
    O(N R) for N entries, plus O(T) where tasks are named. Sums are exact whatever a solution holds (`instances.exact`).

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    _check_ranges(instance, solution)
    _check_capacity(instance, solution)
    _check_counts(instance, solution)
    if solution.task2machine is not None:
        _check_tasks(instance, solution)
    check_stock(instance, solution)
    check_moves(instance, solution)
    return objective(instance, solution)


def _check_ranges(instance: ProvisioningInstance, solution: Provisioning) -> None:
    ranges = (
        ("machine type", solution.machine_type, 0, instance.num_types),
        ("task class", solution.task_class, 0, instance.num_classes),
        ("number of machines", solution.repeat, 1, instance.num_tasks + 1),
        ("number of tasks", solution.count, 1, instance.num_tasks + 1),
    )
    for what, values, start, stop in ranges:
        if (bad := first_true((values < start) | (values >= stop))) is not None:
            raise VerifyError(f"{what} {values[bad]} is outside {start}..{stop - 1} ({instance.name}).")
    is_new = True if solution.keeps is None else solution.keeps == NEW
    if (p := first_true((np.diff(solution.indptr) == 0) & is_new)) is not None:
        name = instance.type_names[solution.machine_type[p]]
        raise VerifyError(f"machine group {p}, a {name}, holds no task; leave out machines without tasks.")
    keys = solution.entry2group * instance.num_classes + solution.task_class
    if np.unique(keys).shape[0] != keys.shape[0]:
        raise VerifyError("a machine names the same task class twice; give one count for each class.")


def _check_capacity(instance: ProvisioningInstance, solution: Provisioning) -> None:
    entry2group = solution.entry2group
    type_of_entry = solution.machine_type[entry2group]
    family = instance.type2family[type_of_entry]
    demand = instance.demand[family, solution.task_class]
    if (i := first_true((demand < 0).any(axis=1))) is not None:
        raise VerifyError(
            f"machine group {entry2group[i]} is a {instance.type_names[type_of_entry[i]]}, but task "
            f"{instance.class_name(int(solution.task_class[i]))} may not run on family "
            f"{instance.families[family[i]]}."
        )
    if instance.per_machine is not None:
        most = instance.most_together[solution.task_class]
        if (i := first_true(solution.count > most)) is not None:
            raise VerifyError(
                f"machine group {entry2group[i]} holds {solution.count[i]} tasks of "
                f"{instance.class_name(int(solution.task_class[i]))}; at most {most[i]} may share a machine."
            )
    amounts = exact.product(demand, solution.count[:, None])
    used = exact.sums(entry2group, amounts, solution.machine_type.shape[0])
    capacity = instance.capacity[solution.machine_type]
    over = used > capacity
    if over.any():
        p, r = np.argwhere(over)[0]
        resource = instance.resources[r]
        raise VerifyError(
            f"machine group {p}, a {instance.type_names[solution.machine_type[p]]}, is over capacity: its tasks need "
            f"{shown_amount(int(used[p, r]), resource)}, it has {shown_amount(int(capacity[p, r]), resource)}."
        )


def _check_counts(instance: ProvisioningInstance, solution: Provisioning) -> None:
    tasks = exact.product(solution.count, solution.repeat[solution.entry2group])
    placed = exact.sums(solution.task_class, tasks, instance.num_classes)
    if (c := first_true(placed != instance.counts)) is not None:
        raise VerifyError(
            f"{placed[c]} tasks of {instance.class_name(c)} are placed, the instance has {instance.counts[c]}."
        )


def _check_tasks(instance: ProvisioningInstance, solution: Provisioning) -> None:
    """Check that the tasks named on each machine are the numbers per class that were checked above."""
    task2machine = solution.task2machine
    assert task2machine is not None
    if task2machine.shape != (instance.num_tasks,) or (task2machine < 0).any():
        raise VerifyError(f"{(task2machine >= 0).sum()} tasks are placed, the instance has {instance.num_tasks}.")
    if task2machine.size and task2machine.max() >= solution.num_machines:
        raise VerifyError(f"a task is placed on machine {task2machine.max()}; there are {solution.num_machines}.")
    named, count = np.unique(task2machine * instance.num_classes + instance.task_classes(), return_counts=True)
    lengths = solution.repeat[solution.entry2group]
    first = np.concatenate(([0], np.cumsum(solution.repeat)[:-1]))[solution.entry2group]
    keys = ranges(first, lengths) * instance.num_classes + np.repeat(solution.task_class, lengths)
    order = np.argsort(keys, kind="stable")
    if not (np.array_equal(keys[order], named) and np.array_equal(np.repeat(solution.count, lengths)[order], count)):
        raise VerifyError("the tasks named on the machines are not those counted per class.")
