"""How many jobs all VMs together can have completed by each moment."""

from schedgap.formulations.harvest.work_bound import bound_alone, bound_work
from schedgap.instances.method import Status


def test_jobs_one_after_the_other(make):
    """Two cores; work 8, 4 and 6: by 2, 5 and 9 at the earliest, whatever the order."""
    outcome = bound_work(make([[(0, 2)]], [[4, 4], [2, 2], [3, 3]]))
    assert (outcome.bound, outcome.status) == (2 + 5 + 9, Status.NO_SOLUTION)


def test_long_tasks_end_late_anyway(make):
    """Two tasks of 2 by 2, the third by 3, and with the long one all by (4 + 6) / 2; alone these are 2, 2, 2 and 4."""
    assert bound_work(make([[(0, 2)]], [[4], [2], [2], [2]])).bound == 2 + 2 + 3 + 5


def test_tasks_and_makespan(make):
    """One core: tasks of 1, 2 and 3 end by 1, 3 and 6."""
    instance = make([[(0, 1)]], [[3, 1], [2]])
    assert bound_work(instance.replace(objective="tasks")).bound == 1 + 3 + 6
    assert bound_work(instance.replace(objective="makespan")).bound == 6


def test_cores_that_cannot_be_used(make):
    """Of 5 cores tasks of 3 use 3: they run one after the other."""
    assert bound_work(make([[(0, 5)]], [[2], [2]], cores=3)).bound == 2 + 4


def test_work_that_integers_do_not_hold(make):
    """A pool of 2^31 cores for 2^40 ms: the bound is that of tasks alone."""
    outcome = bound_work(make([[(0, 2**31), (2**40, 1)]], [[7]]))
    assert (outcome.bound, outcome.details) == (7, {"work": "more than 64 bits hold"})


def test_without_time_it_is_the_bound_of_tasks_alone(make):
    assert bound_work(make([[(0, 1)]], [[3], [3]]), time_limit_s=0.0).bound == 6


def test_between_the_bound_alone_and_the_optimum(optima):
    bounds = [(bound_alone(instance).bound, bound_work(instance).bound, best) for instance, best in optima]
    assert all(alone <= work <= best for alone, work, best in bounds)
    assert sum(alone < work for alone, work, _ in bounds) > 15
