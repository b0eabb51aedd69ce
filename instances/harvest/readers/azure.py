"""Batches of VMs of Azure's public data set V1 of 2017, from files of huaweicloud/trace_generation_rnn that a user has.

A folder holds `flav_map.txt` (cores and GB of each flavour, by a letter), `v1.interval_map.txt` (the bin of each lifetime in
seconds), and pairs of files such as `v1.test.txt` and `v1.test.c2592000.txt`. Both have a line for each five minutes with
the same items, `|` after each batch: in the one flavours, in the other bins of lifetimes after U, or C if the VM lived on
at the end. Any of them may be compressed (.gz).
"""

from __future__ import annotations

import zlib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.documents.openings import MOST_BYTES
from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.datacentre import SERVERS, replayed
from schedgap.instances.harvest.generators.parameters import GOAL, Goal
from schedgap.instances.harvest.generators.pools import POOL, PoolParameters
from schedgap.instances.harvest.generators.vms import Batches
from schedgap.instances.harvest.generators.wind import WIND, WindOptions
from schedgap.instances.harvest.generators.workloads import CHANGES, WorkloadChanges
from schedgap.instances.method import flattened
from schedgap.instances.unpacked import unpacked

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance

# Lifetimes are whole numbers of five minutes: 0 stands for what ended within the first.
SHORTEST_S = 300
FLAVOURS, BINS = "flav_map.txt", "v1.interval_map.txt"


@flattened()
def azure_v1(
    path: Path | str,
    *,
    preset: str = "C2",
    vms: int = 64,
    seed: int = 0,
    servers: int = SERVERS,
    days: float = 0.0,
    workload: str = "light",
    changes: WorkloadChanges = CHANGES,
    pool: PoolParameters = POOL,
    wind: WindOptions = WIND,
    goal: Goal = GOAL,
) -> HarvestInstance:
    """Replay a data centre as the generator `datacentre` does, with whole batches of VMs drawn from a folder of files.

    The parameters are that generator's.

    Raises
    ------
    InstanceError
        naming the file and the line of what is missing or malformed; for a parameter out of range.
    """
    batches = azure_batches(path)
    return replayed(f"azure-{preset}", preset, vms, seed, servers, days, workload, changes, pool, wind, goal, batches)


def azure_batches(folder: Path | str) -> Batches:
    """Return the batches of all pairs of files in a folder.

    Raises
    ------
    InstanceError
        naming the file and the line of what is missing or malformed.
    """
    home = Path(folder)
    flavour2cores = {
        name: _whole(home / FLAVOURS, k, shape.partition(",")[0]) for k, (shape, name) in _pairs(home / FLAVOURS)
    }
    edges: dict[str, int] = {}
    for k, (second, name) in _pairs(home / BINS):
        edges[name] = max(edges.get(name, SHORTEST_S), _whole(home / BINS, k, second))
    upper = sorted(edges.items(), key=lambda item: (item[1], item[0]))
    seconds = sorted({second for _, second in upper})
    below = dict(zip(seconds, [0, *seconds], strict=False))

    sizes: list[int] = []
    cores: list[int] = []
    bins: list[int] = []
    censored: list[bool] = []
    for flavours, lifetimes in _files(home):
        for line, vms, lives in _lines(flavours, lifetimes):
            count = 0
            for vm, life in zip(vms, lives, strict=True):
                if (vm == "|") != (life == "|"):
                    raise InstanceError(
                        f"{lifetimes.name} line {line}: a batch ends where none does in {flavours.name}; take files "
                        "that belong together."
                    )
                if vm == "|":
                    sizes.append(count)
                    count = 0
                    continue
                if vm not in flavour2cores:
                    raise InstanceError(f"{flavours.name} line {line}: flavour '{vm:.20}' is not in {FLAVOURS}.")
                if life[:1] not in ("U", "C") or life[1:] not in edges:
                    raise InstanceError(f"{lifetimes.name} line {line}: '{life:.20}' is no U or C and a bin of {BINS}.")
                cores.append(flavour2cores[vm])
                bins.append(edges[life[1:]])
                censored.append(life[0] == "C")
                count += 1
            sizes.append(count)
    kept = [size for size in sizes if size]
    if not kept:
        raise InstanceError(f"{home}: there are no VMs in its files; give a folder with some.")
    longest = np.array(bins)
    shortest = np.array([below[second] for second in bins])
    return Batches(np.concatenate(([0], np.cumsum(kept))), np.array(cores), shortest, longest, np.array(censored))


def _files(home: Path) -> list[tuple[Path, Path]]:
    """Return pairs of flavours and lifetimes."""
    pairs = []
    for path in sorted(chain(home.glob("*.c*.txt"), home.glob("*.c*.txt.gz"))):
        stem = path.name.partition(".txt")[0].rpartition(".c")[0]
        pairs.append((_there(home / f"{stem}.txt"), path))
    if not pairs:
        raise InstanceError(
            f"{home}: no file of lifetimes, such as v1.test.c2592000.txt.gz; give a folder of trace_generation_rnn's data."
        )
    return pairs


def _there(path: Path) -> Path:
    """Return the path, or that of the compressed file."""
    packed = path.with_name(path.name + ".gz")
    return packed if packed.exists() and not path.exists() else path


def _text(path: Path) -> list[str]:
    found = _there(path)
    try:
        with unpacked(found) as file:
            return file.read(MOST_BYTES).decode("ascii").splitlines()
    except OSError as error:
        raise InstanceError(f"{found}: cannot be read ({error.strerror or error}); give the whole folder.") from None
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InstanceError(f"{found}: cannot be read ({error}); download it again.") from None


def _pairs(path: Path) -> list[tuple[int, tuple[str, str]]]:
    """Return lines of two fields, with their numbers from 1."""
    pairs = []
    for line, text in enumerate(_text(path), 1):
        fields = text.split()
        if len(fields) != 2:
            raise InstanceError(f"{path.name} line {line}: {len(fields)} fields instead of 2; mend or remove the line.")
        pairs.append((line, (fields[0], fields[1])))
    return pairs


def _lines(flavours: Path, lifetimes: Path) -> list[tuple[int, list[str], list[str]]]:
    """Return line numbers and items of two files that belong together."""
    left, right = _pairs(flavours), _pairs(lifetimes)
    if len(left) != len(right):
        raise InstanceError(
            f"{lifetimes.name} has {len(right)} lines, {flavours.name} has {len(left)}; take files that belong together."
        )
    lines = []
    for (line, (moment, vms)), (_, (other, lives)) in zip(left, right, strict=True):
        items = vms.split(","), lives.split(",")
        if moment != other or len(items[0]) != len(items[1]):
            raise InstanceError(
                f"{lifetimes.name} line {line}: {len(items[1])} items at {other} s, in {flavours.name} {len(items[0])} at "
                f"{moment} s; take files that belong together."
            )
        lines.append((line, *items))
    return lines


def _whole(path: Path, line: int, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InstanceError(f"{path.name} line {line}: '{text:.20}' is not a whole number below 10**9; mend the line.")
    return int(text)
