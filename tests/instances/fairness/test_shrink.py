"""Shrunk instances are small and of the same kind."""

import pytest

from schedgap.instances.fairness import alice_bob, datacentre, micro, random_users, shrink


@pytest.mark.parametrize(
    "instance",
    [
        alice_bob(),
        micro(),
        random_users(50, classes=20, kind="interval", limited=True, seed=1),
        datacentre(40, limited=True),
    ],
    ids=lambda instance: instance.name,
)
def test_small_and_alike(instance):
    small = shrink(instance)
    assert small.num_users <= 4
    assert small.num_machine_classes <= 6
    assert small.machine_count.max() <= 2
    assert small.tasks.max() <= 8
    assert (small.notion, small.resources) == (instance.notion, instance.resources)
    assert (small.tasks < 0).all() == (instance.tasks < 0).all()
    assert (small.user_names is None) == (instance.user_names is None)
    assert small.digest == shrink(instance).digest
    assert small.name == f"{instance.name}-shrunk"
