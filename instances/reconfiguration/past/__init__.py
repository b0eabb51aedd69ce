"""A real cluster's past as instances: who ran when, on which machines. Each kind of files gives a `History`."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from schedgap.instances.documents.openings import open_given
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.catalogues.catalogue import ON_DEMAND
from schedgap.instances.provisioning.readers.kubernetes.cluster import AUTO, Terms
from schedgap.instances.provisioning.readers.kubernetes.templates import ANY
from schedgap.instances.reconfiguration.model import ReconfigurationInstance
from schedgap.instances.reconfiguration.past.events import read_logs
from schedgap.instances.reconfiguration.past.files import GZIP
from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife, instance_of
from schedgap.instances.reconfiguration.past.prometheus import read_prometheus
from schedgap.instances.reconfiguration.past.snapshots import snapshots

__all__ = ["History", "NodeLife", "PodLife", "instance_of", "kubernetes"]

SNAPSHOTS, PROMETHEUS, LOGS = "looks at a cluster", "answers of Prometheus", "logs"
ANSWER = re.compile(rb'\s*\{\s*"status"\s*:\s*"(success|error)"')
# What no look has, but each event and each line of an audit log; within so many of the first bytes.
LOGGED, HEAD = (b'"involvedObject"', b'"audit.k8s.io/'), 2**16
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
    """Read a cluster's past: a folder of snapshots that kubectl printed, answers of Prometheus, or logs, plain or as .gz.

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
    history = history_of(files_of(paths))
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


def history_of(files: Sequence[tuple[Path, str]]) -> History:
    """Return what files of one kind tell; logs may have looks at the cluster beside them."""
    by_kind: dict[str, list[tuple[Path, str]]] = {}
    for path, name in files:
        by_kind.setdefault(kind_of(path), []).append((path, name))
    looked = by_kind.pop(SNAPSHOTS, [])
    if len(by_kind) == 2 or (looked and PROMETHEUS in by_kind):
        kinds = [SNAPSHOTS] * bool(looked) + list(by_kind)
        raise InstanceError(f"the files are {' and '.join(kinds)}, which tell the same twice; give those of one kind.")
    if PROMETHEUS in by_kind:
        return read_prometheus([path for path, _ in by_kind[PROMETHEUS]])
    if LOGS in by_kind:
        return read_logs([path for path, _ in by_kind[LOGS]], snapshots(looked) if looked else None)
    return snapshots(looked)


def kind_of(path: Path) -> str:
    """Return what a file is, by its first bytes; what is unknown is a look, and refused as such."""
    try:
        with open_given(path) as file:
            head = file.read(HEAD)
        if head.startswith(GZIP):
            head = zlib.decompressobj(zlib.MAX_WBITS + 16).decompress(head, HEAD)
    except (OSError, zlib.error):
        return SNAPSHOTS
    if ANSWER.match(head):
        return PROMETHEUS
    return LOGS if any(each in head for each in LOGGED) else SNAPSHOTS
