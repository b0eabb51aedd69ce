"""What a task adds to a share, in all notions, by hand."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness import alice_bob, allocation_of, micro, share_of_a_task, shares_of
from schedgap.instances.fairness.shares import value_and_scale


@pytest.fixture
def instance(make):
    """Two classes: 2 machines of 4 cores and 8 units, 1 machine of 8 cores and 4 units.

    User 0 demands (1, 1): 4 tasks fit on a machine of either class, 12 in all. User 1 demands (2, 1), weighs 2: 2 and 4
    tasks, 8 in all, of performance 3 and 1: 2 x 2 x 3 + 4 x 1 = 16. It may not use the second class.
    """
    return make(
        [2, 1],
        [[4, 8], [8, 4]],
        [[1, 1], [2, 1]],
        weight=[1, 2],
        performance=[[1, 2], [3, 1]],
        allowed=[[True, True], [True, False]],
    )


@pytest.mark.parametrize(
    ("notion", "shares"),
    [
        # User 0: 2 x 4 x 1 + 4 x 2 = 16.
        ("eunomia", [[1 / 16, 2 / 16], [3 / (2 * 16), 0]]),
        ("tsf", [[1 / 12, 1 / 12], [1 / (2 * 8), 0]]),
        # 16 cores and 20 units in all.
        ("cmmf", [[1 / 16, 1 / 16], [2 / (2 * 16), 0]]),
        ("drf", [[1 / 16, 1 / 16], [2 / (2 * 16), 0]]),
    ],
)
def test_worked_shares(instance, notion, shares):
    assert share_of_a_task(instance, notion) == pytest.approx(np.array(shares), rel=1e-15)
    assert np.array_equal(share_of_a_task(instance.replace(notion=notion)), share_of_a_task(instance, notion))


def test_the_dominant_resource_may_be_any(make):
    """Of 8 and 16: a demand of (1, 4) is 1/8 of the first, 1/4 of the second."""
    instance = make([2], [[4, 8]], [[1, 4], [1, 1]], notion="drf")
    assert share_of_a_task(instance).tolist() == [[4 / 16], [1 / 8]]


def test_a_task_adds_nothing_where_it_cannot_run(make):
    instance = make([1, 1], [[4, 4], [4, 0]], [[1, 1]])
    assert share_of_a_task(instance).tolist() == [[1 / 4, 0.0]]


def test_the_papers_examples():
    """Progress is of 8 for Alice and Bob; in the micro-benchmark of 20 (1 + 1.5 + 2 + 3) = 150."""
    assert share_of_a_task(alice_bob()).tolist() == [[1 / 8, 1 / 8, 0], [0, 1 / 8, 2 / 8]]
    assert share_of_a_task(micro()) == pytest.approx(np.array([[1, 1.5, 2, 3]] * 3 + [[0, 0, 0, 3]]) / 150, rel=1e-15)
    assert share_of_a_task(alice_bob(), "tsf")[0].tolist() == [1 / 6, 1 / 6, 0]


def test_an_unknown_notion():
    with pytest.raises(InstanceError, match="notion is 'dfr'; choose one of"):
        share_of_a_task(alice_bob(), "dfr")


def test_table_1_and_the_progress_of_three_tasks():
    """A CPU of 1 GHz is worth 1, one of 2 GHz is worth 2: two tasks on the first and one on the other are 4 of progress."""
    instance = alice_bob()
    assert instance.performance.tolist() == [[1000, 1000, 2000]] * 2
    # Alone, Alice would make 2 x 1 + 2 x 1 + 2 x 2 = 8.
    value, whole = value_and_scale(instance)
    assert (value[0] @ [2, 0, 1] / 1000, whole[0] / 1000) == (4, 8)


@pytest.mark.parametrize(
    ("alice", "bob", "shares"),
    [
        # Figure 1b: three tasks each, three and five of progress; then Figure 1c, one task after the other, to 1d.
        ([2, 1, 0], [0, 1, 2], [3 / 8, 5 / 8]),
        ([2, 0, 0], [0, 0, 2], [2 / 8, 4 / 8]),
        ([2, 1, 0], [0, 0, 2], [3 / 8, 4 / 8]),
        ([2, 2, 0], [0, 0, 2], [4 / 8, 4 / 8]),
    ],
)
def test_figure_1_step_by_step(alice, bob, shares):
    instance = alice_bob()
    found = allocation_of(instance, np.array([alice, bob], float))
    assert shares_of(instance, found).tolist() == shares
