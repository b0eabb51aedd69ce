"""Conservative backfilling against the plain reference."""

import numpy as np
import pytest

from schedgap.heuristics.waiting.compiled.kernels_machines import NO_LIMIT_US
from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator, Policy
from schedgap.instances.waiting.verify import verify

LIMITS = (None, 0, 1, 4, 10)


def policy_of(limit, **others):
    return Policy(limit_us=NO_LIMIT_US if limit is None else limit, **others)


def agrees(schedule, expected):
    assert (schedule.machine.tolist(), schedule.start_us.tolist()) == expected


@pytest.mark.parametrize("kind", ["single", "mixed", "alike"])
@pytest.mark.parametrize("fit", ["first", "best"])
@pytest.mark.parametrize("balks", [False, True])
def test_each_job_has_the_first_gap(make_trace, plain_conservative, kind, fit, balks):
    for seed in range(30):
        instance, limit = make_trace(seed, kind), LIMITS[seed % 5]
        machines = seed % 4 + (limit is None)
        policy = policy_of(limit, balks=balks, scheduling="conservative", fit=fit)
        schedule = CompiledSimulator(instance, policy).run(machines)
        agrees(schedule, plain_conservative(instance, machines, [limit] * instance.num_jobs, balks=balks, fit=fit))
        verify(instance, schedule)


@pytest.mark.parametrize("kind", ["single", "mixed", "alike"])
def test_a_limit_for_each_job(make_trace, plain_conservative, kind):
    for seed in range(30):
        instance = make_trace(seed, kind)
        limits = np.random.default_rng(seed).choice([-1, 0, 2, 6, 11, 30], instance.num_jobs)
        simulator = CompiledSimulator(instance, Policy(balks=True, scheduling="conservative"), limit_us=limits)
        agrees(simulator.run(1 + seed % 4), plain_conservative(instance, 1 + seed % 4, limits.tolist()))


def test_reservations_outgrow_their_rows(make_instance, plain_conservative):
    """80 jobs on one machine of two cores, all reserved within 20 microseconds: more than 64 steps."""
    rng = np.random.default_rng(6)
    rows = [(int(t), int(rng.integers(5, 30)), int(rng.integers(1, 3)), 0) for t in np.sort(rng.integers(0, 20, 80))]
    instance = make_instance(rows, 2, 1)
    schedule = CompiledSimulator(instance, Policy(scheduling="conservative")).run(1)
    agrees(schedule, plain_conservative(instance, 1, [None] * 80))
