"""Figures of a packing beside its cost, as Eva's tables give them.

A packing as a picture: machines as bars, the demands of their tasks stacked on each resource.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedgap.instances import exact
from schedgap.instances.arrays import IntArray
from schedgap.instances.picture import MAX_BARS, Bar, Part, Picture
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.moves import disruption, moves
from schedgap.instances.provisioning.running import ONE_TASK, shown_disruption
from schedgap.instances.provisioning.solution import NEW, Provisioning
from schedgap.instances.provisioning.verify import cost
from schedgap.instances.units import DOLLAR, resource_scale


def measures(instance: ProvisioningInstance, solution: Provisioning) -> dict[str, float]:
    """Return `machines`, `tasks_per_machine`, and for each resource the share of the rented capacity that tasks take.

    allocation_R is left out where the machines have nothing of the resource R. `moves`, tasks that leave the machine that
    they are on, stands where machines run already, and `disruption`, in tasks, where it is not their number.
    """
    machines = solution.num_machines
    rented = exact.dot(solution.repeat, instance.capacity[solution.machine_type])
    group = solution.entry2group
    family = instance.type2family[solution.machine_type[group]]
    tasks = solution.repeat[group] * solution.count
    used = exact.dot(tasks, instance.demand[family, solution.task_class])
    shares = {
        f"allocation_{name}": float(used[r] / rented[r]) for r, name in enumerate(instance.resources) if rented[r] > 0
    }
    moved = {} if instance.running is None else {"moves": float(moves(instance, solution))}
    if instance.running is not None and not instance.counts_moves:
        moved["disruption"] = disruption(instance, solution) / ONE_TASK
    return {"machines": float(machines), "tasks_per_machine": float(tasks.sum()) / max(machines, 1), **shares, **moved}


# Groups looked at for equal ones: a solution of a million tasks may have a group for each machine.
MAX_GROUPS = 2000
# Names of machines or types that are listed.
MAX_NAMES = 8


def picture(instance: ProvisioningInstance, solution: Provisioning) -> Picture:
    """Return the machines of a verified solution, those of the dearest types first, equal ones as one bar.

    Machines that are kept have bars of their own, with their names.
    """
    scale = np.array([resource_scale(resource) for resource in instance.resources])
    kept = np.full(solution.repeat.shape, NEW) if solution.keeps is None else solution.keeps
    repeats: dict[tuple[int, bool, bytes, bytes], int] = {}
    names: dict[tuple[int, bool, bytes, bytes], list[str]] = {}
    for group in np.argsort(-instance.price[solution.machine_type], kind="stable")[:MAX_GROUPS].tolist():
        entries = slice(int(solution.indptr[group]), int(solution.indptr[group + 1]))
        content = solution.task_class[entries].tobytes(), solution.count[entries].tobytes()
        key = (int(solution.machine_type[group]), bool(kept[group] != NEW), *content)
        repeats[key] = repeats.get(key, 0) + int(solution.repeat[group])
        if key[1] and instance.running is not None:
            names.setdefault(key, []).append(instance.running.names[kept[group]])
    bars = []
    for key, repeat in list(repeats.items())[:MAX_BARS]:
        machine_type, _, classes, counts = key
        family = int(instance.type2family[machine_type])
        parts = tuple(
            Part(instance.class_name(c), count, _shown(instance.demand[family, c], scale))
            for c, count in zip(
                np.frombuffer(classes, np.int64).tolist(), np.frombuffer(counts, np.int64).tolist(), strict=True
            )
        )
        capacity = _shown(instance.capacity[machine_type], scale)
        bars.append(Bar(instance.type_names[machine_type], repeat, capacity, parts, _listed(names.get(key, []))))
    left_out = solution.num_machines - sum(bar.repeat for bar in bars)
    return Picture(instance.resources, tuple(bars), left_out, notes=_notes(instance, solution))


def _notes(instance: ProvisioningInstance, solution: Provisioning) -> tuple[str, ...]:
    """Return what the bars do not tell: fees, types of which there are no more, and what becomes of the running machines."""
    notes = []
    if instance.fee is not None:
        fees = exact.dot(instance.fee[solution.machine_type], solution.repeat)
        notes.append(f"{cost(instance, solution) / DOLLAR:,.6g} $/h for machines, {int(fees) / DOLLAR:,.6g} of it fees")
    if instance.stock is not None:
        used = exact.sums(solution.machine_type, solution.repeat, instance.num_types)
        all_used = np.flatnonzero((used > 0) & (used == instance.stock)).tolist()
        if all_used:
            shown = [f"{instance.type_names[k]} {used[k]}/{instance.stock[k]}" for k in all_used]
            notes.append(f"all that there are: {_listed(shown)}")
    if instance.running is not None:
        kept = 0 if solution.keeps is None else int((solution.keeps != NEW).sum())
        moved = moves(instance, solution)
        more = "" if instance.counts_moves else f", disruption {shown_disruption(disruption(instance, solution))}"
        notes.append(f"keeps {kept} of {instance.running.size} running machines, tasks moved: {moved}{more}")
    return tuple(notes)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def _shown(amounts: IntArray, scale: IntArray) -> tuple[float, ...]:
    return tuple((amounts / scale).tolist())
