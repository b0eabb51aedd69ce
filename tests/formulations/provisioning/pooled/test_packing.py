import numpy as np
import pytest

from schedgap.formulations.provisioning.pooled.packing import pack, settle
from schedgap.instances.provisioning import ProvisioningInstance


def check(instance, types, content):
    """No machine is over its capacity, nothing is where it may not be, and nothing is placed twice."""
    assert (content >= 0).all()
    assert (content.sum(axis=0) <= instance.counts).all()
    for k, row in zip(types.tolist(), content, strict=True):
        demand = instance.demand[instance.type2family[k]]
        assert (demand[row > 0] >= 0).all()
        assert (row.astype(object) @ demand <= instance.capacity[k]).all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("time_limit_s", [0.0, 10.0])
def test_what_is_placed_fits(varied_instance, seed, time_limit_s):
    instance = varied_instance(seed)
    types = np.random.default_rng(seed).integers(0, instance.num_types, 5)
    content = pack(instance, types, time_limit_s)
    check(instance, types, content)
    # At least one task, if any fits.
    assert content.any() == instance.fits()[types].any()
    # No task that is left fits a machine's rest.
    for k, row in zip(types.tolist(), content, strict=True):
        demand = instance.demand[instance.type2family[k]]
        for c in np.flatnonzero(content.sum(axis=0) < instance.counts):
            assert demand[c, 0] < 0 or (row @ np.maximum(demand, 0) + demand[c] > instance.capacity[k]).any()


def test_the_integer_program_fills_machines_to_the_last_unit():
    # 5 + 4 and 3 + 3 + 3: by size, the first would take 5 and 3.
    instance = ProvisioningInstance("full", ("cpu",), ("f",), ("t",), [0], [[9]], [1], [[[5], [4], [3]]], [1, 1, 3])
    types = np.array([0, 0])
    content = pack(instance, types, 10.0)
    check(instance, types, content)
    assert content.sum(axis=0).tolist() == [1, 1, 3]


def test_no_machine_holds_nothing(varied_instance):
    instance = varied_instance(0)
    assert pack(instance, np.zeros(0, np.int64), 1.0).shape == (0, instance.num_classes)


def test_amounts_beyond_what_floats_hold_keep_to_the_unit():
    amount = 2**52
    instance = ProvisioningInstance(
        "bytes",
        ("ram_bytes",),
        ("f",),
        ("t",),
        [0],
        [[amount]],
        [1],
        [[[amount // 2], [amount // 2 + 1], [1]]],
        [2, 1, 3],
    )
    types = np.zeros(2, np.int64)
    check(instance, types, pack(instance, types, 5.0))


def tight(per_machine=None):
    """Three machines of 100 by 100 that are cut at random into ten tasks each, some equal: nothing is left free."""
    cuts = np.sort(np.random.default_rng(3).integers(1, 100, (3, 9, 2)), axis=1)
    size = np.diff(cuts, axis=1, prepend=0, append=100).reshape(1, -1, 2)
    limits = {} if per_machine is None else {"per_machine": per_machine}
    names = ("cpu", "ram"), ("f",), ("t",)
    return ProvisioningInstance("tight", *names, [0], [[100, 100]], [1], size, [1] * size.shape[1], **limits)


def settled(instance, machines):
    types = np.zeros(machines, np.int64)
    return types, settle(instance, types, instance.fits()[types], instance.counts, np.array([1], np.uint64))


def test_tasks_settle_where_packing_leaves_some():
    instance = tight().replace(capacity=[[103, 103]])
    types, content = settled(instance, 3)
    check(instance, types, content)
    assert content.sum() == 30
    assert pack(instance, types, 0.0).sum() < 30


def test_what_has_no_room_or_no_machine_does_not_settle():
    assert settled(tight(), 2)[1] is None
    nowhere = ProvisioningInstance(
        "nowhere", ("cpu",), ("f", "g"), ("t", "u"), [0, 1], [[6], [6]], [1, 1], [[[1]], [[-1]]], [1]
    )
    u = np.array([1])
    assert settle(nowhere, u, nowhere.fits()[u], nowhere.counts, np.array([1], np.uint64)) is None


def test_no_more_of_a_class_settle_on_a_machine_than_may():
    # Four tasks of a class, two a machine at most: by size alone one machine would hold all.
    limited = ProvisioningInstance(
        "apart", ("cpu",), ("f",), ("t",), [0], [[6]], [1], [[[1], [2]]], [4, 4], per_machine=[2, 4]
    )
    types, content = settled(limited, 2)
    check(limited, types, content)
    assert content[:, 0].tolist() == [2, 2]
