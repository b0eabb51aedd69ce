"""CP-SAT's exact model against brute force, at times that are on no coarse grid."""

from schedgap.formulations.harvest.interval_model import interval_model, not_for_intervals
from schedgap.formulations.harvest.work_bound import bound_work
from schedgap.instances.harvest.generators.quick import quick
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import Status


def test_is_the_optimum_of_brute_force(optima):
    cases = [(each, best) for each, best in optima if not_for_intervals(each) is None]
    assert len(cases) > 50
    for instance, best in cases:
        found = interval_model(instance)
        assert (found.status, found.bound, verify(instance, found.solution)) == (Status.OPTIMAL, best, best)


def test_milliseconds_count():
    instance = quick(2, 2, "1-3", seed=3, objective="tasks", most_cores=4, min_sizes="2", interarrival_min=20.0)
    found = interval_model(instance)
    assert found.status is Status.OPTIMAL
    assert found.details["unit_ms"] == 1
    assert verify(instance, found.solution) == found.bound


def test_a_limit_leaves_a_schedule_and_a_bound():
    instance = quick(8, 5, "6-9", seed=1, most_cores=8, min_sizes="2")
    found = interval_model(instance, time_limit_s=1.0)
    assert found.bound >= bound_work(instance).bound
    assert found.solution is None or verify(instance, found.solution) >= found.bound


def test_no_time(make):
    assert interval_model(make([[(0, 1)]], [[2]]), time_limit_s=0.0).status is Status.NO_SOLUTION


def test_what_is_too_large_or_not_exact_is_refused(make):
    assert "use bound-work" in not_for_intervals(quick(600, 40, "5"))
    assert "can take checkpoints" in not_for_intervals(make([[(0, 1)]], [[2]], checkpoint_ms=[5]))


def test_ends_beyond_what_cp_sat_adds_up_are_refused(make):
    """Of 4,100 tasks all but the first arrive 2^51 ms later: their ends sum up to more than 64 bits hold."""
    tasks, late = 4_100, 2**51
    instance = make([[(0, tasks)]], [[1]] * tasks, arrival=[0] + [late] * (tasks - 1))
    for objective in ("jobs", "tasks"):
        found = interval_model(instance.replace(objective=objective))
        assert (found.status, found.bound, found.solution) == (Status.UNSUPPORTED, None, None)
        assert "has ends that sum up to 9.23e+18 in units of 1 ms, more than 4.5e+15" in found.details["reason"]


def test_cores_times_times_beyond_64_bits_are_refused(make):
    instance = make([[(0, 2**31)]], [[2**32 + 1], [1]], cores=2**31)
    assert "has cores and memory times runtimes that sum up to" in interval_model(instance).details["reason"]
