import numpy as np
import pytest

from schedgap.instances.provisioning import Provisioning, alibaba_like, distinct, shrink, table3, table7, verify

ARRAYS = (
    "type2family",
    "capacity",
    "price",
    "demand",
    "counts",
    "class2workload",
    "class2job",
    "tasks_per_job",
    "task2class",
    "throughput",
    "job_value",
    "reservation_type",
)
MAKERS = {
    "table3": table3,
    "table7": lambda: table7(300, seed=1),
    "interference": lambda: table7(60, seed=2, interference=True),
    "distinct": lambda: distinct(50, seed=1),
    "alibaba-like": lambda: alibaba_like(500, seed=1),
    "named": lambda: table3().replace(
        counts=[3, 1, 2, 1],
        task2class=[2, 0, 3, 0, 1, 2, 0],
        task_names=tuple("gfedcba"),
        job_names=("j", "k"),
        class2job=[0, 1, -1, 0],
    ),
}


def kind(array):
    """What compiled code can tell of an array."""
    return None if array is None else (array.dtype, array.ndim, array.flags.c_contiguous, array.flags.writeable)


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_it_is_small_and_of_the_same_kind(maker):
    instance = maker()
    small = shrink(instance)
    assert (small.num_classes, small.name) == (min(4, instance.num_classes), f"{instance.name}-shrunk")
    assert small.counts.tolist() == np.minimum(instance.counts[:4], 2).tolist()
    for key in ARRAYS:
        assert kind(getattr(small, key)) == kind(getattr(instance, key)), key
    assert np.array_equal(small.demand, instance.demand[:, :4])
    assert (small.resources, small.type_names) == (instance.resources, instance.type_names)
    assert (small.class_names is None) == (instance.class_names is None)
    assert (small.task_names is None) == (instance.task_names is None)


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_it_is_an_instance_like_any_other(maker):
    instance = maker()
    small = shrink(instance)
    machines = np.arange(small.num_tasks)
    alone = Provisioning.from_tasks(small, small.reservation_type[small.task_classes()], machines)
    assert verify(small, alone) == small.reservation_price[small.task_classes()].sum()
    assert shrink(small).counts.tolist() == small.counts.tolist()
    # Reservation prices are of the types, not of how many tasks there are.
    assert np.array_equal(small.reservation_price, instance.reservation_price[:4])


def test_jobs_and_interference_are_kept():
    instance = table7(60, seed=2, interference=True)
    small = shrink(instance)
    assert np.array_equal(small.throughput, instance.throughput)
    assert np.array_equal(small.job_value, instance.job_value[:4])
    assert np.array_equal(small.tasks_per_job, instance.tasks_per_job[:4])
    named = shrink(MAKERS["named"]())
    assert named.class2job.tolist() == [0, 1, -1, 0]
    assert named.task2class.tolist() == [0, 0, 1, 2, 2, 3]


def test_the_source_is_left_alone():
    instance = table7(300, seed=1)
    before = instance.digest
    assert shrink(instance).digest != before
    assert (instance.digest, instance.num_tasks) == (before, 300)
