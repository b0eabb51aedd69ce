"""The fair point approximately, without a linear program: prices of machine classes, and weights of users, adjusted in turn.

With weights w, minimise sum_i w(i)^2 / s(i), by dividing one machine class after another anew (`kernels_price_adjustment`):
the terms are smooth and capacities separate, so that this leads to the minimum. There a user's marginal value is
(w(i) / s(i))^2, and with w(i) / s(i) in the place of w(i) the next minimum is nearer to the shares that are equal where
users compete (the method of multipliers; Rockafellar, 1976, doi:10.1287/moor.1.2.97). In the end, classes are divided without
weights, which only raises the lowest shares of their users: a few sweeps bring equal those who were still about to be.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.fairness.kernels_price_adjustment import Division, Pairs, sweep
from schedgap.instances.arrays import first_true
from schedgap.instances.errors import MethodError
from schedgap.instances.fairness.model import FAMILY, UNLIMITED, FairnessAllocation, FairnessInstance, allocation_of
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.method import method


def has_limits(instance: FairnessInstance) -> str | None:
    """Return None, or a user that has fewer tasks than it could run."""
    alone = np.where(instance.allowed, instance.fitting() * instance.machine_count, 0.0).sum(axis=1)
    if (user := first_true((instance.tasks != UNLIMITED) & (instance.tasks < alone))) is None:
        return None
    return (
        f"has user {instance.user_name(user)} with {instance.tasks[user]} tasks, fewer than fit: there are no prices for "
        "using up tasks; use water-filling"
    )


@method("price-adjustment", family=FAMILY, supports=has_limits)
def price_adjustment(
    instance: FairnessInstance, rounds: int = 8, sweeps: int = 3, last_sweeps: int = 6
) -> FairnessAllocation:
    """Approximate the fair point by adjusting prices of machine classes and weights of users in turn.

    rounds : times that weights are adjusted. sweeps : over all classes, before each. last_sweeps : without weights.
    O(N K R) a sweep.
    """
    if min(rounds, sweeps - 1, last_sweeps - 1) < 0:
        raise MethodError(
            f"price-adjustment: {rounds} rounds of {sweeps} sweeps and {last_sweeps} at the end; give at least one sweep."
        )
    gain, fits = share_of_a_task(instance), instance.fitting()
    machine_class, user = np.nonzero((instance.allowed & (fits > 0) & (gain > 0)).T)
    num_users, num_classes, num_resources = instance.num_users, instance.num_machine_classes, len(instance.resources)
    first_pair = np.searchsorted(machine_class, np.arange(num_classes + 1))
    one = fits[user, machine_class]
    whole = one * instance.machine_count[machine_class]
    cost = instance.demand[user] * one[:, None] / np.maximum(instance.capacity[machine_class], 1)
    share, weight = np.zeros(num_users), np.ones(num_users)
    division = Division(
        price=np.full((num_classes, num_resources), 1 / num_resources),
        level=np.zeros(num_classes),
        amount=np.zeros(user.shape),
        share=share,
        load=np.empty(num_resources),
        slope=np.empty(num_resources),
        work=np.empty((*user.shape, 3)),
    )
    # Worth in parts of an equal share, or so.
    pairs = Pairs(first_pair, user, cost, gain[user, machine_class] * whole * num_users)

    def divide(times: int, *, is_even: bool) -> None:
        for _ in range(times):
            sweep(pairs, weight, is_even, division)

    for _ in range(rounds):
        divide(sweeps, is_even=False)
        weight /= share
        mean = float(np.exp(np.log(weight).mean()))
        weight /= mean
        division.level[:] *= mean
    division.level[:] = 0.0
    divide(last_sweeps, is_even=True)
    found = np.zeros(gain.shape)
    found[user, machine_class] = division.amount * whole
    return allocation_of(instance, found)
