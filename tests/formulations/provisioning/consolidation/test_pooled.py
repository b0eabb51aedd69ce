"""Machines to keep by their room together, against all plans of tiny clusters, and by hand."""

from dataclasses import replace

import numpy as np
import pytest

from schedgap.formulations.provisioning.consolidation.pooled import Keeping, consolidation_pooled, supports
from schedgap.instances.method import Status
from schedgap.instances.provisioning import ONE_TASK, ProvisioningInstance, Running, disruption, verify


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_bounds_and_plans_keep_to_the_cheapest_of_all(tiny, cheapest, seed, weighted):
    instance = tiny(seed, weighted=weighted)
    if supports(instance) is not None:
        assert instance.max_disruption is None
        return
    found, least = consolidation_pooled(instance, time_limit_s=2), cheapest(instance)
    if least is None:
        assert found.solution is None
        return
    assert found.bound <= least
    if found.solution is not None:
        assert verify(instance, found.solution) >= least


def cluster(**changes):
    """Four machines of 4 for $4 with tasks of 1: 4, 2, 2 and 1; the last counts three. One of 2 for $1 can be had."""
    instance = ProvisioningInstance(
        *(
            "four",
            ("cpu",),
            ("f",),
            ("large", "small"),
            [0, 0],
            [[4], [2]],
            [4_000_000, 1_000_000],
            [[[1], [1]]],
            [8, 1],
        ),
        running=Running.from_contents(tuple("abcd"), [0] * 4, [[4, 0], [2, 0], [2, 0], [0, 1]]),
        disruption=[ONE_TASK, 3 * ONE_TASK],
    )
    return instance.replace(**changes)


@pytest.mark.parametrize(
    ("most", "price", "done"),
    [
        (1, 16, 0),
        # b goes to c.
        (2, 12, 2),
        # b and c go: two to d, two to a small one. Or b to c and d to a small one, which is more.
        (4, 9, 4),
        # d goes too, and half a: one large, and three small ones.
        (7, 7, 7),
    ],
)
def test_by_hand(most, price, done):
    instance = cluster(max_disruption=most * ONE_TASK)
    found = consolidation_pooled(instance, time_limit_s=20)
    assert found.status is Status.OPTIMAL
    assert verify(instance, found.solution) == found.bound == price * 1_000_000
    assert disruption(instance, found.solution) == done * ONE_TASK


def test_machines_that_count_are_kept_empty():
    running = replace(cluster().running, node_disruption=np.full(4, 2 * ONE_TASK))
    instance = cluster(running=running, max_disruption=4 * ONE_TASK)
    found = consolidation_pooled(instance, time_limit_s=20)
    # b or c goes, 2 and 2.
    assert verify(instance, found.solution) == found.bound == 12_000_000


def test_a_task_that_no_machine_has_room_for_comes_where_others_leave():
    """One of 3 waits, three machines have room for 2 each: with one move there is a place, and with none there is not."""
    instance = cluster(
        demand=[[[1], [1], [3]]],
        counts=[8, 2, 1],
        disruption=None,
        class2workload=None,
        class2job=None,
        tasks_per_job=None,
        job_value=None,
        running=Running.from_contents(tuple("abcd"), [0] * 4, [[4, 0, 0], [2, 0, 0], [2, 0, 0], [0, 2, 0]]),
        stock=[4, 0],
        max_disruption=ONE_TASK,
    )
    hard = Keeping(instance, 0.0, 0.0, 1).hard
    assert np.unique(hard[1]).tolist() == [2]
    found = consolidation_pooled(instance, time_limit_s=20)
    assert verify(instance, found.solution) == found.bound == 16_000_000
    assert consolidation_pooled(instance.replace(max_disruption=0), time_limit_s=20).solution is None
