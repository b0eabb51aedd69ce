import numpy as np
import pytest

from schedgap.formulations.provisioning.consolidation.kinds import kinds_of
from schedgap.formulations.provisioning.consolidation.plans import plan_of
from schedgap.instances.provisioning import ProvisioningInstance, Running, moves, verify

SMALL, LARGE, ALIKE = 0, 1, 2


@pytest.fixture
def instance():
    """Three small machines run: two with two of the first class, one with one of each."""
    return ProvisioningInstance(
        *("plans", ("cpu",), ("f",), ("small", "large"), [0, 0], [[4], [8]], [3, 5], [[[1], [2]]], [7, 2]),
        running=Running.from_contents(tuple("abc"), [0, 0, 0], [[2, 0], [1, 1], [2, 0]]),
        max_moves=1,
    )


def plan(instance, *chosen):
    kind, repeat, content = zip(*chosen, strict=True)
    return plan_of(kinds_of(instance), np.array(kind), np.array(repeat), np.array(content))


def test_machines_that_are_alike_are_kept_each_once(instance):
    # Kind 2 is machine b, kind 3 are a and c.
    assert kinds_of(instance).before.tolist() == [[1, 1], [2, 0]]
    found = plan(instance, (2, 1, [1, 1]), (3, 2, [2, 1]), (SMALL, 1, [4, 0]))
    assert sorted(found.keeps.tolist()) == [-1, 0, 1, 2]
    assert (verify(instance, found), moves(instance, found)) == (12, 0)


def test_what_is_too_much_goes_but_never_what_stays(instance):
    found = plan(instance, (2, 1, [2, 1]), (3, 2, [4, 0]), (SMALL, 1, [0, 2]), (LARGE, 1, [8, 0]))
    # Of 18 and 3 tasks 7 and 2 stay; the large machine has none left.
    assert moves(instance, found) == 0
    assert verify(instance, found) <= 12


def test_new_machines_that_are_alike_are_grouped(instance):
    free = instance.replace(running=None, max_moves=None)
    found = plan(free, (SMALL, 3, [2, 1]), (SMALL, 1, [1, 0]))
    assert verify(free, found) == 12
    assert found.num_machines == 4
    assert found.machine_type.size < 4


def test_no_plan_where_a_class_is_left_out(instance):
    assert plan(instance, (LARGE, 1, [7, 0])) is None
    assert plan(instance, (LARGE, 0, [7, 2])) is None
