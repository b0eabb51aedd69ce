"""Queues event by event, against the plain reference."""

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
@pytest.mark.parametrize("scheduling", ["easy", "sjf"])
@pytest.mark.parametrize("fit", ["first", "best"])
def test_other_orders(make_trace, plain_paper, kind, scheduling, fit):
    for seed in range(30):
        instance, limit, machines = make_trace(seed, kind), LIMITS[seed % 5], 1 + seed % 4
        schedule = CompiledSimulator(instance, policy_of(limit, scheduling=scheduling, fit=fit)).run(machines)
        limits = [limit] * instance.num_jobs
        agrees(schedule, plain_paper(instance, machines, limits, scheduling=scheduling, fit=fit))
        verify(instance, schedule)
