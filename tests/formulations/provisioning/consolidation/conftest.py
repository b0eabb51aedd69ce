"""Tiny clusters with stocks, running machines and limits on moves, and what the cheapest plan costs: by trying all."""

import numpy as np
import pytest

from schedgap.instances.provisioning import ProvisioningInstance, Running


def _tiny(seed):
    """At most 6 tasks of 3 classes, two or three types, some stock, up to three running machines, often few moves.

    Every class fits type 0. In half of them the others are a family that class 2 may not run on, even where it does.
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
        running=Running.from_contents([f"r{e}" for e in range(size)], types, content) if size else None,
        max_moves=int(rng.integers(0, 4)) if size and rng.random() < 0.8 else None,
    )


def _cheapest(instance):
    """Return the least cost of all plans, None if there is none: each task on each machine in turn."""
    running = instance.running
    content = [] if running is None else running.contents(instance.num_classes).tolist()
    types = [] if running is None else running.machine_type.tolist()
    tasks = [(c, e) for e, row in enumerate(content) for c, n in enumerate(row) for _ in range(n)]
    placed = np.bincount([c for c, _ in tasks], minlength=instance.num_classes) if tasks else np.zeros(3, np.int64)
    tasks += [(c, None) for c in range(instance.num_classes) for _ in range(int(instance.counts[c] - placed[c]))]
    most = len(tasks) if instance.max_moves is None else instance.max_moves
    stock = [10**6] * instance.num_types if instance.stock is None else [n if n >= 0 else 10**6 for n in instance.stock]
    best = [None]

    def place(t, machines, moved, paid):
        if moved > most or (best[0] is not None and paid >= best[0]):
            return
        if t == len(tasks):
            best[0] = paid
            return
        c, home = tasks[t]
        needs = instance.demand[instance.type2family, c]
        may_run = needs[:, 0] >= 0
        for m, (k, origin, rest) in enumerate(machines):
            if may_run[k] and (needs[k] <= rest).all():
                away = home is not None and origin != home
                place(t + 1, [*machines[:m], (k, origin, rest - needs[k]), *machines[m + 1 :]], moved + away, paid)
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
                place(t + 1, [*machines, fresh], moved + away, paid + int(instance.price[k]))

    place(0, [], 0, 0)
    return best[0]


@pytest.fixture
def tiny():
    return _tiny


@pytest.fixture
def cheapest():
    return _cheapest
