"""What all compiled policies have in common: little memory, and errors that are drawn job by job."""

import tracemalloc

import numpy as np
import pytest

from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator, Policy
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting.generators import bursty, mms


@pytest.mark.parametrize("scheduling", ["fcfs", "easy", "sjf", "conservative"])
@pytest.mark.parametrize("semantics", ["paper", "artifact"])
@pytest.mark.parametrize("generator", [mms, bursty])
def test_less_than_100_bytes_a_job(generator, scheduling, semantics):
    """32 of the instance, 16 of the schedule, and what is allocated in between."""
    jobs = 60_000
    instance = generator(jobs)
    policy = Policy(limit_us=3600 * SECOND_US, short_us=180 * SECOND_US, scheduling=scheduling, semantics=semantics)
    # What compiling takes, or loading what is compiled, is not counted.
    CompiledSimulator(generator(100), policy).run(100)
    tracemalloc.start()
    CompiledSimulator(instance, policy).run(100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (100 - 32) * jobs


@pytest.mark.parametrize("semantics", ["paper", "artifact"])
@pytest.mark.parametrize(("runtime_error", "wait_error"), [(0.3, 0.0), (0.0, 0.3), (0.3, 0.3)])
def test_errors_of_jobs_do_not_depend_on_those_that_come_later(make_instance, semantics, runtime_error, wait_error):
    rows = [(i, 1 + i % 5, 1, 0) for i in range(40)]
    policy = Policy(
        limit_us=4, short_us=2, runtime_error=runtime_error, wait_error=wait_error, semantics=semantics, balks=True
    )
    few, all_ = (
        CompiledSimulator(make_instance(some, 2, 1), policy, np.random.default_rng(3)) for some in (rows[:25], rows)
    )
    assert few.seed == all_.seed
    assert few.short.tolist() == all_.short[:25].tolist()
    assert few.mistaken.tolist() == all_.mistaken[:25].tolist()
