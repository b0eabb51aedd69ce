"""What controllers looked at in a cluster's past: NodePools, PodDisruptionBudgets, and what pods and nodes ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.readers.kubernetes.objects import unix_s
from schedgap.instances.provisioning.readers.kubernetes.state import PodGroup, State, held_s, is_kept
from schedgap.instances.provisioning.readers.kubernetes.upkeep import Guards, guard_of, own_marks
from schedgap.instances.provisioning.running import ONE_TASK, UNMANAGED, Disruption, Pool, Running
from schedgap.instances.reconfiguration.upkeep import ALWAYS, SEVERAL, UNGUARDED, Upkeep

if TYPE_CHECKING:
    from schedgap.instances.reconfiguration.past.history import PodLife


def upkeep_of(
    state: State,
    whole: ProvisioningInstance,
    running: Running | None,
    lives: Sequence[PodLife],
    jobs: Sequence[tuple[PodLife, PodGroup]],
    job2class: IntArray,
    arrival_s: IntArray,
    second_0: int,
) -> Upkeep | None:
    """Return what controllers look at, None where nothing is said.

    state : all that was there, with NodePools and PodDisruptionBudgets as they were last seen. whole : has its nodes as
    running machines. running : those at second 0, by their names. lives : of all pods. jobs : (J,) those in the instance,
    their groups, and their classes in `whole`, which has weights. second_0 : in seconds since 1970.
    """
    all_nodes = whole.running.disruption if whole.running is not None else None
    pools = all_nodes.pools if all_nodes is not None else ()
    names = () if running is None else running.names
    pool = np.full(len(names), UNMANAGED)
    new_pool = np.full(whole.num_types, 0 if pools else UNMANAGED)
    if all_nodes is not None and whole.running is not None and pools:
        of_node = dict(zip(whole.running.names, all_nodes.pool.tolist(), strict=True))
        pool = np.array([of_node[name] for name in names], np.int64)
        new_pool = _new_pools(whole, whole.running.machine_type, all_nodes.pool)
    marks = np.array([own_marks(state.nodes[name]) for name in names], np.int64)
    spot = all_nodes.spot if all_nodes is not None else np.empty(0, np.int64)
    machines = Disruption(pools, pool, marks, spot, _quiet(state, names, pools, lives, second_0), second_0)
    held = np.array([ALWAYS if (s := held_s(life.pod)) is None else s for life, _ in jobs], np.int64)
    start_s = np.array([life.first_s for life, _ in jobs], np.int64)
    age_s = np.where(held > 0, np.maximum(second_0 + arrival_s - start_s, 0), 0)
    kept = np.array([_is_kept(life) for life, _ in jobs], np.int64)
    guards = tuple(guard_of(name, budget) for name, budget in state.budgets.items())
    guard, weight = _guard(state, [group for _, group in jobs]), whole.weight[job2class]
    told = held.any() or kept.any() or (guard != UNGUARDED).any() or (weight != ONE_TASK).any()
    if not (pools or marks.any() or spot.size or told):
        return None
    return Upkeep(machines, new_pool, held, age_s, kept, guard, weight, guards)


def _new_pools(whole: ProvisioningInstance, types: IntArray, pool: IntArray) -> IntArray:
    """(K,) int64: of new machines of each type the pool of the first node of that type, else of its family, else the first."""
    found = np.zeros(whole.num_types, np.int64)
    for of_type in (whole.type2family, np.arange(whole.num_types)):
        kinds, first = np.unique(of_type[types[pool != UNMANAGED]], return_index=True)
        known = np.isin(of_type, kinds)
        found[known] = pool[pool != UNMANAGED][first][np.searchsorted(kinds, of_type[known])]
    return found


def _quiet(
    state: State, names: Sequence[str], pools: Sequence[Pool], lives: Sequence[PodLife], second_0: int
) -> IntArray | None:
    """(E,) int64, for how long no pod is known to have come to a machine of second 0; None where no pool waits."""
    if not any(pool.consolidate_after_s > 0 for pool in pools):
        return None
    last = {name: unix_s(state.nodes[name].metadata.creation_timestamp) or 0 for name in names}
    for life in lives:
        if life.node in last and life.first_s <= second_0:
            last[life.node] = max(last[life.node], life.first_s)
    return np.array([max(0, second_0 - last[name]) for name in names], np.int64)


def _is_kept(life: PodLife) -> bool:
    return is_kept(life.pod, next((owner for owner in life.pod.metadata.owner_references if owner.controller), None))


def _guard(state: State, groups: Sequence[PodGroup]) -> IntArray:
    """(J,) int64, the PodDisruptionBudget of each job's pod."""
    guards, index = Guards(state), {name: g for g, name in enumerate(state.budgets)}
    of_group: dict[int, int] = {}
    for group in {id(group): group for group in groups}.values():
        found = guards.of(group)
        of_group[id(group)] = UNGUARDED if not found else SEVERAL if len(found) > 1 else index[found[0]]
    return np.array([of_group[id(group)] for group in groups], np.int64)
