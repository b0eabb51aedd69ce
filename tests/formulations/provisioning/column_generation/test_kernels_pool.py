import numpy as np
import pytest

from schedgap.formulations.provisioning.column_generation.kernels_repack import (
    EMPTY,
    crowded_classes,
    needs_of,
    room_of,
)
from schedgap.formulations.provisioning.patterns.patterns import catalogue_of
from schedgap.instances.provisioning import table7

KERNELS = pytest.mark.parametrize("is_compiled", [True, False], ids=["compiled", "python"])


@KERNELS
def test_classes_with_more_tasks_than_may_share_a_machine_are_resources(is_compiled):
    """Of class 0 three tasks, of which one shares a machine; of class 2 two, which may; of class 1 one of one."""
    crowded_of, needs, room = (
        kernel if is_compiled else kernel.py_func for kernel in (crowded_classes, needs_of, room_of)
    )
    instance = table7(5)
    counts = np.full(instance.num_classes, 9)
    limits = np.array([1, 1, 2, *[-1] * (instance.num_classes - 3)])
    instance = instance.replace(counts=counts, task2class=None, task_names=None, per_machine=limits)
    types, number = catalogue_of(instance), np.zeros(instance.num_classes, np.int64)
    task_class, items = np.array([0, 2, 1, 0, 2, 0]), np.arange(6)
    crowded = crowded_of(items, task_class, types.most, number)
    assert crowded.tolist() == [0]
    assert not number.any()
    k = int(np.flatnonzero(instance.fits()[:, [0, 1, 2]].all(axis=1))[0])
    found = needs(items, task_class, types, k, crowded)
    assert (found[:, :-1] == instance.demand[instance.type2family[k], task_class]).all()
    assert found[:, -1].tolist() == [1, 0, 0, 1, 0, 1]
    assert room(types, k, crowded).tolist() == [*instance.capacity[k].tolist(), 1]
    assert (needs(items, task_class, types, EMPTY, crowded) == EMPTY).all()
