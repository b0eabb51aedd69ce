"""A real cluster's past as instances: who ran when, on which machines. Each kind of files gives a `History`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.catalogues.catalogue import ON_DEMAND
from schedgap.instances.provisioning.readers.kubernetes.cluster import AUTO, Terms
from schedgap.instances.provisioning.readers.kubernetes.templates import ANY
from schedgap.instances.reconfiguration.model import ReconfigurationInstance
from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife, instance_of
from schedgap.instances.reconfiguration.past.snapshots import snapshots

__all__ = ["History", "NodeLife", "PodLife", "instance_of", "kubernetes"]

# What reads files of a kind: of each its path, and how it is called within what was given.
SNAPSHOTS = "snapshots"
READERS: dict[str, Callable[[Sequence[tuple[Path, str]]], History]] = {SNAPSHOTS: snapshots}
ENDINGS = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".log", ".log.gz")


def kubernetes(
    *paths: Path | str,
    catalogue: str = "",
    prices: str = "",
    region: str = "",
    capacity_types: str = ON_DEMAND,
    zones: str = AUTO,
    node_type: str = "",
    node_types: str = "",
    node_groups: str = ANY,
    period_s: int = 0,
    boot_s: int = -1,
    restart_s: int = 30,
) -> ReconfigurationInstance:
    """Read a cluster's past: a folder of snapshots that kubectl printed, plain or as .gz.

    catalogue, prices, region, capacity_types, zones, node_type, node_types, node_groups : as the importer `kubernetes` of
    provisioning takes them. period_s, boot_s, restart_s : as `instance_of` takes them.

    Raises
    ------
    InstanceError
        for files of several kinds or of none, and as `instance_of`.
    """
    terms = Terms(
        *(catalogue, prices, region, capacity_types, zones, node_type, node_types, node_groups),
    )
    # Before much is read, what is wrong with the price list is said.
    terms.price_list()
    files = files_of(paths)
    kinds = {kind_of(path) for path, _ in files[:1]}
    history = READERS[kinds.pop()](files)
    name = "past-" + "-".join(dict.fromkeys(Path(path).stem for path in paths))
    more: dict[str, Any] = {"period_s": period_s, "boot_s": boot_s, "restart_s": restart_s}
    return instance_of(history, name=name[:100], **more, **asdict(terms))


def files_of(paths: Sequence[Path | str]) -> list[tuple[Path, str]]:
    """Return files, and those in folders, in order, and how each is called within what was given."""
    found: list[tuple[Path, str]] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(each for each in path.rglob("*") if each.name.endswith(ENDINGS))
            if not inside:
                raise InstanceError(
                    f"{path}: no file in this folder ends in {', '.join(ENDINGS[:2])}; give looks at a cluster."
                )
            found += [(each, each.relative_to(path).as_posix()) for each in inside]
        else:
            found.append((path, path.name))
    if not found:
        raise InstanceError(
            "no file is given; give a folder with what `kubectl get pods,nodes -A -o json` prints by time."
        )
    return found


def kind_of(path: Path) -> str:
    """Return which of `READERS` reads a file, by what it holds."""
    return SNAPSHOTS
