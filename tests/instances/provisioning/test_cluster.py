"""A running cluster as a person sees it: prices, machines by type, tasks that move."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import Provisioning, Running
from schedgap.instances.provisioning.cluster import (
    folded,
    machines_now,
    machines_of,
    most_disruption,
    moved,
    pending,
    plan_remarks,
    price_now,
    with_disruption,
)
from schedgap.instances.provisioning.running import ONE_TASK

X_SMALL, X_LARGE, Y_SMALL = 0, 1, 2


@pytest.fixture
def instance(two_families):
    """Of the tasks a a b c c an a and the b run; three machines, one of them empty."""
    running = Running.from_contents(("n1", "n2", "n3"), [Y_SMALL, X_LARGE, Y_SMALL], [[1, 0, 0], [0, 1, 0], [0, 0, 0]])
    return two_families.replace(running=running)


@pytest.fixture
def solution():
    """b on a large machine, both a on a small one, each c on one of its own."""
    return Provisioning.from_patterns([X_LARGE, Y_SMALL, X_SMALL], [1, 1, 2], [[0, 1, 0], [2, 0, 0], [0, 0, 1]])


def test_what_runs(instance, two_families):
    """The machines cost 0.7 + 1.9 + 0.7; the empty one too."""
    assert price_now(instance) == 3_300_000
    assert pending(instance) == 3
    assert list(machines_now(instance).items()) == [("x-large", 1), ("y-small", 2)]
    assert (price_now(two_families), pending(two_families), machines_now(two_families)) == (None, 5, {})


def test_what_a_solution_has_and_moves(instance, two_families, solution):
    """Of what runs, all moves where nothing is said to be kept. Two small machines of $1 are dearer than one large."""
    assert list(machines_of(instance, solution).items()) == [("x-small", 2), ("x-large", 1), ("y-small", 1)]
    assert moved(instance, solution) == 2
    keeps = Provisioning(
        solution.machine_type,
        solution.repeat,
        solution.indptr,
        solution.task_class,
        solution.count,
        keeps=np.array([1, -1, -1]),
    )
    assert moved(instance, keeps) == 1
    assert moved(two_families, solution) is None


def test_more_than_a_machine_usually_takes_is_said_with_numbers(two_families, solution):
    """The small machine of y holds both a, the two of x one c each, which is what they usually take."""
    assert plan_remarks(two_families, solution) == ()
    usual = two_families.replace(usual_tasks=(("y-small", 1), ("x-small", 1)))
    assert usual.digest == two_families.digest
    (said,) = plan_remarks(usual, solution)
    assert said.startswith("2 tasks on one y-small, of which one usually takes 1 beside those of DaemonSets: ")
    both = Provisioning.from_patterns([X_LARGE, X_LARGE], [2, 1], [[1, 0, 1], [0, 1, 0]])
    (said,) = plan_remarks(two_families.replace(usual_tasks=(("x-large", 1),)), both)
    assert said.startswith("up to 2 tasks on each of 2 x-large, of which one usually takes 1 ")


def test_limits_on_disruption(instance, two_families):
    limited = with_disruption(instance, 2 * ONE_TASK)
    assert most_disruption(limited) == 2 * ONE_TASK
    assert most_disruption(with_disruption(limited, None)) is None
    assert most_disruption(with_disruption(two_families, None)) is None
    with pytest.raises(InstanceError, match="no machine runs"):
        with_disruption(two_families, 0)


def test_types_that_differ_by_node_are_one(instance):
    """Of `n2 and 3 alike` the node runs; `large` and `spot` are no nodes; a zone stays."""
    names = {"m (n1)": 1, "m (eu-1a, n2 and 3 alike)": 4, "m (eu-1a)": 2, "m": 5, "m (spot, n3)": 1, "it1 (large)": 7}
    assert folded(instance, names) == {"m": 6, "m (eu-1a)": 6, "m (spot)": 1, "it1 (large)": 7}
