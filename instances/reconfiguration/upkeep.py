"""What controllers look at over time beside jobs and prices: pools, what keeps jobs where they are, and guards of jobs.

The policies `karpenter` and `cluster-autoscaler` keep to it; no plan is bound by it, and no bound knows of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import Brief, IntArray, first_true, lock
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.running import MOST_DISRUPTION, ONE_TASK, UNMANAGED, Disruption, Guard

if TYPE_CHECKING:
    from collections.abc import Sequence

# In place of seconds: for as long as it runs. In place of a guard: none, or several, which admit no eviction together.
ALWAYS = -1
UNGUARDED, SEVERAL = -1, -2
# What is said of each job, and what it is where nothing is said.
OF_JOBS = {"held_s": 0, "age_s": 0, "kept": 0, "guard": UNGUARDED, "weight": ONE_TASK}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Upkeep(Brief):
    """What controllers look at, of J jobs and of the E machines that run at second 0.

    machines : pools, the marks of these machines, spot, and `at_s`, second 0 in seconds since 1970.
    new_pool : (K,) int64, the pool of new machines of each type, -1 where no controller of pools has them.
    held_s : (J,) int64, for so long after its start on a machine Karpenter leaves a job alone, `ALWAYS` for as long as it
    runs. age_s : (J,) int64, how long ago its start was when it arrives. kept : (J,) int64, 1 where cluster-autoscaler keeps
    the machine of a job. guard : (J,) int64 into `guards`, `UNGUARDED`, or `SEVERAL`. weight : (J,) int64, in 1 / `ONE_TASK`,
    what it counts to Karpenter that a task of the job moves; the same for all jobs of a class.

    Raises `InstanceError` where these do not fit together.
    """

    machines: Disruption
    new_pool: IntArray
    held_s: IntArray
    age_s: IntArray
    kept: IntArray
    guard: IntArray
    weight: IntArray
    guards: tuple[Guard, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "guards", tuple(self.guards))
        lock(self, ("new_pool", *OF_JOBS))
        shapes = {getattr(self, key).shape for key in OF_JOBS}
        if len(shapes) > 1 or self.held_s.ndim != 1:
            raise InstanceError(f"upkeep: {', '.join(OF_JOBS)} have shapes {sorted(shapes)}; give one of each a job.")
        for key, least, most in (
            ("new_pool", UNMANAGED, len(self.machines.pools) - 1),
            ("held_s", ALWAYS, None),
            ("age_s", 0, None),
            ("kept", 0, 1),
            ("guard", SEVERAL, len(self.guards) - 1),
            ("weight", 0, MOST_DISRUPTION),
        ):
            values = getattr(self, key)
            if (i := first_true((values < least) | (values > (values if most is None else most)))) is not None:
                span = f"{least} or more" if most is None else f"{least} to {most}"
                raise InstanceError(f"upkeep: {key}.{i} is {values[i]}; give {span}.")
        for guard in self.guards:
            if guard.number < 0:
                raise InstanceError(f"upkeep: guard '{guard.name:.60}' has {guard.number}; give 0 or more.")

    def check(self, name: str, num_types: int, job2class: IntArray, num_running: int) -> None:
        """Refuse another number of types, jobs or running machines than an instance has, spot of no type, and odd weights."""
        for what, given, wanted in (
            ("machine types", self.new_pool.shape[0], num_types),
            ("jobs", self.held_s.shape[0], job2class.shape[0]),
            ("running machines", self.machines.pool.shape[0], num_running),
        ):
            if given != wanted:
                raise InstanceError(f"{name}: upkeep is of {given} {what}, there are {wanted}; give one each.")
        if (bad := self.machines.spot[(self.machines.spot < 0) | (self.machines.spot >= num_types)]).size:
            raise InstanceError(f"{name}: machine type {bad[0]} is spare capacity; there are {num_types} types.")

        if (
            j := first_true(self.weight != self.of_classes(job2class, int(job2class.max()) + 1)[job2class])
        ) is not None:
            raise InstanceError(
                f"{name}: upkeep: job {j} has weight {self.weight[j]}, others of its class have not; part the class."
            )

    def of_classes(self, job2class: IntArray, num_classes: int) -> IntArray:
        """(C,) int64, the weight of the jobs of each class; job2class : (J,) of these jobs."""
        weight = np.full(num_classes, ONE_TASK)
        weight[job2class] = self.weight
        return weight

    def of_jobs(self, jobs: IntArray) -> Upkeep:
        """Return what is said of some jobs; of machines it is the same."""
        return replace(self, **{key: getattr(self, key)[jobs] for key in OF_JOBS})

    @classmethod
    def of(cls, machines: Disruption, new_pool: Sequence[int] | IntArray, num_jobs: int, **more: object) -> Upkeep:
        """Return what is so of jobs of which nothing is said, but for some fields."""
        of_jobs: dict[str, object] = {key: np.full(num_jobs, value) for key, value in OF_JOBS.items()}
        return cls(machines, np.array(new_pool, np.int64), **(of_jobs | more))  # type: ignore[arg-type]

    def hashed(self) -> tuple[object, ...]:
        """Return what an instance's digest has of it."""
        guards = [(g.name, g.number, g.is_percent, g.is_least) for g in self.guards]
        return (*self.machines.hashed(), self.new_pool, *(getattr(self, key) for key in OF_JOBS), guards)
