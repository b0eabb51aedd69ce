"""Throughputs of whole sets of co-located tasks, as the authors' simulator stores them and reads them back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import IntArray, lock, locked_ints
from schedgap.instances.errors import InstanceError

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
