"""Karpenter's basic workload: types and prices by hand, and the fewest dollars."""

import numpy as np
import pytest

from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.instances import InstanceError
from schedgap.instances.provisioning import karpenter_basic, verify


def test_types_and_pods():
    """c-1x has 2 GiB, 2,147,483,648 bytes: 0.025 + 0.002147483648 $; 16 pods. Each has 100m and 10 MiB less."""
    instance = karpenter_basic()
    assert (instance.num_types, instance.num_tasks) == (30, 1000)
    assert instance.type_names[:2] + instance.type_names[-1:] == (
        "c-1x-amd64-linux",
        "c-2x-amd64-linux",
        "s-16x-arm64-linux",
    )
    assert instance.capacity[0].tolist() == [900, 2038, 16_000]
    assert instance.price[0] == 27_147
    # m-16x: 128 GiB, 137.438953472e9 bytes; 0.4 + 0.137438953472 $.
    m16 = instance.type_names.index("m-16x-arm64-linux")
    assert instance.capacity[m16].tolist() == [15_900, 131_062, 256_000]
    assert instance.price[m16] == 537_438
    assert instance.counts.tolist() == [500, 500]
    assert instance.demand[0].tolist() == [[900, 3100, 1000], [3500, 28_672, 1000]]


def test_all_sizes():
    """144 types of two systems, of which Linux is half; pods end at 1024 a machine."""
    instance = karpenter_basic(701, sizes_below=1000)
    assert instance.num_types == 72
    assert instance.capacity[:, 2].max() == 1_024_000
    assert instance.counts.tolist() == [351, 350]
    assert instance.name == "karpenter-basic-701-below1000"


def test_the_optimum():
    """Prices rounded down to micro-dollars."""
    outcome = patterns(karpenter_basic(), time_limit_s=60)
    assert (outcome.bound, verify(karpenter_basic(), outcome.solution)) == (74_093_344, 74_093_344)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tasks": 1}, "tasks is 1; there are two"),
        ({"sizes_below": 4}, "sizes_below is 4; a large"),
        ({"sizes_below": 0}, "is 0; a large"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        karpenter_basic(**parameters)


def test_other_pods_on_the_whole_catalogue():
    instance = karpenter_basic(1000, kinds=30, sizes_below=257, windows=True, seed=1)
    assert (instance.num_types, instance.num_classes, instance.num_tasks) == (144, 30, 1000)
    assert np.array_equal(instance.price[:72], instance.price[72:])
    assert instance.digest != karpenter_basic(1000, kinds=30, sizes_below=257, windows=True, seed=2).digest
    with pytest.raises(InstanceError, match="tasks is 10 and kinds is 30"):
        karpenter_basic(10, kinds=30)
