"""Tiny clusters with stocks, running machines and limits on disruption, and what the cheapest plan costs: by trying all."""

from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pytest

from schedgap.instances.provisioning import ONE_TASK, ProvisioningInstance, Running


def _tiny(seed, *, weighted=False):
    """At most 6 tasks of 3 classes, two or three types, some stock, up to three running machines, often little disruption.

    weighted : what tasks and machines count is drawn, too: halves, or far finer. Every class fits type 0. In half of them the
    others are a family that class 2 may not run on, even where it does.
    """
    rng = np.random.default_rng(seed)
    num_types = int(rng.integers(2, 4))
    capacity = rng.integers(3, 9, (num_types, 2)) * 1000
    num_families = 1 + seed % 2
    demand = rng.integers(0, 4, (num_families, 3, 2)) * 1000
    demand[1:, 2] = -1
    counts = rng.integers(1, 3, 3)
    capacity[0] = np.maximum(capacity[0], demand[0].max(axis=0))
    size = int(rng.integers(0, 4))
    types, left = rng.integers(0, num_types, size), counts.copy()
    content = np.zeros((size, 3), np.int64)
    for e in range(size):
        content[e] = rng.integers(0, left + 1)
        left -= content[e]
    used = np.bincount(types, minlength=num_types)
    stock = np.where(rng.random(num_types) < 0.5, used + rng.integers(0, 3, num_types), -1)
    more, most = {}, int(rng.integers(0, 4)) * ONE_TASK
    running = Running.from_contents([f"r{e}" for e in range(size)], types, content) if size else None
    if weighted and size:
        draw, fine = np.random.default_rng(seed), seed % 3 == 0
        weight, cost = (draw.integers(0, 5, n) * ONE_TASK // 2 + fine * draw.integers(0, 3, n) for n in (3, size))
        more, most = {"disruption": weight}, int(draw.integers(0, 9)) * ONE_TASK // 2 + fine
        running = replace(running, node_disruption=cost)
    return ProvisioningInstance(
        name=f"tiny-{seed}",
        resources=("cpu", "gpu"),
        families=("m", "n")[:num_families],
        type_names=tuple(f"t{k}" for k in range(num_types)),
        type2family=np.minimum(np.arange(num_types), num_families - 1),
        capacity=capacity,
        price=rng.integers(1, 9, num_types) * 100_000,
        demand=demand,
        counts=counts,
        stock=None if rng.random() < 0.3 else stock,
        running=running,
        max_disruption=most if size and rng.random() < 0.8 else None,
        **more,
    )


def _cheapest(instance):
    """Return the least cost of all plans, None if there is none: each task on each machine in turn.

    Machines that run may be kept without tasks, so that they do not count as disruption.
    """
    running = instance.running
    content = [] if running is None else running.contents(instance.num_classes).tolist()
    types = [] if running is None else running.machine_type.tolist()
    tasks = [(c, e) for e, row in enumerate(content) for c, n in enumerate(row) for _ in range(n)]
    placed = np.bincount([c for c, _ in tasks], minlength=instance.num_classes) if tasks else np.zeros(3, np.int64)
    tasks += [(c, None) for c in range(instance.num_classes) for _ in range(int(instance.counts[c] - placed[c]))]
    most = 10**18 if instance.max_disruption is None else instance.max_disruption
    weight, cost = instance.weight.tolist(), [0] * len(types)
    if running is not None and running.node_disruption is not None:
        cost = running.node_disruption.tolist()
    stock = [10**6] * instance.num_types if instance.stock is None else [n if n >= 0 else 10**6 for n in instance.stock]
    best = [None]

    def place(t, machines, moved, paid):
        if moved > most or (best[0] is not None and paid >= best[0]):
            return
        if t == len(tasks):
            idle = [e for e in range(len(types)) if e not in {origin for _, origin, _ in machines}]
            for stay in chain.from_iterable(combinations(idle, n) for n in range(len(idle) + 1)):
                used = np.bincount([k for k, _, _ in machines] + [types[e] for e in stay], minlength=len(stock))
                gone = sum(cost[e] for e in idle if e not in stay)
                if moved + gone <= most and (used <= stock).all():
                    total = paid + sum(int(instance.price[types[e]]) for e in stay)
                    best[0] = total if best[0] is None else min(best[0], total)
            return
        c, home = tasks[t]
        needs = instance.demand[instance.type2family, c]
        may_run = needs[:, 0] >= 0
        for m, (k, origin, rest) in enumerate(machines):
            if may_run[k] and (needs[k] <= rest).all():
                away = home is not None and origin != home
                more = moved + away * weight[c]
                place(t + 1, [*machines[:m], (k, origin, rest - needs[k]), *machines[m + 1 :]], more, paid)
        kept = {origin for _, origin, _ in machines}
        offers = [(k, e) for e, k in enumerate(types) if e not in kept] + [(k, None) for k in range(instance.num_types)]
        for k, origin in offers:
            if (
                sum(each[0] == k for each in machines) < stock[k]
                and may_run[k]
                and (needs[k] <= instance.capacity[k]).all()
            ):
                away = home is not None and origin != home
                fresh = (k, origin, instance.capacity[k] - needs[k])
                place(t + 1, [*machines, fresh], moved + away * weight[c], paid + int(instance.price[k]))

    place(0, [], 0, 0)
    return best[0]


@pytest.fixture
def tiny():
    return _tiny


@pytest.fixture
def cheapest():
    return _cheapest
