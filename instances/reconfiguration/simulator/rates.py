"""How fast a task progresses among others on its machine: compiled."""

from __future__ import annotations

from schedgap.instances.arrays import IntArray
from schedgap.instances.jit import kernel

RATE_ONE = 1_000_000_000


# Rows of stored sets behind those of the throughputs.
SORTED_RANK, LISTED, LISTED_LONG, STORED_ROWS = 0, 1, 2, 3


@kernel
def rate_beside(throughput: IntArray, stored: IntArray, contending: IntArray, workload: int) -> int:
    """Return the rate, in billionths, of a task of a workload among the contending tasks of its machine, itself one.

    The product of the pairwise throughputs, rounded down after each factor, in the order of the workloads; in a stored
    set that product for the workload whose value is in the place of the task's name.

    throughput : (W, W) thousandths. contending : (W,). stored : (0, W + 1) without stored sets (`StoredSets`), else
    (W + 3, W + 1): their throughputs, then the ranks of the names, the workloads in the order of the values, and the
    same for long sets, with -1 behind the last. The last column of these three: how many tasks a set has at least, at
    most, and a long one at most.
    """
    if stored.shape[0] > 0:
        owner = _owner(stored, contending, workload)
        if owner >= 0:
            return _product(stored, contending, owner)
    return _product(throughput, contending, workload)


@kernel
def _product(throughput: IntArray, contending: IntArray, workload: int) -> int:
    rate = RATE_ONE
    for v in range(contending.shape[0]):
        for _ in range(contending[v] - (1 if v == workload else 0)):
            rate = rate * throughput[workload, v] // 1000
    return int(rate)


@kernel
def _owner(stored: IntArray, contending: IntArray, workload: int) -> int:
    """Return the workload whose value is in the place of another's name, or -1 if the set is not stored."""
    num_workloads = contending.shape[0]
    rank = stored[num_workloads + SORTED_RANK]
    size, place = 0, -1
    for v in range(num_workloads):
        size += contending[v]
        # The last place of the name: behind all names up to it.
        if rank[v] <= rank[workload]:
            place += contending[v]
    listed = stored[num_workloads + LISTED]
    if size > listed[num_workloads]:
        listed = stored[num_workloads + LISTED_LONG]
    if size < rank[num_workloads] or size > listed[num_workloads]:
        return -1
    owner, before = -1, 0
    for i in range(num_workloads):
        if listed[i] < 0:
            break
        before += contending[listed[i]]
        if owner < 0 and place < before:
            owner = listed[i]
    # Fewer where a workload of the set is not listed.
    return int(owner) if before == size else -1
