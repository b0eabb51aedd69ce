"""Time of the relaxation by patterns of bins in five dimensions, and of a search for patterns; run with `make benchmarks`."""

import time

import numpy as np
import pytest

from schedgap.formulations.provisioning.branch_price.program import Program, first_values
from schedgap.formulations.provisioning.branch_price.relaxation import Relaxation
from schedgap.instances.provisioning import ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO
from schedgap.instances.units import DOLLAR

NEVER = 10**15


def started(items):
    """Return a relaxation of a bin's 1,000 in each of five dimensions, of items of 100 to 400."""
    size = np.random.default_rng(0).integers(100, 401, (items, 5))
    program = Program.of_classes(
        ProvisioningInstance(
            name="bins",
            resources=tuple("abcde"),
            families=("bin",),
            type_names=("bin",),
            capacity=np.full((1, 5), 1_000),
            price=np.array([DOLLAR]),
            type2family=np.zeros(1, np.int64),
            counts=np.ones(items, np.int64),
            demand=size[None],
        )
    )
    relaxation = Relaxation(program)
    relaxation.start([], first_values(program), proven=True)
    return relaxation


def solved(relaxation):
    relaxation.solve(time.perf_counter() + 600, NEVER)
    return relaxation


@pytest.mark.parametrize("items", [60, 120])
def test_the_relaxation(benchmark, items):
    relaxation = benchmark.pedantic(solved, setup=lambda: ((started(items),), {}), rounds=3)
    assert relaxation.is_converged
    benchmark.extra_info["patterns"] = relaxation.master.num_columns


def test_a_search_for_contents(benchmark):
    """At the prices of a solved relaxation, whole."""
    relaxation = solved(started(120))
    values = relaxation.values_near(relaxation.found.row_duals)
    target, none = np.array([DOLLAR * NANO]), np.zeros(0, np.int64)
    priced = benchmark.pedantic(relaxation.pricing.best, (values, none, target, 10**9), rounds=3)
    assert priced.is_complete
