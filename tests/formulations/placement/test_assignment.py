import numpy as np
import pytest

from schedgap.formulations.placement.assignment import assignment
from schedgap.formulations.placement.assignment_pulp import assignment_pulp
from schedgap.instances.placement import openb_like, random_pods, verify

KINDS = (
    {},
    {"running": 0.6, "moves": 1},
    {"running": 0.5, "moves": 2, "gangs": True, "unit": "value"},
    {"running": 0.7, "unit": "pods"},
    {"divided": True},
    {"divided": True, "running": 0.5, "moves": 1},
)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_both_statements_find_what_trying_everything_finds(least_refused, kind, seed):
    instance = random_pods(seed=seed, pods=7, **kind)
    best = least_refused(instance)
    for method in (assignment, assignment_pulp):
        outcome = method(instance)
        assert verify(instance, outcome.solution) == outcome.bound == best
        assert outcome.status == "optimal"


@pytest.mark.parametrize("backend", ["cp-sat", "cbc", "scip"])
def test_other_back_ends_agree(backend):
    instance = random_pods(seed=3, running=0.5, moves=1)
    assert assignment(instance, backend=backend).bound == assignment(instance).bound


def test_no_time_is_no_solution_or_a_feasible_one():
    instance = random_pods(seed=1)
    outcome = assignment(instance, time_limit_s=0.0)
    assert outcome.solution is None or verify(instance, outcome.solution) >= 0


def test_what_is_too_large_is_refused():
    from schedgap.instances.method import find_method

    reason = find_method("placement", "assignment").supports(openb_like(nodes=1000, arrived=10))
    assert "variables, over 200000; use node-patterns" in reason


def test_least_moves_to_admit_a_job():
    """Volcano #3948: nodes of 8 GPUs have 7, 6 and 7 in use by pods of 1; a job of 4 needs two pods to leave the second."""
    counts = [7, 6, 7]
    node = np.repeat([0, 1, 2], counts)
    gpu = np.concatenate([np.arange(n) for n in counts])
    base = random_pods(seed=0, nodes=1, pods=1, classes=1)
    instance = base.replace(
        unit="pods",
        capacity=[[64_000, 65_536]],
        num_gpus=[8],
        gpu_model=("A",),
        node2type=[0, 0, 0],
        class_names=("one", "four"),
        demand=np.zeros((2, 2), np.int64),
        gpus=[1, 4],
        gpu_milli=[1000, 1000],
        value=[1000, 1000],
        admits=np.ones((2, 1), np.bool_),
        expected=[0, 0],
        pod2class=[*[0] * 20, 1],
        gang=[-1] * 21,
        running_node=[*node, -1],
        running_gpus=[*(1 << gpu), 0],
        movable=[True] * 21,
    )
    refused = [assignment(instance.replace(max_moves=k)).bound for k in range(4)]
    assert refused == [1000, 1000, 0, 0]
