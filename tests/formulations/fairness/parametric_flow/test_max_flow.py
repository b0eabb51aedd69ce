"""Maximum flows in whole numbers of any size, against SciPy's."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from schedgap.formulations.fairness.parametric_flow import max_flow


def scipy_value(supply, capacity, classes_of):
    users, classes = len(supply), len(capacity)
    dense = np.zeros((users + classes + 2,) * 2, np.int32)
    source, sink = users + classes, users + classes + 1
    for i in range(users):
        dense[source, i] = supply[i]
        dense[i, [users + k for k in classes_of[i]]] = 10**6
    for k in range(classes):
        dense[users + k, sink] = capacity[k]
    return maximum_flow(csr_array(dense), source, sink).flow_value


@pytest.mark.parametrize("unit", [1, 10**40 + 7])
def test_random_networks(unit):
    """Also that the flow obeys its limits and fills the cut, which is then the smallest."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        users, classes = int(rng.integers(1, 9)), int(rng.integers(1, 7))
        supply = dict(enumerate(rng.integers(0, 20, users).tolist()))
        capacity = dict(enumerate(rng.integers(0, 30, classes).tolist()))
        classes_of = [[k for k in range(classes) if rng.random() < 0.5] for _ in range(users)]
        large = {i: amount * unit for i, amount in supply.items()}, {k: c * unit for k, c in capacity.items()}
        flow, low_users, low_classes = max_flow(*large, dict(enumerate(classes_of)))
        value = sum(flow.values())
        assert value == unit * int(scipy_value(supply, capacity, classes_of))
        for i in range(users):
            assert sum(amount for (user, _), amount in flow.items() if user == i) <= large[0][i]
        for k in range(classes):
            assert sum(amount for (_, other), amount in flow.items() if other == k) <= large[1][k]
        assert all(k in classes_of[i] and amount > 0 for (i, k), amount in flow.items())
        cut = sum(large[0][i] for i in range(users) if i not in low_users) + sum(large[1][k] for k in low_classes)
        assert value == cut
        assert all(set(classes_of[i]) <= low_classes for i in low_users)


def test_takes_flow_back():
    """User 0 fills the only class of user 1 first, and must move to its other one."""
    flow, low_users, low_classes = max_flow({0: 3, 1: 3}, {5: 3, 6: 3}, {0: [5, 6], 1: [5]})
    assert flow == {(0, 6): 3, (1, 5): 3}
    assert (low_users, low_classes) == (set(), set())


def test_classes_without_capacity_are_left_out():
    assert max_flow({0: 3}, {6: 2}, {0: [5, 6]}) == ({(0, 6): 2}, {0}, {6})
