"""The paper's examples are as it has them."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness import alice_bob, allocation_of, micro, shares_of


def test_alice_and_bob():
    instance = alice_bob()
    assert instance.user_names == ("alice", "bob")
    assert instance.fitting().tolist() == [[2, 2, 2]] * 2
    assert instance.allowed.tolist() == [[True, True, False], [False, True, True]]
    # Three tasks each, as in Figure 1b: 3/8 and 5/8 of the progress, and equal task shares.
    allocation = allocation_of(instance, [[2, 1, 0], [0, 1, 2]])
    assert shares_of(instance, allocation).tolist() == [3 / 8, 5 / 8]
    assert shares_of(alice_bob(notion="tsf"), allocation).tolist() == [0.5, 0.5]


def test_tables_3_and_4():
    """80 slots worth 150: type 4 alone is worth 60, the 40 % that job 4 gets under TSF."""
    instance = micro()
    assert (instance.machine_count @ instance.capacity).tolist() == [80_000, 80 * 1024]
    assert instance.allowed.sum(axis=1).tolist() == [4, 4, 4, 1]
    assert micro(lie=False).allowed.all()
    everything = np.zeros((4, 4))
    everything[3, 3] = 20
    assert shares_of(instance, allocation_of(instance, everything))[3] == pytest.approx(0.4, rel=1e-12)


def test_names_say_what_is_not_the_papers():
    assert [each.name for each in (alice_bob(), alice_bob(notion="drf"), micro(), micro(lie=False, notion="tsf"))] == [
        "alice-bob",
        "alice-bob-drf",
        "micro",
        "micro-honest-tsf",
    ]


@pytest.mark.parametrize("make", [alice_bob, micro])
def test_a_notion_that_is_none(make):
    with pytest.raises(InstanceError, match="notion is 'fair'; choose one of"):
        make(notion="fair")
