"""Small random fairness instances of every kind there is: few users and classes, many ties."""

import numpy as np
import pytest

import schedgap.formulations.fairness.water_filling  # noqa: F401 - finds the fair point that others are measured against
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
