"""Every method that takes limits on how many tasks of a class share a machine, against an exact program that is all its own."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import REGISTRY
from schedgap.instances.provisioning import ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE
from schedgap.instances.provisioning.verify import verify

load_methods(["provisioning"])
METHODS = {
    name: method
    for (family, name), method in sorted(REGISTRY.items())
    if family == "provisioning" and method.is_shipped and PER_MACHINE in method.handles
}
SEEDS = 8


def optimum(instance):
    """Try every content of the machine of the first task that is left."""
    limits = np.full(instance.num_classes, -1) if instance.per_machine is None else instance.per_machine
    most = [count if limit < 0 else min(count, limit) for count, limit in zip(instance.counts, limits, strict=True)]
    contents = []
    for k, price in enumerate(instance.price.tolist()):
        demand = instance.demand[instance.type2family[k]]
        ranges = [range(n + 1 if row[0] >= 0 else 1) for n, row in zip(most, demand, strict=True)]
        for content in product(*ranges):
            if any(content) and (np.array(content) @ np.maximum(demand, 0) <= instance.capacity[k]).all():
                contents.append((price, content))

    @cache
    def least(left):
        if not any(left):
            return 0
        first = next(c for c, number in enumerate(left) if number)
        return min(
            price + least(tuple(n - x for n, x in zip(left, content, strict=True)))
            for price, content in contents
            if content[first] and all(x <= n for x, n in zip(content, left, strict=True))
        )

    return least(tuple(instance.counts.tolist()))


def drawn(seed):
    """At most 8 tasks of at most 3 classes on at most 3 types of at most 2 families; most classes are limited."""
    rng = np.random.default_rng(seed)
    while True:
        resources, families, classes = (int(rng.integers(1, 3)) for _ in range(3))
        classes += int(rng.integers(0, 2))
        types = int(rng.integers(families, 4))
        demand = np.repeat(rng.integers(0, 5, (1, classes, resources)), families, axis=0)
        demand[rng.random((families, classes)) < 0.2] = -1
        counts = rng.integers(1, 5, classes)
        while counts.sum() > 8:
            counts = np.maximum(counts - 1, 1)
        try:
            return ProvisioningInstance(
                name=f"drawn-{seed}",
                resources=tuple(f"r{r}" for r in range(resources)),
                families=tuple(f"f{f}" for f in range(families)),
                type_names=tuple(f"t{k}" for k in range(types)),
                type2family=np.sort(np.append(np.arange(families), rng.integers(0, families, types - families))),
                capacity=rng.integers(3, 12, (types, resources)),
                price=rng.integers(2, 15, types),
                demand=demand,
                counts=counts,
                per_machine=np.where(rng.random(classes) < 0.8, rng.integers(1, 3, classes), -1),
            )
        except InstanceError:
            # Some class fits nowhere.
            continue


@cache
def instances():
    made = [drawn(seed) for seed in range(SEEDS)]
    return [(instance, optimum(instance)) for instance in made]


def with_own_resources(instance):
    """The instance in which a limited class has a resource of its own, of which each machine has so many units."""
    limited = np.flatnonzero(instance.per_machine != -1)
    more = np.repeat((np.arange(instance.num_classes)[:, None] == limited)[None], len(instance.families), axis=0)
    return instance.replace(
        resources=(*instance.resources, *(f"own-{c}" for c in limited)),
        capacity=np.hstack((instance.capacity, np.tile(instance.per_machine[limited], (instance.num_types, 1)))),
        demand=np.concatenate((instance.demand, np.where(instance.demand[:, :, :1] < 0, -1, more)), axis=2),
        per_machine=None,
    )


def test_limits_cost_something_and_are_those_of_own_resources():
    assert any(optimum(instance.replace(per_machine=None)) < best for instance, best in instances())
    assert [optimum(with_own_resources(each)) for each, _ in instances() if each.per_machine is not None] == [
        best for each, best in instances() if each.per_machine is not None
    ]


@pytest.mark.parametrize("name", METHODS)
def test_bound_and_solution_keep_to_limits(name):
    method = METHODS[name]
    for instance, best in instances():
        if method.supports(instance) is not None:
            continue
        found = method.run(instance, time_limit_s=10.0)
        if found.bound is not None:
            assert found.bound <= best
        if found.solution is not None:
            assert verify(instance, found.solution) >= best
        if method.exact:
            assert verify(instance, found.solution) == found.bound == best
        elif not method.bounds:
            assert found.solution is not None


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.exact])
def test_a_limit_is_as_good_as_a_resource_of_its_own(name):
    for instance, best in instances()[:3]:
        if instance.per_machine is not None:
            assert METHODS[name].run(with_own_resources(instance), time_limit_s=10.0).bound == best


def test_the_resource_bound_is_that_of_the_resource_or_better():
    for name in ("bound-resource", "bound-resource-prices", "bound-assignment-lp", "bound-type-prices"):
        for instance, _ in instances():
            if instance.per_machine is not None:
                known = METHODS[name].run(with_own_resources(instance), time_limit_s=10.0).bound
                assert METHODS[name].run(instance, time_limit_s=10.0).bound >= known


def test_others_refuse_such_instances():
    instance = instances()[0][0]
    others = [m for (f, n), m in REGISTRY.items() if f == "provisioning" and m.is_shipped and n not in METHODS]
    for method in others:
        assert "per_machine" in str(method.supports(instance)) or method.supports(instance) is not None
