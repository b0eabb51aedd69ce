import math

import numpy as np
import pytest

from schedgap.instances import InstanceError
from schedgap.instances.provisioning import alibaba_like, alibaba_like_running, verify
from schedgap.instances.provisioning.generators.snapshots import (
    CORES_CPU_ONLY,
    GIB_CPU_ONLY,
    GPU_SHARE,
    HOURS,
    QUANTILES,
)
from schedgap.instances.provisioning.solution import Provisioning


def per_task(instance, family=0):
    """(T, 3) GPUs, cores and GiB of every task, in task order."""
    return instance.demand[family][instance.task_classes()] // np.array([1000, 1000, 1024])


def test_the_shares_are_all_of_table_8():
    assert [gpus for gpus, _ in GPU_SHARE] == [0, 1, 2, 4, 8]
    assert math.isclose(sum(share for _, share in GPU_SHARE), 1.0, abs_tol=1e-12)


def test_the_durations_have_the_mean_of_table_9():
    # Median 0.2 h, P80 1.0 h, P95 5.2 h; a log-linear piece from a to b has mean (b - a) / ln(b / a).
    assert dict(zip(QUANTILES, HOURS, strict=True)).items() >= {0.5: 0.2, 0.8: 1.0, 0.95: 5.2}.items()
    pieces = zip(QUANTILES[1:], QUANTILES, HOURS[1:], HOURS, strict=False)
    mean = sum((q - p) * (b - a) / math.log(b / a) for q, p, b, a in pieces)
    assert round(mean, 1) == 9.1


def test_the_default_has_as_many_tasks_as_the_trace():
    assert alibaba_like().num_tasks == 6274


@pytest.mark.parametrize("tasks", [1, 2, 333])
@pytest.mark.parametrize("cpu", ["vcpu", "physical"])
def test_every_task_fits_and_asks_the_same_everywhere(tasks, cpu):
    instance = alibaba_like(tasks, seed=9, cpu=cpu)
    assert instance.num_tasks == tasks
    assert instance.name == f"alibaba-like-{tasks}-{cpu}-s9"
    asked = per_task(instance)
    assert all(np.array_equal(per_task(instance, f), asked) for f in range(3))
    # One machine a task is a solution.
    alone = Provisioning.from_patterns(instance.reservation_type, instance.counts, np.eye(instance.num_classes))
    assert verify(instance, alone) == instance.reservation_price @ instance.counts


def test_demands_come_from_the_published_lists():
    gpus, cores, gib = per_task(alibaba_like(3000, seed=2)).T
    assert set(gpus) <= {0, 1, 2, 4, 8}
    assert set(cores[gpus == 0]) <= {value for value, _ in CORES_CPU_ONLY}
    assert set(gib[gpus == 0]) <= {value for value, _ in GIB_CPU_ONLY}
    # Whole multiples of the list's values for several GPUs, at most all that a p3.16xlarge has.
    several = gpus > 1
    assert ((cores[several] % gpus[several] == 0) | (cores[several] == 64)).all()
    assert cores[gpus > 0].max() <= 64
    assert gib[gpus > 0].max() <= 488


def test_physical_cores_only_cut_what_does_not_fit():
    vcpu, physical = (per_task(alibaba_like(2000, seed=6, cpu=cpu)) for cpu in ("vcpu", "physical"))
    assert np.array_equal(vcpu[:, [0, 2]], physical[:, [0, 2]])
    with_gpu = vcpu[:, 0] > 0
    assert np.array_equal(physical[with_gpu, 1], np.minimum(vcpu[with_gpu, 1], 32))
    assert np.array_equal(physical[~with_gpu], vcpu[~with_gpu])


def test_running_tasks_follow_from_the_seed_alone():
    first, again, other = (alibaba_like_running(60.0, 12.0, seed=seed) for seed in (1, 1, 2))
    assert first.digest == again.digest != other.digest
    assert first.name == "alibaba-like-running-60-12-vcpu-s1"


def test_whole_numbers_ask_for_the_same_as_floats():
    assert alibaba_like_running(60, 12, seed=1).digest == alibaba_like_running(60.0, 12.0, seed=1).digest


def test_what_runs_is_what_littles_law_says():
    # Of tasks that arrived in the last 300 hours, the mean time within them is 5.6 h: rate times that are running.
    # E[min(duration, 300)]: as in the mean, with the last piece cut at 300 h.
    probability = 0.95 + 0.05 * math.log(300 / 5.2) / math.log(881.5 / 5.2)
    quantiles, hours = (*QUANTILES[:-1], probability), (*HOURS[:-1], 300.0)
    pieces = zip(quantiles[1:], quantiles, hours[1:], hours, strict=False)
    stay = sum((q - p) * (b - a) / math.log(b / a) for q, p, b, a in pieces) + (1 - probability) * 300
    running = [alibaba_like_running(40.0, 300.0, seed=seed).num_tasks for seed in range(10)]
    # Poisson with mean 40 x stay; six standard deviations of the sum of ten.
    assert abs(sum(running) - 400 * stay) < 6 * (400 * stay) ** 0.5


@pytest.mark.parametrize(
    ("rate", "hours"), [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (math.nan, 1.0), (1.0, math.inf), (math.inf, 1.0)]
)
def test_wrong_rates_are_refused(rate, hours):
    with pytest.raises(InstanceError, match="must be positive and finite"):
        alibaba_like_running(rate, hours)


def test_an_empty_cluster_is_refused():
    with pytest.raises(InstanceError, match="nothing runs at the end"):
        alibaba_like_running(1.0, 1e-9)
    with pytest.raises(InstanceError, match="tasks is -1"):
        alibaba_like(-1)
    with pytest.raises(InstanceError, match="not 'cores'"):
        alibaba_like(5, cpu="cores")
