import numpy as np
import pytest

from schedgap.formulations.provisioning.patterns.kernels_patterns import loss_bounds
from schedgap.formulations.provisioning.patterns.patterns import every_disturbed, jobs_of
from schedgap.instances.provisioning.generators import table7
from schedgap.instances.provisioning.verify import lost_value


@pytest.mark.parametrize("seed", range(10))
def test_losses_lie_between_their_bounds(random_instance, seed):
    instance = random_instance(seed, interference=True)
    rng = np.random.default_rng(seed)
    for _ in range(50):
        pattern = rng.integers(0, 12, 3)
        exact = lost_value(instance, np.flatnonzero(pattern).tolist(), pattern[pattern > 0].tolist())
        low, high = loss_bounds(pattern, jobs_of(instance))
        assert low <= exact <= high <= low + 1


def test_nothing_is_lost_alone():
    instance = table7(20, seed=0, interference=True)
    one = np.eye(instance.num_classes, dtype=np.int64)
    for pattern in one:
        assert loss_bounds(pattern, jobs_of(instance)) == (0, 0)


@pytest.mark.parametrize("seed", range(10))
def test_contents_are_all_that_fit_each_on_its_cheapest_type(random_instance, shapes, seed):
    instance = random_instance(seed, interference=True)
    by_price = np.argsort(instance.price, kind="stable")
    rank = {int(k): i for i, k in enumerate(by_price)}
    expected = {}
    for k, pattern in shapes(instance):
        key = tuple(pattern.tolist())
        expected[key] = min(expected.get(key, k), k, key=rank.__getitem__)
    found = every_disturbed(instance, 10_000)
    assert dict(zip(map(tuple, found.patterns.tolist()), found.machine_type.tolist(), strict=True)) == expected
