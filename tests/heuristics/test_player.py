"""The player that all families share: what registration refuses, and how often a policy is asked."""

import sys
from types import MappingProxyType

import pytest

from schedgap.heuristics.player import play, policy_decorator
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, Outcome, find_method


class Counting:
    """Shows 0, 1, ... up to the instance, and its outcome is all that the policy answered."""

    family = "test"
    knowledge = ("future",)
    options = MappingProxyType({"mood": ("calm", "wild")})

    def __init__(self, instance, knows, mood="calm"):
        self.last, self.seen, self.told = instance, [], (sorted(knows), mood)
        self.memory = {}

    def observe(self):
        return len(self.seen) if len(self.seen) < self.last else None

    def act(self, actions):
        self.seen.append(actions)

    def outcome(self):
        return Outcome((self.seen, *self.told), details={"last": self.last})


@pytest.fixture
def policy(monkeypatch):
    # The package's face has a function of the module's name.
    monkeypatch.setattr(sys.modules["schedgap.instances.method"], "REGISTRY", dict(REGISTRY))
    return policy_decorator(Counting)


def test_a_policy_is_asked_until_nothing_is_left_to_decide():
    outcome = play(Counting(3, frozenset()), lambda observation: observation * 10)
    assert outcome.solution == ([0, 10, 20], [], "calm")
    assert outcome.details == {"decisions": 3, "last": 3}


def test_what_a_policy_tells_is_recorded_and_cannot_replace_what_the_player_says():
    player = Counting(3, frozenset())
    player.memory["details"] = {"rounds": 2, "last": 9, "decisions": -1}
    assert play(player, lambda observation: observation).details == {"rounds": 2, "decisions": 3, "last": 3}


@pytest.mark.parametrize("told", [7, ["rounds"], {1: 2}, {"rounds": [2]}, None])
def test_what_cannot_be_recorded_is_refused(told):
    player = Counting(1, frozenset())
    player.memory["details"] = told
    with pytest.raises(MethodError, match="under 'details', which is recorded with the run; keep numbers and texts"):
        play(player, lambda observation: observation)


def test_keywords_of_a_policy_are_parameters_of_its_method(policy):
    @policy("doubling", knows=["future"], mood="wild", version=2, stochastic=True, choices={"way": ("up", "down")})
    def doubling(observation, rng, factor=2, way="up"):
        """Answer with a multiple."""
        return observation * factor

    assert doubling(3, None) == 6
    method = find_method("test", "doubling")
    assert (method.version, method.stochastic, method.summary) == (2, True, "Answer with a multiple.")
    assert method.parameters == {"factor": 2, "way": "up"}
    assert method.run(3, parameters={"factor": "5"}).solution == ([0, 5, 10], ["future"], "wild")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"knows": ["past"]}, "policy p knows 'past'; a policy may know future"),
        ({"pace": "slow"}, "policy p: there is no option 'pace'; options are mood"),
        ({"mood": "sad"}, "policy p: mood is 'sad'; choose one of calm, wild"),
    ],
)
def test_what_a_player_does_not_have(policy, given, message):
    with pytest.raises(MethodError, match=message):
        policy("p", **given)


def test_limits_are_not_offered_to_policies(policy):
    with pytest.raises(MethodError, match="policy p: 'time_limit_s' is not offered to policies; leave it out"):

        @policy("p")
        def decide(observation, time_limit_s=None):
            return None
