"""Machines and jobs of Eunomia's macro-benchmark (section IV-C), synthesized: its own sample of Google's traces is not public.

Given by the paper: 100 machines of 10 speeds, 2,888 jobs of 63,976 tasks, Figure 5b. From Reiss et al. (SoCC 2012, table
1): the proportions of machine shapes. All other numbers here are assumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.draws import drawn, shuffled
from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness.constraints import draw_attributes, draw_constraints, predicates
from schedgap.instances.fairness.model import ONE

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

MAX_JOBS, MAX_MACHINES = 10_000_000, 10_000_000
JOBS, TASKS, MACHINES = 2888, 63_976, 100
# Per cent of the six commonest shapes, in parts of the largest, for which 16 cores and 64 GiB are assumed; 0.12 is 1/8.
SHAPES_SHARE = (54, 31, 8, 5, 1, 1)
SHAPES = ((8, 32), (8, 16), (8, 48), (16, 64), (4, 16), (8, 8))
SPEEDS = 1000 + 250 * np.arange(10)
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
