"""What the models of all families share: copies with changes, jobs of tasks, and checks that say the same of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from schedgap.instances.arrays import Brief, IntArray, first_true, lock, whole
from schedgap.instances.errors import InstanceError


class InstanceModel(Brief):
    """An instance, a frozen dataclass. derived : the fields that it computes from the others, as they are before it does."""

    __slots__ = ()
    derived: ClassVar[Mapping[str, object]] = {"digest": ""}
    if TYPE_CHECKING:
        name: str

    def replace(self, **changes: object) -> Self:
        """Return a copy with some fields changed, validated anew."""
        return replace(self, **{**self.derived, **changes})  # type: ignore[type-var]

    def _lock(self, arrays: Iterable[str], scalars: Iterable[str] = ()) -> None:
        """Put locked arrays and Python's whole numbers into fields while the instance is being made, and check its name.

        Raises
        ------
        InstanceError
            naming what is none.
        """
        if not isinstance(self.name, str):
            raise InstanceError(f"the name of an instance is {self.name!r:.60}; give a string.")
        lock(self, arrays)
        lock(self, scalars, whole)


class JobsModel(InstanceModel):
    """An instance of jobs in order of arrival; job j has the tasks first_task[j] to first_task[j + 1] - 1."""

    __slots__ = ()
    if TYPE_CHECKING:
        arrival_ms: IntArray
        first_task: IntArray
        job_names: tuple[str, ...] | None

    @property
    def num_jobs(self) -> int:
        """Number of jobs."""
        return int(self.arrival_ms.shape[0])

    def job_name(self, index: int) -> str:
        """Return the name of a job."""
        return self.job_names[index] if self.job_names is not None else f"job-{index}"

    def task_name(self, task: int) -> str:
        """Return the name of a task, such as `task 2 of job job-0`."""
        job = int(np.searchsorted(self.first_task, task, side="right")) - 1
        return f"task {task - int(self.first_task[job])} of job {self.job_name(job)}"

    def task2job(self) -> IntArray:
        """(T,) int64: the job of each task."""
        return np.repeat(np.arange(self.num_jobs), np.diff(self.first_task))


def check_shapes(instance: Any, wanted: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse an array that has another shape than is wanted of it; None has any."""
    for key, shape in wanted.items():
        value = getattr(instance, key)
        if value is not None and value.shape != shape:
            raise InstanceError(f"{instance.name}: {key} has shape {value.shape}, expected {shape}.")


def check_names(name: str, what: str, names: Sequence[str], count: int) -> None:
    """Refuse names that are not one for each of `count`, or of which two are the same."""
    if len(names) != count:
        raise InstanceError(f"{name}: {len(names)} names for {count} {what}s; give one each.")
    if len(set(names)) != count:
        twice = next(each for each, times in Counter(names).items() if times > 1)
        raise InstanceError(f"{name}: {what} '{twice}' is given twice; rename one.")


def check_order(
    name: str,
    moment: IntArray,
    unit: str,
    job_name: Callable[[int], str] = str,
    verb: str = "arrives",
    order: str = "arrival",
) -> None:
    """Refuse jobs whose moments, (J,) in a unit of time, are not in order."""
    if (job := first_true(np.diff(moment) < 0)) is not None:
        raise InstanceError(
            f"{name}: job {job_name(job + 1)} {verb} at {moment[job + 1]} {unit}, before job {job_name(job)} at {moment[job]} "
            f"{unit}; give the jobs in order of {order}."
        )


def check_firsts(name: str, what: str, firsts: IntArray, count: int, owner: Callable[[int], str]) -> None:
    """Refuse `firsts` that do not divide `count` things among owners, at least one for each. owner : names one."""
    if firsts[0] != 0 or firsts[-1] != count:
        raise InstanceError(
            f"{name}: first_{what} goes from {firsts[0]} to {firsts[-1]}; let it go from 0 to {count}, the number of {what}s."
        )
    sizes = np.diff(firsts)
    if (sizes < 1).any():
        least = int(np.argmin(sizes))
        raise InstanceError(f"{name}: {owner(least)} has {sizes[least]} {what}s; give at least one.")
