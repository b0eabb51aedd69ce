"""Schedules of harvest instances as JSON files, schema `schedgap/harvest-solution/1`.

Above 10,000 runs and leases their columns go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.documents import Amount, Array, Columns, Field, Index, SolutionDocument, Stored
from schedgap.instances.harvest.solution import HarvestSchedule
from schedgap.instances.units import SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance

SOLUTION: SolutionDocument[HarvestInstance, HarvestSchedule] = SolutionDocument(
    "schedgap/harvest-solution/1",
    HarvestSchedule,
    Stored(
        "runs",
        # `task` counts all tasks, job by job.
        Columns(
            "runs",
            Field("task", Index),
            Field("vm", Index),
            Field("start_s", Amount, "start_ms", scale=SECOND_MS),
            Field("end_s", Amount, "end_ms", scale=SECOND_MS),
            Field("checkpoint_every_s", Amount, "checkpoint_every_ms", scale=SECOND_MS, default=0, omitted=True),
        ),
        Columns(
            "leases",
            Field("vm", Index, "lease_vm"),
            Field("start_s", Amount, "lease_start_ms", scale=SECOND_MS),
            Field("end_s", Amount, "lease_end_ms", scale=SECOND_MS),
            optional=True,
        ),
        arrays=[Array(name) for name in HarvestSchedule.__slots__],
        size=lambda schedule: schedule.num_runs + schedule.lease_vm.shape[0],
    ),
)
read_solution, write_solution = SOLUTION.read, SOLUTION.write
