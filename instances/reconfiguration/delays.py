"""Delays, rates and throughputs of Eva's workloads (Tables 1 and 7, Figure 1), as the authors' simulator has them.

Throughputs of whole sets of co-located tasks, as the authors' simulator stores them and reads them back.

Throughputs of pairs and of whole sets, as files of instances have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NotRequired

import numpy as np

from schedgap.instances.arrays import IntArray, lock, locked_ints
from schedgap.instances.documents import Amount, Count, Custom, Given, Place, record
from schedgap.instances.documents.json_files import to_units
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import eva_interference, shipped_rows
from schedgap.instances.provisioning.files import check_square

# Pairs and single tasks are no stored sets.
FEWEST = 3
ABSENT = -1


@dataclass(frozen=True, slots=True, eq=False)
class StoredSets:
    """Throughputs of the sets of 3 to `most` tasks that contend on a machine; all other sets are products of pairs.

    A set is stored as the names of its tasks' workloads, in the order `sorted_rank`, and as many values, in the order
    `listed_rank`; a name is given the value in its place, another workload's where the orders differ. Of equal names
    the last place counts. A value is the product of `throughput` of its workload beside every other task of the set.

    throughput : (W, W) int64 thousandths, of workload i beside workload j. sorted_rank, listed_rank : (W,) int64, all
        different. long_rank : (W,) int64, instead of listed_rank for sets of more than `most` and up to `most_long` tasks;
        ABSENT for a workload that no such set has.

    Ranks are numbered from 0 on, whatever they were. Raises `InstanceError` on anything inconsistent.
    """

    throughput: IntArray
    sorted_rank: IntArray
    listed_rank: IntArray
    long_rank: IntArray
    most: int
    most_long: int

    def __post_init__(self) -> None:
        lock(self, _ARRAYS)
        shape = self.throughput.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise InstanceError(f"stored sets: throughput has shape {shape}; give a row and column for each workload.")
        outside = (self.throughput < 0) | (self.throughput > 1000)
        if outside.any():
            raise InstanceError(
                f"stored sets: a throughput is {self.throughput[outside][0]}; give thousandths in 0..1000."
            )
        for key in _RANKS:
            ranks = getattr(self, key)
            if ranks.shape != shape[:1]:
                raise InstanceError(f"stored sets: {key} has shape {ranks.shape} for {shape[0]} workloads.")
            present = ranks != ABSENT if key == "long_rank" else np.ones(shape[0], bool)
            if (ranks[present] < 0).any() or np.unique(ranks[present]).size < present.sum():
                raise InstanceError(
                    f"stored sets: {key} is {ranks.tolist()}; give each workload a rank of its own, not negative."
                )
            dense = np.full(shape[0], ABSENT)
            dense[present] = np.argsort(np.argsort(ranks[present]))
            object.__setattr__(self, key, locked_ints(dense))
        if not FEWEST <= self.most <= self.most_long:
            raise InstanceError(
                f"stored sets: most is {self.most} and most_long {self.most_long}; give at least {FEWEST}, and the "
                "second not below the first."
            )

    @property
    def num_workloads(self) -> int:
        """Number of workloads."""
        return int(self.throughput.shape[0])

    def of_workloads(self, chosen: IntArray) -> StoredSets:
        """Return those of some workloads, (N,) int64, numbered in that order."""
        return StoredSets(
            throughput=self.throughput[np.ix_(chosen, chosen)],
            sorted_rank=self.sorted_rank[chosen],
            listed_rank=self.listed_rank[chosen],
            long_rank=self.long_rank[chosen],
            most=self.most,
            most_long=self.most_long,
        )

    def content(self) -> list[object]:
        """Return what a hash of the content is made of."""
        return [self.most, self.most_long, *(getattr(self, key) for key in _ARRAYS)]


def in_order(rank: IntArray) -> IntArray:
    """Return the workloads that a rank holds, in its order."""
    return np.argsort(rank, kind="stable")[np.count_nonzero(rank == ABSENT) :]


_RANKS = ("sorted_rank", "listed_rank", "long_rank")
_ARRAYS = ("throughput", *_RANKS)


PHASES = ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")
# As a float, 4.1 x 15 s is a little less than 61.5 s.
ROUNDING = 1e-9
MAX_SCALE = 10_000
# The workloads of which sets of more than ten are stored, by the traces' names, in the order of their values.
LONG_SETS = ("gcn", "a3c", "openfoam", "seq")


def workload_names() -> tuple[str, ...]:
    """Return the nine workloads of Figure 1, in its order."""
    return eva_interference()[0]


def trace_names() -> dict[str, str]:
    """Return how the authors' traces call each workload, to its name here: `sage` is graphsage, `seq` diamond."""
    return {row["trace_name"]: row["workload"] for row in _delay_rows()}


def workload_delays(scale: float = 1.0) -> dict[str, Any]:
    """Return `fetch_s`, `build_s`, `kill_s`, `upload_s`, `init_s`, (9,) int64 in the order of `workload_names`.

    scale : each delay is multiplied by it and rounded to whole seconds, halves up (Figure 5).

    Raises
    ------
    InstanceError
        if the scale is not in [0, 10,000].
    """
    if not 0 <= scale <= MAX_SCALE:
        raise InstanceError(f"migration_delay is {scale:g}; give a factor of the delays in [0, {MAX_SCALE}].")
    by_name = {row["workload"]: row for row in _delay_rows()}
    delays = {}
    for phase in PHASES:
        seconds = np.array([int(by_name[name][phase]) for name in workload_names()])
        delays[phase] = np.floor(seconds * scale + 0.5 + ROUNDING).astype(np.int64)
    return delays


def in_whole_iterations(work_s: IntArray, workload: IntArray) -> IntArray:
    """Return work, (J,) int64 seconds, without a job's last iteration where that is not whole, a second at least.

    The authors' traces give a job as many whole iterations of its workload as it does in its duration alone on a
    machine; Diamond's take two minutes each. workload : (J,) int64, index into `workload_names`.
    """
    by_name = {row["workload"]: float(row["iterations_per_s"]) for row in _delay_rows()}
    rate = np.array([by_name[name] for name in workload_names()])[workload]
    seconds: IntArray = np.ceil(np.floor(work_s * rate) / rate).astype(np.int64)
    return np.maximum(1, seconds)


def pairwise_throughput(interference: str, named: str = "figure1, artifact, artifact-sets, ") -> IntArray | None:
    """Return (9, 9) int64 thousandths in the order of `workload_names`, or None for no interference.

    interference : `figure1`, as published, 0.95 for the pairs left out; `artifact`, what the authors' simulations used:
        their map sorts the names of a pair but not its throughputs, so that the two of a pair are exchanged where the
        figure's order is not the alphabetical one of the traces' names; `artifact-sets`, the same pairs, of which then
        sets are not products (`stored_sets`); a number, for every pair; or `none`. named : of the names, what else a caller
        takes beside `none`, for the message.

    Raises
    ------
    InstanceError
        for anything else.
    """
    names, throughput = eva_interference()
    if interference == "none":
        return None
    if interference == "figure1":
        return throughput
    if interference in ("artifact", "artifact-sets"):
        called = {name: trace_name for trace_name, name in trace_names().items()}
        key = np.array([called[name] for name in names])
        exchanged = (key[:, None] < key) != (np.arange(key.size)[:, None] < np.arange(key.size))
        return np.where(exchanged, throughput.T, throughput)
    return np.full_like(throughput, _thousandths(interference, named))


def stored_sets(interference: str) -> StoredSets | None:
    """Return the throughputs of whole sets, in the order of `workload_names`, that `artifact-sets` has; else None.

    The authors' simulator stores sets of 3 to 10 tasks, and up to 25 of GCN, A3C, OpenFOAM and Diamond: products of
    Figure 1's pairs as published, under names in alphabetical order. The values come in the order of the workloads in
    a Python set, which depends on the process's hash seed and is not recorded; for long sets, in that of a list. Here
    it is the reverse of the names' order. It matters to Eva alone, and by one thing: where GPT2 comes before CycleGAN,
    as here, its cost is Table 14's 58% of No-Packing's, where it comes after it 62%.
    """
    if interference != "artifact-sets":
        return None
    names, throughput = eva_interference()
    by_name = {name: trace_name for trace_name, name in trace_names().items()}
    called = [by_name[name] for name in names]
    alphabetical = sorted(called)
    sorted_rank = np.array([alphabetical.index(name) for name in called])
    return StoredSets(
        throughput=throughput,
        sorted_rank=sorted_rank,
        listed_rank=sorted_rank.max() - sorted_rank,
        long_rank=np.array([LONG_SETS.index(name) if name in LONG_SETS else ABSENT for name in called]),
        most=10,
        most_long=25,
    )


def shown_interference(interference: str) -> str:
    """Return the parameter in one spelling: `0.90` and `.9` are `0.9`."""
    if interference in ("none", "figure1", "artifact", "artifact-sets"):
        return interference
    return f"{_thousandths(interference) / 1000:g}"


def _thousandths(text: str, named: str = "") -> int:
    try:
        thousandths = Decimal(text) * 1000
        if not 0 <= thousandths <= 1000 or thousandths % 1:
            raise InvalidOperation
    except InvalidOperation:
        raise InstanceError(
            f"interference is '{text:.60}'; give {named}none, or the throughput of every pair in [0, 1] to three decimals."
        ) from None
    return int(thousandths)


def _delay_rows() -> tuple[dict[str, str], ...]:
    return shipped_rows("workload_delays", "reconfiguration")


# `throughput[i][j]` is the normalised throughput of workload i beside workload j; none may be missing.
TABLE = {"workloads": list[str], "throughput": list[list[Amount | None]]}
# Throughputs of sets of three to `most` tasks, and of long ones: `StoredSets`, its ranks as lists of workloads.
SETS = {**TABLE, "sorted": list[str], "listed": list[str], "most": Count, "listed_long": list[str], "most_long": Count}


def read_throughput(given: Given, names: Sequence[str], what: str = "interference") -> IntArray:
    """Return (W, W) int64 thousandths, in the order of the workloads.

    what : the field, for messages.

    Raises
    ------
    InstanceError
        for a workload that is unknown, there twice or missing, and a number that is missing or not in [0, 1].
    """
    check_square(given["workloads"], given["throughput"], what)
    _check_names(what, given["workloads"], names)
    table: dict[tuple[str, str], float | None] = {
        (beside, other): value
        for beside, row in zip(given["workloads"], given["throughput"], strict=True)
        for other, value in zip(given["workloads"], row, strict=True)
    }
    for beside in names:
        for other in names:
            value = table.get((beside, other))
            if value is None or value > 1:
                shown = "missing" if value is None else f"{value:g}"
                raise InstanceError(
                    f"{what}: the throughput of {beside} beside {other} is {shown}; give a number in [0, 1]."
                )
    values = [[table[beside, other] for other in names] for beside in names]
    return to_units(
        np.array(values).reshape(len(names), len(names)), 1000, f"{what}.throughput", InstanceError, (names, names)
    )


def read_stored_sets(given: Given, names: Sequence[str]) -> StoredSets:
    """Return stored sets, in the order of the workloads.

    Raises
    ------
    InstanceError
        for a workload that is unknown, there twice or missing, and anything that `StoredSets` refuses.
    """
    return StoredSets(
        throughput=read_throughput(given, names, "stored_sets"),
        sorted_rank=_rank("sorted", given["sorted"], names, whole=True),
        listed_rank=_rank("listed", given["listed"], names, whole=True),
        long_rank=_rank("listed_long", given["listed_long"], names, whole=False),
        most=given["most"],
        most_long=given["most_long"],
    )


def _rank(key: str, order: list[str], names: Sequence[str], *, whole: bool) -> IntArray:
    _check_names(f"stored_sets.{key}", order, names)
    missing = [name for name in names if name not in order]
    if whole and missing:
        raise InstanceError(f"stored_sets.{key} lacks workload '{missing[0]:.60}'; name each workload once.")
    return np.array([order.index(name) if name in order else ABSENT for name in names], np.int64)


def _check_names(what: str, given: list[str], names: Sequence[str]) -> None:
    for name in given:
        if name not in names or given.count(name) > 1:
            trouble = "twice" if name in names else "which is not among the workloads"
            raise InstanceError(f"{what} names workload '{name:.60}' {trouble}; name each workload once.")


def _read_interference(document: Given, place: Place) -> dict[str, Any]:
    if "interference" not in document:
        return {}
    return {"throughput": read_throughput(document["interference"], place.owner.workloads)}


def _write_interference(source: Any, _: Place) -> dict[str, Any]:
    if source.throughput is None:
        return {}
    return {"interference": _written(source.throughput, source.workloads)}


def _read_sets(document: Given, place: Place) -> dict[str, Any]:
    if "stored_sets" not in document:
        return {}
    return {"stored_sets": read_stored_sets(document["stored_sets"], place.owner.workloads)}


def _write_sets(source: Any, _: Place) -> dict[str, Any]:
    sets, names = source.stored_sets, source.workloads
    if sets is None:
        return {}
    return {
        "stored_sets": {
            **_written(sets.throughput, names),
            "sorted": [names[w] for w in in_order(sets.sorted_rank)],
            "listed": [names[w] for w in in_order(sets.listed_rank)],
            "most": sets.most,
            "listed_long": [names[w] for w in in_order(sets.long_rank)],
            "most_long": sets.most_long,
        }
    }


def _written(throughput: IntArray, names: Sequence[str]) -> dict[str, Any]:
    return {"workloads": list(names), "throughput": (throughput / 1000).tolist()}


INTERFERENCE = Custom(
    {"interference": NotRequired[record("Interference", TABLE)]}, _read_interference, _write_interference
)
STORED_SETS = Custom({"stored_sets": NotRequired[record("StoredSets", SETS)]}, _read_sets, _write_sets)
