"""Provisioning instances as JSON files, schema `schedgap/provisioning/1`.

Numbers are written as people write them (cores, GiB, dollars) and converted exactly to integer units. Above 10,000 task
classes the arrays of the tasks go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import InstanceError
from schedgap.instances.file_kinds import STRICT, Count
from schedgap.instances.files import (
    arrays_beside,
    named_beside,
    naming_file,
    read_arrays,
    read_document,
    to_units,
    write_arrays,
    write_document,
)
from schedgap.instances.provisioning.file_parts import (
    DemandFile,
    MachineTypeFile,
    check_square,
    read_demand,
    read_machine_types,
    written_demand,
    written_machine_types,
)
from schedgap.instances.provisioning.model import ProvisioningInstance

INLINE_CLASSES = 10_000
TASK_ARRAYS = ("demand", "counts", "class2workload", "class2job", "tasks_per_job", "task2class")
TASK_NAMES = ("class_names", "task_names", "job_names")


@with_config(STRICT)
class TaskFile(DemandFile):
    """One task class."""

    count: NotRequired[Count]
    workload: NotRequired[str]
    job: NotRequired[str]
    tasks_per_job: NotRequired[Count]


@with_config(STRICT)
class InterferenceFile(TypedDict):
    """`throughput[i][j]` is the normalised throughput of workload i beside workload j."""

    workloads: list[str]
    throughput: list[list[Annotated[float, Field(ge=0, le=1)]]]


@with_config(STRICT)
class InstanceFile(TypedDict):
    """The document; `tasks` or `tasks_file` must be there."""

    schema: Literal["schedgap/provisioning/1"]
    name: str
    resources: Annotated[list[str], Field(min_length=1)]
    machine_types: Annotated[list[MachineTypeFile], Field(min_length=1)]
    tasks: NotRequired[list[TaskFile]]
    tasks_file: NotRequired[str]
    task_order: NotRequired[list[Annotated[int, Field(ge=0, le=2**53)]]]
    task_names: NotRequired[list[str]]
    interference: NotRequired[InterferenceFile]


INSTANCE = TypeAdapter(InstanceFile)


def read_instance(path: Path | str) -> ProvisioningInstance:
    """Read an instance.

    Raises
    ------
    InstanceError
        naming file, field, both values and the way out.
    """
    path = Path(path)
    document = read_document(path, INSTANCE, InstanceError)
    with naming_file(path):
        return _instance(document, path)


def write_instance(instance: ProvisioningInstance, path: Path | str) -> None:
    """Write an instance; `read_instance` gives back one of the same digest."""
    path = Path(path)
    document: InstanceFile = {
        "schema": "schedgap/provisioning/1",
        "name": instance.name,
        "resources": list(instance.resources),
        "machine_types": written_machine_types(instance),
    }
    if instance.throughput is not None:
        document["interference"] = {
            "workloads": list(instance.workloads),
            "throughput": (instance.throughput / 1000).tolist(),
        }
    if instance.num_classes <= INLINE_CLASSES:
        document["tasks"] = [_task(instance, c) for c in range(instance.num_classes)]
        if instance.task2class is not None:
            document["task_order"] = instance.task2class.tolist()
        if instance.task_names is not None:
            document["task_names"] = list(instance.task_names)
    else:
        beside = arrays_beside(path)
        document["tasks_file"] = beside.name
        arrays: dict[str, Any] = {key: getattr(instance, key) for key in TASK_ARRAYS}
        arrays |= {key: np.array(getattr(instance, key)) for key in TASK_NAMES if getattr(instance, key)}
        arrays["workloads"] = np.array(instance.workloads, dtype=np.str_)
        arrays["families"] = np.array(instance.families, dtype=np.str_)
        write_arrays(beside, {key: value for key, value in arrays.items() if value is not None}, InstanceError)
    write_document(path, INSTANCE, document, InstanceError)


def _instance(document: InstanceFile, path: Path) -> ProvisioningInstance:
    if ("tasks" in document) == ("tasks_file" in document):
        raise InstanceError("give either 'tasks' or 'tasks_file', not both and not neither.")
    fields: dict[str, Any] = {
        "name": document["name"],
        **read_machine_types(document["resources"], document["machine_types"]),
    }
    interference = document.get("interference")
    if interference is not None:
        check_square(interference["workloads"], interference["throughput"])
        fields["workloads"] = tuple(interference["workloads"])
        names = (interference["workloads"],) * 2
        fields["throughput"] = to_units(
            interference["throughput"], 1000, "interference.throughput", InstanceError, names
        )
    if "tasks_file" in document:
        beside = named_beside(path, "tasks_file", document["tasks_file"], InstanceError)
        fields |= _beside(beside, fields["families"])
    else:
        demand = read_demand(document["tasks"], fields["families"], document["resources"])
        fields |= {"demand": demand, **_inline(document["tasks"], fields.get("workloads"))}
        if "task_order" in document:
            fields["task2class"] = document["task_order"]
        if "task_names" in document:
            fields["task_names"] = tuple(document["task_names"])
    return ProvisioningInstance(**fields)


def _inline(tasks: list[TaskFile], workloads: tuple[str, ...] | None) -> dict[str, Any]:
    labels = [task.get("workload") for task in tasks]
    used = workloads if workloads is not None else tuple(dict.fromkeys(label for label in labels if label is not None))
    unknown = [label for label in labels if label is not None and label not in set(used)]
    if unknown:
        raise InstanceError(f"workload '{unknown[0]}' is not among the interference workloads; add it there.")
    workload2index = {label: w for w, label in enumerate(used)}
    jobs = tuple(dict.fromkeys(task["job"] for task in tasks if "job" in task))
    job2index = {job: j for j, job in enumerate(jobs)}
    return {
        "counts": [task.get("count", 1) for task in tasks],
        "class_names": tuple(task["name"] for task in tasks),
        "workloads": used,
        "class2workload": [-1 if label is None else workload2index[label] for label in labels],
        "job_names": jobs,
        "class2job": [job2index[task["job"]] if "job" in task else -1 for task in tasks],
        "tasks_per_job": [task.get("tasks_per_job", 1) for task in tasks],
    }


def _beside(path: Path, families: tuple[str, ...]) -> dict[str, Any]:
    wanted = {key: ("i", 3 if key == "demand" else 1) for key in TASK_ARRAYS}
    wanted |= {key: ("U", 1) for key in (*TASK_NAMES, "workloads", "families")}
    fields = read_arrays(path, wanted, InstanceError, optional=wanted.keys() - {"demand", "counts", "families"})
    for key in {*TASK_NAMES, "workloads", "families"} & set(fields):
        fields[key] = tuple(fields[key].tolist())
    stored = fields.pop("families")
    if stored != families:
        raise InstanceError(
            f"{path.name}: is of families {', '.join(stored)}, this file has {', '.join(families)}; "
            "write the instance anew."
        )
    return fields


def _task(instance: ProvisioningInstance, c: int) -> TaskFile:
    assert instance.class2workload is not None
    assert instance.class2job is not None
    assert instance.tasks_per_job is not None
    task: TaskFile = {
        "name": instance.class_name(c),
        "count": int(instance.counts[c]),
        "demand": written_demand(instance, c),
    }
    if instance.class2workload[c] >= 0:
        task["workload"] = instance.workloads[instance.class2workload[c]]
    if instance.class2job[c] >= 0:
        task["job"] = instance.job_names[instance.class2job[c]]
    if instance.tasks_per_job[c] > 1:
        task["tasks_per_job"] = int(instance.tasks_per_job[c])
    return task
