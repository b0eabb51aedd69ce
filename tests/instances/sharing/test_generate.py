"""The micro-benchmark is the paper's, random jobs are what they promise."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.sharing.generate import micro, random_jobs


def test_micro_is_tables_iii_and_iv():
    instance = micro()
    assert (instance.num_machines, instance.num_jobs, instance.num_tasks) == (20, 4, 4000)
    assert instance.machine_count.tolist() == [5, 5, 5, 5]
    assert instance.capacity.tolist() == [[4000, 4096]] * 4
    assert instance.performance.tolist() == [[1000, 1500, 2000, 3000]] * 4
    assert (instance.demand.tolist(), instance.arrival_ms.tolist()) == ([[1000, 1024]] * 4, [0] * 4)
    assert instance.allowed.tolist() == [[True] * 4] * 3 + [[False, False, False, True]]
    assert np.unique(instance.work_ms).tolist() == [2000]
    # Alone, a job's progress share is 150 of performance 1: 80 slots x (1 + 1.5 + 2 + 3) / 4.
    slots = instance.machine_count * instance.capacity[:, 0] // 1000
    assert slots @ instance.performance[0] == 150_000


def test_micro_without_a_constraint():
    assert micro(constraint=False).allowed.all()
    assert micro(tasks=7).num_tasks == 28


def test_random_durations_have_the_tables_mean():
    """4,000 exponential draws: the mean lies within 3 standard errors, 4.8 %."""
    instance = micro(random_durations=True, seed=1)
    assert instance.work_ms.mean() == pytest.approx(2000, rel=0.048)
    assert micro(random_durations=True, seed=2).digest != instance.digest
    assert micro(seed=2).digest == micro(seed=1).digest


def test_random_jobs_keep_within_their_parameters():
    for seed in range(30):
        instance = random_jobs(5, seed=seed, machine_classes=3, most_machines=2, most_tasks=4, step_s=0.5)
        assert (instance.num_jobs, len(instance.machine_names)) == (5, 3)
        assert 3 <= instance.num_machines <= 6
        assert np.diff(instance.first_task).max() <= 4
        assert (instance.arrival_ms % 500 == 0).all()
        assert (instance.work_ms % 500 == 0).all()
        assert instance.work_ms.max() <= 3000
        assert (instance.performance == instance.performance[0]).all()


def test_random_jobs_differ_by_seed_and_performance():
    assert random_jobs(seed=1).digest == random_jobs(seed=1).digest
    assert random_jobs(seed=1).digest != random_jobs(seed=2).digest
    own = [random_jobs(5, seed=seed, own_performance=True).performance for seed in range(10)]
    assert any((performance != performance[0]).any() for performance in own)
    assert any((performance == 0).any() for performance in own)


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (micro, {"tasks": 0}, "tasks is 0; give at least 1"),
        (random_jobs, {"jobs": 0}, "jobs is 0; give at least 1"),
        (random_jobs, {"machine_classes": -1}, "machine_classes is -1"),
        (random_jobs, {"step_s": 0.0}, "step_s 0; give at least 1, and a positive step"),
        (micro, {"notion": "none"}, "notion is 'none'"),
    ],
)
def test_parameters_out_of_range(make, parameters, message):
    with pytest.raises(InstanceError, match=message):
        make(**parameters)
