"""Generators of fairness instances: worked examples of the paper, and seeded random ones.

The worked examples of Eunomia (Zhou et al.): its introduction's Alice and Bob, and its micro-benchmark.

Seeded random fairness instances: users constrained to some machine classes, with speeds of their own or not.

Only uniform draws of `numpy.random.Generator(PCG64)` are used, whose stream is the same everywhere, and all of them
whatever the options are: instances of one seed differ in nothing but what the options say.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness.model import ONE, UNLIMITED, FairnessInstance
from schedgap.instances.method import derived_seed
from schedgap.instances.units import GIB_MIB


def alice_bob(*, notion: str = "eunomia") -> FairnessInstance:
    """Return Figure 1's three machines of two CPUs, the third twice as fast; Alice may use the first two, Bob the last two."""
    return FairnessInstance(
        name=_named("alice-bob", notion),
        notion=notion,
        resources=("cpu", "ram_gib"),
        machine_names=("machine-1", "machine-2", "machine-3"),
        machine_count=np.ones(3, np.int64),
        capacity=np.tile([2 * ONE, 2 * GIB_MIB], (3, 1)),
        demand=np.tile([ONE, GIB_MIB], (2, 1)),
        weight=np.full(2, ONE),
        performance=np.tile([ONE, ONE, 2 * ONE], (2, 1)),
        allowed=np.array([[True, True, False], [False, True, True]]),
        tasks=np.full(2, UNLIMITED),
        user_names=("alice", "bob"),
    )


def micro(*, lie: bool = True, notion: str = "eunomia") -> FairnessInstance:
    """Return Tables III and IV at one moment: four types of five nodes, four jobs that have more tasks than fit.

    lie : job 4 asks for type-4 nodes alone, the fastest, as in the paper; otherwise for all of them.
    """
    allowed = np.ones((4, 4), np.bool_)
    allowed[3] = [not lie, not lie, not lie, True]
    return FairnessInstance(
        name=_named("micro" if lie else "micro-honest", notion),
        notion=notion,
        resources=("cpu", "ram_gib"),
        machine_names=("type-1", "type-2", "type-3", "type-4"),
        machine_count=np.full(4, 5),
        capacity=np.tile([4 * ONE, 4 * GIB_MIB], (4, 1)),
        demand=np.tile([ONE, GIB_MIB], (4, 1)),
        weight=np.full(4, ONE),
        performance=np.tile([1000, 1500, 2000, 3000], (4, 1)),
        allowed=allowed,
        tasks=np.full(4, UNLIMITED),
        user_names=("job-1", "job-2", "job-3", "job-4"),
    )


def _named(name: str, notion: str) -> str:
    """Return the name of an instance: the notion is the paper's unless it says another."""
    return name if notion == "eunomia" else f"{name}-{notion}"


Kind = Literal["mixed", "interval"]
Speeds = Literal["machine", "user"]
Weights = Literal["equal", "random"]

# As many jobs can run on any node (Eunomia, section IV-C), whose speeds are 1.0, 1.25, ..., 3.25.
ANYWHERE_SHARE = 0.18
SPEEDS = np.arange(1000, 3251, 250)
RESOURCES = ("cpu", "ram_gib")
MAX_RESOURCES = 8
CORES = np.array([8, 16, 32, 64])
# Memory, and anything beyond, of a machine: so many units a core. Of a task: so many units.
PER_CORE = np.array([2, 4, 8])
TASK_CORES, TASK_CORES_SHARE = np.array([500, 1000, 2000, 4000]), np.array([0.45, 0.40, 0.12, 0.03])
TASK_HALVES, TASK_HALVES_SHARE = np.array([1, 2, 4, 8, 16]), np.array([0.3, 0.3, 0.2, 0.15, 0.05])
# Finite numbers of tasks: lognormal about what would be each user's part if everybody could run anywhere.
TASKS_SIGMA = 1.1


def random_users(
    users: int = 100,
    *,
    classes: int = 10,
    machines: int = 100,
    resources: int = 2,
    kind: Kind = "mixed",
    speeds: Speeds = "user",
    weights: Weights = "equal",
    limited: bool = False,
    load: float = 1.5,
    pooled: bool = False,
    notion: str = "eunomia",
    seed: int = 0,
) -> FairnessInstance:
    """Draw users with demands of 0.5 to 4 cores and constraints of one of two kinds.

    machines : in total, split at random over the classes. resources : 1 for cores alone, 2 with memory, up to 8.
    kind : `mixed`, 18 % of the users may run anywhere and each other one on a random subset of the classes; `interval`,
        each on a few neighbouring classes, on the first of which more users crowd than on the last: many levels.
    speeds : `machine`, the same for all users, 1.0 to 3.25; `user`, times a factor 0.5 to 1.5 for each user and class.
    weights : `random` for 1 to 4. limited : users have finite numbers of tasks, `load` times what fits on average.
    pooled : all machines are one, of speed 1 and open to everybody: the setting of plain DRF.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    _check(users, classes, machines, resources, load, {"kind": kind, "speeds": speeds, "weights": weights})
    parts = [f"random-{users}-{classes}-{machines}-{resources}", "pooled" if pooled else f"{kind}-{speeds}"]
    parts += [f"{weights}-weights"] * (weights != "equal") + [f"load{load:g}"] * limited
    parts += [notion] * (notion != "eunomia") + [f"s{seed}"]
    rng = np.random.Generator(np.random.PCG64(derived_seed("fairness", "random-users", users, classes, machines, seed)))
    count = 1 + np.bincount(rng.integers(0, classes, machines - classes), minlength=classes)
    capacity = _capacity(rng, classes)
    speed, factor = SPEEDS[rng.integers(0, SPEEDS.shape[0], classes)], rng.integers(500, 1501, (users, classes))
    demand = _demand(rng, users)
    allowed_mixed, allowed_interval = _mixed(rng, users, classes), _interval(rng, users, classes)
    weight, spread = rng.integers(1, 5, users) * ONE, _lognormal(rng, users)
    if pooled:
        capacity, count = (count @ capacity)[None, :], np.ones(1, np.int64)
        performance, allowed = np.full((users, 1), ONE), np.ones((users, 1), np.bool_)
    else:
        performance = np.tile(speed, (users, 1)) if speeds == "machine" else speed * factor // ONE
        allowed = allowed_mixed if kind == "mixed" else allowed_interval
    instance = FairnessInstance(
        name="-".join(parts),
        notion=notion,
        resources=(*RESOURCES, *(f"resource-{r}" for r in range(len(RESOURCES), MAX_RESOURCES)))[:resources],
        machine_names=tuple(f"class-{k}" for k in range(count.shape[0])),
        machine_count=count,
        capacity=capacity[:, :resources],
        demand=demand[:, :resources],
        weight=weight if weights == "random" else np.full(users, ONE),
        performance=performance,
        allowed=allowed,
        tasks=np.full(users, UNLIMITED),
    )
    return _limited(instance, load, spread) if limited else instance


def _limited(instance: FairnessInstance, load: float, spread: FloatArray) -> FairnessInstance:
    """Give each user `load` times what would be its part of all tasks that fit, spread about that."""
    part = (instance.fitting() * instance.machine_count).sum(axis=1) / instance.num_users
    return instance.replace(tasks=np.maximum(1, np.rint(load * part * spread)).astype(np.int64))


def _capacity(rng: np.random.Generator, classes: int) -> IntArray:
    """(K, 8) int64: cores, then what there is of the other resources a core."""
    cores = CORES[rng.integers(0, CORES.shape[0], classes)]
    per_core = PER_CORE[rng.integers(0, PER_CORE.shape[0], (classes, MAX_RESOURCES))]
    capacity: IntArray = cores[:, None] * per_core * _scales()
    capacity[:, 0] = cores * ONE
    return capacity


def _demand(rng: np.random.Generator, users: int) -> IntArray:
    """(N, 8) int64: cores, then 0.5 to 8 of the other resources."""
    halves = _chosen(rng.random((users, MAX_RESOURCES)), TASK_HALVES, TASK_HALVES_SHARE)
    demand: IntArray = halves * (_scales() // 2)
    demand[:, 0] = _chosen(rng.random(users), TASK_CORES, TASK_CORES_SHARE)
    return demand


def _scales() -> IntArray:
    return np.array([ONE, 1024, *[ONE] * (MAX_RESOURCES - 2)])


def _mixed(rng: np.random.Generator, users: int, classes: int) -> BoolArray:
    """(N, K) bool: everywhere, or on a random subset of a random size."""
    anywhere = rng.random(users) < ANYWHERE_SHARE
    size = rng.integers(1, max(classes, 2), users)
    order = np.argsort(rng.random((users, classes)), axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return anywhere[:, None] | (rank < size[:, None])


def _interval(rng: np.random.Generator, users: int, classes: int) -> BoolArray:
    """(N, K) bool: one class to a quarter of them, side by side; a square of a uniform number says where they begin."""
    width = rng.integers(1, max(classes // 4, 1) + 1, users)
    first = np.floor(rng.random(users) ** 2 * (classes - width + 1)).astype(np.int64)
    k = np.arange(classes)
    return (k >= first[:, None]) & (k < (first + width)[:, None])


def _lognormal(rng: np.random.Generator, users: int) -> FloatArray:
    """(N,) float64 of mean 1, by Box and Muller's transform."""
    radius, angle = np.sqrt(-2 * np.log1p(-rng.random(users))), 2 * np.pi * rng.random(users)
    values: FloatArray = np.exp(TASKS_SIGMA * radius * np.cos(angle) - TASKS_SIGMA**2 / 2)
    return values


def _chosen(uniform: FloatArray, values: IntArray, share: FloatArray) -> IntArray:
    return values[np.searchsorted(np.cumsum(share)[:-1], uniform, side="right")]


def _check(users: int, classes: int, machines: int, resources: int, load: float, choices: dict[str, str]) -> None:
    for what, value in (("users", users), ("classes", classes), ("machines", machines), ("load", load)):
        if not value > 0:
            raise InstanceError(f"{what} is {value:g}; give a positive number.")
    if machines < classes:
        raise InstanceError(f"machines is {machines} for {classes} classes; give at least one machine a class.")
    if not 1 <= resources <= MAX_RESOURCES:
        raise InstanceError(f"resources is {resources}; give 1 to {MAX_RESOURCES}.")
    for what, known in (("kind", Kind), ("speeds", Speeds), ("weights", Weights)):
        if choices[what] not in get_args(known):
            raise InstanceError(f"{what} is '{choices[what]:.60}'; choose one of {', '.join(get_args(known))}.")
