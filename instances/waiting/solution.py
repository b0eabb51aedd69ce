"""A solution of the waiting problem: how many fixed machines, and for each job where and from when it runs."""

from __future__ import annotations

from dataclasses import dataclass

from schedgap.instances.arrays import Brief, IntArray, lock, whole
from schedgap.instances.errors import SolutionError

RENTED = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WaitingSchedule(Brief):
    """Where and when each job runs; it is never stopped before its end.

    num_machines : fixed machines bought. machine : (J,) int64, the fixed machine of each job, `RENTED` for a machine
    rented for it alone. start_us : (J,) int64, when it starts, in microseconds since the instance's start.

    Raises `SolutionError` for fields of other shapes or types.
    """

    num_machines: int
    machine: IntArray
    start_us: IntArray

    def __post_init__(self) -> None:
        lock(self, ("num_machines",), whole, error=SolutionError)
        lock(self, ("machine", "start_us"), error=SolutionError)
        if self.machine.ndim != 1 or self.machine.shape != self.start_us.shape:
            raise SolutionError(
                f"a schedule places {self.machine.shape} jobs and starts {self.start_us.shape}; give one entry a job."
            )
