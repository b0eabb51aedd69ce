"""The macro-benchmark has the figures that the paper gives, and those that are assumed."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.sharing.generators import macro


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("reading", ["upper", "lower"])
def test_the_papers_figures(seed, reading):
    instance = macro(seed=seed, reading=reading)
    assert (instance.num_machines, instance.num_jobs, instance.num_tasks) == (100, 2888, 63_976)
    assert instance.warm_up_jobs == 288
    assert instance.arrival_ms.max() < 5_000_000
    per_speed = {s: int(instance.machine_count[instance.performance[0] == s].sum()) for s in range(1000, 3500, 250)}
    assert set(per_speed.values()) == {10}
    # Figure 5b: 0.18 and 0.35 (or 0.65) of 2,888 jobs, rounded. Every task fits on every machine.
    fraction = instance.allowed @ instance.machine_count
    assert np.array_equal(instance.serves(), instance.allowed)
    assert (fraction == 100).sum() == 520
    assert (fraction >= 50).sum() == {"upper": 1011, "lower": 1877}[reading]


def test_sizes_of_jobs():
    """Half have 1 task, a quarter at least 5, a tenth 19, a hundredth 369, and none more than 3,623."""
    sizes = np.diff(macro(jobs=2888).first_task)
    assert np.quantile(sizes, [0.5, 0.75, 0.9, 0.99], method="inverted_cdf").tolist() == [1, 5, 19, 369]
    assert (sizes.max(), sizes.sum(), (sizes == 1).mean()) == (3623, 63_976, pytest.approx(0.6, abs=1e-3))


def test_shapes_of_machines():
    """In Reiss's proportions, 16 cores and 64 GiB for the largest."""
    instance = macro(seed=3)
    shapes, which = np.unique(instance.capacity // [1000, 1024], axis=0, return_inverse=True)
    count = np.bincount(which.reshape(-1), weights=instance.machine_count)
    assert {tuple(s): c for s, c in zip(shapes.tolist(), count.tolist(), strict=True)} == {
        (8, 32): 54,
        (8, 16): 31,
        (8, 48): 8,
        (16, 64): 5,
        (4, 16): 1,
        (8, 8): 1,
    }


@pytest.mark.parametrize("load", [0.5, 0.7, 0.95])
def test_the_load_is_exact(load):
    """But for rounding of 63,976 works to milliseconds."""
    instance = macro(load=load, seed=2)
    cores = np.repeat(instance.demand[:, 0], np.diff(instance.first_task)).astype(np.float64)
    speed = instance.machine_count * instance.capacity[:, 0] * instance.performance[0] / 1000
    assert cores @ instance.work_ms / (speed.sum() * 5e6) == pytest.approx(load, rel=1e-6)


def test_machines_are_merged_only_if_equal():
    """Almost every machine has attributes of its own: 90 classes and more."""
    instance = macro(seed=0)
    assert 90 <= len(instance.machine_names) <= 100
    few = macro(seed=0, jobs=100, machines=100)
    assert few.machine_count.sum() == 100


def test_the_seed_decides():
    assert macro(seed=1, jobs=50).digest == macro(seed=1, jobs=50).digest
    assert macro(seed=1, jobs=50).digest != macro(seed=2, jobs=50).digest


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"load": 0.0}, r"load is 0; give a positive number, up to 1000\."),
        ({"load": float("nan")}, "load is nan; give a positive number"),
        ({"load": 1e300}, r"load is 1e\+300; give a positive number, up to 1000\."),
        ({"machines": 10**9}, r"machines is 1e\+09; give a positive number, up to 10000000\."),
        ({"machines": -1}, "machines is -1"),
        ({"reading": "middle"}, "reading is 'middle'; choose one of upper, lower"),
        ({"jobs": 10, "tasks": 9}, "9 tasks for 10 jobs; give 10 to"),
        ({"jobs": 100, "warm_up_jobs": 100}, "100 jobs of warm-up for 100 jobs"),
        ({"jobs": 10, "machines": 1}, "no constraints by which 18% of the jobs run anywhere"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        macro(**parameters)
