"""Delays, rates and throughputs of Eva's workloads (Tables 1 and 7, Figure 1), as the authors' simulator has them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import eva_interference, shipped_rows
from schedgap.instances.reconfiguration.stored_sets import ABSENT, StoredSets

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

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
