"""Fairness instances as JSON files, schema `schedgap/fairness/1`.

Numbers are written as people write them (cores, GiB, performance 1.5) and converted exactly to integer units. Above 2,000
users their arrays go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

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
from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance
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

INLINE_USERS = 2_000
USER_ARRAYS = {"demand": 2, "weight": 1, "performance": 2, "allowed": 2, "tasks": 1}


@with_config(STRICT)
class UserFile(SharerFile):
    """A user; without `tasks` it has more than fit."""

    tasks: NotRequired[Count]


@with_config(STRICT)
class InstanceFile(TypedDict):
    """The document; `users` or `users_file` must be there."""

    schema: Literal["schedgap/fairness/1"]
    name: str
    notion: Literal["eunomia", "tsf", "cmmf", "drf"]
    resources: Annotated[list[str], Field(min_length=1)]
    machine_classes: Annotated[list[MachineClassFile], Field(min_length=1)]
    users: NotRequired[list[UserFile]]
    users_file: NotRequired[str]
    notes: NotRequired[list[str]]


INSTANCE = TypeAdapter(InstanceFile)


def read_instance(path: Path | str) -> FairnessInstance:
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


def write_instance(instance: FairnessInstance, path: Path | str) -> None:
    """Write an instance; `read_instance` gives back one of the same digest."""
    path = Path(path)
    document: Any = {
        "schema": "schedgap/fairness/1",
        "name": instance.name,
        "notion": instance.notion,
        "resources": list(instance.resources),
        "machine_classes": written_machine_classes(instance),
    }
    if instance.notes:
        document["notes"] = list(instance.notes)
    if instance.num_users <= INLINE_USERS:
        document["users"] = [_user(instance, i) for i in range(instance.num_users)]
    else:
        beside = arrays_beside(path)
        document["users_file"] = beside.name
        arrays: dict[str, Any] = {key: getattr(instance, key) for key in USER_ARRAYS}
        arrays["allowed"] = instance.allowed.astype(np.int8)
        if instance.user_names is not None:
            arrays["user_names"] = np.array(instance.user_names)
        write_arrays(beside, arrays, InstanceError)
    write_document(path, INSTANCE, document, InstanceError)


def _instance(document: InstanceFile, path: Path) -> FairnessInstance:
    if ("users" in document) == ("users_file" in document):
        raise InstanceError("give either 'users' or 'users_file', not both and not neither.")
    resources, classes = document["resources"], document["machine_classes"]
    fields = read_machine_classes(resources, classes)
    if "users_file" in document:
        fields |= _beside(named_beside(path, "users_file", document["users_file"], InstanceError))
    else:
        users = document["users"]
        fields |= read_sharers("user", users, resources, classes)
        fields["user_names"] = read_sharer_names("user", users)
        fields["tasks"] = [user.get("tasks", UNLIMITED) for user in users]
    notes = tuple(document.get("notes", ()))
    return FairnessInstance(name=document["name"], notion=document["notion"], notes=notes, **fields)


def _beside(path: Path) -> dict[str, Any]:
    wanted = {key: ("i", dimensions) for key, dimensions in USER_ARRAYS.items()} | {"user_names": ("U", 1)}
    fields = read_arrays(path, wanted, InstanceError, optional=("user_names",))
    if "user_names" in fields:
        fields["user_names"] = tuple(fields["user_names"].tolist())
    return fields


def _user(instance: FairnessInstance, i: int) -> UserFile | SharerFile:
    sharer = written_sharer(instance, i, None if instance.user_names is None else instance.user_names[i])
    return sharer if instance.tasks[i] == UNLIMITED else {**sharer, "tasks": int(instance.tasks[i])}
