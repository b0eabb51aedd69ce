import sys

import numpy as np
import pytest

from schedgap.formulations.fairness.fair_point import find_fair_point
from schedgap.instances.errors import BackendError
from schedgap.instances.fairness import FairnessAllocation
from schedgap.instances.fairness import certificate as reference
from schedgap.instances.fairness.measures import jain
from schedgap.instances.sharing import SharingSchedule, Timeline, measures, micro, verify
from schedgap.instances.sharing.measures import busy_ms, moments_between, use_of_classes
from schedgap.instances.sharing.simulator.simulator import Simulator

SCHEDULE = SharingSchedule([2, 2, 0, 1, 1], [0, 0, 0, 1000, 4000])


@pytest.fixture
def no_fair_point(monkeypatch):
    """Nothing that takes a linear program is found."""

    def finder(users):
        raise BackendError("no luck")

    monkeypatch.setattr(reference, "_finder", lambda: finder)


@pytest.mark.usefixtures("no_fair_point")
def test_the_figures_of_a_schedule(pair):
    verify(pair, SCHEDULE)
    figures = measures(pair, SCHEDULE)
    # Delays: a 0 s and 4 s, b 0 s and 6 s. Jobs arrive until a ends, at 4 s.
    assert figures["mean_queueing_delay_s"] == 0
    assert figures["mean_completion_delay_s"] == figures["median_completion_delay_s"] == 5
    assert figures["p90_completion_delay_s"] == pytest.approx(5.8)
    assert figures["p99_completion_delay_s"] == pytest.approx(5.98)
    assert (figures["first_end_s"], figures["makespan_s"]) == (4, 7)
    # cpu: 2 x 2 s + 4 s + 2 cpu x 3 s = 14 of 8 x 4 s. Memory alike: 14 of 10 x 4.
    assert figures["cpu_utilisation"] == pytest.approx(14 / 32)
    assert figures["ram_utilisation"] == pytest.approx(14 / 40)
    # 50 moments, 40 ms to 3960 ms: 12 with a alone, 5/8; 13 with (5/8, 1/2), 25 with (1/8, 1/2).
    assert figures["jobs_present_mean"] == pytest.approx((12 + 2 * 38) / 50)
    both, late = (9 / 8) ** 2 / (2 * (25 / 64 + 1 / 4)), (5 / 8) ** 2 / (2 * (1 / 64 + 1 / 4))
    index = [jain(np.array(s)) for s in ([5 / 8], [5 / 8, 1 / 2], [1 / 8, 1 / 2])]
    assert index == pytest.approx([1, both, late])
    counts = moments_of(pair)
    assert figures["jain_mean"] == pytest.approx(np.dot(counts, index) / 50)
    assert figures["min_to_max_share_mean"] == pytest.approx(np.dot(counts, [1, 4 / 5, 1 / 4]) / 50)
    assert figures["max_share_mean"] == pytest.approx(np.dot(counts, [5 / 8, 5 / 8, 1 / 2]) / 50)
    assert [name for name in figures if "fair" in name or "distance" in name] == ["distance_moments"]


def moments_of(pair):
    """Return how many of the 50 moments have a alone, five running tasks' worth of shares, and fewer."""
    moments = moments_between(*busy_ms(Timeline(pair, SCHEDULE)), 50)
    return np.histogram(moments, [0, 1000, 2000, 4000])[0].tolist()


@pytest.mark.usefixtures("no_fair_point")
def test_the_figures_of_jobs_alone(pair):
    """Three tasks and two; b may use one machine of three, then two of them."""
    figures = measures(pair, SCHEDULE)
    assert (figures["mean_tasks"], figures["p90_tasks"], figures["max_tasks"]) == (2.5, pytest.approx(2.9), 3)
    assert (figures["jobs_anywhere"], figures["jobs_on_half"]) == (1, 1)
    fast_only = pair.replace(allowed=[[True, True], [False, True]], performance=[[1000, 2000], [1000, 2000]])
    of_jobs = measures(fast_only, SharingSchedule([2, 2, 0, 2, 2], [0, 0, 0, 2000, 4000]))
    assert (of_jobs["jobs_anywhere"], of_jobs["jobs_on_half"]) == (0.5, 0.5)
    slow_only = measures(pair.replace(allowed=[[True, True], [True, False]]), SCHEDULE)
    assert (slow_only["jobs_anywhere"], slow_only["jobs_on_half"]) == (0.5, 1)


@pytest.mark.usefixtures("no_fair_point")
def test_who_queues(pair):
    """Neither job waits for its first task; if b starts at 4 s, half of the jobs do, and all without a's warm-up."""
    assert measures(pair, SCHEDULE)["queueing_jobs"] == 0
    late = SharingSchedule([2, 2, 0, 1, 1], [0, 0, 0, 4000, 7000])
    assert measures(pair, late)["queueing_jobs"] == 0.5
    assert measures(pair.replace(warm_up_jobs=1), late)["queueing_jobs"] == 1


@pytest.mark.usefixtures("no_fair_point")
def test_the_warm_up_is_left_out_of_delays(pair):
    figures = measures(pair.replace(warm_up_jobs=1), SCHEDULE)
    assert figures["mean_completion_delay_s"] == figures["p90_completion_delay_s"] == 6


def test_distance_to_the_fair_point(pair, monkeypatch):
    asked = []

    def finder(users):
        asked.append(users)
        raise BackendError("no luck")

    monkeypatch.setattr(reference, "_finder", lambda: finder)
    figures = measures(pair, SCHEDULE)
    assert len(asked) == 5
    assert figures["distance_moments"] == 0
    assert "distance_mean" not in figures

    # The package shows a function of the module's name.
    module = sys.modules["schedgap.instances.sharing.measures"]
    monkeypatch.setattr(module, "fair_shares", lambda users: np.ones(users.num_users))
    figures = measures(pair, SCHEDULE)
    # Every tenth moment from the sixth: 440, 1240, 2040, 2840 and 3640 ms.
    assert figures["distance_moments"] == 5
    assert figures["distance_mean"] == pytest.approx((3 / 8 + (3 / 8 + 1 / 2) / 2 + 3 * (7 / 8 + 1 / 2) / 2) / 5)
    assert figures["distance_max"] == pytest.approx((3 / 8 + 1 / 2 + 3 * 7 / 8) / 5)


def test_an_unproven_fair_point_does_not_count(pair, monkeypatch):
    nothing = FairnessAllocation([], [], [], [])
    monkeypatch.setattr(reference, "_finder", lambda: lambda users: nothing)
    assert measures(pair, SCHEDULE)["distance_moments"] == 0


def test_distance_in_the_micro_benchmark(monkeypatch):
    monkeypatch.setattr(reference, "_finder", lambda: find_fair_point)
    instance = micro(tasks=200)
    simulator = Simulator(instance)
    simulator.run()
    figures = measures(instance, simulator.schedule())
    # All machines serve job 1, as long as it has tasks, and then job 2: the others fall short of their quarters by all.
    assert figures["distance_moments"] == 5
    assert 0.6 < figures["distance_mean"] <= 0.75
    assert figures["distance_max"] == 1
    # 1/4 where one job has all, 1/2 where two do.
    assert 0.25 <= figures["jain_of_fair_mean"] <= 0.5


def test_jain_of_nothing_and_of_everything():
    assert jain(np.zeros(3)) == 1
    assert jain(np.array([0.0, 0.0, 0.5])) == pytest.approx(1 / 3)


def test_use_of_classes(pair):
    # Over [0, 2] s: slow runs a's task for 2 s and b's for 1 s, fast two of a for 2 s.
    use = use_of_classes(Timeline(pair, SCHEDULE), 0, 2000)
    assert use.tolist() == [[2000, 2048], [2000, 2048]]
