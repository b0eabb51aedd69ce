"""Sharing instances as JSON files, schema `schedgap/sharing/1`.

Numbers are written as people write them (seconds, cores, GiB) and converted exactly to integer units. Above 10,000 tasks
the jobs' arrays go to an `.npz` file beside the JSON file, in integer units.

Schedules of sharing instances as JSON files, schema `schedgap/sharing-solution/1`.
"""

from __future__ import annotations

from schedgap.instances.documents import (
    Amount,
    Array,
    Columns,
    Field,
    Index,
    InstanceDocument,
    Rows,
    SolutionDocument,
    Stored,
    Value,
)
from schedgap.instances.documents.fields import per_task
from schedgap.instances.fairness.files import SHARED_MACHINES, sharer_fields
from schedgap.instances.sharing.model import SharingInstance, SharingSchedule
from schedgap.instances.units import SECOND_MS

INSTANCE = InstanceDocument(
    "schedgap/sharing/1",
    SharingInstance,
    *SHARED_MACHINES,
    Value("warm_up_jobs", Index, default=0, omitted=True),
    Stored(
        "jobs",
        Rows(
            "jobs",
            *sharer_fields("job_names"),
            Field("arrival_s", Amount, "arrival_ms", scale=SECOND_MS),
            # How long its tasks run at performance 1, for all of them or for each.
            per_task(SECOND_MS, ("work_s", "work_ms")),
            label="job",
        ),
        arrays=[
            *(Array("arrival_ms"), Array("demand", 2), Array("weight"), Array("performance", 2), Array("allowed", 2)),
            *(Array("first_task"), Array("work_ms"), Array("names", attribute="job_names", text=True, optional=True)),
        ],
        size=lambda instance: instance.num_tasks,
    ),
)
read_instance, write_instance = INSTANCE.read, INSTANCE.write


# Entry t of both columns is task t, job by job.
SOLUTION: SolutionDocument[SharingInstance, SharingSchedule] = SolutionDocument(
    "schedgap/sharing-solution/1",
    SharingSchedule,
    Columns("", Field("machine", Index), Field("start_s", Amount, "start_ms", scale=SECOND_MS)),
)
read_solution, write_solution = SOLUTION.read, SOLUTION.write
