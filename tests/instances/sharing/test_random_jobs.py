"""Random jobs are what they promise."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.sharing.generators import random_jobs


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
    ("parameters", "message"),
    [
        ({"jobs": 0}, "jobs is 0; give at least 1"),
        ({"machine_classes": -1}, "machine_classes is -1"),
        ({"step_s": 0.0}, "step_s 0; give at least 1, and a positive step"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        random_jobs(**parameters)
