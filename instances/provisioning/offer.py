"""What machines there are beside those that can be rented without end: stocks, fees, running machines; their checks."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.units import DOLLAR, shown_amount

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance

ANY_NUMBER = -1
# What a method must be able to take into account; see `features`.
STOCK, MOVES = "stock", "moves"


def features(instance: ProvisioningInstance) -> frozenset[str]:
    """Return what a method must take into account: `stock` where it ends, `moves` where they are limited."""
    asked = {STOCK: has_stock(instance), MOVES: instance.max_moves is not None}
    return frozenset(feature for feature, is_asked in asked.items() if is_asked)


def has_stock(instance: ProvisioningInstance) -> bool:
    """Return whether only so many machines of some type can be had."""
    return instance.stock is not None and bool((instance.stock != ANY_NUMBER).any())


def unlimited(instance: ProvisioningInstance) -> ProvisioningInstance:
    """Return the instance without stocks, running machines and limits on moves: its best solution costs no more."""
    return (
        instance.replace(stock=None, running=None, max_moves=None)
        if instance.running or features(instance)
        else instance
    )


def check_offer(instance: ProvisioningInstance) -> None:
    """Refuse stocks, fees, running machines and limits on moves that contradict the rest of the instance.

    Raises
    ------
    InstanceError
        naming the type or the machine, both values, and the way out.
    """
    name, types = instance.name, instance.type_names
    if instance.stock is not None and (bad := np.flatnonzero(instance.stock < ANY_NUMBER)).size:
        k = int(bad[0])
        raise InstanceError(f"{name}: machine type {types[k]} has count {instance.stock[k]}; give 0 or more, or none.")
    if instance.fee is not None and (bad := np.flatnonzero((instance.fee < 0) | (instance.fee > instance.price))).size:
        k = int(bad[0])
        raise InstanceError(
            f"{name}: machine type {types[k]} has a fee of {instance.fee[k] / DOLLAR:g} within a price of "
            f"{instance.price[k] / DOLLAR:g}; give a fee that is not negative."
        )
    if instance.max_moves is not None:
        # NumPy's integers have another digest.
        object.__setattr__(instance, "max_moves", operator.index(instance.max_moves))
        if instance.running is None:
            raise InstanceError(f"{name}: max_moves is {instance.max_moves}, but no machine runs; give `running`.")
        if instance.max_moves < 0:
            raise InstanceError(f"{name}: max_moves is {instance.max_moves}; give 0 or more, or leave it out.")
    if instance.running is not None:
        _check_running(instance)


def _check_running(instance: ProvisioningInstance) -> None:
    running, name = instance.running, instance.name
    assert running is not None
    for what, values, stop in (
        ("machine type", running.machine_type, instance.num_types),
        ("task class", running.task_class, instance.num_classes),
    ):
        if values.size and (values.min() < 0 or values.max() >= stop):
            raise InstanceError(f"{name}: a running machine names {what} {values.max()}; there are {stop}.")
    placed = running.placed(instance.num_classes)
    if (placed > instance.counts).any():
        c = int(np.argmax(placed > instance.counts))
        raise InstanceError(
            f"{name}: {placed[c]} tasks of {instance.class_name(c)} are on running machines, the instance has "
            f"{instance.counts[c]}; correct one of them."
        )
    used = np.bincount(running.machine_type, minlength=instance.num_types)
    if instance.stock is not None and ((instance.stock != ANY_NUMBER) & (used > instance.stock)).any():
        k = int(np.argmax((instance.stock != ANY_NUMBER) & (used > instance.stock)))
        raise InstanceError(
            f"{name}: {used[k]} machines of type {instance.type_names[k]} run, its count is {instance.stock[k]}; "
            "running machines are among those that can be had: raise the count."
        )


def fits_nowhere(instance: ProvisioningInstance, c: int) -> str:
    """Return why a task class fits no machine type."""
    allowed = [f for f in range(len(instance.families)) if instance.demand[f, c, 0] >= 0]
    for f in allowed:
        types = np.flatnonzero(instance.type2family == f)
        if types.size == 0:
            continue
        for r, resource in enumerate(instance.resources):
            most = instance.capacity[types, r].max()
            if instance.demand[f, c, r] > most:
                return (
                    f"{instance.name}: task {instance.class_name(c)} needs "
                    f"{shown_amount(instance.demand[f, c, r], resource)} on family {instance.families[f]}, the largest "
                    f"type there has {shown_amount(most, resource)}; drop the task or add a type."
                )
    if not allowed:
        return (
            f"{instance.name}: task {instance.class_name(c)} may run on no family; give it a demand for one, or 'any'."
        )
    return (
        f"{instance.name}: task {instance.class_name(c)} fits no machine type: each lacks some resource; "
        "drop the task or add a type."
    )
