"""A running cluster as a person sees it: what it costs, its machines by type, what would move and how much that disrupts."""

from __future__ import annotations

import re

import numpy as np

from schedgap.instances import exact
from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.moves import disruption, moves
from schedgap.instances.provisioning.plans import exceeded
from schedgap.instances.provisioning.solution import Provisioning

# The resource of which each pod of a cluster takes one.
PODS = "pods"


def price_now(instance: ProvisioningInstance) -> int | None:
    """Return what the running machines cost, micro-dollars per hour, empty ones too; None where none run."""
    return None if instance.running is None else sum(instance.price[instance.running.machine_type].tolist())


def pending(instance: ProvisioningInstance) -> int:
    """Return how many tasks are on no running machine."""
    return instance.num_tasks - (0 if instance.running is None else int(instance.running.count.sum()))


def most_disruption(instance: ProvisioningInstance) -> int | None:
    """Return how much disruption there may be, in 1 / `disruption_scale`; None for any."""
    return instance.max_disruption


def with_disruption(instance: ProvisioningInstance, most: int | None) -> ProvisioningInstance:
    """Return the instance with at most so much disruption, in 1 / `disruption_scale`; None for any.

    Raises
    ------
    InstanceError
        where none runs that could move.
    """
    if most is not None and instance.running is None:
        raise InstanceError(
            f"{instance.name}: no machine runs, so no task can move; leave the limit on disruption out."
        )
    return instance.replace(max_disruption=most)


def whole_disruption(instance: ProvisioningInstance) -> int:
    """Return the disruption, in 1 / `disruption_scale`, if all that runs had to go: no plan has more."""
    running = instance.running
    if running is None:
        return 0
    machines = 0 if running.node_disruption is None else sum(running.node_disruption.tolist())
    return int(exact.dot(running.count, instance.weight[running.task_class])) + machines


def disrupted(instance: ProvisioningInstance, solution: Provisioning) -> int | None:
    """Return how much a solution disrupts, in 1 / `disruption_scale`; None where nothing runs."""
    return None if instance.running is None else disruption(instance, solution)


def counts_moves(instance: ProvisioningInstance) -> bool:
    """Return whether disruption is the number of tasks that move."""
    return instance.counts_moves


def machines_now(instance: ProvisioningInstance) -> dict[str, int]:
    """Return how many machines of each type run, the dearest in all first."""
    types = np.zeros(0, np.int64) if instance.running is None else instance.running.machine_type
    return _by_type(instance, types, np.ones_like(types))


def machines_of(instance: ProvisioningInstance, solution: Provisioning) -> dict[str, int]:
    """Return how many machines of each type a solution has, the dearest in all first."""
    return _by_type(instance, solution.machine_type, solution.repeat)


def moved(instance: ProvisioningInstance, solution: Provisioning) -> int | None:
    """Return how many tasks leave the running machine that they are on; None where none runs."""
    return None if instance.running is None else moves(instance, solution)


def folded(instance: ProvisioningInstance, machines: dict[str, int]) -> dict[str, int]:
    """Return the same machines with types that differ by node only as one: `m5.large (a, node-7 and 2 alike)` is `m5.large (a)`.

    Types whose names hold no running machine's stay as they are.
    """
    nodes = set() if instance.running is None else set(instance.running.names)
    sums: dict[str, int] = {}
    for name, number in machines.items():
        sums[_folded(name, nodes)] = sums.get(_folded(name, nodes), 0) + number
    return sums


def _folded(name: str, nodes: set[str]) -> str:
    base, bracket, rest = name.rpartition(" (")
    parts = rest.removesuffix(")").split(", ")
    kept = [part for part in parts if re.sub(r" and \d+ alike$", "", part) not in nodes]
    if not bracket or len(kept) == len(parts):
        return name
    return f"{base} ({', '.join(kept)})" if kept else base


def plan_remarks(instance: ProvisioningInstance, solution: Provisioning) -> tuple[str, ...]:
    """Return what a solution does that whoever runs the cluster asked not to be done, or needs of machines, in sentences."""
    return (*exceeded(instance, solution), *_overfull(instance, solution))


def _overfull(instance: ProvisioningInstance, solution: Provisioning) -> tuple[str, ...]:
    """Return a sentence for each type of which a machine holds more tasks than one usually takes, with numbers. O(P + N)."""
    usual = dict(instance.usual_tasks)
    held = np.zeros(solution.machine_type.size, np.int64)
    np.add.at(held, solution.entry2group, solution.count)
    most: dict[str, int] = {}
    machines: dict[str, int] = {}
    for k, repeat, number in zip(*(a.tolist() for a in (solution.machine_type, solution.repeat, held)), strict=True):
        name = instance.type_names[k]
        if number > usual.get(name, number):
            most[name] = max(number, most.get(name, 0))
            machines[name] = machines.get(name, 0) + repeat
    what = PODS if PODS in instance.resources else "tasks"
    return tuple(
        (
            f"{number} {what} on one {name}"
            if machines[name] == 1
            else f"up to {number} {what} on each of {machines[name]} {name}"
        )
        + f", of which one usually takes {usual[name]} beside those of DaemonSets: set machines up to take more (on EKS prefix "
        f"delegation), or give the price list a column {PODS}."
        for name, number in most.items()
    )


def _by_type(instance: ProvisioningInstance, types: IntArray, repeat: IntArray) -> dict[str, int]:
    number = np.zeros(instance.num_types, np.int64)
    np.add.at(number, types, repeat)
    order = np.argsort(-(number * instance.price), kind="stable")
    return {instance.type_names[k]: int(number[k]) for k in order.tolist() if number[k]}
