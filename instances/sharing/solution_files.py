"""Schedules of sharing instances as JSON files, schema `schedgap/sharing-solution/1`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import SolutionError
from schedgap.instances.file_kinds import STRICT, Amount
from schedgap.instances.files import from_units, read_document, refuse_other_instance, to_units, write_document
from schedgap.instances.sharing.model import SECOND_MS
from schedgap.instances.sharing.schedule import SharingSchedule

if TYPE_CHECKING:
    from schedgap.instances.sharing.model import SharingInstance


@with_config(STRICT)
class SolutionFile(TypedDict):
    """A column each; entry t of both is task t, job by job. `instance` is the digest, checked where it is given."""

    schema: Literal["schedgap/sharing-solution/1"]
    instance: NotRequired[str]
    machine: list[Annotated[int, Field(ge=0, le=2**53)]]
    start_s: list[Amount]


SOLUTION = TypeAdapter(SolutionFile)


def read_solution(instance: SharingInstance, path: Path | str) -> SharingSchedule:
    """Read a schedule of an instance; whether it is feasible is for `verify` to say.

    Raises
    ------
    SolutionError
        for a malformed file, or the digest of another instance.
    """
    path = Path(path)
    document = read_document(path, SOLUTION, SolutionError)
    refuse_other_instance(path, document.get("instance"), instance.name, instance.digest)
    start_ms = to_units(document["start_s"], SECOND_MS, f"{path.name}: start_s", SolutionError)
    return SharingSchedule(np.array(document["machine"], np.int64), start_ms)


def write_solution(instance: SharingInstance, schedule: SharingSchedule, path: Path | str) -> None:
    """Write a schedule."""
    document: SolutionFile = {
        "schema": "schedgap/sharing-solution/1",
        "instance": instance.digest,
        "machine": schedule.machine.tolist(),
        "start_s": [from_units(start, SECOND_MS) for start in schedule.start_ms.tolist()],
    }
    write_document(path, SOLUTION, document, SolutionError)
