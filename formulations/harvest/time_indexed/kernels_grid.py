"""Which columns of a time-indexed program a row of capacity counts."""

from __future__ import annotations

import numpy as np

from schedgap.instances.jit import kernel


@kernel
def covering(
    column: np.ndarray,
    length: np.ndarray,
    weight: np.ndarray,
    row_place: np.ndarray,
    row_begin: np.ndarray,
    row_end: np.ndarray,
    row_kind: np.ndarray,
    out_row: np.ndarray,
    out_column: np.ndarray,
    out_value: np.ndarray,
) -> int:
    """Write the entries of rows; return how many there are. With outputs of no length, only count them.

    column : (N, G, H) int64, of the start of group g in slot s at place n, or -1. length : (G,) int64. weight : (K, G).
    row_place, row_begin, row_end, row_kind : (R,) int64: the row counts weight[kind, g] for each column of its place that
    covers all of the slots row_begin to row_end - 1. out_row, out_column, out_value : int64. O(entries + R G).
    """
    count = 0
    writes = out_row.shape[0] > 0
    for r in range(row_place.shape[0]):
        place, begin, end, kind = row_place[r], row_begin[r], row_end[r], row_kind[r]
        for g in range(length.shape[0]):
            if weight[kind, g] == 0:
                continue
            for s in range(max(0, end - length[g]), begin + 1):
                if column[place, g, s] < 0:
                    continue
                if writes:
                    out_row[count] = r
                    out_column[count] = column[place, g, s]
                    out_value[count] = weight[kind, g]
                count += 1
    return count
