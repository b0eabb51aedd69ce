"""Readers of foreign traces, which become harvest instances.

Batches of VMs of Azure's public data set V1 of 2017, from files of huaweicloud/trace_generation_rnn that a user has.

A folder holds `flav_map.txt` (cores and GB of each flavour, by a letter), `v1.interval_map.txt` (the bin of each lifetime in
seconds), and pairs of files such as `v1.test.txt` and `v1.test.c2592000.txt`. Both have a line for each five minutes with
the same items, `|` after each batch: in the one flavours, in the other bins of lifetimes after U, or C if the VM lived on
at the end. Any of them may be compressed (.gz).

Spot VMs that clouds really gave: series of skypilot-org/spot-traces (Wu et al., NSDI 2024) that a user has, as instances.

A file is a series, such as {"metadata": {"gap_seconds": 300}, "data": [0, 3, 16]}: how many nodes of one kind could be had
in one zone, every so many seconds. The project's data has no licence, and so none of it comes with this package.
"""

from __future__ import annotations

import json
import zlib
from itertools import chain
from pathlib import Path

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.documents.openings import MOST_BYTES, read_given
from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.datacentre import POOL, SERVERS, PoolParameters, fixed_pool, replayed
from schedgap.instances.harvest.generators.replay import WIND, WindOptions
from schedgap.instances.harvest.generators.vms import MEMORY_MIB_PER_CORE, Batches, Vms
from schedgap.instances.harvest.generators.workloads import (
    CHANGES,
    GOAL,
    Goal,
    Workload,
    WorkloadChanges,
    check_ranges,
    draw_jobs,
    loaded,
)
from schedgap.instances.harvest.model import HarvestInstance
from schedgap.instances.method import flattened
from schedgap.instances.units import HOUR_MS, SECOND_MS
from schedgap.instances.unpacked import unpacked

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

    The parameters are that generator's. Raises `InstanceError` naming the file and the line of what is missing or malformed;
    for a parameter out of range.
    """
    batches = azure_batches(path)
    return replayed(f"azure-{preset}", preset, vms, seed, servers, days, workload, changes, pool, wind, goal, batches)


def azure_batches(folder: Path | str) -> Batches:
    """Return the batches of all pairs of files in a folder.

    Raises `InstanceError` naming the file and the line of what is missing or malformed.
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


MAX_NODES, MAX_GAP_S = 10_000, 86_400
MAX_NODE_CORES = 10_000


SPOT = Workload(jobs=20, tasks="5-20", interarrival_min=10.0)


@flattened(without=["rates", "rate_hours"])
def spot_trace(
    path: Path | str,
    *,
    seed: int = 0,
    node_cores: int = 8,
    grows: bool = False,
    workload: Workload = SPOT,
    history_h: float = 24.0,
    goal: Goal = GOAL,
) -> HarvestInstance:
    """Read a series, or all of a folder and the folders in it, and draw jobs for its nodes.

    node_cores : of each node. grows : all nodes of a series are one VM that grows and shrinks by nodes; else the k-th node
        is a VM that is there while there are k or more.
    The others are of the jobs, as in `Workload`, and as in the generator `quick`. The series end when last the most VMs
    are there, and stay like that for ever.

    Raises `InstanceError` naming the file of what is malformed; for parameters out of range; for series too short for the
    jobs' history.
    """
    check_ranges(("node_cores", node_cores, 1, MAX_NODE_CORES), ("history_h", history_h, 0, 1e6))
    home = Path(path)
    names: list[str] = []
    profiles: list[tuple[IntArray, IntArray]] = []
    for name, file in _series(home):
        at_ms, nodes = read_spot_series(file)
        ranks = [nodes] if grows else [(nodes > k).astype(np.int64) for k in range(int(nodes.max()))]
        for k, up in enumerate(ranks):
            names.append(name if grows else f"{name}-{k}")
            profiles.append((at_ms, up * node_cores))
    vms, kept, end_ms = _until_most(profiles, node_cores)
    if not kept:
        raise InstanceError(f"{home}: there is never a node in its series; give others.")
    history_ms = round(history_h * HOUR_MS)
    if history_ms > end_ms:
        raise InstanceError(
            f"{home}: its series last for {end_ms / HOUR_MS:.1f} h until the most nodes are last there, and the "
            f"first job arrives after {history_h:g} h; give longer ones, or a smaller history_h."
        )
    drawn = draw_jobs(workload, seed, history_ms=history_ms)
    if workload.load:
        drawn = loaded(drawn, vms, workload.load)
    stem = home.resolve().name.removesuffix(".json")
    name = f"spot-{stem}{'-grows' if grows else ''}-{workload.jobs}-s{seed}"
    return fixed_pool(name, vms, drawn, goal, tuple(names[k] for k in kept))


def read_spot_series(path: Path) -> tuple[IntArray, IntArray]:
    """Return the ms, from 0 on, of all points of a series, and the number of nodes there.

    Raises `InstanceError` for a file that is no such series.
    """
    try:
        document = json.loads(read_given(path))
    except OSError as problem:
        raise InstanceError(
            f"{path}: cannot be read ({problem.strerror}); give a series or a folder of them."
        ) from None
    except (ValueError, RecursionError) as problem:
        raise InstanceError(f"{path}: is no JSON ({problem!s:.100}); give a series of spot-traces.") from None
    metadata = document.get("metadata") if isinstance(document, dict) else None
    gap = metadata.get("gap_seconds") if isinstance(metadata, dict) else None
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(gap, int | float) or isinstance(gap, bool) or not 1 <= gap <= MAX_GAP_S:
        raise InstanceError(f"{path}: metadata.gap_seconds is {gap!r:.40}; give a number from 1 to {MAX_GAP_S}.")
    if not isinstance(data, list) or not data:
        raise InstanceError(f"{path}: data is no list of numbers of nodes; give a series of spot-traces.")
    for k, nodes in enumerate(data):
        if isinstance(nodes, bool) or not isinstance(nodes, int) or not 0 <= nodes <= MAX_NODES:
            raise InstanceError(f"{path}: data[{k}] is {nodes!r:.40}; give a whole number from 0 to {MAX_NODES}.")
    return np.arange(len(data)) * round(gap * SECOND_MS), np.array(data, np.int64)


def _series(home: Path) -> list[tuple[str, Path]]:
    """Return names and files, in order of name."""
    if not home.is_dir():
        return [(home.name.removesuffix(".json"), home)]
    files = sorted(home.rglob("*.json"))
    if not files:
        raise InstanceError(f"{home}: there is no .json file in it; give a series or a folder of them.")
    return [(file.relative_to(home).as_posix().removesuffix(".json"), file) for file in files]


def _until_most(profiles: list[tuple[IntArray, IntArray]], node_cores: int) -> tuple[Vms, list[int], int]:
    """Return the VMs that are there before the most nodes are last there, which of all they are, and that moment."""
    points = np.concatenate([at for at, _ in profiles] or [np.zeros(0, np.int64)])
    grown = [np.diff(cores, prepend=0) for _, cores in profiles]
    order = np.argsort(points, kind="stable")
    moments = points[order]
    total = np.cumsum(np.concatenate([*grown, np.zeros(0, np.int64)])[order])
    # Of several points of one moment only the sum after the last counts.
    whole = np.append(moments[1:] != moments[:-1], True)[: moments.size]
    total, moments = total[whole], moments[whole]
    end_ms = int(moments[np.flatnonzero(total == total.max())[-1]]) if total.size else 0
    kept, times, sizes = [], [], []
    for vm, ((at, cores), change) in enumerate(zip(profiles, grown, strict=True)):
        events = (change != 0) & (at <= end_ms)
        if events.any():
            kept.append(vm)
            times.append(at[events])
            sizes.append(cores[events])
    least = np.full(len(kept), node_cores)
    empty = np.zeros(0, np.int64)
    vms = Vms(
        first_event=np.concatenate(([0], np.cumsum([part.size for part in times], dtype=np.int64))),
        event_ms=np.concatenate([*times, empty]),
        event_cores=np.concatenate([*sizes, empty]),
        min_cores=least,
        memory_mib=least * MEMORY_MIB_PER_CORE,
    )
    return vms, kept, end_ms
