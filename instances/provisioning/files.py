"""Provisioning instances as JSON files, schema `schedgap/provisioning/1`.

Numbers are written as people write them (cores, GiB, dollars) and converted exactly to integer units. Above 10,000 task
classes the arrays of the tasks go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field as Constraint

from schedgap.instances.documents import (
    Array,
    Count,
    Custom,
    Field,
    Index,
    InstanceDocument,
    RowPart,
    Rows,
    Stored,
    Value,
    record,
)
from schedgap.instances.documents.amounts import to_units
from schedgap.instances.provisioning.disruption.files import running_machines
from schedgap.instances.provisioning.file_parts import DEMAND, RESOURCES, check_square, machine_types
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.plans.restraints import restrained_tasks
from schedgap.instances.provisioning.running import ANY_NUMBER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.documents import Given, Place, Table

# `throughput[i][j]` is the normalised throughput of workload i beside workload j.
Interference = record(
    "Interference",
    {"workloads": list[str], "throughput": list[list[Annotated[float, Constraint(ge=0, le=1)]]]},
)


def _read_interference(document: Given, place: Place) -> dict[str, Any]:
    if "interference" not in document:
        return {}
    names, given = document["interference"]["workloads"], document["interference"]["throughput"]
    check_square(names, given)
    throughput = to_units(given, 1000, "interference.throughput", place.error, (names, names))
    return {"workloads": tuple(names), "throughput": throughput}


def _write_interference(instance: ProvisioningInstance, _: Place) -> dict[str, Any]:
    if instance.throughput is None:
        return {}
    throughput = (instance.throughput / 1000).tolist()
    return {"interference": {"workloads": list(instance.workloads), "throughput": throughput}}


def _read_workloads(tasks: Sequence[Given], _: Table, place: Place) -> dict[str, Any]:
    labels = [task.get("workload") for task in tasks]
    used = dict.fromkeys(label for label in labels if label is not None)
    workloads = getattr(place.owner, "workloads", tuple(used))
    unknown = [label for label in used if label not in set(workloads)]
    if unknown:
        raise place.error(f"workload '{unknown[0]}' is not among the interference workloads; add it there.")
    workload2index = {None: -1} | {label: w for w, label in enumerate(workloads)}
    return {"workloads": workloads, "class2workload": [workload2index[label] for label in labels]}


def _write_workloads(instance: ProvisioningInstance, _: Place) -> list[Given]:
    return [{"workload": instance.workloads[w]} if w >= 0 else {} for w in instance.class2workload.tolist()]


def _read_jobs(tasks: Sequence[Given], *_: object) -> dict[str, Any]:
    jobs = {job: j for j, job in enumerate(dict.fromkeys(task["job"] for task in tasks if "job" in task))}
    return {"job_names": tuple(jobs), "class2job": [jobs[task["job"]] if "job" in task else -1 for task in tasks]}


def _write_jobs(instance: ProvisioningInstance, _: Place) -> list[Given]:
    return [{"job": instance.job_names[j]} if j >= 0 else {} for j in instance.class2job.tolist()]


def _read_limits(tasks: Sequence[Given], *_: object) -> dict[str, Any]:
    if not any("per_machine" in task for task in tasks):
        return {}
    return {"per_machine": [task.get("per_machine", ANY_NUMBER) for task in tasks]}


def _write_limits(instance: ProvisioningInstance, _: Place) -> list[Given]:
    if instance.per_machine is None:
        return [{}] * instance.num_classes
    return [{} if limit == ANY_NUMBER else {"per_machine": limit} for limit in instance.per_machine.tolist()]


def _read_usual(types: Sequence[Given], *_: object) -> dict[str, Any]:
    return {"usual_tasks": tuple((kind["name"], kind["usual_tasks"]) for kind in types if "usual_tasks" in kind)}


def _write_usual(instance: ProvisioningInstance, _: Place) -> list[Given]:
    usual = dict(instance.usual_tasks)
    return [{"usual_tasks": usual[name]} if name in usual else {} for name in instance.type_names]


def _class_names(instance: Any) -> Sequence[str]:
    return instance.class_names or [f"task-{c}" for c in range(len(instance.counts))]


class _Tasks(Stored):
    """Task classes, whose demands in a file beside are by machine family, in the order of the document's."""

    def read(self, given: Given, place: Place) -> dict[str, Any]:
        fields = super().read(given, place)
        stored, families = fields.pop("families", place.owner.families), place.owner.families
        if stored != families:
            raise place.error(
                f"{given[self.file_key]}: is of families {', '.join(stored)}, this file has {', '.join(families)}; "
                "write the instance anew."
            )
        return fields


INSTANCE = InstanceDocument(
    "schedgap/provisioning/1",
    ProvisioningInstance,
    Value("resources", RESOURCES),
    machine_types(RowPart({"usual_tasks": NotRequired[Count]}, _read_usual, _write_usual)),
    Custom({"interference": NotRequired[Interference]}, _read_interference, _write_interference),
    _Tasks(
        "tasks",
        Rows(
            "tasks",
            Field("name", str, "class_names", get=_class_names),
            Field("count", Count, "counts", default=1),
            DEMAND,
            RowPart({"workload": NotRequired[str]}, _read_workloads, _write_workloads),
            RowPart({"job": NotRequired[str]}, _read_jobs, _write_jobs),
            Field("tasks_per_job", Count, default=1, omitted=True),
            RowPart({"per_machine": NotRequired[Count]}, _read_limits, _write_limits),
            label="task",
        ),
        Value("task_order", list[Index], "task2class", default=None, omitted=True),
        Value("task_names", list[str], default=None, omitted=True),
        arrays=[
            *(Array("demand", 3), Array("counts"), Array("class2workload", optional=True)),
            *(Array(name, optional=True) for name in ("class2job", "tasks_per_job", "task2class", "per_machine")),
            *(Array(name, text=True, optional=True) for name in ("class_names", "task_names", "job_names")),
            *(Array("workloads", text=True, optional=True), Array("families", text=True)),
        ],
        size=lambda instance: instance.num_classes,
    ),
    running_machines("task", _class_names, disruption=True),
    restrained_tasks(_class_names),
    Value("max_moves", Index, default=None, omitted=True),
    Value("unit", str, default="", omitted=True),
    Value("notes", list[str], default=(), omitted=True),
)
read_instance, write_instance = INSTANCE.read, INSTANCE.write
