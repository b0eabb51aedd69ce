"""Playing policies: nothing of the future in an observation, wrong answers refused, gangs placed whole or not at all."""

import inspect
import textwrap
from unittest import mock

import numpy as np
import pytest

import schedgap.heuristics.placement.player as module
from schedgap.heuristics.placement import Player, policy
from schedgap.heuristics.player import play as play_with
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, find_method
from schedgap.instances.placement import FAMILY, PlacementInstance, random_pods, verify
from schedgap.instances.placement.model import use


def play(instance, decide):
    return play_with(Player(instance), decide)


def first(observation):
    return observation.fitting[0]


def instance_of(**changes):
    """Two nodes of 4 cores: one with two GPUs, one without; a pod of half a GPU runs on the first."""
    given = {
        "name": "two",
        "unit": "GPUs",
        "resources": ("cpu",),
        "type_names": ("gpu", "plain"),
        "capacity": [[4000], [4000]],
        "num_gpus": [2, 0],
        "gpu_model": ("A", ""),
        "node2type": [0, 1],
        "class_names": ("half", "whole", "cpu", "both"),
        "demand": [[1000], [1000], [3000], [0]],
        "gpus": [1, 1, 0, 2],
        "gpu_milli": [500, 1000, 0, 1000],
        "value": [500, 1000, 0, 2000],
        "admits": [[True, True], [True, True], [True, True], [True, False]],
        "expected": [0] * 4,
        "pod2class": [0, 0, 1, 2],
        "gang": [-1] * 4,
        "running_node": [0, -1, -1, -1],
        "running_gpus": [2, 0, 0, 0],
        "movable": [True] * 4,
    }
    return PlacementInstance(**given | changes)


def test_an_observation_is_the_present():
    for seed in range(30):
        instance = random_pods(seed=seed, nodes=4, pods=14, running=0.3, gangs=bool(seed % 2))
        node, gpus = instance.running_node.copy(), instance.running_gpus.copy()

        def decide(observation, instance=instance, node=node, gpus=gpus):
            pod, c = observation.pod, instance.pod2class[observation.pod]
            # Gangs that were undone are known by what is free.
            for p in range(pod):
                gang = instance.gang[p]
                if gang >= 0 and gang != instance.gang[pod] and (node[instance.gang == gang] < 0).any():
                    node[p], gpus[p] = -1, 0
            used, milli = use(instance, node, gpus)
            free = instance.capacity[instance.node2type] - used
            assert observation.free.tolist() == free.tolist()
            whole = np.where(np.arange(milli.shape[1]) < instance.num_gpus[instance.node2type, None], 1000, 0)
            assert observation.free_milli[:, : milli.shape[1]].tolist() == (whole - milli).tolist()
            fits = (free >= instance.demand[c]).all(axis=1) & instance.admits[c, instance.node2type]
            fits &= ((whole - milli) >= max(instance.gpu_milli[c], 1)).sum(axis=1) >= instance.gpus[c]
            assert observation.fitting.tolist() == np.flatnonzero(fits).tolist()
            mates = np.flatnonzero(instance.gang == instance.gang[pod]) if instance.gang[pod] >= 0 else np.array([pod])
            assert (observation.gang_size, observation.gang_placed) == (mates.size, int((mates < pod).sum()))
            n = int(first(observation))
            k, g = observation.gpus, observation.gpu_milli
            left = observation.free_milli[n].tolist()
            held = sorted((r, i) for i, r in enumerate(left) if r >= g)[:k]
            node[pod], gpus[pod] = n, sum(1 << i for _, i in held)
            return n

        outcome = play(instance, decide)
        verify(instance, outcome.solution)
        placed = outcome.solution.node >= 0
        assert outcome.solution.node[placed].tolist() == node[placed].tolist()
        assert outcome.solution.gpus[placed].tolist() == gpus[placed].tolist()


class TestTheFuture:
    SECRETS = SECRET_CPU, SECRET_MILLI, SECRET_VALUE = 1237, 437, 83_777

    def instance(self, expected):
        """Thirty pods, and one of its own class after them that few expect."""
        return instance_of(
            class_names=("half", "secret"),
            capacity=[[40_000], [40_000]],
            demand=[[1000], [self.SECRET_CPU]],
            gpus=[0, 1],
            gpu_milli=[0, self.SECRET_MILLI],
            value=[0, self.SECRET_VALUE],
            admits=np.ones((2, 2), bool),
            expected=expected,
            pod2class=[0] * 30 + [1],
            gang=[-1] * 31,
            running_node=[-1] * 31,
            running_gpus=[0] * 31,
            movable=[True] * 31,
            pod_names=(*(f"pod-{p}" for p in range(30)), "secret"),
        )

    def test_nothing_that_a_view_leads_to_has_it(self, leads_to):
        found = []

        def decide(observation):
            found.append(leads_to(observation, self.SECRETS))
            return first(observation)

        play(self.instance([1, 0]), decide)
        assert len(found) == 31
        assert not any(found[:30])
        # Once the pod is there, the same search finds it.
        assert found[30] == set(self.SECRETS)

    def test_what_is_expected_is_known(self, leads_to):
        def decide(observation):
            assert leads_to(observation, self.SECRETS) == set(self.SECRETS)
            assert observation.mix.pods.tolist() == [2, 3]
            return first(observation)

        play(self.instance([2, 3]), decide)

    def test_an_observation_cannot_be_written_and_who_unlocks_it_changes_nothing_but_his_view(self):
        def decide(observation):
            answer = int(first(observation))
            of_now = [getattr(observation, name) for name in ("demand", "admits", "free", "free_milli", "fitting")]
            of_nodes = [getattr(observation.nodes, name) for name in ("capacity", "num_gpus", "node2type")]
            of_mix = [getattr(observation.mix, name) for name in ("pods", "demand", "gpus", "gpu_milli", "admits")]
            for values in (*of_now, *(() if observation.memory else (*of_nodes, *of_mix))):
                with pytest.raises(ValueError, match="read-only"):
                    values[...] = 0
                values.setflags(write=True)
                values[...] = 1
            observation.memory["unlocked"] = True
            return answer

        for seed in range(5):
            instance = random_pods(seed=seed, pods=12)
            digest = instance.replace().digest
            changed, own = play(instance, decide).solution, play(instance, first).solution
            assert changed.node.tolist() == own.node.tolist()
            assert changed.gpus.tolist() == own.gpus.tolist()
            assert instance.replace().digest == digest


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            "a",
            r"arrival of pod pod-1: the policy returned str; return a node, \(node, gpus\), or None to refuse the pod\.",
        ),
        (0.0, r"the policy returned float; return a node"),
        (True, r"the policy returned bool; return a node"),
        ((0, 1, 2), r"the policy returned tuple; return a node"),
        (7, r"the policy returned node 7, and there are 2; return one of observation\.fitting\."),
        (-1, r"the policy returned node -1, and there are 2"),
        (1, r"the policy returned node node-1, with room for it on 0 GPUs; the pod takes 1; return one of"),
        ((0, 1), r"the policy returned 1 for its GPUs; return a list of their numbers\."),
        ((0, ["a"]), r"the policy returned \['a'\] for its GPUs; return a list"),
        ((0, []), r"the policy returned GPUs \[\]; return 1 different ones, as the pod takes\."),
        ((0, [0, 0]), r"the policy returned GPUs \[0, 0\]; return 1 different ones"),
        ((0, [2]), r"GPU 2 of node node-0, which has 0 thousandths left; return GPUs with 500 or more\."),
        ((0, [-1]), r"GPU -1 of node node-0, which has 0 thousandths left"),
    ],
)
def test_a_wrong_answer_is_a_sentence(answer, sentence):
    with pytest.raises(MethodError, match=sentence):
        play(instance_of(), lambda observation: answer)


def test_a_node_without_room_is_refused():
    instance = instance_of(pod2class=[0, 2, 2, 3], running_node=[0, -1, -1, -1])
    with pytest.raises(MethodError, match=r"node-1, which has 1 cpu free; the pod asks for 3 cpu; return one of"):
        play(instance, lambda observation: 1)
    instance = instance_of(pod2class=[3, 0, 0, 0], running_node=[-1] * 4, running_gpus=[0] * 4)
    with pytest.raises(MethodError, match="node-1, whose type does not admit the pod; return one of"):
        play(instance, lambda observation: 1)


def test_shares_go_where_least_is_left_unless_the_policy_says_which():
    assert play(instance_of(), first).solution.gpus.tolist() == [2, 2, 1, 0]
    answers = iter([(0, [0]), 1])
    placement = play(instance_of(), lambda observation: next(answers)).solution
    assert placement.node.tolist() == [0, 0, -1, 1]
    assert placement.gpus.tolist() == [2, 1, 0, 0]


class TestGangs:
    def test_a_gang_whose_last_pod_has_no_room_is_undone(self):
        asked = []

        def decide(observation):
            asked.append((observation.pod, observation.gang_placed, observation.gang_size))
            return first(observation)

        # Two whole GPUs are wanted and one is free; then a half fits where the first of them was.
        instance = instance_of(pod2class=[0, 1, 1, 0], gang=[-1, 4, 4, -1])
        placement = play(instance, decide).solution
        verify(instance, placement)
        assert placement.node.tolist() == [0, -1, -1, 0]
        assert asked == [(1, 0, 2), (3, 0, 1)]

    def test_who_refuses_one_refuses_all(self):
        instance = instance_of(pod2class=[0, 0, 0, 2], gang=[-1, 0, 0, 0])
        placement = play(instance, lambda observation: None if observation.gang_placed == 1 else 0).solution
        assert placement.node.tolist() == [0, -1, -1, -1]
        assert play(instance, first).solution.node.tolist() == [0, 0, 0, 1]


class TestOwnPolicies:
    def test_the_lines_of_the_documentation_work(self):
        lines = inspect.getdoc(module).split("\n")
        start = next(i for i, line in enumerate(lines) if "@policy" in line)
        stop = next(i for i in range(start, len(lines)) if not lines[i].strip())
        assert stop - start < 10
        instance = instance_of()
        with mock.patch.dict(REGISTRY):
            exec(textwrap.dedent("\n".join(lines[start:stop])), {"policy": policy, "np": np})
            found = find_method(FAMILY, "most-free-cpu")
            assert found.handles == {"running", "gangs", "slices"}
            assert found.run(instance).solution.node.tolist() == [0, 0, 0, 1]
