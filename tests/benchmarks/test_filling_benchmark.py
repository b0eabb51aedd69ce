"""Time of the bound from resource prices and of a run of annealing; run with `make benchmarks`."""

from math import inf

import pytest

from schedgap.formulations.provisioning.column_generation.filling import Filling
from schedgap.formulations.provisioning.column_generation.relaxation import group_weights
from schedgap.formulations.provisioning.column_generation.resource_prices import ResourceRelaxation
from schedgap.instances.provisioning.generators import distinct

FAR = 10**15


def climbed(instance):
    resources = ResourceRelaxation(instance, group_weights(instance))
    resources.solve(None)
    filling = Filling(resources)
    filling.climb(inf, FAR, further=0)
    return filling


@pytest.fixture(params=[200, 1_000])
def tasks(request, benchmark):
    """Return how many tasks there are: thousands only where times are measured."""
    if benchmark.disabled and request.param > 200:
        pytest.skip("takes half a minute, and tests nothing that fewer tasks do not")
    return request.param


def test_the_bound(benchmark, tasks):
    filling = benchmark.pedantic(climbed, (distinct(tasks, seed=1),), rounds=3)
    assert filling.tree.is_stuck
    benchmark.extra_info["nodes"] = filling.tree.nodes


def test_a_run_of_annealing(benchmark, tasks):
    filling = climbed(distinct(tasks, seed=1))
    asked = int(filling.bound * 1.01)
    filling.step(filling.bound, asked, inf)
    filling.share, filling.moves = 0.0, 5_000
    benchmark.pedantic(filling.step, (filling.bound, asked, inf), rounds=3)
    assert filling.runs > 1
