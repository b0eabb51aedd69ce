import pytest

from schedgap.instances.fairness import tasks_per_class
from schedgap.instances.fairness.model import FairnessAllocation
from schedgap.instances.sharing import SharingSchedule, Timeline, as_users, fairness_at

SCHEDULE = SharingSchedule([2, 2, 0, 1, 1], [0, 0, 0, 1000, 4000])


@pytest.mark.parametrize(
    ("ms", "jobs", "running", "unfinished"),
    [
        (0, [0], [[1, 2]], [3]),
        (999, [0], [[1, 2]], [3]),
        (1000, [0, 1], [[1, 2], [1, 0]], [3, 2]),
        # What ends at a moment is over, what starts then runs.
        (2000, [0, 1], [[1, 0], [1, 0]], [1, 2]),
        (4000, [1], [[1, 0]], [1]),
        (7000, [], [], []),
    ],
)
def test_what_runs_at_a_moment(pair, ms, jobs, running, unfinished):
    seen = Timeline(pair, SCHEDULE).at(ms)
    assert seen.jobs.tolist() == jobs
    assert seen.running.tolist() == running
    assert seen.unfinished.tolist() == unfinished


def test_jobs_start_and_end_with_their_first_and_last_tasks(pair):
    timeline = Timeline(pair, SCHEDULE)
    assert timeline.job_start_ms.tolist() == [0, 1000]
    assert timeline.job_end_ms.tolist() == [4000, 7000]


def test_shares_are_those_of_the_notion(pair):
    # a alone: 2 tasks on each slow machine, 2 on fast (memory) at performance 2, 8 in all; it has 1 + 2 x 2 of them.
    # b alone: one on each slow machine; on fast it has no performance.
    shares = {"eunomia": [5 / 8, 1 / 2], "tsf": [3 / 6, 1 / 3], "cmmf": [3 / 8, 2 / 8], "drf": [3 / 8, 2 / 8]}
    for notion, expected in shares.items():
        timeline = Timeline(pair.replace(notion=notion), SCHEDULE)
        assert timeline.shares(timeline.at(1500)).tolist() == pytest.approx(expected, abs=1e-15), notion


def test_the_fairness_problem_among_the_jobs_present(pair):
    seen = Timeline(pair, SCHEDULE).at(2000)
    users = fairness_at(pair, seen)
    assert users.name == "pair-at-2000-ms"
    assert users.user_names == ("a", "b")
    assert users.tasks.tolist() == [1, 2]
    assert users.allowed.tolist() == [[True, True], [True, False]]
    assert (users.notion, users.machine_count.tolist()) == ("eunomia", [2, 1])
    # What runs is an allocation of it.
    running = FairnessAllocation([0, 1], [0, 0], [10**12, 10**12], [0, 1])
    assert tasks_per_class(users, running).tolist() == seen.running.tolist()


def test_users_in_another_notion(pair):
    users = as_users(pair, pair.task2job()[3:4], pair.first_task[1:2], "drf", "b-alone")
    assert (users.name, users.notion, users.num_users, users.tasks.tolist()) == ("b-alone", "drf", 1, [3])
