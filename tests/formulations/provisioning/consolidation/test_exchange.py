"""Plans of tiny clusters in which machines change places, against all plans."""

import time

import numpy as np
import pytest

from schedgap.formulations.provisioning.consolidation.exchange import Exchange
from schedgap.formulations.provisioning.search import Search
from schedgap.instances.errors import VerifyError
from schedgap.instances.provisioning import ONE_TASK, ProvisioningInstance, Running, verify
from schedgap.instances.provisioning.solution import Provisioning


def begun(instance, seconds=10.0):
    """Return a search that knows the plan in which nothing moves."""
    running = instance.running
    search = Search(time.perf_counter(), seconds)
    plan = Provisioning.from_patterns(
        running.machine_type, np.ones(running.size, np.int64), running.contents(instance.num_classes)
    )
    plan = Provisioning(
        *(plan.machine_type, plan.repeat, plan.indptr, plan.task_class, plan.count), keeps=np.arange(running.size)
    )
    search.keep(plan, verify(instance, plan))
    return search


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_plans_are_allowed_and_no_dearer_than_before(tiny, cheapest, seed, weighted):
    instance = tiny(seed, weighted=weighted)
    if instance.running is None or instance.max_disruption is None:
        return
    try:
        search = begun(instance)
    except VerifyError:
        # Pending tasks, or a machine that holds too much.
        return
    before = search.objective
    Exchange(instance, search, 1).run()
    assert cheapest(instance) <= search.objective <= before
    assert verify(instance, search.best) == search.objective


@pytest.mark.parametrize(("most", "price"), [(0, 12), (1, 8), (2, 8), (4, 5)])
def test_a_machine_is_given_back_whose_tasks_fit_elsewhere(most, price):
    """Three of 4 for $4, with 3, 1 and 2 tasks; one of 2 for $1 can be had. The second's task fits on the first or third."""
    instance = ProvisioningInstance(
        *("three", ("cpu",), ("f",), ("large", "small"), [0, 0], [[4], [2]], [4_000_000, 1_000_000], [[[1]]], [6]),
        running=Running.from_contents(tuple("abc"), [0] * 3, [[3], [1], [2]]),
        max_disruption=most * ONE_TASK,
    )
    search = begun(instance)
    Exchange(instance, search, 1).run()
    assert search.objective == price * 1_000_000
