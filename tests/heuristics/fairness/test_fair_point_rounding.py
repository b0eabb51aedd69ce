"""The fair point in whole tasks."""

from schedgap.heuristics.fairness.lowest_share_first import fair_point_rounding, lowest_share_first
from schedgap.instances.fairness import FAIR, TASK, alice_bob, micro, random_users, shares_of, verify


def test_whole_points_stay():
    assert verify(alice_bob(), fair_point_rounding(alice_bob())) == FAIR


def test_micro_benchmark():
    """Job 4's 12.5 slots become 12, 36 / 150, or 13; nobody has less than 36."""
    assert min(shares_of(micro(), fair_point_rounding(micro()))) >= 36 / 150


def test_is_nearer_to_the_fair_point_than_the_online_rule():
    """With many tasks a user, over ten instances; each allocation is of whole tasks."""
    online, rounded = 0, 0
    for seed in range(10):
        instance = random_users(10, classes=5, machines=60, limited=seed % 2 == 0, seed=seed)
        found = fair_point_rounding(instance)
        assert (found.amount % TASK == 0).all()
        online += verify(instance, lowest_share_first(instance))
        rounded += verify(instance, found)
    assert rounded < online
