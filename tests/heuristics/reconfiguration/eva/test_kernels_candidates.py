"""Full and Partial Reconfiguration against the plain rules, in every round of a play."""

import numpy as np
import pytest

from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration.eva.ensemble import eva
from schedgap.heuristics.reconfiguration.eva.kernels_pack import full, partial
from schedgap.heuristics.reconfiguration.observation import MIGRATING, catalogue_of, present_of
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.instances.reconfiguration import verify


@pytest.mark.parametrize("seed", range(4))
def test_plans_are_those_of_the_rules_task_by_task(make_instance, plain_table, plain_plan, seed):
    """Each round of a play: both plans by the kernels and by the plain rules, with the same throughputs."""
    table, rounds = plain_table(0.5), []

    def decide(observation):
        for m in range(observation.num_machines):
            there = np.flatnonzero(observation.task_held_on == m).tolist()
            if observation.machine_running[m] and (observation.task_rate[there] >= 0).all():
                for t in there:
                    beside = tuple(sorted(int(observation.task_class[u]) for u in there if u != t))
                    table.seen.setdefault((int(observation.task_class[t]), beside), []).append(
                        float(observation.task_rate[t])
                    )
        plan = eva(observation, tau=0.5)
        memory = observation.memory["eva"]
        frozen = (observation.job_phase == MIGRATING)[observation.task_job]
        given = (catalogue_of(observation), memory.monitor.table, present_of(observation), frozen, memory.rules)
        for make in (full, partial):
            packing, slow = make(*given), plain_plan(observation, table)
            slow.keep(frozen, make is partial)
            slow.pack(slow.insert(slow.listed(make is partial)))
            assert packing.place.tolist() == slow.machine()
            assert packing.new_type[: packing.size[0]].tolist() == slow.new_types
        rounds.append(observation.now_s)
        return plan

    instance = make_instance(seed, jobs=16, num_tasks=np.ones(16))
    verify(instance, play(Player(instance), decide).solution)
    assert len(rounds) > 10
