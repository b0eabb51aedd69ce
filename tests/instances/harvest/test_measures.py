import sys

import numpy as np
import pytest

from schedgap.instances.harvest import HarvestSchedule, measures, quick, verify
from schedgap.instances.harvest.measures import is_killed
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.stability import pool_quality

# Task 0 of y is killed when a shrinks at 60 s, x's second task was killed at no such moment.
GIVEN = [(0, 0, 0, 40), (1, 1, 0, 30), (1, 1, 30, 70), (2, 0, 12, 60, 10), (2, 0, 60, 73, 10)]


@pytest.fixture
def plain(monkeypatch):
    """The plain rule has the jobs complete after 140 s and 25.2 s."""
    module = sys.modules["schedgap.instances.harvest.measures"]
    monkeypatch.setattr(module, "plain_times_ms", lambda instance: np.array([140_000, 25_200]))


@pytest.mark.usefixtures("plain")
def test_the_figures_of_a_schedule(trio, runs):
    schedule = runs(*GIVEN)
    verify(trio, schedule)
    figures = measures(trio, schedule)
    # y has saved 40 s in 48 s, by four checkpoints; then it restores for 3 s and works for 10 s.
    assert (figures["mean_jct_s"], figures["median_jct_s"]) == ((70 + 63) / 2, (70 + 63) / 2)
    assert figures["p90_jct_s"] == pytest.approx(63 + 0.9 * 7)
    assert figures["makespan_s"] == 73
    # 70 / 140 and 63 / 25.2
    assert figures["njct"] == pytest.approx((0.5 * 2.5) ** 0.5)
    assert figures["njct_uninterruptible"] == pytest.approx(0.5)
    assert figures["njct_interruptible"] == pytest.approx(2.5)
    # x: 4 cores for 40 + 30 + 40 s, of which 30 s are lost. y: 2 cores for 48 + 13 s.
    done = 4 * 110 + 2 * 61
    assert figures["waste"] == pytest.approx(4 * 30 / done)
    # y works for 50 s of 61 s.
    assert figures["checkpointing"] == pytest.approx(2 * 11 / done)
    assert (figures["kills_per_task"], figures["stops_per_task"]) == (1 / 3, 1 / 3)
    # y waits for 2 s from its arrival.
    assert figures["waiting_share"] == pytest.approx(2 / (40 + 70 + 63))
    # Until 73 s: a has 8 cores for 60 s, then 4; b has 4. Of these 2 and 4 cost 3.6 $ an hour, the rest half.
    cores = 8 * 60 + 4 * 13 + 4 * 73
    assert figures["utilisation"] == pytest.approx(done / cores)
    assert figures["mean_cores"] == pytest.approx(cores / 73)
    assert figures["mean_vms"] == pytest.approx(2)
    assert figures["cost"] == pytest.approx(0.001 * (2 * 73 + 4 * 73) + 0.0005 * (6 * 60 + 2 * 13))


@pytest.mark.usefixtures("plain")
def test_leases_are_paid_from_the_first_arrival_to_the_last_end(pool, runs):
    late = pool.replace(arrival_ms=[10_000, 10_000])
    schedule = runs((0, 0, 10, 50), (2, 0, 10, 60), (1, 1, 130, 170), leases=[(0, 0, 70), (1, 120, 900)])
    verify(late, schedule)
    figures = measures(late, schedule)
    # a: 50 s of 8 and 10 s of 4 cores. b: 50 s of 4.
    assert figures["mean_cores"] == pytest.approx((50 * 8 + 10 * 4 + 50 * 4) / 160)
    assert figures["mean_vms"] == pytest.approx((60 + 50) / 160)
    # One lease begins after 10 s, in 160 s.
    assert figures["lease_changes_per_h"] == pytest.approx(3600 / 160)
    assert figures["cost"] == pytest.approx(0.001 * (60 * 2 + 50 * 4) + 0.0005 * (50 * 6 + 10 * 2))


def test_kills_are_at_shrinks(trio, runs):
    schedule = runs((0, 0, 0, 60), (0, 0, 0, 120), (0, 0, 0, 119), (0, 1, 0, 60), (0, 0, 0, 180), (0, 0, 0, 120))
    last = np.arange(6) == 5
    # At 180 s a grows; b has no event at 60 s; the last run completes.
    assert is_killed(trio, schedule, last).tolist() == [True, True, False, False, False, False]


def test_the_plain_rule_has_njct_1_and_what_it_kills_is_counted():
    instance = quick(4, 4, "8-12", seed=2, most_cores=12, history_h=1.0, stability=0.2)
    simulator = Simulator(instance, seed=0)
    assert simulator.run_plain()
    schedule = simulator.schedule()
    figures = measures(instance, schedule)
    assert figures["njct"] == 1
    assert figures["jobs_gaining"] == figures["jobs_quartered"] == figures["jobs_losing"] == 0
    kills = int(simulator.state.tasks.kills.sum())
    assert kills > 0
    assert figures["kills_per_task"] == pytest.approx(kills / instance.num_tasks)
    assert (figures["stops_per_task"], figures["checkpointing"], figures["lease_changes_per_h"]) == (0, 0, 0)
    # No job takes checkpoints.
    assert figures["njct_uninterruptible"] == 1
    assert "njct_interruptible" not in figures
    assert figures["vm_cores"] > 0


def test_without_a_reference_there_is_no_njct(trio, runs, monkeypatch):
    module = sys.modules["schedgap.instances.harvest.measures"]
    monkeypatch.setattr(module, "plain_times_ms", lambda instance: None)
    figures = measures(trio, runs(*GIVEN))
    assert "njct" not in figures
    assert all(np.isfinite(value) for value in figures.values())


def test_solutions_stay_as_they_are(trio, runs):
    schedule = runs(*GIVEN)
    before = [getattr(schedule, key).tolist() for key in HarvestSchedule.__slots__]
    measures(trio, schedule)
    assert [getattr(schedule, key).tolist() for key in HarvestSchedule.__slots__] == before


def test_regret_is_of_pools_that_are_chosen(trio, drawn_pool):
    instance = drawn_pool(6, "random")
    simulator = Simulator(instance)
    assert simulator.run_plain()
    schedule = simulator.schedule()
    assert measures(instance, schedule)["vm_regret"] == pool_quality(instance, schedule).regret > 0
    fixed = Simulator(trio)
    assert fixed.run_plain()
    assert "vm_regret" not in measures(trio, fixed.schedule())
