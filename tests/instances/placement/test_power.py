"""What nodes draw, by hand."""

import numpy as np

from schedgap.instances.placement import Placement, random_pods
from schedgap.instances.placement.measures import is_known, power_w


def test_watts_of_a_node():
    """104 CPUs are 52 cores on three processors of 24; two GPUs T4."""
    instance = random_pods(seed=2, nodes=1, pods=3, classes=1).replace(
        resources=("cpu",),
        capacity=[[104_000]],
        num_gpus=[2],
        gpu_model=("T4",),
        demand=[[40_000]],
        gpus=[1],
        gpu_milli=[300],
        value=[300],
        admits=[[True]],
    )
    assert is_known(instance)
    empty = Placement([-1] * 3, [0] * 3)
    assert power_w(instance, empty) == 3 * 20 + 2 * 10
    # 20 cores: one processor and one GPU at full power.
    assert power_w(instance, Placement([0, -1, -1], [1, 0, 0])) == 165 + 2 * 20 + 70 + 10
    # 40 cores: two, and as many GPUs as the shares are on.
    assert power_w(instance, Placement([0, 0, -1], [1, 1, 0])) == 2 * 165 + 20 + 70 + 10
    assert power_w(instance, Placement([0, 0, -1], [1, 2, 0])) == 2 * 165 + 20 + 2 * 70


def test_models_without_figures():
    instance = random_pods(seed=2)
    assert not is_known(instance)
    assert is_known(instance.replace(gpu_model=tuple("G3" if g else "" for g in instance.num_gpus)))
    assert not is_known(instance.replace(gpu_model=("T4",) * 3, resources=("cores", "memory_mib")))
    assert np.all(instance.num_gpus >= 0)
