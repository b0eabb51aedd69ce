"""All VMs of a pool as one machine."""

import numpy as np

from schedgap.formulations.harvest.price_bound import bound_prices
from schedgap.formulations.harvest.work_bound import bound_work, machine_of, usable_units


def test_only_sums_of_sizes_can_be_used(make):
    """Sizes 6 and 8, in units of 2: of 0 to 9 units, sums of 3 and 4."""
    instance = make([[(0, 20)]], [[1], [1]], cores=[6, 8])
    assert usable_units(instance, np.arange(0, 20, 2)).tolist() == [0, 0, 0, 3, 4, 4, 6, 7, 8, 9]
    assert usable_units(instance, np.array([7, 13])).tolist() == [3, 6]


def test_fixed_pool(make):
    """Tasks of 2 cores: 2 + 1 units, then 0 + 1 from 4 on, then 0 + 2 from 10 on."""
    machine = machine_of(make([[(0, 5), (4, 1)], [(0, 3), (10, 4)]], [[1]], cores=2))
    assert machine.unit == 2
    assert machine.done_by(np.array([0, 3, 4, 10, 12])).tolist() == [0, 9, 12, 18, 22]
    assert [machine.done_at(work) for work in (1, 3, 4, 12, 13, 19, 21)] == [1, 1, 2, 4, 5, 11, 12]


def test_dynamic_pool(make):
    """Two of three VMs: 5 + 3, from 4 on 3 + 2, from 6 on 9 + 3."""
    events = [[(0, 5), (4, 1)], [(0, 3)], [(0, 2), (6, 9)]]
    machine = machine_of(make(events, [[1]], allocation="random", max_leases=2, leased=np.array([1, 0, 0], bool)))
    assert machine.done_by(np.array([4, 6, 7])).tolist() == [32, 42, 54]


def test_vms_without_the_memory_do_not_count(make):
    instance = make([[(0, 5)], [(0, 3)]], [[1]], memory_mib=[9, 10], task_memory_mib=[10])
    assert machine_of(instance).done_by(np.array([10])).tolist() == [30]


def test_too_much_work_for_integers(make):
    assert machine_of(make([[(0, 2**31), (2**40, 1)]], [[1]])) is None


def test_too_much_work_long_after_the_last_event(make):
    """One VM of 2^31 - 1 cores, which nothing happens to: its work by the last arrival wrapped, and proved too much."""
    instance = make([[(0, 2**31 - 1)]], [[5], [5], [7]], arrival=[0, 2**32, 2**33])
    assert machine_of(instance) is None
    outcome = bound_work(instance)
    assert (outcome.bound, outcome.details) == (5 + 5 + 7, {"work": "more than 64 bits hold"})
    assert bound_prices(instance).bound == 5 + 5 + 7
