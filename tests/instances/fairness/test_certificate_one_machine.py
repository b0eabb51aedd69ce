"""Certificates of machines whose fair point needs no solver, and what spoils them."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness import ONE, UNLIMITED, Certificate, FairnessInstance, share_of_a_task
from schedgap.instances.fairness.certificate import check_certificate


@st.composite
def one_machine(draw):
    """Users of one machine and one resource, whose fair point needs no solver; some have few tasks.

    All have min(level, own) of the machine per weight, where own is what all tasks of a user make.
    """
    users = draw(st.integers(1, 6))
    numbers = st.lists(st.integers(1, 9), min_size=users, max_size=users)
    demand, weight = np.array(draw(numbers)), np.array(draw(numbers))
    tasks = np.array(draw(st.lists(st.sampled_from([UNLIMITED, 1, 2, 5]), min_size=users, max_size=users)))
    if (tasks != UNLIMITED).all():
        tasks[draw(st.integers(0, users - 1))] = UNLIMITED
    instance = FairnessInstance(
        name="one-machine",
        notion=draw(st.sampled_from(["eunomia", "tsf", "cmmf", "drf"])),
        resources=("cpu",),
        machine_names=("machine",),
        machine_count=[1],
        capacity=[[100 * ONE]],
        demand=demand[:, None] * ONE,
        weight=weight * ONE,
        performance=np.full((users, 1), ONE),
        allowed=np.ones((users, 1), bool),
        tasks=tasks,
    )
    own = np.where(tasks == UNLIMITED, np.inf, tasks * demand / weight / 100)
    level = 1 / weight.sum()
    for _ in range(200):
        level = (1 - (own * weight)[own < level].sum()) / weight[own >= level].sum()
    return instance, np.minimum(level, own), own


@settings(max_examples=80, deadline=None)
@given(one_machine(), st.data())
def test_any_machine_that_users_share(drawn, data):
    """The proof is one price for those at the level, and their own tasks for the others; a wrong number spoils it."""
    instance, shares, own = drawn
    gain = share_of_a_task(instance)
    ran = shares[:, None] / gain
    level = shares.max()
    capped = np.flatnonzero(own < level * (1 - 1e-12))
    users = np.concatenate((np.arange(instance.num_users), capped))
    weights = np.concatenate((instance.demand[:, 0] / gain[:, 0], np.ones(capped.size)))
    cuts = np.concatenate((np.zeros(instance.num_users, int), 1 + np.arange(capped.size)))
    right = Certificate(cuts, users, weights, [0], [0], [0], [1.0])
    check_certificate(instance, gain, ran, right)

    # Alone, a user is as well off by what all of the machine is worth to it as by any lower price.
    assume(instance.num_users > 1)
    user = int(data.draw(st.sampled_from(np.flatnonzero(own == np.inf).tolist())))
    factor = data.draw(st.sampled_from([0.999, 1.001]))
    for change in (
        {"price": [factor]},
        {"share_weight": np.where((users == user) & (cuts == 0), weights * factor, weights)},
    ):
        fields = {key: getattr(right, key) for key in right.__slots__} | change
        with pytest.raises(VerifyError, match="does not prove"):
            check_certificate(instance, gain, ran, Certificate(**fields))
    less = ran.copy()
    less[user] *= 0.999
    with pytest.raises(VerifyError, match="does not prove"):
        check_certificate(instance, gain, less, right)
