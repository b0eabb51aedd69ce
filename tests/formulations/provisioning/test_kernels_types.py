import numpy as np
import pytest

from schedgap.formulations.provisioning.kernels_types import FORBIDDEN, cheapest_type, pattern_load
from schedgap.formulations.provisioning.patterns.patterns import catalogue_of


def plain_cheapest(instance, pattern):
    """The cheapest type of all that hold a pattern, the first in the file on ties, -1 for none."""
    fitting = []
    for k, f in enumerate(instance.type2family.tolist()):
        demand = instance.demand[f][pattern > 0]
        if (demand >= 0).all() and (pattern[pattern > 0] @ demand <= instance.capacity[k]).all():
            fitting.append((int(instance.price[k]), k))
    return min(fitting)[1] if fitting else -1


@pytest.mark.parametrize("seed", range(20))
def test_the_cheapest_type_has_room_on_its_family(random_instance, seed):
    instance = random_instance(seed)
    rng = np.random.default_rng(seed)
    load = np.empty(instance.demand.shape[::2], np.int64)
    for pattern in (*rng.integers(0, 4, (30, instance.num_classes)), np.full(instance.num_classes, 10**6)):
        pattern_load(pattern, instance.demand, load)
        assert cheapest_type(load, catalogue_of(instance)) == plain_cheapest(instance, pattern)


def test_a_load_adds_up_where_all_its_tasks_may_run():
    # On the first family 2 x (3, 1) + 1 x (4, 0); the second class may not run on the other.
    demand = np.array([[[3, 1], [4, 0]], [[1, 1], [-1, -1]]])
    load = np.empty((2, 2), np.int64)
    pattern_load(np.array([2, 1]), demand, load)
    assert load[0].tolist() == [10, 2]
    assert load[1, 0] == FORBIDDEN
    pattern_load(np.array([2, 0]), demand, load)
    assert load.tolist() == [[6, 2], [2, 2]]
