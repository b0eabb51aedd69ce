"""Time of exchanges of tasks between lanes, and of dividing VMs into lanes; run with `make benchmarks`."""

import numpy as np
import pytest

from schedgap.formulations.harvest.clairvoyant import Exchange, Future, divided
from schedgap.formulations.harvest.work_bound import ending_together, objective_of_ends
from schedgap.instances.harvest.generators.datacentre import quick


@pytest.fixture(name="listed", scope="module")
def listed_fixture():
    """Return a crowded pool of 64 VMs with some 2,500 tasks, and a list of them."""
    instance = quick(vms=64, jobs=50, tasks="20-80", load=0.8, seed=0)
    future = Future(instance)
    return instance, future, *future.place(np.arange(instance.num_tasks))


def test_lanes(benchmark, listed):
    _, future, vm, start = listed
    rows, _ = benchmark(divided, future, vm, start)
    assert len(rows) > 64


def test_a_million_exchanges(benchmark, listed):
    instance, future, vm, start = listed

    def improved():
        draft = Exchange(future, ending_together(instance), vm, start)
        random = np.array([7], np.uint64)
        return draft.improve(1_000_000, random, np.inf, lambda _, at: objective_of_ends(instance, at + future.length))

    least, _ = benchmark(improved)
    assert least < objective_of_ends(instance, start + future.length)
