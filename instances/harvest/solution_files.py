"""Schedules of harvest instances as JSON files, schema `schedgap/harvest-solution/1`.

Above 10,000 runs and leases their columns go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import SolutionError
from schedgap.instances.file_kinds import STRICT, Amount
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
from schedgap.instances.harvest.model import SECOND_MS
from schedgap.instances.harvest.schedule import HarvestSchedule

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.model import HarvestInstance

INLINE_RUNS = 10_000
COLUMNS = HarvestSchedule.__slots__
Index = Annotated[int, Field(ge=0, le=2**53)]


@with_config(STRICT)
class RunsFile(TypedDict):
    """A column each; `task` counts all tasks, job by job. No run takes checkpoints without `checkpoint_every_s`."""

    task: list[Index]
    vm: list[Index]
    start_s: list[Amount]
    end_s: list[Amount]
    checkpoint_every_s: NotRequired[list[Amount]]


@with_config(STRICT)
class LeasesFile(TypedDict):
    """A column each."""

    vm: list[Index]
    start_s: list[Amount]
    end_s: list[Amount]


@with_config(STRICT)
class SolutionFile(TypedDict):
    """The document; `runs` or `runs_file` must be there. `instance` is the digest, checked where it is given."""

    schema: Literal["schedgap/harvest-solution/1"]
    instance: NotRequired[str]
    runs: NotRequired[RunsFile]
    leases: NotRequired[LeasesFile]
    runs_file: NotRequired[str]


SOLUTION = TypeAdapter(SolutionFile)


def read_solution(instance: HarvestInstance, path: Path | str) -> HarvestSchedule:
    """Read a schedule of an instance; whether it is feasible is for `verify` to say.

    Raises
    ------
    SolutionError
        for a malformed file, or the digest of another instance.
    """
    path = Path(path)
    document = read_document(path, SOLUTION, SolutionError)
    refuse_other_instance(path, document.get("instance"), instance.name, instance.digest)
    with naming_file(path):
        return _schedule(document, path)


def write_solution(instance: HarvestInstance, schedule: HarvestSchedule, path: Path | str) -> None:
    """Write a schedule."""
    path = Path(path)
    document: SolutionFile = {"schema": "schedgap/harvest-solution/1", "instance": instance.digest}
    if schedule.num_runs + schedule.lease_vm.shape[0] > INLINE_RUNS:
        beside = arrays_beside(path)
        document["runs_file"] = beside.name
        write_arrays(beside, {key: getattr(schedule, key) for key in COLUMNS}, SolutionError)
    else:
        document["runs"] = {
            "task": schedule.task.tolist(),
            "vm": schedule.vm.tolist(),
            "start_s": _seconds(schedule.start_ms),
            "end_s": _seconds(schedule.end_ms),
        }
        if schedule.checkpoint_every_ms.any():
            document["runs"]["checkpoint_every_s"] = _seconds(schedule.checkpoint_every_ms)
        if schedule.lease_vm.shape[0]:
            document["leases"] = {
                "vm": schedule.lease_vm.tolist(),
                "start_s": _seconds(schedule.lease_start_ms),
                "end_s": _seconds(schedule.lease_end_ms),
            }
    write_document(path, SOLUTION, document, SolutionError)


def _schedule(document: SolutionFile, path: Path) -> HarvestSchedule:
    if ("runs" in document) == ("runs_file" in document):
        raise SolutionError("give either 'runs' or 'runs_file', not both and not neither.")
    if "runs_file" in document:
        if "leases" in document:
            raise SolutionError("leases are in the 'runs_file' too; leave out 'leases'.")
        beside = named_beside(path, "runs_file", document["runs_file"], SolutionError)
        return HarvestSchedule(**read_arrays(beside, dict.fromkeys(COLUMNS, ("i", 1)), SolutionError))
    runs = document["runs"]
    columns: dict[str, Any] = {
        "task": np.array(runs["task"], np.int64),
        "vm": np.array(runs["vm"], np.int64),
        "start_ms": _ms("runs.start_s", runs["start_s"]),
        "end_ms": _ms("runs.end_s", runs["end_s"]),
        "checkpoint_every_ms": _ms(
            "runs.checkpoint_every_s", runs.get("checkpoint_every_s", [0.0] * len(runs["task"]))
        ),
    }
    if "leases" in document:
        leases = document["leases"]
        columns["lease_vm"] = np.array(leases["vm"], np.int64)
        columns["lease_start_ms"] = _ms("leases.start_s", leases["start_s"])
        columns["lease_end_ms"] = _ms("leases.end_s", leases["end_s"])
    return HarvestSchedule(**columns)


def _ms(field: str, values: list[float]) -> IntArray:
    return to_units(values, SECOND_MS, field, SolutionError)


def _seconds(ms: IntArray) -> list[float]:
    return [from_units(value, SECOND_MS) for value in ms.tolist()]
