"""Generators of fairness instances: worked examples of the paper, and seeded random ones.

The worked examples are those of Eunomia (Zhou et al.): its introduction's Alice and Bob, and its micro-benchmark.

Only uniform draws of `numpy.random.Generator(PCG64)` are used, whose stream is the same everywhere, and all of them
whatever the options are: instances of one seed differ in nothing but what the options say.

Placement constraints as jobs in Google's clusters have them, calibrated to Eunomia's Figure 5b.

After Sharma et al., "Modeling and synthesizing task placement constraints in Google compute clusters" (SoCC 2011): a
machine has attributes; a job either runs anywhere or asks for one attribute, or for two at once. How often machines
have an attribute is assumed. Letters used for shapes: M machines, P predicates, J jobs.

Machines and jobs of Eunomia's macro-benchmark (section IV-C), synthesized: its own sample of Google's traces is not public.

Given by the paper: 100 machines of 10 speeds, 2,888 jobs of 63,976 tasks, Figure 5b. From Reiss et al. (SoCC 2012, table
1): the proportions of machine shapes. All other numbers here are assumed.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.draws import drawn, generator, shuffled
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


# Shares of machines with each value: instruction set, kernel, Ethernet, number of disks.
DRAWN_ATTRIBUTES = {
    "isa": (0.6, 0.3, 0.1),
    "kernel": (0.4, 0.25, 0.2, 0.1, 0.05),
    "ethernet": (0.7, 0.3),
    "disks": (0.2, 0.4, 0.3, 0.1),
}
# Of these a job names a value; of all others it asks for at least so much.
NOMINAL = ("isa",)
# Figure 5b: "about 18% of jobs can be run at any nodes while 50% of nodes can run 35% of jobs". The second half is read
# as an upper tail, as the first one is: 35 % of the jobs can run on half of the machines or more; or as what the curve
# of a distribution function shows: 35 % can run on fewer than half.
ANYWHERE = 0.18
ON_HALF = {"upper": 0.35, "lower": 0.65}
TENTHS = 10
EXACT, EVEN = 1000.0, 0.01


def draw_attributes(rng: np.random.Generator, machines: int) -> dict[str, IntArray]:
    """Return (M,) int64 for each attribute that is independent of a machine's shape and speed."""
    return {
        name: drawn(rng, np.arange(len(shares)), shares, machines).astype(np.int64)
        for name, shares in DRAWN_ATTRIBUTES.items()
    }


def predicates(attributes: dict[str, IntArray]) -> BoolArray:
    """Return (P, M) bool, which machines each predicate holds for; the first holds for all.

    Single ones, and conjunctions of two attributes, as far as they hold for some machine and not for all.
    """
    singles: list[tuple[str, BoolArray]] = []
    for name, values in attributes.items():
        for value in np.unique(values):
            singles.append((name, values == value if name in NOMINAL else values >= value))
    singles = [(name, holds) for name, holds in singles if not holds.all()]
    rows = [holds for _, holds in singles]
    rows += [one & other for (a, one), (b, other) in combinations(singles, 2) if a != b]
    anywhere = np.ones(next(iter(attributes.values())).shape[0], np.bool_)
    return np.array([anywhere, *(row for row in rows if row.any())])


def fit_weights(fraction: FloatArray, on_half: float) -> FloatArray:
    """Return (P,) float64, how often predicates are drawn so that Figure 5b holds, by non-negative least squares.

    fraction : (P,) of the machines for which a predicate holds. on_half : share of jobs with at least half of them.
    Beside the figure's two points, each tenth below one half is to be drawn equally often, each tenth above too, and so
    is each predicate within a tenth.

    Raises
    ------
    InstanceError
        if no weights make the figure's points hold.
    """
    # Here, since it takes a tenth of a second to import and `schedgap list` needs none of it.
    from scipy.optimize import nnls

    points = np.array([np.ones(fraction.shape[0]), fraction >= 1, fraction >= 0.5], np.float64)
    wanted = np.array([1.0, ANYWHERE, on_half])
    tenth = np.minimum((fraction * TENTHS).astype(np.int64), TENTHS)
    tenths = (tenth[None, :] == np.arange(TENTHS)[:, None]).astype(np.float64)
    half = TENTHS // 2
    even = np.repeat([(1 - on_half) / half, (on_half - ANYWHERE) / half], half)
    rows = np.concatenate((EXACT * points, tenths, EVEN * np.eye(fraction.shape[0])))
    weights, _ = nnls(rows, np.concatenate((EXACT * wanted, even, np.zeros(fraction.shape[0]))))
    if np.abs(points @ weights - wanted).max() > 1e-4:
        raise InstanceError(
            f"the machines' attributes allow no constraints by which {ANYWHERE:.0%} of the jobs run anywhere and "
            f"{on_half:.0%} on half of the machines; give another seed or more machines."
        )
    return np.asarray(weights, np.float64)


def draw_constraints(rng: np.random.Generator, holds: BoolArray, jobs: int, reading: str) -> BoolArray:
    """Return (J, M) bool, where jobs may run; the shares of Figure 5b hold for any number of jobs, but for rounding.

    holds : (P, M), see `predicates`. reading : of the figure, one of `ON_HALF`.

    Raises
    ------
    InstanceError
        for another reading, or if no weights make the figure's points hold.
    """
    if reading not in ON_HALF:
        raise InstanceError(f"reading is '{reading}'; choose one of {', '.join(ON_HALF)}.")
    fraction = holds.mean(axis=1)
    weights = fit_weights(fraction, ON_HALF[reading])
    anywhere, on_half = round(ANYWHERE * jobs), round(ON_HALF[reading] * jobs)
    groups = (
        (fraction >= 1, anywhere),
        ((fraction >= 0.5) & (fraction < 1), on_half - anywhere),
        (fraction < 0.5, jobs - on_half),
    )
    chosen = [drawn(rng, np.flatnonzero(group), weights[group], number) for group, number in groups if number]
    return holds[shuffled(rng, np.concatenate(chosen))]


MAX_JOBS, MAX_MACHINES = 10_000_000, 10_000_000
JOBS, TASKS, MACHINES = 2888, 63_976, 100
# Per cent of the six commonest shapes, in parts of the largest, for which 16 cores and 64 GiB are assumed; 0.12 is 1/8.
SHAPES_SHARE = (54, 31, 8, 5, 1, 1)
SHAPES = ((8, 32), (8, 16), (8, 48), (16, 64), (4, 16), (8, 8))
# No task is larger than the smallest machine.
CPU, CPU_SHARE = (500, 1000, 2000, 4000), (0.45, 0.40, 0.12, 0.03)
RAM_MIB, RAM_SHARE = (512, 1024, 2048, 4096, 8192), (0.30, 0.30, 0.20, 0.15, 0.05)
# Sizes of jobs: so many have at least so many tasks, a tail that is Pareto's of shape 0.75 or a little more.
SINGLE_SHARE = 0.6
SIZES_SHARE, SIZES = (0.4, 0.25, 0.1, 0.01, 0.0015), (2, 5, 19, 369, 3623)


def draw_macro(
    rng: np.random.Generator, *, reading: str, jobs: int, tasks: int, machines: int
) -> tuple[dict[str, Any], IntArray]:
    """Return the fields of an instance that tell of machines and of who shares them, and (jobs,) int64, their tasks.

    reading, jobs, tasks, machines : as `schedgap.instances.sharing.macro` has them.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    for name, value, most in (("jobs", jobs, MAX_JOBS), ("machines", machines, MAX_MACHINES)):
        if not 0 < value <= most:
            raise InstanceError(f"{name} is {value:g}; give a positive number, up to {most}.")
    shape = shuffled(rng, np.repeat(np.arange(len(SHAPES)), _apportioned(SHAPES_SHARE, machines)))
    capacity = np.array(SHAPES)[shape] * np.array([ONE, 1024])
    speed = SPEEDS[shuffled(rng, np.arange(machines) * SPEEDS.shape[0] // machines)]
    attributes = draw_attributes(rng, machines)
    attributes |= {"cores": capacity[:, 0], "memory": capacity[:, 1], "clock": speed}
    seen = np.column_stack((capacity, *attributes.values()))
    _, first, machine2class = np.unique(seen, axis=0, return_index=True, return_inverse=True)
    allowed = draw_constraints(rng, predicates(attributes), jobs, reading)[:, first]
    sizes = shuffled(rng, job_sizes(jobs, TASKS * jobs // JOBS if tasks < 0 else tasks))
    cpu, ram = drawn(rng, CPU, CPU_SHARE, jobs), drawn(rng, RAM_MIB, RAM_SHARE, jobs)
    fields = {
        "resources": ("cpu", "ram_gib"),
        "machine_names": tuple(f"class-{k}" for k in range(first.shape[0])),
        "machine_count": np.bincount(machine2class),
        "capacity": capacity[first],
        "demand": np.column_stack((cpu, ram)),
        "weight": np.full(jobs, ONE),
        "performance": np.tile(speed[first], (jobs, 1)),
        "allowed": allowed,
    }
    return fields, sizes


def job_sizes(jobs: int, tasks: int) -> IntArray:
    """Return how many tasks the jobs have, ascending: six of ten a single one, and `tasks` in all.

    Raises
    ------
    InstanceError
        for fewer tasks than jobs, or more than such jobs can have.
    """
    single = round(SINGLE_SHARE * jobs)
    at_least = (jobs - single - np.arange(jobs - single)) / jobs
    most = SIZES[-1]
    tail = np.exp(np.interp(np.log(at_least), np.log(SIZES_SHARE[::-1]), np.log(SIZES[::-1])))

    def sized(factor: float) -> IntArray:
        scaled = np.clip(np.rint(tail * factor).astype(np.int64), 1, most)
        return np.concatenate((np.ones(single, np.int64), scaled))

    few, many = 0.0, float(most)
    if not sized(few).sum() <= tasks <= sized(many).sum():
        raise InstanceError(f"{tasks} tasks for {jobs} jobs; give {int(sized(few).sum())} to {int(sized(many).sum())}.")
    for _ in range(64):
        middle = (few + many) / 2
        few, many = (middle, many) if sized(middle).sum() <= tasks else (few, middle)
    sizes = sized(few)
    # Fewer than there are jobs with several tasks: that many sizes change at the next factor.
    short = tasks - int(sizes.sum())
    below = np.flatnonzero(sizes < most)
    sizes[below[below.shape[0] - short :]] += 1
    return sizes


def _apportioned(shares: tuple[int, ...], number: int) -> IntArray:
    """Return whole parts of a number in proportion to the shares: the largest remainders are rounded up."""
    exact = np.array(shares) * number / sum(shares)
    parts = exact.astype(np.int64)
    parts[np.argsort(parts - exact, kind="stable")[: number - int(parts.sum())]] += 1
    return parts


def datacentre(
    users: int = 100,
    *,
    machines: int = 100,
    reading: str = "upper",
    limited: bool = False,
    notion: str = "eunomia",
    seed: int = 0,
) -> FairnessInstance:
    """Draw as many jobs as there are users, as the family `sharing` draws them for section IV-C, all present at once.

    reading : of Figure 5b, see `schedgap.instances.fairness.generators`. limited : jobs have the numbers of tasks that
    they are drawn with, which together may be fewer than fit; without, more than fit.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    # The very draws of the generator `macro` of `sharing`.
    rng = generator("sharing", "macro", users, -1, machines, seed)
    fields, sizes = draw_macro(rng, reading=reading, jobs=users, tasks=-1, machines=machines)
    parts = [f"datacentre-{users}-{machines}-{reading}"] + ["limited"] * limited
    parts += [notion] * (notion != "eunomia") + [f"s{seed}"]
    return FairnessInstance(
        name="-".join(parts),
        notion=notion,
        **fields,
        tasks=sizes if limited else np.full(users, UNLIMITED),
        user_names=tuple(f"job-{j}" for j in range(users)),
    )
