"""Feasibility and objective of a placement, recomputed from nothing but the instance, in exact integers.

The steps from what runs to a placement, in an order in which each fits when it is done.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedgap.instances.arrays import BoolArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.placement.model import (
    ANY,
    NO_GANG,
    NOWHERE,
    Placement,
    PlacementInstance,
    devices_of,
    overloads,
)
from schedgap.instances.placement.stranded import fitting, room_of


def verify(instance: PlacementInstance, placement: Placement) -> int:
    """Return the value of the refused pods, in thousandths of its unit.

    A node admits its pods, and they take no more than it has: of each resource, and of each of its GPUs. A gang is placed
    as a whole or not at all. A pod that runs is placed; it stays where it is unless it may move, and no more than
    `max_moves` do. Of alike pods in no gang, none is refused for one of lower priority. O(P (R + G)); that pods are
    accepted wherever they fit takes as long for each class of which one is refused.

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    node = placement.node
    for what in ("node", "gpus", "start"):
        shape = getattr(placement, what).shape
        if shape != (instance.num_pods,):
            raise VerifyError(f"{what} has shape {shape}; the instance has {instance.num_pods} pods, give one each.")
    if (pod := first_true((node < NOWHERE) | (node >= instance.num_nodes))) is not None:
        raise VerifyError(f"pod {instance.pod_name(pod)} is on node {node[pod]}; there are {instance.num_nodes}.")
    refused = node == NOWHERE
    if (pod := first_true(refused & (placement.gpus != 0))) is not None:
        raise VerifyError(f"pod {instance.pod_name(pod)} is refused and has GPUs; give it none.")
    for message in overloads(instance, placement):
        raise VerifyError(message)
    _check_gangs(instance, placement)
    _check_running(instance, placement)
    _check_turns(instance, placement)
    return sum(instance.value[instance.pod2class[refused]].tolist())


def moves(instance: PlacementInstance, placement: Placement) -> int:
    """Return how many pods that run are on another node, other GPUs or other slices than they were."""
    return int(moved(instance, placement).sum())


def moved(instance: PlacementInstance, placement: Placement) -> BoolArray:
    """(P,) bool: the pods that run and are elsewhere than they were."""
    now = placement.node, placement.gpus, placement.start
    stays = instance.is_running.copy()
    for before, after in zip((instance.running_node, instance.running_gpus, instance.running_start), now, strict=True):
        stays &= after == (0 if before is None else before)
    elsewhere: BoolArray = instance.is_running & ~stays
    return elsewhere


def _check_gangs(instance: PlacementInstance, placement: Placement) -> None:
    together = instance.gang != NO_GANG
    size = int(instance.gang.max(initial=NO_GANG)) + 1
    all_of = np.bincount(instance.gang[together], minlength=size)
    placed = np.bincount(instance.gang[together & (placement.node != NOWHERE)], minlength=size)
    if (gang := first_true((placed > 0) & (placed < all_of))) is not None:
        raise VerifyError(
            f"of gang {gang}, {placed[gang]} of {all_of[gang]} pods are placed; a gang is placed as a whole or not at all."
        )


def _check_running(instance: PlacementInstance, placement: Placement) -> None:
    if (pod := first_true(instance.is_running & (placement.node == NOWHERE))) is not None:
        raise VerifyError(f"pod {instance.pod_name(pod)} runs and is refused; pods that run stay or move.")
    if (pod := first_true(moved(instance, placement) & ~instance.movable)) is not None:
        raise VerifyError(
            f"pod {instance.pod_name(pod)} moved from node {instance.node_name(int(instance.running_node[pod]))}; it may not."
        )
    if instance.max_moves != ANY and (number := moves(instance, placement)) > instance.max_moves:
        raise VerifyError(f"{number} pods moved; at most {instance.max_moves} may.")


def _check_turns(instance: PlacementInstance, placement: Placement) -> None:
    """Check whose turn it was: of alike pods the highest priority's, and with `accepts` that of all that found room."""
    refused, classes = placement.node == NOWHERE, instance.pod2class
    if instance.priority is not None:
        counts = ~instance.is_running & (instance.gang == NO_GANG)
        least = np.full(len(instance.class_names), np.iinfo(np.int64).max)
        np.minimum.at(least, classes[counts & ~refused], instance.priority[counts & ~refused])
        if (pod := first_true(counts & refused & (instance.priority > least[classes]))) is not None:
            raise VerifyError(
                f"pod {instance.pod_name(pod)} of priority {instance.priority[pod]} is refused, and an alike one of "
                f"{least[classes[pod]]} is placed; place those of the highest priority."
            )
    if instance.accepts:
        pods, order = np.flatnonzero(refused), np.arange(instance.num_pods)
        # Room never grows, so the first of each class tells of all.
        for pod in pods[np.unique(classes[pods], return_index=True)[1]].tolist():
            room = room_of(instance, instance.is_running | (~refused & (order < pod)), placement)
            if (node := first_true(fitting(instance, room, int(classes[pod])) > 0)) is not None:
                raise VerifyError(
                    f"pod {instance.pod_name(pod)} is refused, and node {instance.node_name(node)} had room for it; this "
                    "instance lets no pod be refused that fits as it arrives."
                )


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
