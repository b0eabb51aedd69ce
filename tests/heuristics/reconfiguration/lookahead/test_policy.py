"""The look-ahead policy on cases computed by hand, against No-Packing, and twice."""

import functools

import numpy as np
import pytest

from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration.lookahead.policy import lookahead
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.heuristics.reconfiguration.rules import no_packing
from schedgap.instances.errors import MethodError
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.generators import alibaba_like, eva_synthetic
from schedgap.instances.reconfiguration.model import ReconfigurationInstance
from schedgap.instances.reconfiguration.verify import verify

SMALL, LARGE = 0, 1


def two_jobs(throughput=1000, **changes):
    """Two ten-hour jobs of four cores, at 0 s and 60 s. Four cores cost $1 an hour, eight $1.50; they boot for 360 s.

    Four of eight cores are worth $0.75 an hour. Both jobs on a large machine save $0.50 an hour; while it boots it costs
    $0.15, and two jobs that wait for it $0.15 more.
    """
    catalogue = ProvisioningInstance(
        name="two-jobs",
        resources=("cpu",),
        families=("any",),
        type_names=("small", "large"),
        type2family=[0, 0],
        capacity=[[4000], [8000]],
        price=[1_000_000, 1_500_000],
        demand=[[[4000]]],
        counts=[2],
        workloads=("w",),
        class2workload=[0],
        throughput=[[throughput]],
    )
    fields = {key: [0] for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")} | {
        "name": "two-jobs",
        "catalogue": catalogue,
        "acquire_s": [0, 0],
        "setup_s": [360, 360],
        "arrival_s": [0, 60],
        "work_s": [36000, 36000],
        "job2class": [0, 0],
        "num_tasks": [1, 1],
        "period_s": 60,
    }
    return ReconfigurationInstance(**{**fields, **changes})


def decisions(instance, **parameters):
    schedule = play(Player(instance), functools.partial(lookahead, **parameters)).solution
    verify(instance, schedule)
    moves = zip(schedule.move_s.tolist(), schedule.move_task.tolist(), schedule.move_machine.tolist(), strict=True)
    return schedule.machine_type.tolist(), list(moves)


def test_merges_two_machines_when_that_pays_and_not_while_a_job_migrates():
    # The second job comes while the first is launched (until 360 s), and is itself launched until 420 s. From then on
    # moving both saves $0.50 x 1 h and costs $0.30.
    machines, moves = decisions(two_jobs(), tau=1.0)
    assert machines[:3] == [SMALL, SMALL, LARGE]
    assert moves[:4] == [(0, 0, 0), (60, 1, 1), (420, 0, 2), (420, 1, 2)]


@pytest.mark.parametrize(
    ("changes", "horizon_h"),
    [
        # 0.5 x $0.50 is less than $0.30.
        ({}, 0.5),
        # Two jobs lose $0.75 x 1200 / 3600 each while they start up: $0.80 in all.
        ({"init_s": [1200]}, 1.5),
    ],
)
def test_does_not_merge_when_moving_costs_more(changes, horizon_h):
    machines, _ = decisions(two_jobs(**changes), tau=1.0, horizon_h=horizon_h)
    assert machines == [SMALL, SMALL]


def test_merges_in_spite_of_the_delays_when_the_plan_lasts_long_enough():
    # 2 x $0.50 pays for the $0.80 of the case above. The jobs start up until 1560 s and 1620 s, but can be moved while
    # they do, from 420 s on, when both have been launched.
    machines, moves = decisions(two_jobs(init_s=[1200]), tau=1.0, horizon_h=2.0)
    assert machines[:3] == [SMALL, SMALL, LARGE]
    assert moves[2:4] == [(420, 0, 2), (420, 1, 2)]


def test_separates_what_turns_out_to_slow_each_other_down():
    # At half speed each loses $0.375 an hour: $2.25 an hour together, $2 apart, and 4 x $0.25 pays for the $0.35 that
    # two new machines cost. They are first seen together at 780 s, when the large machine has booted.
    machines, moves = decisions(two_jobs(throughput=500), tau=1.0, horizon_h=4.0)
    assert machines == [SMALL, SMALL, LARGE, SMALL, SMALL]
    assert [move[:2] for move in moves[2:]] == [(420, 0), (420, 1), (780, 0), (780, 1)]


def test_packs_at_once_what_arrives_together():
    # They end together, too.
    machines, moves = decisions(two_jobs(arrival_s=[0, 0]), tau=1.0)
    assert (machines, moves) == ([LARGE], [(0, 0, 0), (0, 1, 0)])


@pytest.mark.parametrize(
    "instance",
    [
        alibaba_like(50, seed=1),
        alibaba_like(40, seed=2, durations="alibaba"),
        alibaba_like(40, seed=3, multi_task=0.5, multi_gpu=0.3),
        alibaba_like(40, seed=4, interference="0.8"),
        alibaba_like(40, seed=5, migration_delay=10),
        alibaba_like(60, seed=6, mean_gap_s=60, interference="none"),
        eva_synthetic(40, seed=7),
        eva_synthetic(25, seed=8, tasks_per_job=4, durations="log-uniform", max_hours=16),
    ],
    ids=lambda instance: instance.name,
)
def test_keeps_the_rules_and_costs_no_more_than_a_machine_each(instance):
    ours = play(Player(instance), lookahead).solution
    assert verify(instance, ours) <= verify(instance, play(Player(instance), no_packing).solution)


def crowd(throughput, workloads, jobs, gap_s, tasks, delay_s, seed=0):
    """Ten-hour jobs of one core; a core costs $1 an hour, machines of three and eight less than half of that a core."""
    rng = np.random.default_rng(seed)
    catalogue = ProvisioningInstance(
        name="crowd", resources=("cpu",), families=("any",), type_names=("one", "three", "eight"), type2family=[0, 0, 0],
        capacity=[[1000], [3000], [8000]], price=[1_000_000, 1_200_000, 3_000_000],
        demand=np.full((1, workloads, 1), 1000), counts=np.ones(workloads),
        workloads=tuple(f"w{w}" for w in range(workloads)), class2workload=np.arange(workloads),
        throughput=np.full((workloads, workloads), throughput),
    )  # fmt: skip
    delays = {key: np.full(workloads, delay_s) for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")}
    return ReconfigurationInstance(
        "crowd", catalogue, acquire_s=[10] * 3, setup_s=[delay_s] * 3, arrival_s=gap_s * np.arange(jobs),
        work_s=rng.integers(30_000, 42_000, jobs), job2class=np.arange(jobs) % workloads, num_tasks=[tasks] * jobs, **delays,
    )  # fmt: skip


@pytest.mark.parametrize("throughput", [0, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000])
@pytest.mark.parametrize(
    ("workloads", "jobs", "gap_s", "tasks", "delay_s"),
    [(1, 3, 0, 1, 1), (1, 40, 600, 1, 60), (3, 20, 300, 2, 10), (5, 20, 0, 1, 300), (2, 8, 0, 4, 0)],
)
def test_is_hardly_dearer_than_a_machine_each_at_any_throughput(throughput, workloads, jobs, gap_s, tasks, delay_s):
    """At most a tenth, for what it takes to learn the throughputs."""
    instance = crowd(throughput, workloads, jobs, gap_s, tasks, delay_s)
    ours, alone = (verify(instance, play(Player(instance), policy).solution) for policy in (lookahead, no_packing))
    assert ours <= 1.1 * alone
    # Three on a machine of $1.20 pay well where they hardly slow each other down.
    assert throughput < 1000 or ours < 0.7 * alone


def test_work_on_a_machine_that_never_pays_is_counted_to_its_end():
    """Two workloads at a hundredth of their pace, and moves that cost more than the hour for which a plan is taken to last."""
    instance = crowd(10, 2, 4, 0, 1, 3600)
    ours, alone = (verify(instance, play(Player(instance), policy).solution) for policy in (lookahead, no_packing))
    assert ours <= 2 * alone


def test_short_jobs_are_not_moved_as_if_they_were_long():
    instance = crowd(700, 3, 60, 120, 1, 60).replace(work_s=np.full(60, 400))
    ours, alone = (verify(instance, play(Player(instance), policy).solution) for policy in (lookahead, no_packing))
    assert ours <= 1.1 * alone


def test_one_machine_type():
    # No machine takes two of the jobs, so that there is nothing to decide.
    instance = two_jobs()
    catalogue = instance.catalogue.replace(type_names=("small",), type2family=[0], capacity=[[4000]], price=[1_000_000])
    machines, moves = decisions(instance.replace(catalogue=catalogue, acquire_s=[0], setup_s=[360]))
    assert (machines, moves) == ([0, 0], [(0, 0, 0), (60, 1, 1)])


def test_same_instance_same_schedule():
    instance = alibaba_like(40, seed=9)
    first, second = (play(Player(instance), lookahead).solution for _ in range(2))
    for field in ("machine_type", "rented_s", "released_s", "move_s", "move_task", "move_machine"):
        assert np.array_equal(getattr(first, field), getattr(second, field))


@pytest.mark.parametrize("parameters", [{"horizon_h": 0.0}, {"tau": 1.5}, {"rounds": -1}])
def test_parameters_out_of_range(parameters):
    with pytest.raises(MethodError, match="horizon_h must be positive"):
        decisions(two_jobs(), **parameters)
