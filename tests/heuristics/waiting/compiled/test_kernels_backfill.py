"""Backfilling in long queues, against the plain reference; short ones are `test_kernels_queue`'s."""

import numpy as np
import pytest

from schedgap.heuristics.waiting.compiled.kernels_machines import NO_LIMIT_US
from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator, Policy


def policy_of(limit, **others):
    return Policy(limit_us=NO_LIMIT_US if limit is None else limit, **others)


def agrees(schedule, expected):
    assert (schedule.machine.tolist(), schedule.start_us.tolist()) == expected


@pytest.mark.parametrize("limit", [None, 40])
@pytest.mark.parametrize("machines", [1, 2])
def test_a_long_queue_is_passed_over_in_blocks(make_instance, plain_paper, limit, machines):
    """Two cores a machine and up to 200 waiting jobs: more than a block of 64 places."""
    rng = np.random.default_rng(5)
    rows = [(int(t), int(rng.integers(1, 9)), int(rng.integers(1, 3)), 0) for t in np.sort(rng.integers(0, 300, 400))]
    instance = make_instance(rows, 2, 1)
    schedule = CompiledSimulator(instance, policy_of(limit, scheduling="easy")).run(machines)
    agrees(schedule, plain_paper(instance, machines, [limit] * 400, scheduling="easy"))
