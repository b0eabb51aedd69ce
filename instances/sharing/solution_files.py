"""Schedules of sharing instances as JSON files, schema `schedgap/sharing-solution/1`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.documents import Amount, Columns, Field, Index, SolutionDocument
from schedgap.instances.sharing.solution import SharingSchedule
from schedgap.instances.units import SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.sharing.model import SharingInstance

# Entry t of both columns is task t, job by job.
SOLUTION: SolutionDocument[SharingInstance, SharingSchedule] = SolutionDocument(
    "schedgap/sharing-solution/1",
    SharingSchedule,
    Columns("", Field("machine", Index), Field("start_s", Amount, "start_ms", scale=SECOND_MS)),
)
read_solution, write_solution = SOLUTION.read, SOLUTION.write
