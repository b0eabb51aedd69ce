"""Nasty instances, with sizes and prices up to the format's end, against a dynamic program in Python's integers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import REGISTRY, Status
from schedgap.instances.provisioning import ProvisioningInstance, verify

load_methods(["provisioning"])
METHODS = [m for (family, _), m in sorted(REGISTRY.items()) if family == "provisioning"]
# Sizes that files may have, and prices in micro-dollars.
END = 2**53 - 1
BITS = (3, 6, 10, 20, 30, 45, 52)


def nasty(seed):
    """Draw up to 7 tasks with zero demands, exact fits, equal types and numbers of all sizes; None where none comes out."""
    rng = np.random.default_rng([7, seed])
    types, classes, resources = (int(rng.integers(1, most)) for most in (7, 5, 5))
    families = np.unique(np.sort(rng.integers(0, rng.integers(1, 4), types)), return_inverse=True)[1]
    bits = int(rng.choice(BITS))
    capacity = rng.integers(0, 2**bits, (types, resources))
    if rng.random() < 0.3:
        capacity = capacity // 2 ** (bits // 2) * 2 ** (bits // 2)
    if bits == 52 and rng.random() < 0.5:
        capacity = END - rng.integers(0, 3, (types, resources))
    capacity[~capacity.any(axis=1), 0] = 1
    price = [
        lambda: rng.integers(1, 31, types) * 100_000,
        lambda: rng.integers(1, 4, types),
        lambda: rng.integers(1, 2 ** int(rng.integers(1, 53)), types) + 1,
        lambda: 10**15 - rng.integers(0, 1000, types),
        lambda: np.where(rng.random(types) < 0.5, rng.integers(1, 10, types), END - rng.integers(0, 9, types)),
        lambda: rng.integers(1, 5, types) * 2 ** rng.integers(0, 49, types),
    ][int(rng.integers(6))]()
    if rng.random() < 0.2:
        capacity[-1], price[-1] = capacity[0], price[0]
    demand = np.empty((int(families.max()) + 1, classes, resources), np.int64)
    for f, c in itertools.product(range(demand.shape[0]), range(classes)):
        has = capacity[rng.choice(np.flatnonzero(families == f))]
        needs = [
            lambda has=has: has - rng.integers(0, 2, resources),
            lambda has=has: has // rng.integers(1, 4, resources) + rng.integers(-1, 2, resources),
            lambda has=has: has // int(rng.integers(1, 5)),
            lambda has=has: np.zeros_like(has),
            lambda has=has: (has * rng.random(resources)).astype(np.int64),
        ][int(rng.integers(5))]()
        demand[f, c] = np.where(rng.random(resources) < 0.2, 0, np.clip(needs, 0, has))
    counts = rng.integers(1, 4, classes) if rng.random() < 0.6 else np.ones(classes, np.int64)
    fields = {}
    if rng.random() < 0.2:
        fields = {
            "workloads": ("v", "w"),
            "class2workload": rng.integers(-1, 2, classes),
            "throughput": rng.integers(0, 1001, (2, 2)),
        }
    while counts.sum() > 7:
        counts[np.argmax(counts)] -= 1
    try:
        return ProvisioningInstance(
            name=f"nasty-{seed}",
            resources=tuple(f"r{r}_mib" for r in range(resources)),
            families=tuple(f"f{f}" for f in range(demand.shape[0])),
            type_names=tuple(f"t{k}" for k in range(types)),
            type2family=families,
            capacity=capacity,
            price=price,
            demand=demand,
            counts=counts,
            **fields,
        )
    except InstanceError:
        return None


def lost(instance, content):
    """What one machine loses to interference, exactly."""
    if instance.throughput is None:
        return 0
    tasks = [(c, int(instance.class2workload[c])) for c, n in enumerate(content) for _ in range(n)]
    tasks = [(c, w) for c, w in tasks if w >= 0]
    total = Fraction(0)
    for i, (c, w) in enumerate(tasks):
        factor = Fraction(1)
        for j, (_, other) in enumerate(tasks):
            factor *= 1 if i == j else Fraction(int(instance.throughput[w, other]), 1000)
        total += int(instance.job_value[c]) * (1 - factor)
    return -(-total.numerator // total.denominator)


def least_cost(instance):
    """Return the optimum, over all ways to part the tasks, the tasks of a class being alike."""
    demand, capacity, price = instance.demand.tolist(), instance.capacity.tolist(), instance.price.tolist()
    contents = list(itertools.product(*(range(n + 1) for n in instance.counts.tolist())))
    alone = {}
    for content in contents[1:]:
        held = [c for c, n in enumerate(content) if n]
        prices = []
        for k, f in enumerate(instance.type2family.tolist()):
            needs = [sum(content[c] * demand[f][c][r] for c in held) for r in range(len(capacity[k]))]
            may_run = all(demand[f][c][0] >= 0 for c in held)
            if may_run and all(need <= has for need, has in zip(needs, capacity[k], strict=True)):
                prices.append(price[k])
        if prices:
            alone[content] = min(prices) + lost(instance, content)
    best = {contents[0]: 0}
    for content in contents[1:]:
        first = next(c for c, n in enumerate(content) if n)
        # The machine of some task of the first class, and the best for what is left.
        parts = [
            cost + best[rest]
            for part, cost in alone.items()
            if part[first] and min(rest := tuple(a - b for a, b in zip(content, part, strict=True))) >= 0
        ]
        best[content] = min(parts)
    return best[contents[-1]]


def test_the_dynamic_program_by_hand(paper_example):
    # Table 3: tau1, tau2, tau4 on it1 for $12, tau3 on it3 for $0.8.
    assert least_cost(paper_example) == 12_800_000


@pytest.mark.parametrize("seeds", [range(i, i + 12) for i in range(0, 60, 12)], ids=str)
def test_no_method_claims_what_is_false(seeds):
    for instance in filter(None, map(nasty, seeds)):
        best = least_cost(instance)
        for method in METHODS:
            outcome = method.run(instance, time_limit_s=2.0, parameters=_short(method))
            where = f"{instance.name} {method.name}"
            cost = None if outcome.solution is None else verify(instance, outcome.solution)
            assert cost is None or cost >= best, where
            assert outcome.bound is None or outcome.bound <= best, where
            assert all(point.bound is None or point.bound <= best for point in outcome.trajectory), where
            assert all(point.objective is None or point.objective >= best for point in outcome.trajectory), where
            assert outcome.claimed_status is not Status.INFEASIBLE, where
            assert outcome.claimed_status is not Status.OPTIMAL or cost == outcome.bound == best, where
            if outcome.claimed_status is Status.UNSUPPORTED:
                assert outcome.details["reason"], where


def _short(method):
    """Local searches end after one turn without gain."""
    return {"patience": 1} if "patience" in method.parameters else {}
