"""A schedule of a sharing instance: where and when each task runs."""

from __future__ import annotations

from dataclasses import dataclass

from schedgap.instances.arrays import Brief, IntArray, lock
from schedgap.instances.errors import SolutionError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SharingSchedule(Brief):
    """One machine and one start for each task; a task runs until it is done.

    machine : (T,) int64 in [0, M). start_ms : (T,) int64.
    """

    machine: IntArray
    start_ms: IntArray

    def __post_init__(self) -> None:
        lock(self, ("machine", "start_ms"), error=SolutionError)
