"""What a solution costs, in exact integers.

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

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.provisioning.model import ProvisioningInstance
    from schedgap.instances.provisioning.solution import Provisioning


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
