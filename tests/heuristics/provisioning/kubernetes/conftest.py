"""Small clusters of one family, and random ones of two."""

import numpy as np
import pytest

from schedgap.instances.provisioning import ProvisioningInstance
from schedgap.instances.provisioning.running import Running


@pytest.fixture(scope="session")
def make():
    """A maker of instances of one family: types {name: (price, capacity)}, tasks [(demand, count)], nodes [(type, counts)]."""

    def made(types, tasks, nodes=(), resources=("cpu", "memory_bytes", "pods"), **more):
        names = tuple(types)
        if nodes:
            contents = np.array([counts for _, counts in nodes])
            given = [f"node-{chr(ord('a') + e)}" if len(nodes) < 26 else f"node-{e:03}" for e in range(len(nodes))]
            more["running"] = Running.from_contents(given, [names.index(name) for name, _ in nodes], contents)
        return ProvisioningInstance(
            name="small-cluster",
            resources=resources,
            families=("any",),
            type_names=names,
            type2family=np.zeros(len(types), np.int64),
            capacity=[capacity for _, capacity in types.values()],
            price=[price for price, _ in types.values()],
            demand=[[demand for demand, _ in tasks]],
            counts=[count for _, count in tasks],
            **more,
        )

    return made


@pytest.fixture(scope="session")
def drawn():
    """A maker of random clusters: three types in two families, classes that may not run everywhere, nodes with tasks."""

    def made(seed, **more):
        rng = np.random.default_rng(seed)
        classes = 4
        demand = rng.integers(0, 5, (2, classes, 3)) * [250, 256, 1000]
        demand[1, rng.random(classes) < 0.4] = -1
        capacity = rng.integers(4, 12, (4, 3)) * [250, 256, 1000]
        capacity[0] = [2000, 2048, 8000]
        counts = rng.integers(1, 9, classes)
        nodes = rng.integers(0, 6)
        if nodes:
            # Some of these hold more than they have room for.
            content = rng.multinomial(int(counts.min()), np.full(nodes, 1 / nodes), classes).T
            names = [f"n{name}" for name in rng.permutation(nodes)]
            more["running"] = Running.from_contents(names, rng.integers(0, 4, nodes), content)
        return ProvisioningInstance(
            name=f"drawn-{seed}",
            resources=("cpu", "ram_mib", "gpu"),
            families=("x", "y"),
            type_names=("a", "b", "c", "d"),
            type2family=[0, 0, 1, 1],
            capacity=capacity,
            price=rng.integers(1, 30, 4),
            demand=demand,
            counts=counts,
            **more,
        )

    return made
