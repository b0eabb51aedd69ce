"""Snapshots of the macro-benchmark."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness import UNLIMITED, datacentre


def test_as_the_paper_has_it():
    """100 machines of ten speeds, each a tenth of them; 18 % of the jobs run anywhere, 35 % on half of the machines."""
    instance = datacentre(200)
    assert instance.machine_count.sum() == 100
    speeds, classes = np.unique(instance.performance[0], return_inverse=True)
    assert speeds.tolist() == list(range(1000, 3251, 250))
    assert np.bincount(classes, instance.machine_count).tolist() == [10] * 10
    part = (instance.allowed * instance.machine_count).sum(axis=1) / 100
    # Constraints are drawn in these shares; machines that are too small for a task are few.
    assert (part >= 1).mean() == pytest.approx(0.18, abs=0.03)
    assert (part >= 0.5).mean() == pytest.approx(0.35, abs=0.03)
    assert (datacentre(200, reading="lower").allowed.sum() > instance.allowed.sum()).all()


def test_jobs_have_tasks_or_enough():
    free, limited = datacentre(50), datacentre(50, limited=True)
    assert (free.tasks == UNLIMITED).all()
    assert (limited.tasks >= 1).all()
    assert (limited.tasks == 1).mean() == pytest.approx(0.6, abs=0.05)
    assert np.array_equal(free.demand, limited.demand)
    assert [each.name for each in (free, limited, datacentre(50, notion="drf", seed=3))] == [
        "datacentre-50-100-upper-s0",
        "datacentre-50-100-upper-limited-s0",
        "datacentre-50-100-upper-drf-s3",
    ]


def test_the_seed_decides():
    assert datacentre(30, seed=1).digest == datacentre(30, seed=1).digest != datacentre(30, seed=2).digest


@pytest.mark.parametrize("parameters", [{"users": 0}, {"machines": 0}, {"reading": "middle"}])
def test_parameters_out_of_range(parameters):
    with pytest.raises(InstanceError, match=r"is (0|'middle'); (give|choose)"):
        datacentre(**parameters)
