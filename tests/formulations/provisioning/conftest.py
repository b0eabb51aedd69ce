"""Provisioning by trying everything: slow, and too simple to be wrong."""

import itertools

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import ProvisioningInstance
from schedgap.instances.provisioning.verify import lost_value


def partitions(items):
    """Yield every way to cut a list into non-empty groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for groups in partitions(rest):
        yield [[first], *groups]
        for i in range(len(groups)):
            yield [*groups[:i], [first, *groups[i]], *groups[i + 1 :]]


def cheapest(instance, group):
    """Return the least price plus loss of one machine that holds the classes in `group`, or None if no type does."""
    prices = []
    for k in range(instance.num_types):
        demand = instance.demand[instance.type2family[k], group]
        if (demand >= 0).all() and (demand.sum(axis=0) <= instance.capacity[k]).all():
            prices.append(int(instance.price[k]))
    if not prices:
        return None
    classes, counts = np.unique(group, return_counts=True)
    return min(prices) + lost_value(instance, classes.tolist(), counts.tolist())


def optimum(instance):
    """Return the optimal objective in micro-dollars per hour."""
    best = None
    for groups in partitions(instance.task_classes().tolist()):
        costs = [cheapest(instance, group) for group in groups]
        if None not in costs and (best is None or sum(costs) < best):
            best = sum(costs)
    return best


def random_instance(seed, interference=False):
    """Draw up to six tasks of up to three classes, two families of two types, demands that depend on the family.

    Class 1 may not run on family y. Prices are multiples of a cent, so that they have a common divisor.
    """
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 6, (2, 3, 2)) * 1000
    demand[1, 1] = -1
    capacity = rng.integers(3, 12, (4, 2)) * 1000
    capacity[1] = np.maximum(capacity[1], demand[0].max(axis=0))
    fields = {}
    if interference:
        fields = {
            "workloads": ("v", "w"),
            "class2workload": rng.integers(-1, 2, 3),
            "throughput": rng.integers(600, 1001, (2, 2)),
            "tasks_per_job": rng.integers(1, 3, 3),
        }
    return ProvisioningInstance(
        name=f"random-{seed}",
        resources=("cpu", "gpu"),
        families=("x", "y"),
        type_names=("x1", "x2", "y1", "y2"),
        type2family=[0, 0, 1, 1],
        capacity=capacity,
        price=rng.integers(10, 200, 4) * 10_000,
        demand=demand,
        counts=rng.integers(1, 3, 3),
        **fields,
    )


def varied_instance(seed):
    """Draw an awkward instance: up to 35 tasks of up to five classes, up to three families and three resources.

    Some classes need nothing or may not run somewhere; capacities need not be multiples of demands; prices are coarse,
    equal, tiny, or have no common divisor.
    """
    rng = np.random.default_rng(seed)
    while True:
        num_resources, num_families, num_classes = (int(rng.integers(1, n)) for n in (4, 4, 6))
        num_types = int(num_families + rng.integers(0, 4))
        family = np.concatenate((np.arange(num_families), rng.integers(0, num_families, num_types - num_families)))
        unit = int(rng.choice([1, 1000, 7]))
        demand = rng.integers(0, 7, (num_families, num_classes, num_resources)) * unit
        if rng.random() < 0.3:
            demand[:, :] = demand[0]
        if rng.random() < 0.3:
            demand[:, rng.integers(0, num_classes)] = 0
        if rng.random() < 0.5:
            demand[rng.integers(0, num_families), rng.integers(0, num_classes)] = -1
        shape = (num_types, num_resources)
        capacity = rng.integers(0, 14, shape) * unit + rng.integers(0, unit, shape)
        capacity[:, 0] = np.maximum(capacity[:, 0], 1)
        prices = (
            rng.integers(10, 200, num_types) * 10_000,
            np.full(num_types, 5_000_000),
            rng.integers(1, 4, num_types) * 1_000_000,
            rng.integers(100_000, 9_999_999, num_types),
            rng.integers(1, 9, num_types),
        )
        price = prices[int(rng.integers(0, 5))]
        counts = rng.integers(1, 8, num_classes)
        try:
            return ProvisioningInstance(
                name=f"varied-{seed}",
                resources=tuple("abc"[:num_resources]),
                families=tuple(f"f{i}" for i in range(num_families)),
                type_names=tuple(f"t{i}" for i in range(num_types)),
                type2family=family,
                capacity=capacity,
                price=price,
                demand=demand,
                counts=counts,
            )
        except InstanceError:
            # A class fits nowhere: draw again.
            continue


def shapes(instance):
    """Return all contents of machines as (type, counts per class), by trying all."""
    ranges = [range(n + 1) for n in instance.counts]
    for k, content in itertools.product(range(instance.num_types), itertools.product(*ranges)):
        demand = instance.demand[instance.type2family[k]]
        content = np.array(content)
        if content.sum() and (demand[content > 0] >= 0).all() and (content @ demand <= instance.capacity[k]).all():
            yield k, content


@pytest.fixture(name="optimum", scope="session")
def optimum_fixture():
    """Return the function that finds an optimal objective by brute force."""
    return optimum


@pytest.fixture(name="random_instance", scope="session")
def random_instance_fixture():
    """Return the function that draws a tiny instance."""
    return random_instance


@pytest.fixture(name="shapes", scope="session")
def shapes_fixture():
    """Return the function that lists all contents of machines."""
    return shapes


@pytest.fixture(name="varied_instance", scope="session")
def varied_instance_fixture():
    """Return the function that draws an awkward instance."""
    return varied_instance


@pytest.fixture(scope="session")
def snapshot():
    """Make an instance whose names do not matter, its types of one family unless told otherwise.

    `snapshot([[3000]], [1_000_000], [[[2000]]], [3])` has machines of three cores for $1 and three tasks of two cores.
    """

    def snapshot(capacity, price, demand, counts, type2family=None):
        return ProvisioningInstance(
            name="snapshot",
            resources=tuple(f"r{r}" for r in range(len(capacity[0]))),
            families=tuple(f"f{f}" for f in range(len(demand))),
            type_names=tuple(f"t{k}" for k in range(len(price))),
            type2family=[0] * len(price) if type2family is None else type2family,
            capacity=capacity,
            price=price,
            demand=demand,
            counts=counts,
        )

    return snapshot
