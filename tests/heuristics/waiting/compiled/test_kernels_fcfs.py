"""First come, first served, for jobs of several cores and jobs that are alike (`kernels_slots`), against the plain reference."""

import numpy as np
import pytest

from schedgap.heuristics.waiting.compiled.kernels_machines import NO_LIMIT_US
from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator, Policy
from schedgap.instances.waiting.verify import verify

KINDS = ("mixed", "single", "alike")
LIMITS = (None, 0, 1, 4, 10)


def policy_of(limit, **others):
    return Policy(limit_us=NO_LIMIT_US if limit is None else limit, **others)


def agrees(schedule, expected):
    assert (schedule.machine.tolist(), schedule.start_us.tolist()) == expected


@pytest.mark.parametrize(
    ("kind", "fit"), [("mixed", "first"), ("mixed", "best"), ("single", "first"), ("alike", "first")]
)
class TestInTurn:
    def test_all_jobs_wait_up_to_a_limit(self, make_trace, plain_paper, kind, fit):
        for seed in range(40):
            instance, limit = make_trace(seed, kind), LIMITS[seed % 5]
            machines = seed % 5 + (limit is None)
            schedule = CompiledSimulator(instance, policy_of(limit, fit=fit)).run(machines)
            agrees(schedule, plain_paper(instance, machines, [limit] * instance.num_jobs, fit=fit))
            verify(instance, schedule)

    def test_balking(self, make_trace, plain_paper, kind, fit):
        for seed in range(40):
            instance, limit, short = make_trace(seed, kind), LIMITS[seed % 5], seed % 6 - 1
            machines = seed % 4 + (limit is None)
            policy = policy_of(limit, balks=True, short_us=short, fit=fit)
            at_once = (instance.runtime_us <= short).tolist()
            limits = [limit] * instance.num_jobs
            expected = plain_paper(instance, machines, limits, balks=True, at_once=at_once, fit=fit)
            agrees(CompiledSimulator(instance, policy).run(machines), expected)

    def test_no_jobs_wait(self, make_trace, plain_paper, kind, fit):
        for seed in range(20):
            instance, machines = make_trace(seed, kind), seed % 4
            schedule = CompiledSimulator(instance, Policy(waits=False, fit=fit)).run(machines)
            agrees(schedule, plain_paper(instance, machines, [0] * instance.num_jobs, fit=fit))
            assert (schedule.start_us == instance.submit_us).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_for_each_job(make_trace, plain_paper, kind):
    for seed in range(30):
        instance = make_trace(seed, kind)
        limits = np.random.default_rng(seed).choice([-1, 0, 2, 6, 11], instance.num_jobs)
        schedule = CompiledSimulator(instance, Policy(balks=True), limit_us=limits).run(1 + seed % 4)
        at_once = (limits < 0).tolist()
        agrees(schedule, plain_paper(instance, 1 + seed % 4, limits.tolist(), balks=True, at_once=at_once))


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_predictions(make_trace, plain_paper, kind):
    for seed in range(40):
        instance, limit = make_trace(seed, kind), LIMITS[seed % 5]
        policy = policy_of(limit, balks=True, short_us=2, runtime_error=0.3, wait_error=0.3)
        simulator = CompiledSimulator(instance, policy, np.random.default_rng(seed))
        expected = plain_paper(
            instance,
            1 + seed % 3,
            [limit] * instance.num_jobs,
            balks=True,
            at_once=simulator.short.tolist(),
            mistaken=simulator.mistaken.tolist(),
        )
        agrees(simulator.run(1 + seed % 3), expected)
