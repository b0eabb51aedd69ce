"""Policies that begin with machines that run: what they see, and what they make of it."""

import numpy as np
import pytest

from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration import (  # noqa: F401
    eva,
    kubernetes,
    lookahead,
    rules,
)
from schedgap.heuristics.reconfiguration.observation import EXECUTING, QUEUED
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.heuristics.reconfiguration.rules import no_packing as stay
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration import FAMILY, verify

REPACK = ("eva", "lookahead", "karpenter", "cluster-autoscaler")


def test_the_first_plan_shows_them_as_machines_of_the_last(make_instance, begun):
    for seed in range(8):
        instance = begun(make_instance(seed), seed)
        seen = []

        def watched(observation, seen=seen):
            seen.append(observation)
            return stay(observation)

        verify(instance, play(Player(instance), watched).solution)
        first = seen[0]
        assert first.now_s == 0
        assert first.machine_type.tolist() == instance.running.machine_type.tolist()
        assert first.machine_running.all()
        machine = instance.first_machine()[first.task]
        assert first.task_machine.tolist() == first.task_held_on.tolist() == machine.tolist()
        on = instance.is_running()[first.job]
        assert first.job_phase.tolist() == np.where(on, EXECUTING, QUEUED).tolist()
        assert ((first.task_rate > 0) == (machine >= 0)).all()


def test_what_runs_for_nobody_is_given_back(make_instance):
    instance = make_instance(1)
    running = Running.from_contents(("a",), [0], np.zeros((1, instance.num_jobs)))
    # Nobody is there before 1000 s, when a policy is asked for the first time.
    instance = instance.replace(arrival_s=instance.arrival_s + 1000, running=running, terminate_s=7)
    bare = instance.replace(running=None)
    with_it, without = (play(Player(each), stay).solution for each in (instance, bare))
    assert with_it.released_s[0] == 0
    assert np.array_equal(with_it.move_s, without.move_s)
    seven_s = -(-7 * int(instance.catalogue.price[0]) // 3600)
    assert verify(instance, with_it) - verify(bare, without) in (seven_s - 1, seven_s)


@pytest.mark.parametrize("name", [*REPACK, "no-packing", "stratus", "synergy", "owl"])
def test_every_policy_begins_with_them(make_instance, begun, name):
    for seed in range(4):
        instance = begun(make_instance(seed), seed)
        found = find_method(FAMILY, name).run(instance, seed=seed)
        assert found.claimed_status is Status.FEASIBLE
        assert verify(instance, found.solution) > 0


@pytest.mark.parametrize("name", REPACK)
def test_who_repacks_empties_machines(make_instance, name):
    # Four tasks of hours, each on a machine of $2.50 an hour that has room for all of them.
    instance = make_instance(1, jobs=4, arrival_s=[0] * 4, work_s=[20_000] * 4, num_tasks=[1] * 4)
    catalogue = instance.catalogue
    instance = instance.replace(catalogue=catalogue.replace(demand=np.ones_like(catalogue.demand), throughput=None))
    running = Running.from_contents(("a", "b", "c", "d"), [3] * 4, np.eye(4))
    instance = instance.replace(running=running)
    repacked, left = (find_method(FAMILY, each).run(instance).solution for each in (name, "no-packing"))
    assert verify(instance, repacked) < verify(instance, left) // 2
