"""Harvest instances as JSON files, schema `schedgap/harvest/1`.

Numbers are written as people write them (seconds, GiB, dollars) and converted exactly to integer units. Above 10,000 events
the VMs' arrays, and above 10,000 tasks the jobs', go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import InstanceError
from schedgap.instances.file_kinds import STRICT, Amount, Count
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
from schedgap.instances.harvest.model import NO_CHECKPOINTS, SECOND_MS, HarvestInstance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.instances.arrays import FloatArray, IntArray

INLINE_EVENTS = 10_000
INLINE_TASKS = 10_000
GIB = 1024
DOLLAR = 1_000_000
VM_ARRAYS = ("first_event", "event_ms", "event_cores", "min_cores", "memory_mib", "leased", "buffer")
JOB_ARRAYS = (
    *("arrival_ms", "cores", "task_memory_mib", "checkpoint_ms", "restore_ms"),
    *("first_task", "runtime_ms", "estimate_ms"),
)
Cores = Annotated[int, Field(ge=0, le=2**53)]
Positive = Annotated[float, Field(gt=0)]
Runtime = Positive | Annotated[list[Positive], Field(min_length=1)]


@with_config(STRICT)
class VmFile(TypedDict):
    """A VM; `events` are pairs of seconds and cores. `leased` at the start: by default those of a fixed pool are."""

    name: NotRequired[str]
    events: Annotated[list[tuple[Amount, Cores]], Field(min_length=1)]
    min_cores: NotRequired[Count]
    memory_gib: Positive
    leased: NotRequired[bool]
    buffer: NotRequired[bool]


@with_config(STRICT)
class JobFile(TypedDict):
    """A job; `runtime_s` and `estimate_s` are of all its tasks or of each, the estimate is the runtime by default."""

    name: NotRequired[str]
    arrival_s: Amount
    cores: Count
    memory_gib: NotRequired[Amount]
    tasks: NotRequired[Annotated[int, Field(ge=1, le=10**8)]]
    runtime_s: Runtime
    estimate_s: NotRequired[Runtime]
    checkpoint_s: NotRequired[Amount]
    restore_s: NotRequired[Amount]


@with_config(STRICT)
class InstanceFile(TypedDict):
    """The document; `vms` or `vms_file`, and `jobs` or `jobs_file`, must be there."""

    schema: Literal["schedgap/harvest/1"]
    name: str
    notes: NotRequired[list[str]]
    objective: NotRequired[Literal["jobs", "tasks", "makespan"]]
    kills: NotRequired[Literal["oldest", "newest"]]
    allocation: NotRequired[Literal["fixed", "random", "balancing", "packing"]]
    max_leases: NotRequired[Annotated[int, Field(ge=0, le=2**53)]]
    base_price: NotRequired[Amount]
    extra_price: NotRequired[Amount]
    vms: NotRequired[list[VmFile]]
    vms_file: NotRequired[str]
    jobs: NotRequired[list[JobFile]]
    jobs_file: NotRequired[str]


INSTANCE = TypeAdapter(InstanceFile)


def read_instance(path: Path | str) -> HarvestInstance:
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


def write_instance(instance: HarvestInstance, path: Path | str) -> None:
    """Write an instance; `read_instance` gives back one of the same digest."""
    path = Path(path)
    document: InstanceFile = {
        "schema": "schedgap/harvest/1",
        "name": instance.name,
        "objective": instance.objective,  # type: ignore[typeddict-item]
        "kills": instance.kills,  # type: ignore[typeddict-item]
        "allocation": instance.allocation,  # type: ignore[typeddict-item]
        "max_leases": instance.max_leases,
        "base_price": from_units(instance.base_price, DOLLAR),
        "extra_price": from_units(instance.extra_price, DOLLAR),
    }
    if instance.notes:
        document["notes"] = list(instance.notes)
    beside = arrays_beside(path)
    arrays: dict[str, Any] = {}
    if instance.event_ms.shape[0] <= INLINE_EVENTS:
        document["vms"] = [_written_vm(instance, v) for v in range(instance.num_vms)]
    else:
        document["vms_file"] = beside.name
        arrays |= _stored(instance, VM_ARRAYS, "vm_names")
    if instance.num_tasks <= INLINE_TASKS:
        document["jobs"] = [_written_job(instance, j) for j in range(instance.num_jobs)]
    else:
        document["jobs_file"] = beside.name
        arrays |= _stored(instance, JOB_ARRAYS, "job_names")
    if arrays:
        write_arrays(beside, arrays, InstanceError)
    write_document(path, INSTANCE, document, InstanceError)


def _instance(document: InstanceFile, path: Path) -> HarvestInstance:
    for what in ("vms", "jobs"):
        if (what in document) == (f"{what}_file" in document):
            raise InstanceError(f"give either '{what}' or '{what}_file', not both and not neither.")
    allocation = document.get("allocation", "fixed")
    if "vms_file" in document:
        vms = _read(path, "vms_file", document["vms_file"], VM_ARRAYS, "vm_names")
    else:
        vms = _read_vms(document["vms"], is_fixed=allocation == "fixed")
    if "jobs_file" in document:
        jobs = _read(path, "jobs_file", document["jobs_file"], JOB_ARRAYS, "job_names")
    else:
        jobs = _read_jobs(document["jobs"])
    return HarvestInstance(
        name=document["name"],
        notes=tuple(document.get("notes", ())),
        objective=document.get("objective", "jobs"),
        kills=document.get("kills", "oldest"),
        allocation=allocation,
        max_leases=document.get("max_leases", 0),
        base_price=int(to_units(document.get("base_price", 0.0), DOLLAR, "base_price", InstanceError)),
        extra_price=int(to_units(document.get("extra_price", 0.0), DOLLAR, "extra_price", InstanceError)),
        **vms,
        **jobs,
    )


def _read_vms(given: Sequence[VmFile], *, is_fixed: bool) -> dict[str, Any]:
    events = [event for vm in given for event in vm["events"]]
    names = [str(vm.get("name", v)) for v, vm in enumerate(given)]
    owners = [name for name, vm in zip(names, given, strict=True) for _ in vm["events"]]
    return {
        "first_event": np.cumsum([0, *(len(vm["events"]) for vm in given)]),
        "event_ms": to_units([at_s for at_s, _ in events], SECOND_MS, "vms.events", InstanceError, (owners,)),
        "event_cores": np.array([cores for _, cores in events], np.int64),
        "min_cores": np.array([vm.get("min_cores", 1) for vm in given], np.int64),
        "memory_mib": to_units([vm["memory_gib"] for vm in given], GIB, "vms.memory_gib", InstanceError, (names,)),
        "leased": np.array([vm.get("leased", is_fixed) for vm in given], np.bool_),
        "buffer": np.array([vm.get("buffer", False) for vm in given], np.bool_),
        "vm_names": _read_names("vms", given),
    }


def _read_jobs(given: Sequence[JobFile]) -> dict[str, Any]:
    runtime_s = [_of_tasks(job, j, "runtime_s", _num_tasks(job)) for j, job in enumerate(given)]
    sizes = [runtime.shape[0] for runtime in runtime_s]
    estimate_s = [
        _of_tasks(job, j, "estimate_s", size) if "estimate_s" in job else runtime
        for j, (job, size, runtime) in enumerate(zip(given, sizes, runtime_s, strict=True))
    ]
    names = [str(job.get("name", j)) for j, job in enumerate(given)]
    can = ["checkpoint_s" in job for job in given]
    owners = [name for name, size in zip(names, sizes, strict=True) for _ in range(size)]

    def of_jobs(field: str, scale: int) -> IntArray:
        return to_units([job.get(field, 0.0) for job in given], scale, f"jobs.{field}", InstanceError, (names,))

    return {
        "arrival_ms": of_jobs("arrival_s", SECOND_MS),
        "cores": np.array([job["cores"] for job in given], np.int64),
        "task_memory_mib": of_jobs("memory_gib", GIB),
        "checkpoint_ms": np.where(can, of_jobs("checkpoint_s", SECOND_MS), NO_CHECKPOINTS),
        "restore_ms": of_jobs("restore_s", SECOND_MS),
        "first_task": np.cumsum([0, *sizes]),
        "runtime_ms": to_units(np.concatenate([*runtime_s, []]), SECOND_MS, "jobs.runtime_s", InstanceError, (owners,)),
        "estimate_ms": to_units(
            np.concatenate([*estimate_s, []]), SECOND_MS, "jobs.estimate_s", InstanceError, (owners,)
        ),
        "job_names": _read_names("jobs", given),
    }


def _num_tasks(job: JobFile) -> int:
    """Return how many tasks a job says that it has, else as many as it has runtimes."""
    runtime = job["runtime_s"]
    return job.get("tasks", len(runtime) if isinstance(runtime, list) else 1)


def _of_tasks(job: JobFile, j: int, field: Literal["runtime_s", "estimate_s"], tasks: int) -> FloatArray:
    """Return the seconds of each task of a job."""
    given = job[field]
    if not isinstance(given, list):
        return np.full(tasks, given, np.float64)
    if tasks != len(given):
        raise InstanceError(
            f"job {job.get('name', j)} has {tasks} tasks and {len(given)} numbers in {field}; give one number, or one each."
        )
    return np.array(given, np.float64)


def _read_names(what: str, given: Sequence[VmFile] | Sequence[JobFile]) -> tuple[str, ...] | None:
    names = [each["name"] for each in given if "name" in each]
    if not names:
        return None
    if len(names) != len(given):
        nameless = next(i for i, each in enumerate(given) if "name" not in each)
        raise InstanceError(f"{what}.{nameless} has no name, others have; name all of them or none.")
    return tuple(names)


def _read(path: Path, field: str, name: str, keys: Sequence[str], names: str) -> dict[str, Any]:
    """Return the arrays of VMs or jobs, and their names, from the file beside `path`."""
    wanted: Mapping[str, tuple[str, int]] = {**dict.fromkeys(keys, ("i", 1)), names: ("U", 1)}
    beside = named_beside(path, field, name, InstanceError)
    arrays = read_arrays(beside, wanted, InstanceError, optional=(names,))
    for key in ("leased", "buffer"):
        if key in arrays:
            arrays[key] = arrays[key] != 0
    return {**arrays, names: tuple(arrays[names].tolist()) if names in arrays else None}


def _stored(instance: HarvestInstance, keys: Sequence[str], names: str) -> dict[str, Any]:
    """Return the arrays of VMs or jobs, and their names if they have any, to be stored beside the document."""
    arrays: dict[str, Any] = {key: getattr(instance, key) for key in keys}
    for key in ("leased", "buffer"):
        if key in arrays:
            arrays[key] = arrays[key].astype(np.int8)
    if getattr(instance, names) is not None:
        arrays[names] = np.array(getattr(instance, names))
    return arrays


def _written_vm(instance: HarvestInstance, v: int) -> VmFile:
    first, last = instance.first_event[v : v + 2].tolist()
    at_s = [from_units(ms, SECOND_MS) for ms in instance.event_ms[first:last].tolist()]
    vm: VmFile = {
        "events": list(zip(at_s, instance.event_cores[first:last].tolist(), strict=True)),
        "min_cores": int(instance.min_cores[v]),
        "memory_gib": from_units(int(instance.memory_mib[v]), GIB),
    }
    if not instance.is_fixed:
        vm["leased"] = bool(instance.leased[v])
    if instance.buffer[v]:
        vm["buffer"] = True
    return vm if instance.vm_names is None else {"name": instance.vm_names[v], **vm}


def _written_job(instance: HarvestInstance, j: int) -> JobFile:
    tasks = slice(*instance.first_task[j : j + 2].tolist())
    runtimes: list[float] = (instance.runtime_ms[tasks] / SECOND_MS).tolist()
    estimates: list[float] = (instance.estimate_ms[tasks] / SECOND_MS).tolist()
    job: JobFile = {
        "arrival_s": from_units(int(instance.arrival_ms[j]), SECOND_MS),
        "cores": int(instance.cores[j]),
        "tasks": len(runtimes),
        "runtime_s": runtimes[0] if len(set(runtimes)) == 1 else runtimes,
    }
    if estimates != runtimes:
        job["estimate_s"] = estimates[0] if len(set(estimates)) == 1 else estimates
    if instance.task_memory_mib[j]:
        job["memory_gib"] = from_units(int(instance.task_memory_mib[j]), GIB)
    if instance.checkpoint_ms[j] != NO_CHECKPOINTS:
        job["checkpoint_s"] = from_units(int(instance.checkpoint_ms[j]), SECOND_MS)
    if instance.restore_ms[j]:
        job["restore_s"] = from_units(int(instance.restore_ms[j]), SECOND_MS)
    return job if instance.job_names is None else {"name": instance.job_names[j], **job}
