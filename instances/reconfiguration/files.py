"""Reconfiguration instances as JSON files, schema `schedgap/reconfiguration/1`.

Machine types, demands and throughputs are written as in `schedgap/provisioning/1`, times in whole seconds. Above 10,000
jobs their columns go to an `.npz` file beside the JSON file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

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
    write_arrays,
    write_document,
)
from schedgap.instances.provisioning.file_parts import (
    DemandFile,
    MachineTypeFile,
    read_demand,
    read_machine_types,
    written_demand,
    written_machine_types,
)
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.delays import PHASES
from schedgap.instances.reconfiguration.file_interference import (
    InterferenceFile,
    StoredSetsFile,
    read_stored_sets,
    read_throughput,
    written_sets,
    written_throughput,
)
from schedgap.instances.reconfiguration.model import ReconfigurationInstance

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

INLINE_JOBS = 10_000
Seconds = Annotated[int, Field(ge=0, le=2**53)]
# `task` holds names in the JSON file, in the `.npz` file the indices of the task classes.
JOB_ARRAYS = ("arrival_s", "work_s", "task", "num_tasks")


@with_config(STRICT)
class RentedTypeFile(MachineTypeFile):
    """One machine type, with the seconds until it is paid, and from then until it runs tasks."""

    acquire_s: Seconds
    setup_s: Seconds


@with_config(STRICT)
class WorkloadFile(TypedDict):
    """The delays of a workload's tasks."""

    name: str
    fetch_s: Seconds
    build_s: Seconds
    kill_s: Seconds
    upload_s: Seconds
    init_s: Seconds


@with_config(STRICT)
class TaskFile(DemandFile):
    """One task class."""

    workload: str


@with_config(STRICT)
class JobsFile(TypedDict):
    """A column each; entry j of all is job j. `task` is the name of the class of all of the job's tasks."""

    arrival_s: list[Seconds]
    work_s: list[Count]
    task: list[str]
    num_tasks: NotRequired[list[Count]]


@with_config(STRICT)
class InstanceFile(TypedDict):
    """The document; `jobs` or `jobs_file` must be there."""

    schema: Literal["schedgap/reconfiguration/1"]
    name: str
    period_s: NotRequired[Count]
    terminate_s: NotRequired[Seconds]
    resources: Annotated[list[str], Field(min_length=1)]
    machine_types: Annotated[list[RentedTypeFile], Field(min_length=1)]
    workloads: list[WorkloadFile]
    interference: NotRequired[InterferenceFile]
    stored_sets: NotRequired[StoredSetsFile]
    tasks: list[TaskFile]
    jobs: NotRequired[JobsFile]
    jobs_file: NotRequired[str]


INSTANCE = TypeAdapter(InstanceFile)


def read_instance(path: Path | str) -> ReconfigurationInstance:
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


def write_instance(instance: ReconfigurationInstance, path: Path | str) -> None:
    """Write an instance; `read_instance` gives back one of the same digest."""
    path = Path(path)
    catalogue = instance.catalogue
    workload_of = instance.class2workload.tolist()
    document: InstanceFile = {
        "schema": "schedgap/reconfiguration/1",
        "name": instance.name,
        "period_s": instance.period_s,
        "terminate_s": instance.terminate_s,
        "resources": list(catalogue.resources),
        "machine_types": [
            {**kind, "acquire_s": int(instance.acquire_s[k]), "setup_s": int(instance.setup_s[k])}
            for k, kind in enumerate(written_machine_types(catalogue))
        ],
        "workloads": [
            {
                "name": name,
                "fetch_s": int(instance.fetch_s[w]),
                "build_s": int(instance.build_s[w]),
                "kill_s": int(instance.kill_s[w]),
                "upload_s": int(instance.upload_s[w]),
                "init_s": int(instance.init_s[w]),
            }
            for w, name in enumerate(catalogue.workloads)
        ],
        "tasks": [
            {
                "name": catalogue.class_name(c),
                "demand": written_demand(catalogue, c),
                "workload": catalogue.workloads[workload_of[c]],
            }
            for c in range(catalogue.num_classes)
        ],
    }
    if catalogue.throughput is not None:
        document["interference"] = written_throughput(catalogue.throughput, catalogue.workloads)
    if instance.stored_sets is not None:
        document["stored_sets"] = written_sets(instance.stored_sets, catalogue.workloads)
    if instance.num_jobs <= INLINE_JOBS:
        document["jobs"] = {
            "arrival_s": instance.arrival_s.tolist(),
            "work_s": instance.work_s.tolist(),
            "task": [catalogue.class_name(c) for c in instance.job2class.tolist()],
        }
        if (instance.num_tasks > 1).any():
            document["jobs"]["num_tasks"] = instance.num_tasks.tolist()
    else:
        beside = arrays_beside(path)
        document["jobs_file"] = beside.name
        columns = (instance.arrival_s, instance.work_s, instance.job2class, instance.num_tasks)
        write_arrays(beside, dict(zip(JOB_ARRAYS, columns, strict=True)), InstanceError)
    write_document(path, INSTANCE, document, InstanceError)


def _instance(document: InstanceFile, path: Path) -> ReconfigurationInstance:
    types, workloads, tasks = document["machine_types"], document["workloads"], document["tasks"]
    names = [workload["name"] for workload in workloads]
    for task in tasks:
        if task["workload"] not in names:
            raise InstanceError(
                f"task {task['name']} has workload '{task['workload']:.60}', which is not among the workloads; "
                "add it there, with its delays."
            )
    fields = read_machine_types(document["resources"], types)
    catalogue = ProvisioningInstance(
        name=document["name"],
        **fields,
        demand=read_demand(tasks, fields["families"], document["resources"]),
        # The model counts them.
        counts=np.ones(len(tasks), np.int64),
        class_names=tuple(task["name"] for task in tasks),
        workloads=tuple(names),
        class2workload=np.array([names.index(task["workload"]) for task in tasks], np.int64),
        throughput=read_throughput(document["interference"], names) if "interference" in document else None,
    )
    times: dict[str, Any] = {
        phase: np.array([workload[phase] for workload in workloads], np.int64)  # type: ignore[literal-required]
        for phase in PHASES
    }
    times |= {key: document[key] for key in ("period_s", "terminate_s") if key in document}
    arrival_s, work_s, job2class, num_tasks = _jobs(document, path, catalogue)
    return ReconfigurationInstance(
        name=document["name"],
        catalogue=catalogue,
        acquire_s=np.array([kind["acquire_s"] for kind in types], np.int64),
        setup_s=np.array([kind["setup_s"] for kind in types], np.int64),
        arrival_s=arrival_s,
        work_s=work_s,
        job2class=job2class,
        num_tasks=num_tasks,
        stored_sets=read_stored_sets(document["stored_sets"], names) if "stored_sets" in document else None,
        **times,
    )


def _jobs(document: InstanceFile, path: Path, catalogue: ProvisioningInstance) -> tuple[IntArray, ...]:
    """Return arrivals, work, classes and numbers of tasks, (J,) each."""
    if ("jobs" in document) == ("jobs_file" in document):
        raise InstanceError("give either 'jobs' or 'jobs_file', not both and not neither.")
    if "jobs_file" in document:
        beside = named_beside(path, "jobs_file", document["jobs_file"], InstanceError)
        arrays = read_arrays(beside, dict.fromkeys(JOB_ARRAYS, ("i", 1)), InstanceError)
        columns = tuple(arrays[name] for name in JOB_ARRAYS)
    else:
        jobs = document["jobs"]
        assert catalogue.class_names is not None
        name2class = {name: c for c, name in enumerate(catalogue.class_names)}
        for j, name in enumerate(jobs["task"]):
            if name not in name2class:
                raise InstanceError(f"jobs.task.{j} is '{name:.60}', which is not among the tasks; add it there.")
        classes = [name2class[name] for name in jobs["task"]]
        num_tasks = jobs.get("num_tasks", [1] * len(jobs["arrival_s"]))
        columns = tuple(np.array(each, np.int64) for each in (jobs["arrival_s"], jobs["work_s"], classes, num_tasks))
    for name, column in zip(JOB_ARRAYS, columns, strict=True):
        if column.size != columns[0].size:
            raise InstanceError(
                f"jobs: {name} has {column.size} entries, arrival_s has {columns[0].size}; give one each."
            )
    return columns
