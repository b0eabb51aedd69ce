import numpy as np
import pytest

from schedgap.instances import InstanceError
from schedgap.instances.provisioning import alibaba_like, alibaba_like_running, distinct, table7
from schedgap.instances.provisioning.generators.snapshots import durations_h


@pytest.mark.parametrize("generator", [table7, distinct, alibaba_like])
def test_same_seed_same_instance(generator):
    assert generator(40, seed=3).digest == generator(40, seed=3).digest
    assert generator(40, seed=3).digest != generator(40, seed=4).digest
    assert generator(40, seed=3).num_tasks == 40
    with pytest.raises(InstanceError, match="tasks is 0"):
        generator(0)


def test_table7_is_uniform_over_ten_workloads():
    counts = table7(100_000).counts
    assert counts.shape == (10,)
    # Six standard deviations of Binomial(100000, 0.1) are 570.
    assert np.abs(counts - 10_000).max() < 570


def test_table7_lists_the_same_tasks_by_workload():
    drawn, grouped = table7(200, seed=1), table7(200, seed=1, order="grouped")
    assert np.array_equal(grouped.task2class, np.sort(drawn.task2class))
    assert grouped.name == "table7-200-physical-grouped-s1"
    with pytest.raises(InstanceError, match=r"order is 'drawn' or 'grouped', not 'sorted'"):
        table7(order="sorted")


def test_distinct_demands_are_distinct():
    instance = distinct(1000)
    rows = np.moveaxis(instance.demand, 0, 1).reshape(1000, -1)
    assert np.unique(rows, axis=0).shape[0] == 1000


def test_alibaba_like_has_the_gpu_shares_of_table_8():
    instance = alibaba_like(200_000)
    gpus = instance.demand[0, :, 0] // 1000
    shares = {g: instance.counts[gpus == g].sum() / 200_000 for g in (0, 1, 2, 4, 8)}
    for gpu, expected in {0: 0.1341, 1: 0.8617, 2: 0.0020, 4: 0.0018, 8: 0.0004}.items():
        assert abs(shares[gpu] - expected) < 6 * (expected / 200_000) ** 0.5
    # Few classes, as the trace has, not one a task.
    assert 50 < alibaba_like().num_classes < 250


def test_durations_have_the_quantiles_of_table_9():
    hours = durations_h(np.random.Generator(np.random.PCG64(1)), 400_000)
    assert np.quantile(hours, [0.5, 0.8]) == pytest.approx([0.2, 1.0], rel=0.05)
    assert np.quantile(hours, 0.95) == pytest.approx(5.2, rel=0.1)
    assert hours.mean() == pytest.approx(9.1, rel=0.05)


def test_running_tasks_grow_with_the_arrival_rate():
    few, many = (alibaba_like_running(rate, 24.0, seed=1).num_tasks for rate in (50.0, 500.0))
    assert few * 5 < many < few * 20
    with pytest.raises(InstanceError, match="must be positive"):
        alibaba_like_running(0.0)
