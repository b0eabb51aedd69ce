"""Policies in Python that look after the pool, and users' own."""

import inspect
import textwrap
from unittest import mock

import numpy as np
import pytest

from schedgap.heuristics import player
from schedgap.heuristics.harvest import Decision
from schedgap.heuristics.harvest import player as harvest_player
from schedgap.heuristics.harvest.player import Player, policy
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import REGISTRY, Status, find_method

MINUTE_MS = 60_000


def play(instance, decide, knows=(), **options):
    return player.play(Player(instance, frozenset(knows), **options), decide)


class TestPools:
    def pool(self, by_hand):
        """Three servers with two cores, of which the first is leased and evicted at 30."""
        return by_hand(
            [[(0, 2), (30, 0)], [(0, 2)], [(0, 3)]],
            [(0, 2, [20]), (10, 2, [60])],
            allocation="balancing",
            max_leases=2,
            leased=[True, False, False],
        )

    def test_an_acquirer_keeps_it(self, by_hand, first_fit):
        instance = self.pool(by_hand)
        schedule = play(instance, first_fit).solution
        # The second job starts at 20, is killed at 30, and starts again at the hour on the largest server.
        assert schedule.vm.tolist() == [0, 0, 2]
        assert (schedule.end_ms // MINUTE_MS).tolist() == [20, 30, 120]
        verify(instance, schedule)

    def test_a_policy_looks_after_it_itself(self, by_hand, first_fit):
        instance = self.pool(by_hand)
        seen = []

        def decide(observation):
            seen.append(
                (
                    observation.now_ms // MINUTE_MS,
                    observation.is_epoch,
                    observation.vm.tolist(),
                    observation.drains.tolist(),
                )
            )
            if observation.now_ms == 0:
                return Decision(first_fit(observation), decommission=[0], request=2)
            return Decision(first_fit(observation))

        schedule = play(instance, decide, acquirer=None).solution
        # At most two leases: one VM comes, the largest. The first drains until 20.
        assert seen[0] == (0, False, [0], [False])
        assert seen[1:] == [(10, False, [0, 2], [True, False]), (60, True, [2], [False])]
        leases = (schedule.lease_vm, schedule.lease_start_ms // MINUTE_MS, schedule.lease_end_ms // MINUTE_MS)
        assert [values.tolist() for values in leases] == [[0, 2], [0, 0], [20, 70]]
        verify(instance, schedule)

    @pytest.mark.parametrize(
        ("second", "sentence"),
        [
            (
                Decision(decommission=[0]),
                r"gives back VM vm-0, which was given back already; choose one of observation\.vm",
            ),
            (Decision(decommission=[1]), r"gives back VM vm-1, which is not leased; choose one of observation\.vm"),
            (
                Decision([(1, 0)]),
                r"on VM vm-0, which was given back and gets no new tasks; choose one that does not drain",
            ),
        ],
    )
    def test_a_wrong_answer_is_a_sentence(self, by_hand, second, sentence, first_fit):
        def decide(observation):
            return Decision(first_fit(observation), decommission=[0], request=1) if observation.now_ms == 0 else second

        with pytest.raises(MethodError, match=sentence):
            play(self.pool(by_hand), decide, acquirer=None)

    def test_a_vm_that_has_just_come_is_kept_for_a_moment(self, by_hand, first_fit):
        instance = self.pool(by_hand).replace(arrival_ms=[0, 0])

        def decide(observation):
            return (
                Decision(first_fit(observation), request=1) if observation.vm.size == 1 else Decision(decommission=[2])
            )

        with pytest.raises(
            MethodError, match=r"gives back VM vm-2, which came at this very moment; keep it for a while"
        ):
            play(instance, decide, acquirer=None)

    def test_who_has_an_acquirer_leaves_the_pool_to_it(self, by_hand):
        with pytest.raises(
            MethodError, match=r"requested 1 VMs, and its acquirer looks after the pool; register the policy"
        ):
            play(self.pool(by_hand), lambda observation: Decision(request=1))


class TestOwnPolicies:
    def test_the_lines_of_the_documentation_work(self, busy):
        lines = inspect.getdoc(harvest_player).split("\n")
        start = next(i for i, line in enumerate(lines) if "@policy" in line)
        stop = next(i for i in range(start, len(lines)) if not lines[i].strip())
        assert stop - start <= 10
        instance = busy(2)
        with mock.patch.dict(REGISTRY):
            exec(textwrap.dedent("\n".join(lines[start:stop])), {"policy": policy, "np": np})
            assert verify(instance, find_method(FAMILY, "longest-unchanged").run(instance).solution) > 0

    def test_parameters_random_numbers_and_memory_reach_it(self, busy, first_fit):
        drawn = []
        with mock.patch.dict(REGISTRY):

            @policy("test-own", stochastic=True)
            def own(observation, rng, number: int = 3):
                """Draw numbers."""
                calls = observation.memory_of_policy.setdefault("calls", [])
                calls.append(observation.now_ms)
                drawn.append((number, len(calls), int(rng.integers(1 << 40))))
                return first_fit(observation)

            found = find_method(FAMILY, "test-own")
            assert (dict(found.parameters), found.stochastic, found.summary) == ({"number": 3}, True, "Draw numbers.")
            for seed in (1, 1, 2):
                found.run(busy(3), seed=seed, parameters={"number": "5"})
        third = len(drawn) // 3
        assert third > 1
        assert drawn[:third] == drawn[third : 2 * third] != drawn[2 * third :]
        assert [calls for _, calls, _ in drawn] == [*range(1, third + 1)] * 3
        assert {number for number, *_ in drawn} == {5}

    def test_what_cannot_be(self, busy, first_fit):
        with pytest.raises(MethodError, match="policy a knows 'future'; a policy may know runtimes"):
            policy("a", knows=("future",))
        with pytest.raises(MethodError, match="policy a: 'time_limit_s' is not offered to policies"):
            policy("a")(lambda observation, time_limit_s: None)
        assert play(busy(1), first_fit, acquirer="recent").claimed_status is Status.UNSUPPORTED
