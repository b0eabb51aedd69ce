"""Shares of jobs with more GPUs and more tasks."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.trace import AS_DRAWN, mix_parts, tasks_of_jobs, with_more_gpus

# 100 jobs: 20 without GPUs, 70 of one GPU, 10 of two; 3 cores and 5 GiB a GPU, 7 cores and 9 GiB without.
DEMAND = np.array([[0, 7000, 9216]] * 20 + [[1000, 3000, 5120]] * 70 + [[2000, 6000, 10240]] * 10)


def changed(share, demand=DEMAND, cpu="vcpu", seed=1):
    return with_more_gpus(demand, share, cpu, np.random.Generator(np.random.PCG64(seed)))


def test_as_drawn_changes_nothing():
    assert changed(AS_DRAWN) is DEMAND


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.0, [80, 0, 0, 0]), (0.2, [60, 10, 8, 2]), (0.4, [40, 20, 16, 4]), (0.8, [0, 40, 32, 8])],
)
def test_shares_are_five_to_four_to_one(share, expected):
    demand = changed(share)
    assert [(demand[20:, 0] == 1000 * gpus).sum() for gpus in (1, 2, 4, 8)] == expected
    assert np.array_equal(demand[:20], DEMAND[:20])


def test_cores_and_memory_go_with_the_gpus():
    demand = changed(0.8)
    gpus = demand[20:, 0] // 1000
    assert np.array_equal(demand[20:, 1], 3000 * gpus)
    assert np.array_equal(demand[20:, 2], 5120 * gpus)


def test_odd_amounts_are_rounded_up():
    """Two GPUs with 5 cores and 3 GiB: one has 2.5 and 1.5, so 3 and 2."""
    demand = np.array([[2000, 5000, 3072]])
    assert changed(0.0, demand).tolist() == [[1000, 3000, 2048]]


@pytest.mark.parametrize(("cpu", "cores"), [("vcpu", 64_000), ("physical", 32_000)])
def test_no_more_than_the_largest_type_has(cpu, cores):
    """12 cores and 100 GiB a GPU; with 8 GPUs the largest type has room for 64 or 32 cores, and 488 GiB."""
    demand = np.array([[1000, 12_000, 102_400]] * 10)
    made = changed(1.0, demand, cpu)
    assert made[made[:, 0] == 8000].tolist() == [[8000, cores, 488 * 1024]]
    assert (made[:, 1] <= cores).all()


def test_what_already_has_its_gpus_stays():
    """Five cores on two GPUs would be 6 after a detour through one."""
    demand = np.array([[2000, 5000, 3072]] * 10)
    made = changed(1.0, demand)
    assert made[made[:, 0] == 2000].tolist() == [[2000, 5000, 3072]] * 5


def test_larger_shares_contain_smaller_ones():
    few, many = changed(0.2)[:, 0], changed(0.4)[:, 0]
    assert (few[few > 1000] == many[few > 1000]).all()
    tasks = [tasks_of_jobs(100, share, np.random.Generator(np.random.PCG64(1))) for share in (0.2, 0.4)]
    assert (tasks[0][tasks[0] > 1] == tasks[1][tasks[0] > 1]).all()


@pytest.mark.parametrize("share", [0.81, 1.0, -0.5, float("nan")])
def test_shares_that_are_none(share):
    with pytest.raises(InstanceError, match=rf"multi_gpu is {share:g}; give a share in \[0, 0.8\]"):
        changed(share)


@pytest.mark.parametrize(("share", "expected"), [(0.0, [10, 0, 0]), (0.4, [6, 2, 2]), (1.0, [0, 5, 5])])
def test_as_many_jobs_of_two_tasks_as_of_four(share, expected):
    tasks = tasks_of_jobs(10, share, np.random.Generator(np.random.PCG64(1)))
    assert [(tasks == number).sum() for number in (1, 2, 4)] == expected


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_task_shares_that_are_none(share):
    with pytest.raises(InstanceError, match=f"multi_task is {share:g}; give the share"):
        tasks_of_jobs(10, share, np.random.Generator(np.random.PCG64(1)))


def test_names_tell_what_was_changed():
    assert mix_parts(AS_DRAWN, 0.0) == ()
    assert mix_parts(0.0, 0.0) == ("multigpu0",)
    assert mix_parts(0.25, 0.5) == ("multigpu0.25", "multitask0.5")
