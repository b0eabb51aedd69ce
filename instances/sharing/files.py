"""Sharing instances as JSON files, schema `schedgap/sharing/1`.

Numbers are written as people write them (seconds, cores, GiB) and converted exactly to integer units. Above 10,000 tasks
the jobs' arrays go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness.file_parts import (
    MachineClassFile,
    SharerFile,
    read_machine_classes,
    read_sharer_names,
    read_sharers,
    written_machine_classes,
    written_sharer,
)
from schedgap.instances.file_kinds import STRICT, Amount
from schedgap.instances.files import (
    arrays_beside,
    from_units,
    named_beside,
    naming_file,
    read_arrays,
    read_document,
    to_units,
    write_arrays,
    write_document,
)
from schedgap.instances.sharing.model import SECOND_MS, SharingInstance

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray

INLINE_TASKS = 10_000
JOB_ARRAYS = {
    "arrival_ms": 1,
    "demand": 2,
    "weight": 1,
    "performance": 2,
    "allowed": 2,
    "first_task": 1,
    "work_ms": 1,
}
Work = Annotated[float, Field(gt=0)]


@with_config(STRICT)
class JobFile(SharerFile):
    """A job of one task or more. `work_s` is how long its tasks run at performance 1, for all of them or for each."""

    arrival_s: Amount
    tasks: NotRequired[Annotated[int, Field(ge=1, le=10**8)]]
    work_s: Work | Annotated[list[Work], Field(min_length=1)]


@with_config(STRICT)
class InstanceFile(TypedDict):
    """The document; `jobs` or `jobs_file` must be there."""

    schema: Literal["schedgap/sharing/1"]
    name: str
    notion: Literal["eunomia", "tsf", "cmmf", "drf"]
    resources: Annotated[list[str], Field(min_length=1)]
    machine_classes: Annotated[list[MachineClassFile], Field(min_length=1)]
    warm_up_jobs: NotRequired[Annotated[int, Field(ge=0, le=2**53)]]
    jobs: NotRequired[list[JobFile]]
    jobs_file: NotRequired[str]


INSTANCE = TypeAdapter(InstanceFile)


def read_instance(path: Path | str) -> SharingInstance:
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


def write_instance(instance: SharingInstance, path: Path | str) -> None:
    """Write an instance; `read_instance` gives back one of the same digest."""
    path = Path(path)
    document: InstanceFile = {
        "schema": "schedgap/sharing/1",
        "name": instance.name,
        "notion": instance.notion,  # type: ignore[typeddict-item]
        "resources": list(instance.resources),
        "machine_classes": written_machine_classes(instance),
    }
    if instance.warm_up_jobs:
        document["warm_up_jobs"] = instance.warm_up_jobs
    if instance.num_tasks <= INLINE_TASKS:
        document["jobs"] = [_written_job(instance, j) for j in range(instance.num_jobs)]
    else:
        beside = arrays_beside(path)
        document["jobs_file"] = beside.name
        arrays = {key: getattr(instance, key) for key in JOB_ARRAYS} | {"allowed": instance.allowed.astype(np.int8)}
        if instance.job_names is not None:
            arrays["names"] = np.array(instance.job_names)
        write_arrays(beside, arrays, InstanceError)
    write_document(path, INSTANCE, document, InstanceError)


def _instance(document: InstanceFile, path: Path) -> SharingInstance:
    if ("jobs" in document) == ("jobs_file" in document):
        raise InstanceError("give either 'jobs' or 'jobs_file', not both and not neither.")
    if "jobs_file" in document:
        jobs = _stored_jobs(named_beside(path, "jobs_file", document["jobs_file"], InstanceError))
    else:
        given = document["jobs"]
        work_s = [_work_s(job, j) for j, job in enumerate(given)]
        names = [str(job.get("name", j)) for j, job in enumerate(given)]
        owners = [name for name, work in zip(names, work_s, strict=True) for _ in work]
        arrival_s = [job["arrival_s"] for job in given]
        jobs = {
            "arrival_ms": to_units(arrival_s, SECOND_MS, "jobs.arrival_s", InstanceError, (names,)),
            **read_sharers("job", given, document["resources"], document["machine_classes"]),
            "first_task": np.cumsum([0, *(work.shape[0] for work in work_s)]),
            "work_ms": to_units(np.concatenate([*work_s, []]), SECOND_MS, "jobs.work_s", InstanceError, (owners,)),
            "job_names": read_sharer_names("job", given),
        }
    return SharingInstance(
        name=document["name"],
        notion=document["notion"],
        **read_machine_classes(document["resources"], document["machine_classes"]),
        warm_up_jobs=document.get("warm_up_jobs", 0),
        **jobs,
    )


def _stored_jobs(beside: Path) -> dict[str, Any]:
    wanted = {key: ("i", dimensions) for key, dimensions in JOB_ARRAYS.items()}
    arrays = read_arrays(beside, {**wanted, "names": ("U", 1)}, InstanceError, optional=("names",))
    names = arrays.pop("names", None)
    return {
        **arrays,
        "allowed": arrays["allowed"] != 0,
        "job_names": None if names is None else tuple(names.tolist()),
    }


def _work_s(job: JobFile, j: int) -> FloatArray:
    """Return the work of each task of a job, in seconds."""
    work, tasks = job["work_s"], job.get("tasks")
    if not isinstance(work, list):
        return np.full(1 if tasks is None else tasks, work, np.float64)
    if tasks is not None and tasks != len(work):
        raise InstanceError(
            f"job {job.get('name', j)} has {tasks} tasks and {len(work)} numbers in work_s; give one number, or one each."
        )
    return np.array(work, np.float64)


def _written_job(instance: SharingInstance, j: int) -> JobFile:
    first, last = instance.first_task[j : j + 2].tolist()
    works = instance.work_ms[first:last].tolist()
    name = None if instance.job_names is None else instance.job_names[j]
    return {
        **written_sharer(instance, j, name),
        "arrival_s": from_units(int(instance.arrival_ms[j]), SECOND_MS),
        "tasks": last - first,
        "work_s": works[0] / SECOND_MS if len(set(works)) == 1 else [work / SECOND_MS for work in works],
    }
