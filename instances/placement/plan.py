"""The steps from what runs to a placement, in an order in which each fits when it is done."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedgap.instances.arrays import BoolArray
from schedgap.instances.placement.model import NOWHERE, Placement, PlacementInstance, devices_of
from schedgap.instances.placement.stranded import room_of
from schedgap.instances.placement.verify import moved


def steps(instance: PlacementInstance, placement: Placement) -> list[dict[str, Any]]:
    """Return what to do: `pod`, `node`, `gpus` and first `slice` it goes to, and `from` where it runs.

    A pod is started anew before it ends where it was, so both places are taken meanwhile. Where no step fits, the pod that
    moves with the most GPUs is evicted: a step with `evict`, and a later one that starts it. O(S^2) for S steps at worst.
    """
    running, moves = instance.is_running, moved(instance, placement)
    todo = np.flatnonzero(moves | (~running & (placement.node != NOWHERE))).tolist()
    todo.sort(key=lambda pod: not moves[pod])
    room = room_of(instance, running)
    left, milli, taken = room.left.copy(), room.milli.copy(), room.taken.copy()
    held = devices_of(instance.running_gpus, milli.shape[1])
    wanted = devices_of(placement.gpus, milli.shape[1])
    size = np.zeros(running.size, np.int64) if instance.slices is None else instance.slices[instance.pod2class]
    was = np.zeros(running.size, np.int64) if instance.running_start is None else instance.running_start
    assert placement.start is not None
    old, new = (((1 << size) - 1) << start for start in (was, placement.start))
    done: list[dict[str, Any]] = []
    evicted: set[int] = set()

    def take(pod: int, node: int, gpus: BoolArray, slices: int, sign: int) -> None:
        c = instance.pod2class[pod]
        left[node] -= sign * instance.demand[c]
        milli[node, gpus] -= sign * instance.gpu_milli[c]
        taken[node, gpus] ^= slices

    def fits(pod: int) -> bool:
        c, node = instance.pod2class[pod], placement.node[pod]
        gpus = wanted[pod]
        return bool(
            (left[node] >= instance.demand[c]).all()
            and (milli[node, gpus] >= instance.gpu_milli[c]).all()
            and not (taken[node, gpus] & new[pod]).any()
        )

    while todo:
        later = []
        for pod in todo:
            if not fits(pod):
                later.append(pod)
                continue
            take(pod, int(placement.node[pod]), wanted[pod], int(new[pod]), 1)
            row: dict[str, Any] = {"pod": instance.pod_name(pod), "node": instance.node_name(int(placement.node[pod]))}
            row |= {"gpus": np.flatnonzero(wanted[pod]).tolist()} if wanted[pod].any() else {}
            row |= {"slice": int(placement.start[pod])} if size[pod] else {}
            if moves[pod] and pod not in evicted:
                row["from"] = instance.node_name(int(instance.running_node[pod]))
                take(pod, int(instance.running_node[pod]), held[pod], int(old[pod]), -1)
            done.append(row)
        if len(later) == len(todo):
            # Someone has to stop before he starts: there is one, as all together fit.
            pod = max((p for p in later if moves[p] and p not in evicted), key=lambda p: int(held[p].sum()))
            take(pod, int(instance.running_node[pod]), held[pod], int(old[pod]), -1)
            evicted.add(pod)
            origin = instance.node_name(int(instance.running_node[pod]))
            done.append({"pod": instance.pod_name(pod), "from": origin, "evict": True})
        todo = later
    return done
