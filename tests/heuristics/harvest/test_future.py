"""Nobody sees the future: whatever a policy can reach from its observation has none of it."""

import numpy as np
import pytest

from schedgap.heuristics import player
from schedgap.heuristics.harvest.player import Player
from schedgap.instances.harvest.verify import verify

MINUTE_MS = 60_000


def play(instance, decide, knows=(), **options):
    return player.play(Player(instance, frozenset(knows), **options), decide)


class TestTheFuture:
    SECRETS = (1_234_567, 987_654, 4_321, 777_777, 31)

    def instance(self, by_hand, **changes):
        """Two VMs, one of which grows to 31 cores late, and a job of its own kind that comes late."""
        arrival, runtime, memory, grows, cores = self.SECRETS
        return by_hand(
            [[(0, 2), (3, 1), (5, 2)], [(0, 2), (1, 0), (4, 3), (20, cores)]],
            [(0, 1, [2] * 12), (1, 1, [3] * 12), (20, 1, [1])],
            event_ms=[0, 180_000, 300_000, 0, 60_000, 240_000, grows],
            arrival_ms=[0, 60_000, arrival],
            runtime_ms=[120_000] * 12 + [180_000] * 12 + [runtime],
            estimate_ms=[120_000] * 12 + [180_000] * 12 + [runtime],
            task_memory_mib=[1, 1, memory],
            memory_mib=[5000, 5000],
            job_names=("a", "b", "secret"),
            **changes,
        )

    @pytest.mark.parametrize("knows", [(), ("runtimes",)])
    def test_nothing_that_a_view_leads_to_has_it(self, by_hand, knows, first_fit, leads_to):
        instance = self.instance(by_hand)
        found = []

        def decide(observation):
            found.append((observation.now_ms, leads_to(observation, self.SECRETS)))
            return first_fit(observation)

        verify(instance, play(instance, decide, knows).solution)
        arrival, _, _, grows, _ = self.SECRETS
        before = [secrets for now, secrets in found if now < min(arrival, grows)]
        assert len(before) > 5
        assert not any(before)
        # Once they are there, the same search finds them: the VM's cores and the moment of its growth, then the job.
        after = set().union(*(secrets for _, secrets in found))
        assert after == set(self.SECRETS)

    def test_runtimes_are_given_only_to_who_declares_them(self, by_hand, first_fit):
        for knows in ((), ("runtimes",)):
            seen = set()

            def decide(observation, seen=seen):
                seen.add(observation.true_left_ms is not None)
                return first_fit(observation)

            play(self.instance(by_hand), decide, knows)
            assert seen == {bool(knows)}

    def test_a_view_cannot_be_written_and_who_unlocks_it_changes_nothing_but_his_view(self, by_hand, first_fit):
        def decide(observation):
            answer = first_fit(observation)
            arrays = [getattr(observation, name) for name in observation.__slots__]
            arrays = [values for values in arrays if isinstance(values, np.ndarray)]
            assert len(arrays) > 25
            for values in arrays:
                with pytest.raises(ValueError, match="read-only"):
                    values[...] = 0
                values.setflags(write=True)
                values[...] = 1
            return answer

        instance = self.instance(by_hand)
        digest = instance.replace().digest
        changed, own = play(instance, decide).solution, play(instance, first_fit).solution
        for key in own.__slots__:
            assert getattr(changed, key).tolist() == getattr(own, key).tolist()
        assert instance.replace().digest == digest
