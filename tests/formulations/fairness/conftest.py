"""Small random fairness instances of every kind there is: few users and classes, many ties; and the ends of the format."""

import numpy as np
import pytest

import schedgap.formulations.fairness.fair_point  # noqa: F401 - finds the fair point that others are measured against
from schedgap.instances.fairness import NOTIONS, UNLIMITED, FairnessInstance


@pytest.fixture(scope="session")
def small_instance():
    """Return a function from a seed to an instance; `users`, `resources` and so on fix what is otherwise drawn."""

    def make(seed, *, users=None, classes=None, resources=None, machine_only=None, notion=None, limited=None):
        rng = np.random.default_rng(seed)
        users = users or int(rng.integers(1, 7))
        classes = classes or int(rng.integers(1, 6))
        resources = resources or int(rng.integers(1, 4))
        machine_only = bool(rng.integers(2)) if machine_only is None else machine_only
        limited = bool(rng.integers(2)) if limited is None else limited
        notion = notion or NOTIONS[int(rng.integers(4))]
        capacity = rng.integers(1, 17, (classes, resources)) * 1000
        # Some classes lack a resource, and some users do not need it.
        capacity[:, 1:] *= rng.random((classes, resources - 1)) < 0.9
        demand = rng.integers(0, 5, (users, resources)) * 500
        demand[:, 0] = np.maximum(demand[:, 0], 500)
        performance = rng.integers(0, 7, (1 if machine_only else users, classes)) * 500 + np.zeros((users, 1), int)
        allowed = rng.random((users, classes)) < 0.6
        # Each user has a class that serves it, and is large enough for a task.
        home = rng.integers(0, classes, users)
        everyone = np.arange(users)
        allowed[everyone, home] = True
        performance[:, home] = np.maximum(performance[:, home], 500)
        np.maximum.at(capacity, home, demand)
        tasks = np.full(users, UNLIMITED)
        if limited:
            some = rng.random(users) < 0.6
            tasks[some] = rng.integers(1, 15, int(some.sum()))
        return FairnessInstance(
            name=f"small-{seed}",
            notion=notion,
            resources=("cpu", "gpu", "disk")[:resources],
            machine_names=tuple(f"class-{k}" for k in range(classes)),
            machine_count=rng.integers(1, 6, classes),
            capacity=capacity,
            demand=demand,
            weight=rng.integers(1, 4, users) * 1000 if rng.random() < 0.4 else np.full(users, 1000),
            performance=performance,
            allowed=allowed,
            tasks=tasks,
        )

    return make


@pytest.fixture
def two_levels():
    """Two users of one core a task, and two classes: one machine of 2 cores for both, one of 6 for user 1 alone.

    Alone and unconstrained both would run 8 tasks. User 0 can have the 2 cores, a share of 1/4; user 1 then has 6/8.
    """
    return FairnessInstance(
        name="two-levels",
        notion="eunomia",
        resources=("cpu",),
        machine_names=("both", "one"),
        machine_count=[1, 1],
        capacity=[[2000], [6000]],
        demand=[[1000], [1000]],
        weight=[1000, 1000],
        performance=[[1000, 1000], [1000, 1000]],
        allowed=np.array([[True, False], [True, True]]),
        tasks=[UNLIMITED, UNLIMITED],
    )


@pytest.fixture(scope="session")
def spread_instance():
    """Return a function from seed, users, classes, resources and digits to ordinary users whose performance spans these."""
    return _spread


@pytest.fixture(scope="session")
def nasty_instance():
    """Return a function from a seed to an instance at some end of what the format admits."""
    return _drawn


def _spread(seed, users, classes, resources, digits):
    """Return ordinary users whose performance spans so many digits."""
    rng = np.random.default_rng(seed)
    allowed = rng.random((users, classes)) < 0.7
    allowed[np.arange(users), rng.integers(0, classes, users)] = True
    return FairnessInstance(
        name=f"spread-{digits}-{seed}",
        notion="eunomia",
        resources=("cpu", "ram")[:resources],
        machine_names=tuple(f"k{k}" for k in range(classes)),
        machine_count=rng.integers(1, 6, classes),
        capacity=rng.integers(8, 65, (classes, resources)) * 1000,
        demand=rng.choice([500, 1000, 2000, 4000], (users, resources)),
        weight=np.full(users, 1000),
        performance=np.rint(10 ** rng.uniform(0, digits, (users, classes))).astype(np.int64),
        allowed=allowed,
        tasks=np.full(users, UNLIMITED),
    )


def _drawn(seed):
    """Return a small instance: of a wide spread, ties, largest numbers, smallest ones, weights far apart, or many zeros."""
    rng = np.random.default_rng(seed)
    n, k, r = (int(rng.choice(sizes)) for sizes in ((1, 2, 3, 5, 8), (1, 2, 3, 4), (1, 2, 3)))
    kind = ("spread", "ties", "largest", "smallest", "weights", "zeros")[int(rng.integers(6))]

    def upto(shape, low, high):
        """Return whole numbers, evenly spread in bits."""
        return np.rint(2.0 ** rng.uniform(low, high, shape)).astype(np.int64)

    count = rng.integers(1, 6, k)
    capacity = rng.integers(1, 65, (k, r)) * 1000
    demand = rng.choice([0, 500, 1000, 2000, 4000], (n, r))
    performance, weight = rng.choice([0, 500, 1000, 2000], (n, k)), np.full(n, 1000)
    if kind == "spread":
        performance = upto((n, k), 0, int(rng.integers(5, 41)))
    elif kind == "largest":
        capacity, demand = upto((k, r), 34, 40), upto((n, r), 28, 33)
        performance, weight = upto((n, k), 0, 40), upto(n, 0, 40)
    elif kind == "smallest":
        capacity, demand = rng.integers(1, 4, (k, r)), rng.integers(0, 3, (n, r))
        performance, weight = rng.integers(0, 3, (n, k)), rng.integers(1, 4, n)
    elif kind == "weights":
        weight = upto(n, 0, 40)
    elif kind == "zeros":
        capacity, performance = capacity * (rng.random((k, r)) < 0.7), performance * (rng.random((n, k)) < 0.6)
    if rng.random() < 0.3:
        performance = np.repeat(performance[:1], n, axis=0)
    demand[:, 0] = np.maximum(demand[:, 0], 1)
    allowed = rng.random((n, k)) < rng.choice([0.3, 0.7, 1.0])
    everyone, home = np.arange(n), rng.integers(0, k, n)
    allowed[everyone, home] = True
    performance[everyone, home] = np.maximum(performance[everyone, home], 1)
    np.maximum.at(capacity, home, demand)
    tasks, limits = np.full(n, UNLIMITED), rng.random()
    if limits < 0.4:
        tasks = np.where(rng.random(n) < 0.6, rng.integers(1, 40, n), UNLIMITED)
    elif limits < 0.5:
        tasks = upto(n, 0, 62)
    return FairnessInstance(
        name=f"{kind}-{seed}",
        notion=NOTIONS[int(rng.integers(4))],
        resources=("cpu", "ram", "disk")[:r],
        machine_names=tuple(f"k{j}" for j in range(k)),
        machine_count=count,
        capacity=capacity,
        demand=demand,
        weight=weight,
        performance=performance,
        allowed=allowed,
        tasks=tasks,
    )
