"""The micro-benchmark is the paper's."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.sharing.generators import micro


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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tasks": 0}, "tasks is 0; give at least 1"),
        ({"notion": "none"}, "notion is 'none'"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        micro(**parameters)
