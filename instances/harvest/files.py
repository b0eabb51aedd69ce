"""Harvest instances as JSON files, schema `schedgap/harvest/1`.

Numbers are written as people write them (seconds, GiB, dollars) and converted exactly to integer units. Above 10,000 events
the VMs' arrays, and above 10,000 tasks the jobs', go to an `.npz` file beside the JSON file, in integer units.

Schedules of harvest instances as JSON files, schema `schedgap/harvest-solution/1`.

Above 10,000 runs and leases their columns go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.documents import (
    Amount,
    Array,
    Columns,
    Count,
    Field,
    Given,
    Index,
    InstanceDocument,
    Place,
    Positive,
    RowPart,
    Rows,
    SolutionDocument,
    Stored,
    Table,
    Value,
    optional_names,
)
from schedgap.instances.documents.fields import per_task
from schedgap.instances.documents.json_files import from_units, to_units
from schedgap.instances.harvest.model import (
    ALLOCATIONS,
    KILL_ORDERS,
    NO_CHECKPOINTS,
    OBJECTIVES,
    HarvestInstance,
    HarvestSchedule,
)
from schedgap.instances.units import DOLLAR, GIB_MIB, SECOND_MS

# Pairs of seconds and cores.
Events = Annotated[list[tuple[Amount, Index]], Constraint(min_length=1)]


def _read_events(vms: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
    sizes = [len(vm["events"]) for vm in vms]
    events = [event for vm in vms for event in vm["events"]]
    owners = np.repeat(table.names or np.arange(len(vms)).astype(str), sizes).tolist()
    return {
        "first_event": np.cumsum([0, *sizes]),
        "event_ms": to_units([at_s for at_s, _ in events], SECOND_MS, "vms.events", place.error, (owners,)),
        "event_cores": np.array([cores for _, cores in events], np.int64),
    }


def _write_events(instance: HarvestInstance, _: Place) -> list[Given]:
    at_s = [from_units(ms, SECOND_MS) for ms in instance.event_ms.tolist()]
    events = list(zip(at_s, instance.event_cores.tolist(), strict=True))
    first = instance.first_event.tolist()
    return [{"events": events[begin:end]} for begin, end in itertools.pairwise(first)]


def _read_leased(vms: Sequence[Given], _: Table, place: Place) -> dict[str, Any]:
    return {"leased": np.array([vm.get("leased", place.owner.allocation == "fixed") for vm in vms], np.bool_)}


def _write_leased(instance: HarvestInstance, _: Place) -> list[Given]:
    return [] if instance.is_fixed else [{"leased": leased} for leased in instance.leased.tolist()]


INSTANCE = InstanceDocument(
    "schedgap/harvest/1",
    HarvestInstance,
    Value("objective", Literal[OBJECTIVES], default="jobs"),
    Value("kills", Literal[KILL_ORDERS], default="oldest"),
    Value("allocation", Literal[ALLOCATIONS], default="fixed"),
    Value("max_leases", Index, default=0),
    Value("base_price", Amount, scale=DOLLAR, default=0),
    Value("extra_price", Amount, scale=DOLLAR, default=0),
    Value("notes", list[str], default=(), omitted=True),
    Stored(
        "vms",
        Rows(
            "vms",
            optional_names("vm_names"),
            RowPart({"events": Events}, _read_events, _write_events),
            Field("min_cores", Count, default=1),
            Field("memory_gib", Positive, "memory_mib", scale=GIB_MIB),
            # At the start: by default those of a fixed pool are.
            RowPart({"leased": NotRequired[bool]}, _read_leased, _write_leased),
            Field("buffer", bool, default=False, omitted=True),
            label="VM",
        ),
        arrays=[
            *map(Array, ("first_event", "event_ms", "event_cores", "min_cores", "memory_mib", "leased", "buffer")),
            Array("vm_names", text=True, optional=True),
        ],
        size=lambda instance: instance.event_ms.shape[0],
    ),
    Stored(
        "jobs",
        Rows(
            "jobs",
            optional_names("job_names"),
            Field("arrival_s", Amount, "arrival_ms", scale=SECOND_MS),
            Field("cores", Count),
            per_task(SECOND_MS, ("runtime_s", "runtime_ms"), ("estimate_s", "estimate_ms")),
            Field("memory_gib", Amount, "task_memory_mib", scale=GIB_MIB, default=0, omitted=True),
            Field("checkpoint_s", Amount, "checkpoint_ms", scale=SECOND_MS, default=NO_CHECKPOINTS, omitted=True),
            Field("restore_s", Amount, "restore_ms", scale=SECOND_MS, default=0, omitted=True),
            label="job",
        ),
        arrays=[
            *map(Array, ("arrival_ms", "cores", "task_memory_mib", "checkpoint_ms", "restore_ms")),
            *map(Array, ("first_task", "runtime_ms", "estimate_ms")),
            Array("job_names", text=True, optional=True),
        ],
        size=lambda instance: instance.num_tasks,
    ),
)
read_instance, write_instance = INSTANCE.read, INSTANCE.write


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
