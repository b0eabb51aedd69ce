import numpy as np
import pytest

from schedgap.heuristics.sharing import policies  # noqa: F401
from schedgap.instances.errors import MethodError
from schedgap.instances.fairness.shares import share_of_a_task, value_and_scale
from schedgap.instances.method import Status, find_method
from schedgap.instances.sharing import FAMILY, SharingInstance, as_users, ends_ms, micro, verify

NOTION = {"eunomia": "eunomia", "tsf": "tsf", "choosy": "cmmf", "drf": "drf"}
ALL = (*NOTION, "fifo", "shortest-job-first", "gavel", "yarn-fair", "yarn-capacity", "themis")


def run(instance, name, seed=0, **parameters):
    return find_method(FAMILY, name).run(instance, seed=seed, parameters=parameters).solution


@pytest.fixture
def three():
    """One machine of one core, idle until 0 s; jobs of 1 task of 9 s, 2 of 2 s and 1 of 3 s at 0, 1 and 2 s."""
    return SharingInstance(
        name="three",
        notion="tsf",
        resources=("cpu",),
        machine_names=("one",),
        machine_count=[1],
        capacity=[[1000]],
        arrival_ms=[0, 1000, 2000],
        demand=[[1000]] * 3,
        weight=[1000] * 3,
        performance=[[1000]] * 3,
        allowed=np.ones((3, 1), bool),
        first_task=[0, 1, 3, 4],
        work_ms=[9000, 2000, 2000, 3000],
    )


@pytest.mark.parametrize("name", ALL)
def test_schedules_are_feasible_and_the_same_again(drawn, name):
    random = {key: "random" for key in ("nodes", "ties") if key in find_method(FAMILY, name).parameters}
    for seed in range(8):
        instance = drawn(seed)
        for parameters in ({}, {**random, "draw": 5} if random else {}):
            first, again = (run(instance, name, s, **parameters) for s in (1, 2))
            verify(instance, first)
            assert first.machine.tobytes() == again.machine.tobytes()
            assert first.start_ms.tobytes() == again.start_ms.tobytes()


@pytest.mark.parametrize("name", NOTION)
def test_the_lowest_share_is_served(drawn, name):
    """Whenever a task starts, no job that waits and fits there has a lower share, as counted from the schedule."""
    served = 0
    for seed in range(30):
        instance = drawn(seed, own_performance=False)
        schedule = run(instance, name)
        job, ends, k = instance.task2job(), ends_ms(instance, schedule), instance.machine2class()[schedule.machine]
        users = as_users(instance, np.arange(instance.num_jobs), np.diff(instance.first_task))
        gain = share_of_a_task(users, NOTION[name])
        serves = instance.serves()
        starts = np.unique(schedule.start_ms)
        for t in starts[(schedule.start_ms[:, None] == starts).sum(axis=0) == 1].tolist():
            # A moment with one start and one end, or none: what ran before is what the policy saw.
            if (ends == t).sum() > 1:
                continue
            task = int(np.flatnonzero(schedule.start_ms == t)[0])
            runs = (schedule.start_ms < t) & (ends > t)
            shares = np.bincount(job[runs], gain[job[runs], k[runs]], instance.num_jobs)
            waits = np.bincount(job[schedule.start_ms > t], minlength=instance.num_jobs) > 0
            # As large as the one that was served, or smaller, so that it fits too.
            small = (instance.demand <= instance.demand[job[task]]).all(axis=1)
            others = np.flatnonzero(waits & small & serves[:, k[task]] & (instance.arrival_ms < t))
            assert (shares[others] >= shares[job[task]] - 1e-12).all()
            served += others.size
    assert served > 20


@pytest.mark.parametrize(("ties", "cost_s"), [("first", 15), ("last", 20)])
def test_equal_shares_are_equal_whatever_they_are_added_up_from(three, ties, cost_s):
    """With machine 0 full, job 0 has three times 1/16 and job 1 has 3/16: who is served on machine 1 is up to `ties`."""
    instance = three.replace(
        notion="eunomia",
        machine_names=("a", "b"),
        machine_count=[1, 1],
        capacity=[[10_000], [4000]],
        arrival_ms=[0, 0],
        demand=[[2000], [3000]],
        weight=[2000, 1000],
        performance=[[1000, 1500], [1000, 1500]],
        allowed=np.ones((2, 2), bool),
        first_task=[0, 5, 10],
        work_ms=[5000] * 10,
    )
    assert verify(instance, run(instance, "eunomia", ties=ties)) == cost_s * 1000


def test_notions_differ_and_so_do_floors(three):
    # Job 1 alone could run 1 task of 600 on each of two machines with 1000 or, in parts, 5/3.
    instance = three.replace(capacity=[[1000]], machine_count=[2], demand=[[600], [500], [500]])
    values = {fitting: [float(x) for x in policy_scale(instance, fitting == "whole")] for fitting in ("fluid", "whole")}
    assert values["whole"] == [2, 4, 4]
    assert values["fluid"] == pytest.approx([10 / 3, 4, 4])


def policy_scale(instance, whole):
    return value_and_scale(as_users(instance, np.arange(3), np.diff(instance.first_task)), "tsf", whole=whole)[1]


def test_fifo_serves_in_order_of_arrival(three):
    assert run(three, "fifo").start_ms.tolist() == [0, 9000, 11000, 13000]


def test_shortest_job_first_counts_the_work_of_all_tasks(three):
    # 3 s before 4 s.
    assert run(three, "shortest-job-first").start_ms.tolist() == [0, 12000, 14000, 9000]


def test_ties_go_to_the_first_or_the_last(three):
    assert run(three, "tsf").start_ms.tolist() == [0, 9000, 11000, 13000]
    assert run(three, "tsf", ties="last").start_ms.tolist() == [0, 12000, 14000, 9000]


def test_choosy_needs_everybody_to_demand_the_first_resource(three):
    instance = three.replace(resources=("gpu", "cpu"), capacity=[[0, 1000]], demand=[[0, 1000]] * 3)
    outcome = find_method(FAMILY, "choosy").run(instance)
    assert outcome.status is Status.UNSUPPORTED
    assert outcome.details["reason"] == (
        "job job-0 demands no gpu, in which choosy measures shares; name another resource first"
    )
    assert verify(instance, run(instance, "drf")) > 0


def test_the_paper_in_seconds():
    """Figures 3 and 4, tasks of 2 s on the slowest machines, rounded up to milliseconds elsewhere."""
    instance = micro()
    last = {}
    for name in ("tsf", "choosy", "drf", "eunomia"):
        schedule = run(instance, name)
        verify(instance, schedule)
        last[name] = ends_ms(instance, schedule).reshape(4, -1).max(axis=1).tolist()
    # 50 tasks on each of 20 slots at 0.667 s each.
    assert last["tsf"] == last["choosy"] == last["drf"] == [54_000, 54_000, 54_000, 50 * 667]
    assert last["eunomia"] == [52_026, 54_000, 54_000, 54_694]


@pytest.fixture
def two(three):
    """Two machines of 3 and 3 cores with 10 GiB each; two jobs of 6 tasks of 10 s at 0 s, each of a core and 1 GiB."""
    return three.replace(
        resources=("cpu", "ram_gib"),
        machine_names=("a", "b"),
        machine_count=[1, 1],
        capacity=[[3000, 10_000]] * 2,
        arrival_ms=[0, 0],
        demand=[[1000, 1000]] * 2,
        weight=[1000] * 2,
        performance=[[1000, 1000]] * 2,
        allowed=np.ones((2, 2), bool),
        first_task=[0, 6, 12],
        work_ms=[10_000] * 12,
    )


def on_first(instance, name, **parameters):
    """How many tasks of each job start at 0 s on machine 0."""
    schedule = run(instance, name, **parameters)
    verify(instance, schedule)
    return np.bincount(instance.task2job()[(schedule.start_ms == 0) & (schedule.machine == 0)], minlength=2).tolist()


def test_gavel_counts_only_machines_on_which_a_job_may_run(two):
    """Job 0 may use a alone: a task is 1/3 of its own, and 1/6 of job 1's. To Eunomia both are 1/6."""
    instance = two.replace(allowed=[[True, False], [True, True]])
    assert on_first(instance, "gavel") == [1, 2]
    assert on_first(instance, "eunomia") == [2, 1]


def test_yarn_fair_counts_memory(two):
    """2 GiB against 1: after one task each job 1 is served again; by dominant shares, 1/6 of the cores each, job 0."""
    instance = two.replace(demand=[[1000, 2000], [1000, 1000]])
    assert on_first(instance, "yarn-fair") == [1, 2]
    assert on_first(instance, "drf") == [2, 1]
    reason = "YARN counts memory, and none of cpu, disk is; name a resource memory or ram"
    assert find_method(FAMILY, "yarn-fair").run(two.replace(resources=("cpu", "disk"))).details["reason"] == reason


def test_yarn_capacity_serves_the_queue_that_uses_least(three):
    """Jobs 0 and 2 share a queue: beside job 1's one task, job 0 runs its two one after the other, then job 2."""
    instance = three.replace(
        capacity=[[2000]], arrival_ms=[0] * 3, first_task=[0, 2, 3, 4], work_ms=[10_000, 10_000, 10_000, 10_000]
    )
    assert run(instance, "yarn-capacity", queues=2).start_ms.tolist() == [0, 10_000, 0, 10_000]
    assert run(instance, "yarn-capacity", queues=1).start_ms.tolist() == run(instance, "fifo").start_ms.tolist()
    with pytest.raises(MethodError, match="queues is 0; give at least 1"):
        run(instance, "yarn-capacity", queues=0)


def test_themis_serves_who_waited_longest_for_its_size(three):
    """At 9 s jobs 1 and 2 would take 8 s and 6 s on half of the machine, and waited 8 s and 7 s, or 4 s if job 2 came at 5 s."""
    assert run(three, "themis").start_ms.tolist() == [0, 12_000, 14_000, 9_000]
    assert run(three.replace(arrival_ms=[0, 1000, 5000]), "themis").start_ms.tolist() == [0, 9_000, 11_000, 13_000]


def test_themis_serves_who_has_nothing_first_and_then_the_largest_ratio(two):
    """Each gets a task; then 1 against 50 s of work that is left, at one task a time: (0 + 50) / 20 against (0 + 10) / 6.7."""
    assert on_first(two, "themis") == [2, 1]
    assert on_first(two.replace(first_task=[0, 2, 8], work_ms=[10_000] * 8), "themis") == [1, 2]
