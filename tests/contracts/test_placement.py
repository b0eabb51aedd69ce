"""What every method of placement promises."""

import numpy as np
import pytest
from promises import Promises

from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.method import REGISTRY
from schedgap.instances.placement import openb_like, random_pods

MAKERS = {
    "arrivals": lambda: random_pods(seed=1),
    "alone": lambda: random_pods(seed=2, nodes=1, pods=2, classes=2),
    "running": lambda: random_pods(seed=3, pods=7, running=0.5, moves=1),
    "gangs": lambda: random_pods(seed=4, pods=7, gangs=True, unit="value"),
    "divided": lambda: random_pods(seed=6, pods=7, running=0.3, moves=1, divided=True),
    "accepts": lambda: random_pods(seed=9, nodes=2, pods=7, accepts=True),
    "openb-like": lambda: openb_like(seed=8, nodes=2, until=60),
    "unmoved": lambda: random_pods(seed=5, pods=7, running=0.6, moves=0, unit="pods"),
}


class TestPlacement(Promises):
    family = "placement"
    makers = MAKERS


load_methods(["placement"])
BOUNDS = sorted(
    name for (family, name), each in REGISTRY.items() if family == "placement" and each.is_shipped and each.bounds
)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_bound_is_that_of_the_same_cluster_said_otherwise(name, seed):
    """Nodes in another order, a node type that no node has, and values twice as large."""
    accepts = name == "bound-forced"
    instance = random_pods(seed=20 + seed, nodes=4, running=0.4, moves=0 if accepts else 1, accepts=accepts)
    before = REGISTRY["placement", name].run(instance).bound
    order = np.arange(4)[::-1]
    where = np.where(instance.is_running, order[instance.running_node], -1)
    unused = {
        "type_names": (*instance.type_names, "unused"),
        "capacity": np.vstack((instance.capacity, [[9000, 9000]])),
        "num_gpus": np.append(instance.num_gpus, 8),
        "gpu_model": (*instance.gpu_model, "A"),
        "admits": np.hstack((instance.admits, np.ones((len(instance.class_names), 1), np.bool_))),
    }
    for changes in ({"node2type": instance.node2type[order], "running_node": where}, unused):
        assert REGISTRY["placement", name].run(instance.replace(**changes)).bound == before
    assert REGISTRY["placement", name].run(instance.replace(value=2 * instance.value)).bound == pytest.approx(
        2 * before, abs=1
    )
