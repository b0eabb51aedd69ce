"""Figures of a packing beside its cost, as Eva's tables give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances import exact
from schedgap.instances.provisioning.moves import moves

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance
    from schedgap.instances.provisioning.solution import Provisioning


def measures(instance: ProvisioningInstance, solution: Provisioning) -> dict[str, float]:
    """Return `machines`, `tasks_per_machine`, and for each resource the share of the rented capacity that tasks take.

    allocation_R is left out where the machines have nothing of the resource R. `moves`, tasks that leave the machine that
    they are on, stands where machines run already.
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
    return {"machines": float(machines), "tasks_per_machine": float(tasks.sum()) / max(machines, 1), **shares, **moved}
