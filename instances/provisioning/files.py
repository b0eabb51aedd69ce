"""Provisioning instances as JSON files, schema `schedgap/provisioning/1`.

Numbers are written as people write them (cores, GiB, dollars) and converted exactly to integer units. Above 10,000 task
classes the arrays of the tasks go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import InstanceError
from schedgap.instances.files import (
    arrays_beside,
    from_units,
    read_arrays,
    read_document,
    to_units,
    write_arrays,
    write_document,
)
from schedgap.instances.provisioning.model import NOT_ALLOWED, ProvisioningInstance
from schedgap.instances.provisioning.units import resource_scale

STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)
INLINE_CLASSES = 10_000
TASK_ARRAYS = ("demand", "counts", "class2workload", "class2job", "tasks_per_job", "task2class")
TASK_NAMES = ("class_names", "task_names", "job_names")
Amount = Annotated[float, Field(ge=0)]
# Larger whole numbers are refused here, before NumPy meets one of more than 64 bits.
Count = Annotated[int, Field(ge=1, le=2**53)]


@with_config(STRICT)
class MachineTypeFile(TypedDict):
    """One machine type; `price` in dollars per hour."""

    name: str
    family: str
    capacity: list[Amount]
    price: Annotated[float, Field(gt=0)]


@with_config(STRICT)
class TaskFile(TypedDict):
    """One task class: `demand` per machine family, or under `any` for every family not named."""

    name: str
    demand: dict[str, list[Amount]]
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
    try:
        return _instance(document, path)
    except InstanceError as problem:
        raise InstanceError(f"{path.name}: {problem}") from None


def write_instance(instance: ProvisioningInstance, path: Path | str) -> None:
    """Write an instance; `read_instance` gives back one of the same digest."""
    path = Path(path)
    scales = [resource_scale(resource) for resource in instance.resources]
    document: InstanceFile = {
        "schema": "schedgap/provisioning/1",
        "name": instance.name,
        "resources": list(instance.resources),
        "machine_types": [
            {
                "name": name,
                "family": instance.families[instance.type2family[k]],
                "capacity": _amounts(instance.capacity[k].tolist(), scales),
                "price": from_units(int(instance.price[k]), 1_000_000),
            }
            for k, name in enumerate(instance.type_names)
        ],
    }
    if instance.throughput is not None:
        document["interference"] = {
            "workloads": list(instance.workloads),
            "throughput": (instance.throughput / 1000).tolist(),
        }
    if instance.num_classes <= INLINE_CLASSES:
        document["tasks"] = [_task(instance, c, scales) for c in range(instance.num_classes)]
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
    resources = tuple(document["resources"])
    scales = np.array([resource_scale(resource) for resource in resources])
    types = document["machine_types"]
    families = tuple(dict.fromkeys(kind["family"] for kind in types))
    for kind in types:
        if len(kind["capacity"]) != len(resources):
            raise InstanceError(
                f"machine type {kind['name']} has {len(kind['capacity'])} capacities for the "
                f"{len(resources)} resources {', '.join(resources)}; give one each."
            )
    if ("tasks" in document) == ("tasks_file" in document):
        raise InstanceError("give either 'tasks' or 'tasks_file', not both and not neither.")
    fields: dict[str, Any] = {
        "name": document["name"],
        "resources": resources,
        "families": families,
        "type_names": tuple(kind["name"] for kind in types),
        "type2family": [families.index(kind["family"]) for kind in types],
        "capacity": to_units(
            np.array([kind["capacity"] for kind in types]).reshape(len(types), len(resources)),
            scales,
            "machine_types.capacity",
            InstanceError,
        ),
        "price": to_units([kind["price"] for kind in types], 1_000_000, "machine_types.price", InstanceError),
    }
    interference = document.get("interference")
    if interference is not None:
        width = len(interference["workloads"])
        if [len(row) for row in interference["throughput"]] != [width] * width:
            raise InstanceError(
                f"interference: throughput is not {width} x {width}, one row and column for each workload."
            )
        fields["workloads"] = tuple(interference["workloads"])
        fields["throughput"] = to_units(interference["throughput"], 1000, "interference.throughput", InstanceError)
    if "tasks_file" in document:
        name = document["tasks_file"]
        if Path(name).name != name or name == "":
            raise InstanceError(f"tasks_file is '{name}'; give the name of a file beside this one, without a folder.")
        fields |= _beside(path.with_name(name), families)
    else:
        fields |= _inline(document["tasks"], families, scales, fields.get("workloads"))
        if "task_order" in document:
            fields["task2class"] = document["task_order"]
        if "task_names" in document:
            fields["task_names"] = tuple(document["task_names"])
    return ProvisioningInstance(**fields)


def _inline(
    tasks: list[TaskFile], families: tuple[str, ...], scales: Any, workloads: tuple[str, ...] | None
) -> dict[str, Any]:
    num_resources = scales.shape[0]
    demand = np.full((len(families), len(tasks), num_resources), float(NOT_ALLOWED))
    known = set(families) | {"any"}
    for c, task in enumerate(tasks):
        for family, vector in task["demand"].items():
            if family not in known:
                raise InstanceError(
                    f"task {task['name']} has a demand for family '{family}'; machine types have "
                    f"{', '.join(families)}, or write 'any'."
                )
            if len(vector) != num_resources:
                raise InstanceError(
                    f"task {task['name']} has {len(vector)} demands on '{family}' for {num_resources} resources; "
                    "give one each."
                )
        for f, family in enumerate(families):
            vector = task["demand"].get(family, task["demand"].get("any", []))
            if vector:
                demand[f, c] = vector
    allowed = demand[:, :, :1] != NOT_ALLOWED
    units = to_units(np.where(allowed, demand, 0), scales, "tasks.demand", InstanceError)
    labels = [task.get("workload") for task in tasks]
    used = workloads if workloads is not None else tuple(dict.fromkeys(label for label in labels if label is not None))
    unknown = [label for label in labels if label is not None and label not in set(used)]
    if unknown:
        raise InstanceError(f"workload '{unknown[0]}' is not among the interference workloads; add it there.")
    workload2index = {label: w for w, label in enumerate(used)}
    jobs = tuple(dict.fromkeys(task["job"] for task in tasks if "job" in task))
    job2index = {job: j for j, job in enumerate(jobs)}
    return {
        "demand": np.where(allowed, units, NOT_ALLOWED),
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
    fields = read_arrays(path, wanted, InstanceError)
    missing = [key for key in ("demand", "counts", "families") if key not in fields]
    if missing:
        raise InstanceError(f"{path.name}: no array '{missing[0]}'; write the instance anew.")
    for key in {*TASK_NAMES, "workloads", "families"} & set(fields):
        fields[key] = tuple(fields[key].tolist())
    stored = fields.pop("families")
    if stored != families:
        raise InstanceError(
            f"{path.name}: is of families {', '.join(stored)}, this file has {', '.join(families)}; "
            "write the instance anew."
        )
    return fields


def _task(instance: ProvisioningInstance, c: int, scales: list[int]) -> TaskFile:
    assert instance.class2workload is not None
    assert instance.class2job is not None
    assert instance.tasks_per_job is not None
    vectors = {
        family: _amounts(instance.demand[f, c].tolist(), scales)
        for f, family in enumerate(instance.families)
        if instance.demand[f, c, 0] != NOT_ALLOWED
    }
    first = next(iter(vectors.values()))
    same = len(vectors) == len(instance.families) and all(vector == first for vector in vectors.values())
    task: TaskFile = {
        "name": instance.class_name(c),
        "count": int(instance.counts[c]),
        "demand": {"any": first} if same else vectors,
    }
    if instance.class2workload[c] >= 0:
        task["workload"] = instance.workloads[instance.class2workload[c]]
    if instance.class2job[c] >= 0:
        task["job"] = instance.job_names[instance.class2job[c]]
    if instance.tasks_per_job[c] > 1:
        task["tasks_per_job"] = int(instance.tasks_per_job[c])
    return task


def _amounts(values: list[int], scales: list[int]) -> list[float]:
    return [from_units(value, scale) for value, scale in zip(values, scales, strict=True)]
