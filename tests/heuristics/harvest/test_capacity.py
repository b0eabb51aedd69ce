"""The CapacityScheduler, with checkpoints and with replicas: examples by hand, and properties of many schedules."""

import numpy as np
import pytest

import schedgap.heuristics.harvest.rules  # noqa: F401
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import Status, find_method

MINUTE_MS = 60_000
NAMES = ("capacity-scheduler", "checkpoint-migrate", "replication")


def run(name, instance, seed=0, **parameters):
    return find_method(FAMILY, name).run(instance, seed=seed, parameters=parameters)


def runs(instance, schedule):
    """All runs as (task, vm, start, end), in minutes."""
    times = (schedule.start_ms / MINUTE_MS, schedule.end_ms / MINUTE_MS)
    return list(zip(schedule.task.tolist(), schedule.vm.tolist(), *(t.tolist() for t in times), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_schedules_verify_and_depend_on_nothing_but_the_seed(busy, name):
    objectives, kills = [], 0
    for seed in range(40):
        instance = busy(seed, checkpoint_s=float(60 * (seed % 3 + 1)), interruptible=0.3, restore_s=30.0)
        digest = instance.digest
        if find_method(FAMILY, name).supports(instance) is not None:
            continue
        one, same, other = (run(name, instance, k) for k in (seed, seed, seed + 1))
        assert verify(instance, one.solution) > 0
        for key in one.solution.__slots__:
            assert getattr(one.solution, key).tolist() == getattr(same.solution, key).tolist()
        assert instance.replace().digest == digest
        objectives.append(verify(instance, one.solution) != verify(instance, other.solution))
        kills += one.details["kills"]
    assert len(objectives) > 25
    assert any(objectives)
    assert kills > 0


def test_a_task_is_placed_as_soon_as_it_fits_in_order_of_arrival(by_hand):
    # Four cores: both tasks of the first job and one of the second; the other when the first end, at 20.
    instance = by_hand([[(0, 4)]], [(10, 1, [10, 10]), (10, 2, [30, 30])])
    outcome = run("capacity-scheduler", instance)
    assert runs(instance, outcome.solution) == [(0, 0, 10, 20), (1, 0, 10, 20), (2, 0, 10, 40), (3, 0, 20, 50)]
    assert verify(instance, outcome.solution) == (10 + 40) * MINUTE_MS


def test_a_smaller_task_overtakes_one_that_does_not_fit(by_hand):
    instance = by_hand([[(0, 4)]], [(0, 3, [10, 10]), (0, 4, [10]), (1, 1, [5])])
    schedule = run("capacity-scheduler", instance).solution
    assert runs(instance, schedule) == [(0, 0, 0, 10), (3, 0, 1, 6), (1, 0, 10, 20), (2, 0, 20, 30)]


@pytest.mark.parametrize(("kills", "killed"), [("oldest", 0), ("newest", 1)])
def test_a_shrink_kills_in_order_and_the_task_starts_again(by_hand, kills, killed):
    # The second task comes at 2; at 5 one core is left. The killed one starts again when the other ends.
    instance = by_hand([[(0, 2), (5, 1)]], [(0, 1, [10]), (2, 1, [10])], kills=kills)
    outcome = run("capacity-scheduler", instance)
    first = (
        [(0, 0, 0, 5), (1, 0, 2, 12), (0, 0, 12, 22)] if killed == 0 else [(0, 0, 0, 10), (1, 0, 2, 5), (1, 0, 10, 20)]
    )
    assert runs(instance, outcome.solution) == first
    assert outcome.details == {"kills": 1}


class TestCheckpoints:
    @pytest.mark.parametrize(
        ("evicted", "end"),
        [
            # Works for 10, stands for 1, works until 21, and the second checkpoint is there at 22: 5 of 25 are left at 30.
            (22, 35),
            # It was not there yet: 15 are left, with a checkpoint between.
            (21, 46),
            # Not even the first one.
            (10, 57),
        ],
    )
    def test_what_was_saved_counts(self, by_hand, evicted, end):
        instance = by_hand([[(0, 1), (evicted, 0), (30, 1)]], [(0, 1, [25])], checkpoint_ms=[MINUTE_MS])
        schedule = run("checkpoint-migrate", instance).solution
        assert runs(instance, schedule) == [(0, 0, 0, evicted), (0, 0, 30, end)]
        assert schedule.checkpoint_every_ms.tolist() == [10 * MINUTE_MS] * 2
        assert verify(instance, schedule) == end * MINUTE_MS

    def test_restoring_takes_time_and_checkpoints_move_between_vms(self, by_hand):
        vms = [[(0, 1), (22, 0)], [(30, 1)]]
        instance = by_hand(vms, [(0, 1, [25])], checkpoint_ms=[MINUTE_MS], restore_ms=[3 * MINUTE_MS])
        assert runs(instance, run("checkpoint-migrate", instance).solution) == [(0, 0, 0, 22), (0, 1, 30, 38)]

    def test_those_that_cost_nothing_are_taken_once_a_minute_by_the_capacity_scheduler_too(self, by_hand):
        instance = by_hand([[(0, 1), (8, 0), (30, 1)]], [(0, 1, [10])], checkpoint_ms=[0])
        assert runs(instance, run("capacity-scheduler", instance).solution) == [(0, 0, 0, 8), (0, 0, 30, 32)]
        never = run("capacity-scheduler", instance, interruptible_every_s=0).solution
        assert runs(instance, never) == [(0, 0, 0, 8), (0, 0, 30, 40)]

    def test_those_that_cost_time_are_not_taken_by_the_capacity_scheduler(self, by_hand):
        instance = by_hand([[(0, 1), (22, 0), (30, 1)]], [(0, 1, [25])], checkpoint_ms=[MINUTE_MS])
        assert runs(instance, run("capacity-scheduler", instance).solution) == [(0, 0, 0, 22), (0, 0, 30, 55)]

    def test_an_instance_without_any_is_not_supported(self, by_hand):
        instance = by_hand([[(0, 2)]], [(0, 1, [25]), (0, 1, [5])], checkpoint_ms=[-1, 0])
        outcome = run("checkpoint-migrate", instance)
        assert outcome.claimed_status is Status.UNSUPPORTED
        assert outcome.details["reason"].startswith(
            "no job can take checkpoints that cost time (1 of 2 take them at no"
        )


class TestReplicas:
    def test_the_first_to_complete_wins(self, by_hand):
        # The replica on the first VM is killed at 5 and not replaced; the others complete at once, at 10.
        instance = by_hand([[(0, 1), (5, 0), (6, 1)], [(0, 1)], [(0, 1)]], [(0, 1, [10])])
        outcome = run("replication", instance)
        assert sorted(runs(instance, outcome.solution)) == [(0, 0, 0, 5), (0, 1, 0, 10), (0, 2, 0, 10)]
        assert outcome.details == {"kills": 1}
        assert verify(instance, outcome.solution) == 10 * MINUTE_MS

    def test_they_are_on_different_vms_and_as_many_as_fit(self, busy):
        counts = set()
        for seed in range(30):
            instance = busy(seed)
            schedule = run("replication", instance, replicas=2).solution
            starts = {}
            for task, vm, start, _ in runs(instance, schedule):
                starts.setdefault((task, start), []).append(vm)
            assert all(len(set(vms)) == len(vms) <= 2 for vms in starts.values())
            counts |= {len(vms) for vms in starts.values()}
        assert counts == {1, 2}

    def test_a_task_with_checkpoints_has_one(self, by_hand):
        instance = by_hand([[(0, 2)], [(0, 2)]], [(0, 1, [10]), (0, 1, [10])], checkpoint_ms=[0, -1])
        assert np.bincount(run("replication", instance).solution.task).tolist() == [1, 2]
        reason = find_method(FAMILY, "replication").supports(instance.replace(checkpoint_ms=[0, 0]))
        assert reason == (
            "tasks of every job take checkpoints at no cost, and those are not replicated; give one job checkpoint_ms -1"
        )


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        (
            "capacity-scheduler",
            {"interruptible_every_s": -1},
            "interruptible_every_s is -1; give 1 to 1000000000 seconds, or 0",
        ),
        ("checkpoint-migrate", {"checkpoint_every_s": 0}, "checkpoint_every_s is 0; give at least 1 second"),
        ("replication", {"replicas": 0}, "replicas is 0; give 1 to 64"),
        ("capacity-scheduler", {"acquirer": "best"}, "parameter 'acquirer' is one of .*, not 'best'"),
    ],
)
def test_a_parameter_that_cannot_be_is_a_sentence(by_hand, name, parameters, sentence):
    instance = by_hand([[(0, 2)]], [(0, 1, [10])], checkpoint_ms=[MINUTE_MS])
    with pytest.raises(MethodError, match=sentence):
        run(name, instance, **parameters)


def test_a_fixed_pool_has_nothing_to_acquire(by_hand):
    outcome = run("capacity-scheduler", by_hand([[(0, 2)]], [(0, 1, [10])]), acquirer="recent")
    assert outcome.claimed_status is Status.UNSUPPORTED
    assert outcome.details["reason"].startswith("the pool is fixed, and acquirer recent with scaling none chooses VMs")


def test_a_pool_without_room_in_the_end_is_no_solution(by_hand):
    # The provider's second VM would do, and the pool stays with the first.
    instance = by_hand([[(0, 1)], [(0, 2)]], [(0, 2, [10])], allocation="packing", max_leases=1, leased=[True, False])
    outcome = run("capacity-scheduler", instance)
    assert outcome.claimed_status is Status.NO_SOLUTION
    assert outcome.details == {
        "reason": "tasks of job job-0, of 2 cores, wait for ever: no VM that is leased in the end has room for them"
    }


def test_a_pool_is_kept_at_its_size(by_hand):
    # The first VM is evicted at 30 min; at the hour the second takes its place, and the task starts again.
    instance = by_hand(
        [[(0, 2), (30, 0)], [(0, 2)]], [(20, 2, [20])], allocation="packing", max_leases=1, leased=[True, False]
    )
    schedule = run("capacity-scheduler", instance).solution
    assert runs(instance, schedule) == [(0, 0, 20, 30), (0, 1, 60, 80)]
    leases = (schedule.lease_vm, schedule.lease_start_ms // MINUTE_MS, schedule.lease_end_ms // MINUTE_MS)
    assert [values.tolist() for values in leases] == [[0, 1], [0, 60], [30, 80]]
    assert verify(instance, schedule) == 60 * MINUTE_MS
