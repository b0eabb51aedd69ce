from dataclasses import replace

import numpy as np
import pytest

from schedgap.instances import InstanceError, VerifyError
from schedgap.instances.provisioning import Provisioning, ProvisioningInstance, cost, verify
from schedgap.instances.provisioning.running import Running

# Fields that follow from the number of classes.
UNNAMED = {"class2workload": None, "class2job": None, "tasks_per_job": None}

# two_families: a a b c c; types x-small, x-large, y-small.
GOOD = {"types": [2, 0, 0], "patterns": [[2, 0, 0], [0, 0, 1], [0, 1, 0]], "repeat": [1, 2, 1]}


def solution(types, patterns, repeat):
    return Provisioning.from_patterns(types, repeat, patterns)


def test_cost_of_a_feasible_solution(two_families):
    # 0.7 for both a on y-small, 2 x 1.0 for c, 1.0 for b on x-small.
    assert verify(two_families, solution(**GOOD)) == 3_700_000


def test_named_tasks_are_checked_too(two_families):
    placed = Provisioning.from_tasks(two_families, [2, 0, 0, 0], [0, 0, 3, 1, 2])
    assert verify(two_families, placed) == 3_700_000
    lie = Provisioning(
        placed.machine_type, placed.repeat, placed.indptr, placed.task_class, placed.count, [0, 3, 0, 1, 2]
    )
    with pytest.raises(VerifyError, match="not those counted per class"):
        verify(two_families, lie)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"patterns": [[2, 0, 0], [0, 0, 1], [0, 2, 0]]}, r"is over capacity: its tasks need 8 cpu, it has 4 cpu"),
        ({"repeat": [1, 1, 1]}, "1 tasks of c are placed, the instance has 2"),
        ({"repeat": [1, 3, 1]}, "3 tasks of c are placed, the instance has 2"),
        ({"types": [2, 2, 0]}, "task c may not run on family y"),
        ({"types": [2, 7, 0]}, r"machine type 7 is outside 0..2"),
    ],
)
def test_names_the_first_violation(two_families, change, message):
    with pytest.raises(VerifyError, match=message):
        verify(two_families, solution(**{**GOOD, **change}))


def test_refuses_negative_counts_and_duplicate_entries(two_families):
    good = solution(**GOOD)
    with pytest.raises(VerifyError, match="number of tasks -1"):
        verify(two_families, Provisioning(good.machine_type, good.repeat, good.indptr, good.task_class, [-1, 1, 1]))
    twice = Provisioning([2, 0, 0], [1, 2, 1], [0, 2, 3, 4], [0, 0, 2, 1], [1, 1, 1, 1])
    with pytest.raises(VerifyError, match="same task class twice"):
        verify(two_families, twice)


def test_needs_no_more_than_the_integers_say(two_families):
    """One milli-CPU over capacity is infeasible; exactly at capacity is feasible."""
    demand = two_families.demand.copy()
    demand[1, 0, 0] = 2001
    with pytest.raises(VerifyError, match=r"4.002 cpu, it has 4 cpu"):
        verify(two_families.replace(demand=demand), solution(**GOOD))


def test_empty_solution_places_nothing(two_families):
    empty = solution([], np.empty((0, 3)), [])
    with pytest.raises(VerifyError, match="0 tasks of a are placed"):
        verify(two_families, empty)


def zero_demand(count, price, demand=0):
    """One class that needs little, many times, and one type."""
    return ProvisioningInstance(
        name="many",
        resources=("cpu",),
        families=("x",),
        type_names=("small",),
        type2family=[0],
        capacity=[[1000]],
        price=[price],
        demand=[[[demand]]],
        counts=[count],
    )


def test_machines_without_tasks_are_refused():
    """2^31 tasks at 2^31 micro-dollars: 8 groups of 2^31 idle machines cost 2^65, which 64 bits call nothing."""
    instance = zero_demand(2**31, 2**31)
    idle = Provisioning([0] * 9, [1] + [2**31] * 8, [0] + [1] * 9, [0], [2**31])
    with pytest.raises(VerifyError, match="machine group 1, a small, holds no task"):
        verify(instance, idle)
    assert cost(instance, idle) == 2**31 + 2**65
    assert idle.num_machines == 1 + 8 * 2**31
    assert verify(instance, Provisioning([0], [1], [0, 1], [0], [2**31])) == 2**31
    assert verify(instance, Provisioning([0], [2**31], [0, 1], [0], [1])) == 2**62


def test_counts_of_tasks_do_not_wrap():
    # 2^32 machines of 2^32 tasks are 2^64 tasks more, not none.
    instance = zero_demand(2**33, 1)
    with pytest.raises(VerifyError, match=f"{2**64 + 2**33} tasks of task-0 are placed, the instance has {2**33}"):
        verify(instance, Provisioning([0, 0], [2**32, 1], [0, 1, 2], [0, 0], [2**32, 2**33]))


def test_needs_of_a_machine_do_not_wrap():
    # Four classes of one task that needs 2^60: four of each need 2^64.
    instance = zero_demand(1, 1).replace(
        resources=("ram_mib",), capacity=[[2**60]], demand=[[[2**60]] * 4], counts=[1] * 4, **UNNAMED
    )
    with pytest.raises(VerifyError, match=r"over capacity: its tasks need 1\.84467e\+19 ram_mib"):
        verify(instance, Provisioning([0], [1], [0, 4], [0, 1, 2, 3], [4, 4, 4, 4]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capacity": [[2**62]]}, "capacity of 4611686018427387904 overflows 62 bits"),
        ({"job_value": [-1]}, "job_value -1; it must be not negative"),
        ({"job_value": [1, 2]}, "one for each task class"),
        ({"job_value": [2**61], "workloads": ("w",), "class2workload": [0], "throughput": [[500]]}, "overflow 62 bits"),
    ],
)
def test_instances_beyond_the_arithmetic_are_refused(change, message):
    with pytest.raises(InstanceError, match=message):
        zero_demand(3, 1).replace(**change)


def test_as_many_tasks_of_a_class_as_may_share_a_machine():
    """Three tasks of 1 CPU fit a machine of 4; of a class of which two may share one, three do not."""
    demand, counts = np.array([[[1000]]]), np.array([3])
    instance = ProvisioningInstance(
        "apart",
        ("cpu",),
        ("any",),
        ("m",),
        np.array([0]),
        np.array([[4000]]),
        np.array([10]),
        demand,
        counts,
        per_machine=np.array([2]),
    )
    apart = Provisioning(np.array([0, 0]), np.array([1, 1]), np.array([0, 1, 2]), np.array([0, 0]), np.array([2, 1]))
    assert verify(instance, apart) == 20
    with pytest.raises(VerifyError, match="holds 3 tasks of task-0; at most 2 may share a machine"):
        verify(instance, Provisioning.from_patterns([0], [1], [[3]]))
    assert (
        instance.replace(per_machine=np.array([-1])).digest
        == instance.replace(per_machine=None).digest
        != instance.digest
    )
    with pytest.raises(InstanceError, match="task task-0 has per_machine 0; it must be at least 1"):
        instance.replace(per_machine=np.array([0]))


def test_a_running_machine_may_be_kept_without_tasks():
    """Kept, it is paid: 7 for the machine with the task and 7 for the empty one."""
    instance = ProvisioningInstance(
        name="empty",
        resources=("cpu",),
        families=("any",),
        type_names=("m",),
        type2family=[0],
        capacity=[[4]],
        price=[7],
        demand=[[[1]]],
        counts=[1],
        running=Running.from_contents(["a", "b"], [0, 0], [[1], [0]]),
    )
    both = Provisioning.from_tasks(instance, [0, 0], [0])
    assert verify(instance, replace(both, keeps=[0, 1])) == 14
    with pytest.raises(VerifyError, match="machine group 1, a m, holds no task"):
        verify(instance, replace(both, keeps=[0, -1]))
    with pytest.raises(VerifyError, match="running machine a is kept 2 times"):
        verify(instance, replace(both, keeps=[0, 0]))
