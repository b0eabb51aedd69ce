"""From numbers of machines of each kind and content to a solution that says which running machines it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.solution import NEW, Provisioning

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.consolidation.kinds import Kinds
    from schedgap.instances.arrays import IntArray


def plan_of(kinds: Kinds, kind: IntArray, repeat: IntArray, content: IntArray) -> Provisioning | None:
    """Return the solution of `repeat` (P,) machines of each kind (P,) with contents (P, C); None if a class is not covered.

    Contents may cover a class too often: what is too much is taken off again, never a task that stays, of which there are
    no more than the class has.
    """
    types, keeps, rows, stays = [], [], [], []
    used = [0] * len(kinds.members)
    for p in np.flatnonzero(repeat > 0).tolist():
        number, j = int(repeat[p]), int(kind[p])
        group = j - kinds.num_types
        stay = kinds.staying(kind[p : p + 1], content[p : p + 1])[0]
        for _ in range(number):
            types.append(int(kinds.machine_type[j]))
            keeps.append(int(kinds.members[group][used[group]]) if group >= 0 else NEW)
            if group >= 0:
                used[group] += 1
            rows.append(content[p])
            stays.append(stay)
    if not rows:
        return None
    matrix = np.array(rows, np.int64)
    surplus = matrix.sum(axis=0) - kinds.instance.counts
    if (surplus < 0).any():
        return None
    _trim(matrix, np.array(stays, np.int64), surplus)
    return _grouped(np.array(types), np.array(keeps), matrix)


def _trim(matrix: IntArray, stays: IntArray, surplus: IntArray) -> None:
    """Take tasks off that are too many, from the last machines first; in place."""
    for c in np.flatnonzero(surplus).tolist():
        free = (matrix[:, c] - stays[:, c])[::-1]
        taken = np.diff(np.minimum(np.cumsum(free), surplus[c]), prepend=0)[::-1]
        matrix[:, c] -= taken


def _grouped(types: IntArray, keeps: IntArray, matrix: IntArray) -> Provisioning:
    """Group the newly rented machines that are alike; machines without tasks go."""
    used = matrix.any(axis=1)
    types, keeps, matrix = types[used], keeps[used], matrix[used]
    rows, first, repeat = np.unique(
        np.column_stack((keeps, types, matrix)), axis=0, return_index=True, return_counts=True
    )
    plan = Provisioning.from_patterns(types[first], repeat, matrix[first])
    return Provisioning(plan.machine_type, plan.repeat, plan.indptr, plan.task_class, plan.count, keeps=rows[:, 0])
