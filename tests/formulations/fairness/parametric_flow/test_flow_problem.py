"""Which instances are flows, and with which numbers."""

import numpy as np
import pytest

from schedgap.formulations.fairness.parametric_flow import FlowProblem, flow_problem
from schedgap.instances.fairness import alice_bob, micro


def test_numbers_of_two_levels(two_levels):
    """A task takes 1000 thousandths of a core; both users would have 8 tasks."""
    problem = flow_problem(two_levels)
    assert isinstance(problem, FlowProblem)
    assert problem.classes_of == {0: (0,), 1: (0, 1)}
    assert (problem.capacity, problem.binding) == ({0: 2000, 1: 6000}, {0: 0, 1: 0})
    assert set(problem.per_task.values()) == {1000}
    assert problem.limit == (None, None)
    assert problem.height[0] == problem.height[1]
    assert problem.weight == (1.0, 1.0)


def test_speeds_are_worth(two_levels):
    """A core of class `one`, three times as fast, carries three times the flow, and a share takes 2 + 18 tasks."""
    problem = flow_problem(two_levels.replace(performance=[[1000, 3000], [1000, 3000]]))
    assert problem.capacity == {0: 2000, 1: 18_000}
    assert problem.per_task[1, 1] == 3 * problem.per_task[1, 0]


def test_limits_count_where_they_are_met(two_levels):
    """User 0 can run 2 tasks at most; user 1 at most 8."""
    assert flow_problem(two_levels.replace(tasks=[2, 8])).limit == (None, None)
    assert flow_problem(two_levels.replace(tasks=[1, 7])).limit == (1000, 7000)


def test_a_class_that_nobody_uses(two_levels):
    problem = flow_problem(two_levels.replace(allowed=np.array([[True, False], [True, False]])))
    assert problem.capacity == {0: 2000}


def test_paper_examples_are_flows():
    """CPU and memory come in one proportion: either binds."""
    for notion in ("eunomia", "tsf", "cmmf", "drf"):
        assert isinstance(flow_problem(alice_bob(notion=notion)), FlowProblem)
        assert isinstance(flow_problem(micro(notion=notion)), FlowProblem)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"demand": [[1000, 2048], [2000, 1024]]}, "no resource that binds alone on machine class machine-2"),
        (
            {"allowed": np.ones((2, 3), bool), "performance": [[1000, 1000, 2000], [1000, 1000, 3000]]},
            "machines differ in other proportions",
        ),
        ({"tasks": [-1, 3]}, "user bob with 3 tasks that are worth more on some machines"),
    ],
)
def test_refusals(changes, reason):
    """Of a machine's 2 cores and 2 GiB, Alice's tasks take all the memory and Bob's all the cores; and so on."""
    assert reason in flow_problem(alice_bob().replace(**changes))


def test_a_tree_needs_no_common_speeds():
    """Alice and Bob share one class: whatever their speeds on the others, proportions are free."""
    assert isinstance(flow_problem(alice_bob().replace(performance=[[1000, 700, 1], [1, 1000, 2300]])), FlowProblem)
