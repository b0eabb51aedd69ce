"""Waiting instances and schedules as JSON files, schemas `schedgap/waiting/1` and `schedgap/waiting-solution/1`.

Numbers are written as people write them (seconds, GiB, dollars) and converted exactly to integer units. Above 10,000
jobs their columns go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.file_kinds import STRICT, Amount, Count
from schedgap.instances.files import (
    arrays_beside,
    from_units,
    named_beside,
    naming_file,
    read_arrays,
    read_document,
    refuse_other_instance,
    to_units,
    write_arrays,
    write_document,
)
from schedgap.instances.waiting.model import DOLLAR, GIB, SECOND_US, WaitingInstance
from schedgap.instances.waiting.schedule import RENTED, WaitingSchedule

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

INLINE_JOBS = 10_000
JOB_ARRAYS = ("submit_us", "runtime_us", "cores", "memory_mib")


@with_config(STRICT)
class MachineFile(TypedDict):
    """One machine type; `price` in dollars per hour."""

    cores: Count
    memory_gib: Annotated[float, Field(gt=0)]
    price: Annotated[float, Field(gt=0)]


@with_config(STRICT)
class JobsFile(TypedDict):
    """A column each; entry j of all is job j."""

    submit_s: list[Amount]
    runtime_s: list[Annotated[float, Field(gt=0)]]
    cores: list[Count]
    memory_gib: list[Amount]


@with_config(STRICT)
class InstanceFile(TypedDict):
    """The document; `jobs` or `jobs_file` must be there."""

    schema: Literal["schedgap/waiting/1"]
    name: str
    fixed: MachineFile
    rented: Annotated[list[MachineFile], Field(min_length=1)]
    horizon_s: Annotated[float, Field(gt=0)]
    wait_price: NotRequired[Amount]
    max_wait_s: NotRequired[Amount]
    jobs: NotRequired[JobsFile]
    jobs_file: NotRequired[str]


@with_config(STRICT)
class SolutionFile(TypedDict):
    """The document; `machine` is null where a job rents. `instance` is the digest, checked where it is given."""

    schema: Literal["schedgap/waiting-solution/1"]
    instance: NotRequired[str]
    machines: Annotated[int, Field(ge=0, le=2**53)]
    machine: list[Annotated[int, Field(ge=0, le=2**53)] | None]
    start_s: list[Amount]


INSTANCE = TypeAdapter(InstanceFile)
SOLUTION = TypeAdapter(SolutionFile)


def read_instance(path: Path | str) -> WaitingInstance:
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


def write_instance(instance: WaitingInstance, path: Path | str) -> None:
    """Write an instance; `read_instance` gives back one of the same digest."""
    path = Path(path)
    document: InstanceFile = {
        "schema": "schedgap/waiting/1",
        "name": instance.name,
        "fixed": _machine(instance.machine_cores, instance.machine_memory_mib, instance.fixed_price),
        "rented": [
            _machine(int(instance.rented_cores[k]), int(instance.rented_memory_mib[k]), int(instance.rented_price[k]))
            for k in range(instance.rented_cores.shape[0])
        ],
        "horizon_s": from_units(instance.horizon_us, SECOND_US),
    }
    if instance.wait_price:
        document["wait_price"] = from_units(instance.wait_price, DOLLAR)
    if instance.max_wait_us is not None:
        document["max_wait_s"] = from_units(instance.max_wait_us, SECOND_US)
    if instance.num_jobs <= INLINE_JOBS:
        document["jobs"] = {
            "submit_s": _shown(instance.submit_us, SECOND_US),
            "runtime_s": _shown(instance.runtime_us, SECOND_US),
            "cores": instance.cores.tolist(),
            "memory_gib": _shown(instance.memory_mib, GIB),
        }
    else:
        beside = arrays_beside(path)
        document["jobs_file"] = beside.name
        write_arrays(beside, {key: getattr(instance, key) for key in JOB_ARRAYS}, InstanceError)
    write_document(path, INSTANCE, document, InstanceError)


def read_solution(instance: WaitingInstance, path: Path | str) -> WaitingSchedule:
    """Read a schedule of an instance; whether it is feasible is for `verify` to say.

    Raises
    ------
    SolutionError
        for a malformed file, or the digest of another instance.
    """
    path = Path(path)
    document = read_document(path, SOLUTION, SolutionError)
    refuse_other_instance(path, document.get("instance"), instance.name, instance.digest)
    machine = [RENTED if where is None else where for where in document["machine"]]
    start_us = to_units(document["start_s"], SECOND_US, f"{path.name}: start_s", SolutionError)
    return WaitingSchedule(document["machines"], np.array(machine, np.int64), start_us)


def write_solution(instance: WaitingInstance, schedule: WaitingSchedule, path: Path | str) -> None:
    """Write a schedule."""
    document: SolutionFile = {
        "schema": "schedgap/waiting-solution/1",
        "instance": instance.digest,
        "machines": schedule.num_machines,
        "machine": [None if where == RENTED else where for where in schedule.machine.tolist()],
        "start_s": _shown(schedule.start_us, SECOND_US),
    }
    write_document(path, SOLUTION, document, SolutionError)


def _instance(document: InstanceFile, path: Path) -> WaitingInstance:
    if ("jobs" in document) == ("jobs_file" in document):
        raise InstanceError("give either 'jobs' or 'jobs_file'.")
    if "jobs_file" in document:
        beside = named_beside(path, "jobs_file", document["jobs_file"], InstanceError)
        jobs: dict[str, Any] = read_arrays(beside, dict.fromkeys(JOB_ARRAYS, ("i", 1)), InstanceError)
    else:
        given = document["jobs"]
        jobs = {
            "submit_us": to_units(given["submit_s"], SECOND_US, "jobs.submit_s", InstanceError),
            "runtime_us": to_units(given["runtime_s"], SECOND_US, "jobs.runtime_s", InstanceError),
            "cores": np.array(given["cores"], np.int64),
            "memory_mib": to_units(given["memory_gib"], GIB, "jobs.memory_gib", InstanceError),
        }
    machines = [document["fixed"], *document["rented"]]
    memory = to_units([machine["memory_gib"] for machine in machines], GIB, "memory_gib", InstanceError)
    price = to_units([machine["price"] for machine in machines], DOLLAR, "price", InstanceError)
    max_wait_s = document.get("max_wait_s")
    return WaitingInstance(
        name=document["name"],
        machine_cores=machines[0]["cores"],
        machine_memory_mib=int(memory[0]),
        fixed_price=int(price[0]),
        rented_cores=np.array([machine["cores"] for machine in machines[1:]], np.int64),
        rented_memory_mib=memory[1:],
        rented_price=price[1:],
        horizon_us=int(to_units(document["horizon_s"], SECOND_US, "horizon_s", InstanceError)),
        wait_price=int(to_units(document.get("wait_price", 0.0), DOLLAR, "wait_price", InstanceError)),
        max_wait_us=None if max_wait_s is None else int(to_units(max_wait_s, SECOND_US, "max_wait_s", InstanceError)),
        **jobs,
    )


def _machine(cores: int, memory_mib: int, price: int) -> MachineFile:
    return {"cores": cores, "memory_gib": from_units(memory_mib, GIB), "price": from_units(price, DOLLAR)}


def _shown(values: IntArray, scale: int) -> list[float]:
    return [from_units(value, scale) for value in values.tolist()]
