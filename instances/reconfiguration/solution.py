"""A solution of the provisioning problem over time: what each plan decided."""

from __future__ import annotations

from dataclasses import dataclass

from schedgap.instances.arrays import Brief, IntArray, lock
from schedgap.instances.errors import SolutionError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReconfigurationSchedule(Brief):
    """Machines rented and given back, and where each task was sent; everything else follows (`simulator.replay`).

    All times are those of plans: multiples of the instance's period.

    machine_type : (M,) int64, those that run at second 0 first, in the instance's order and rented then.
    rented_s : (M,) int64, the first plan that has the machine, in order.
    released_s : (M,) int64, the first plan that does not have it any more.
    move_s, move_task, move_machine : (N,) int64, in order of time and, at one time, of task: at that plan the task is
        sent to the machine and stays in it until its next move or its job's end. Tasks are numbered as in
        `ReconfigurationInstance.first_task`; each must be sent somewhere by the first plan after its arrival.
    """

    machine_type: IntArray
    rented_s: IntArray
    released_s: IntArray
    move_s: IntArray
    move_task: IntArray
    move_machine: IntArray

    def __post_init__(self) -> None:
        lock(
            self, ("machine_type", "rented_s", "released_s", "move_s", "move_task", "move_machine"), error=SolutionError
        )

    @property
    def num_machines(self) -> int:
        """Number of machines ever rented."""
        return int(self.machine_type.shape[0])
