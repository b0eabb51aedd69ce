import numpy as np
import pytest

from schedgap.formulations.provisioning.bounds import bound_resource
from schedgap.formulations.provisioning.limits import classes_apart, fewest_machines, hardest_apart, machines_apart
from schedgap.instances.provisioning import ProvisioningInstance


@pytest.fixture
def cluster():
    """Classes a, b, c on x only, d on y only, e on both; 7, 6, 9, 4 and 5 tasks, of which 1, 1, any, 2 and 1 share a machine."""
    demand = np.ones((2, 5, 1), np.int64)
    demand[0, 3] = demand[1, :3] = -1
    return ProvisioningInstance(
        name="apart",
        resources=("cpu",),
        families=("x", "y"),
        type_names=("x", "y"),
        type2family=[0, 1],
        capacity=[[100], [100]],
        price=[10, 3],
        demand=demand,
        counts=[7, 6, 9, 4, 5],
        per_machine=[1, 1, -1, 2, 1],
    )


def test_the_hardest_of_those_that_fit_the_same_types(cluster):
    assert classes_apart(cluster).tolist() == [0, 1, 3, 4]
    assert machines_apart(cluster).tolist() == [7, 6, 1, 2, 5]
    assert hardest_apart(cluster).tolist() == [0, 3, 4]


def test_machines_of_classes_without_a_type_in_common_add_up(cluster):
    """Seven of x for a; e, five of y at best, is cheaper there, and its machines may be those of d: 70 + 2 x 3."""
    assert fewest_machines(cluster, cluster.fits()) == 76
    assert bound_resource(cluster).bound == 76
    assert bound_resource(cluster.replace(per_machine=None)).bound == 10


def test_nothing_is_kept_apart_without_limits(cluster):
    free = cluster.replace(per_machine=None)
    assert classes_apart(free).size == hardest_apart(free).size == fewest_machines(free, free.fits()) == 0
