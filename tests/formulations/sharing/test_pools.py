"""Machines that may be one pool."""

import numpy as np

from schedgap.formulations.sharing.work_bound import pools_of
from schedgap.instances.sharing.generators import micro


def test_a_class_of_equal_demands_is_one_pool():
    """5 machines of 4 cores a type, one core a task: 20 slots, and room for no more."""
    pools = pools_of(micro())
    assert pools.slots.tolist() == [4, 4, 4, 4]
    assert pools.capacity.tolist() == [[20_000, 20_480]] * 4
    assert pools.first_machine.tolist() == [0, 5, 10, 15]
    assert pools.machine2pool().tolist() == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 5


def test_machines_of_other_classes_are_pools_by_themselves(make):
    """Class 0 serves demands 1 and 2, class 1 only the first, of which 3 fit on a machine of 3."""
    allowed = np.array([[1, 1], [1, 0]], bool)
    pools = pools_of(make([[1] * 3, [1]], count=[2, 2], capacity=[4, 3], demand=[1, 2], allowed=allowed))
    assert pools.capacity.tolist() == [[4], [4], [6]]
    assert pools.slots.tolist() == [0, 0, 3]
    assert pools.machine2pool().tolist() == [0, 1, 2, 2]


def test_a_class_that_serves_nobody(make):
    pools = pools_of(make([[1]], count=[1, 2], allowed=np.array([[1, 0]], bool)))
    assert pools.machine2pool().tolist() == [0, 1, 2]


def test_tasks_of_a_pool_take_the_slot_that_is_free_first(make):
    """Two machines of two slots: four tasks at 0 fill them, the fifth takes the one that ends at 2."""
    pools = pools_of(make([[1] * 5], count=[2], capacity=[2]))
    start, end = np.array([0, 0, 0, 0, 2]), np.array([4, 3, 2, 4, 5])
    assert pools.machines(np.zeros(5, int), start, end).tolist() == [0, 0, 1, 1, 1]
