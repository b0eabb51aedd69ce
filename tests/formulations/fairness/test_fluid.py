import numpy as np
import pytest

from schedgap.formulations.fairness.level_program import fluid_of
from schedgap.instances.fairness import UNLIMITED, FairnessInstance, random_users, tasks_per_class
from schedgap.instances.fairness.model import allocation_of


def twins(notion="eunomia", tasks=(UNLIMITED, UNLIMITED, UNLIMITED)):
    """Users 0 and 2 differ in weight alone, and by a factor in speed; classes 0 and 2 are one, of 1 and 3 machines."""
    return FairnessInstance(
        name="twins",
        notion=notion,
        resources=("cpu",),
        machine_names=("a", "b", "c"),
        machine_count=np.array([1, 2, 3]),
        capacity=np.array([[4000], [8000], [4000]]),
        demand=np.array([[1000], [2000], [1000]]),
        weight=np.array([1000, 1000, 3000]),
        performance=np.array([[1000, 2000, 1000], [1000, 1000, 1000], [2000, 4000, 2000]]),
        allowed=np.ones((3, 3), bool),
        tasks=np.array(tasks),
    )


def test_equals_are_merged():
    fluid = fluid_of(twins())
    assert fluid.gain.shape == (2, 2)
    assert (fluid.user2group.tolist(), fluid.class2group.tolist()) == ([0, 1, 0], [0, 1, 0])
    assert (fluid.user_part.tolist(), fluid.class_part.tolist()) == ([0.25, 1, 0.75], [0.25, 1, 0.75])
    # 4 x 4 tasks fit on the four small machines, 2 x 8 on the large ones, which are twice as fast.
    assert fluid.reach[0].tolist() == [16, 16]
    assert fluid.gain[0] * fluid.scale == pytest.approx([16 / (4 * 48), 32 / (4 * 48)])
    assert (fluid.use == 1).all()
    assert not fluid.limited.any()


@pytest.mark.parametrize(
    ("tasks", "merged"), [((2, UNLIMITED, 6), 2), ((2, UNLIMITED, 5), 3), ((2, UNLIMITED, UNLIMITED), 3)]
)
def test_limited_users_are_equal_if_they_have_as_many_tasks_for_their_weight(tasks, merged):
    fluid = fluid_of(twins(tasks=tasks))
    assert fluid.num_users == merged
    if merged == 2:
        # Eight tasks together, all of which fit on either class: half of what there is.
        assert (fluid.part[0].tolist(), fluid.use[0, :, 0].tolist()) == ([1, 1], [0.5, 0.5])


def test_speed_counts_in_progress_shares_only():
    fluid = fluid_of(twins("tsf"))
    assert fluid.gain.shape == (2, 2)
    assert (fluid.gain[0] == fluid.gain[0, 0]).all()
    instance = twins().replace(performance=np.array([[1000, 2000, 1000], [1, 1, 1], [2000, 4001, 2000]]))
    assert (fluid_of(instance).num_users, fluid_of(instance.replace(notion="tsf")).num_users) == (3, 2)


def test_nothing_is_merged_unasked():
    fluid = fluid_of(twins(), merge=False)
    assert fluid.gain.shape == (3, 3)
    assert (fluid.user_part == 1).all()


def test_tasks_are_spread_by_weight_and_by_machines():
    instance = twins()
    tasks = fluid_of(instance).tasks(np.array([[0.5, 0.0], [0.0, 1.0]]))
    # Eight tasks for both: 2 and 6, a quarter of each on the single machine.
    assert tasks.tolist() == [[0.5, 0, 1.5], [0, 8, 0], [1.5, 0, 4.5]]
    assert tasks_per_class(instance, allocation_of(instance, tasks)).tolist() == tasks.tolist()


def test_no_column_where_nothing_runs_or_counts():
    instance = twins().replace(
        capacity=np.array([[4000], [0], [4000]]), performance=np.array([[1000, 1, 0], [1, 1, 1], [1, 1, 1]])
    )
    fluid = fluid_of(instance)
    assert fluid.open.tolist() == [[True, False, False], [True, False, True], [True, False, True]]
    assert np.isfinite(fluid.gain).all()


def test_shares_are_of_order_one():
    fluid = fluid_of(random_users(200, classes=20, machines=1000))
    assert 0.1 < np.median(fluid.gain[fluid.open]) < 100
    assert fluid.use.max() <= 1
