"""Random instances have the statistics that they promise, and options change nothing but what they say."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness import ONE, UNLIMITED, random_users


def test_mixed_constraints():
    """18 % of 20,000 run anywhere, within 4 standard errors; the other subsets have 1 to 9 of 10 classes, each as often."""
    allowed = random_users(20_000, seed=1).allowed
    sizes = allowed.sum(axis=1)
    assert (sizes == 10).mean() == pytest.approx(0.18, abs=0.011)
    assert np.bincount(sizes, minlength=11)[1:10] / 20_000 == pytest.approx(np.full(9, 0.82 / 9), abs=0.009)
    assert allowed.mean(axis=0) == pytest.approx(np.full(10, 0.18 + 0.82 / 2), abs=0.015)


def test_interval_constraints():
    """1 to 12 of 50 classes side by side; of the first half more users than of the second."""
    allowed = random_users(5_000, classes=50, machines=50, kind="interval", seed=1).allowed
    sizes, first = allowed.sum(axis=1), allowed.argmax(axis=1)
    last = 49 - allowed[:, ::-1].argmax(axis=1)
    assert (last - first + 1 == sizes).all()
    assert (sizes.min(), sizes.max()) == (1, 12)
    assert (first < 25).mean() > 0.65


def test_demands_and_machines():
    """0.5 cores for 45 % of the users, 0.5 to 8 GiB; 8 to 64 cores with 2, 4 or 8 GiB each."""
    instance = random_users(20_000, classes=40, machines=500, resources=3, seed=2)
    assert (instance.demand[:, 0] == 500).mean() == pytest.approx(0.45, abs=0.014)
    assert set(instance.demand[:, 0].tolist()) == {500, 1000, 2000, 4000}
    assert set(instance.demand[:, 1].tolist()) == {512, 1024, 2048, 4096, 8192}
    assert (instance.machine_count.sum(), instance.machine_count.min()) == (500, instance.machine_count.min())
    assert instance.machine_count.min() >= 1
    assert set(instance.capacity[:, 0].tolist()) == {8000, 16_000, 32_000, 64_000}
    assert set((instance.capacity[:, 1] * ONE // instance.capacity[:, 0]).tolist()) == {2048, 4096, 8192}
    assert instance.resources == ("cpu", "ram_gib", "resource-2")


def test_speeds():
    machine, user = (random_users(500, speeds=speeds, seed=4) for speeds in ("machine", "user"))
    assert (machine.performance == machine.performance[0]).all()
    assert set(machine.performance[0].tolist()) <= set(range(1000, 3251, 250))
    ratio = user.performance / machine.performance
    assert (ratio.min(), ratio.max()) == (pytest.approx(0.5, abs=0.02), pytest.approx(1.5, abs=0.02))


def test_limited_tasks_are_more_than_fit():
    """On average `load` times a user's part of the cluster; lognormal, so that the median is exp(-1.1^2 / 2) of the mean."""
    instance = random_users(20_000, classes=10, machines=20_000, limited=True, load=2.0, seed=5)
    part = (instance.fitting() * instance.machine_count).sum(axis=1) / 20_000
    ratio = instance.tasks / part
    assert ratio.mean() == pytest.approx(2.0, rel=0.06)
    assert np.median(ratio) == pytest.approx(2.0 * np.exp(-(1.1**2) / 2), rel=0.06)
    assert instance.tasks.min() >= 1


def test_options_change_nothing_else():
    base = random_users(20, seed=6)
    for options, changed in (
        ({"notion": "tsf"}, {"notion"}),
        ({"limited": True}, {"tasks"}),
        ({"weights": "random"}, {"weight"}),
        ({"kind": "interval"}, {"allowed"}),
        ({"speeds": "machine"}, {"performance"}),
    ):
        other = random_users(20, seed=6, **options)
        keys = ("notion", "machine_count", "capacity", "demand", "weight", "performance", "allowed", "tasks")
        differ = {key for key in keys if not np.array_equal(getattr(base, key), getattr(other, key))}
        assert differ == changed
        assert other.name != base.name
    one = random_users(20, seed=6, resources=1)
    assert np.array_equal(one.demand, base.demand[:, :1])
    assert base.digest == random_users(20, seed=6).digest != random_users(20, seed=7).digest
    assert (base.tasks == UNLIMITED).all()


def test_one_pool():
    """Plain DRF: all machines are one."""
    apart, pooled = (random_users(12, seed=8, pooled=pooled, notion="drf") for pooled in (False, True))
    assert pooled.machine_names == ("class-0",)
    assert pooled.capacity[0].tolist() == (apart.machine_count @ apart.capacity).tolist()
    assert pooled.machine_count.tolist() == [1]
    assert pooled.allowed.all()
    assert (pooled.performance == ONE).all()
    assert np.array_equal(pooled.demand, apart.demand)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"users": 0}, "users is 0; give a positive number"),
        ({"classes": -1}, "classes is -1"),
        ({"machines": 3}, "machines is 3 for 10 classes; give at least one machine a class"),
        ({"resources": 9}, "resources is 9; give 1 to 8"),
        ({"load": 0.0}, "load is 0; give a positive number"),
        ({"kind": "ring"}, "kind is 'ring'; choose one of mixed, interval"),
        ({"speeds": "fast"}, "speeds is 'fast'; choose one of machine, user"),
        ({"weights": "heavy"}, "weights is 'heavy'; choose one of equal, random"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        random_users(**parameters)


def test_one_class_of_one_machine():
    assert random_users(3, classes=1, machines=1).allowed.all()
