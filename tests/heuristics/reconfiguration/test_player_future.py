"""Policies see nothing of the future in an observation."""

import numpy as np
import pytest

from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration import (
    eva,  # noqa: F401
    rules,  # noqa: F401
)
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.instances.reconfiguration import verify


def alone(observation):
    draft = observation.draft()
    for task in np.flatnonzero(observation.task_machine < 0):
        draft.put(int(task), draft.rent(int(observation.reservation_type[observation.task_class[task]])))
    return draft.plan()


class TestTheFuture:
    SECRETS = SECRET_ARRIVAL, SECRET_WORK, SECRET_DEMAND = 39_916, 27_644, 4_937

    def instance(self, make_instance):
        """Two jobs early, one of a class of its own much later."""
        base = make_instance(1)
        demand = base.catalogue.demand.copy()
        demand[:, 3, 0] = self.SECRET_DEMAND
        catalogue = base.catalogue.replace(demand=demand, class_names=("a", "b", "c", "secret"))
        return base.replace(
            catalogue=catalogue,
            arrival_s=[0, 0, 5, self.SECRET_ARRIVAL],
            work_s=[3000, 3000, 3000, self.SECRET_WORK],
            job2class=[0, 1, 2, 3],
            num_tasks=[1, 2, 1, 1],
        )

    @pytest.mark.parametrize("knows", [(), ("durations",), ("throughput",), ("durations", "throughput")])
    def test_nothing_that_an_observation_leads_to_has_it(self, make_instance, knows, leads_to):
        instance = self.instance(make_instance)
        found = []

        def decide(observation):
            secret = leads_to(observation, self.SECRETS)
            found.append((observation.now_s >= self.SECRET_ARRIVAL, secret))
            return alone(observation)

        verify(instance, play(Player(instance, frozenset(knows)), decide).solution)
        before = [secret for arrived, secret in found if not arrived]
        assert len(before) > 10
        assert not any(before)
        # Once the job is there, the same search finds it.
        assert all(secret for arrived, secret in found if arrived)

    def test_knowledge_is_given_only_to_who_declares_it(self, make_instance):
        instance = make_instance(1)
        for knows in ((), ("durations",), ("throughput",)):
            seen = []

            def decide(observation, seen=seen):
                seen.append((observation.job_duration_s is not None, observation.throughput is not None))
                return alone(observation)

            play(Player(instance, frozenset(knows)), decide)
            assert set(seen) == {("durations" in knows, "throughput" in knows)}

    def test_an_observation_cannot_be_written(self, make_instance):
        def decide(observation):
            for name in ("task_machine", "demand", "job_phase", "machine_type", "task_rate"):
                with pytest.raises(ValueError, match="read-only"):
                    getattr(observation, name)[...] = 0
            return alone(observation)

        instance = make_instance(1, jobs=4)
        verify(instance, play(Player(instance), decide).solution)

    def test_who_unlocks_an_observation_changes_nothing_else(self, make_instance):
        def decide(observation):
            plan = alone(observation)
            for values in (
                observation.market.price,
                observation.market.capacity,
                observation.task,
                observation.machine,
                observation.job,
                observation.demand,
            ):
                values.setflags(write=True)
                values[...] = 1 << 20
            return plan

        instance = make_instance(1, jobs=4)
        digest, cost = instance.replace().digest, verify(instance, play(Player(instance), alone).solution)
        own = [verify(instance, play(Player(instance), decide).solution) for decide in (decide, alone)]
        assert own[1] == cost
        assert instance.replace().digest == digest
