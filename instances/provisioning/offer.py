"""What an instance has beside machines that can be rented without end: stocks, running machines, limits on moves and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.provisioning.running import ANY_NUMBER

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance

# What a method must be able to take into account; see `features`. Machines that run are a start, and here no more than that.
STOCK, MOVES, RUNNING, PER_MACHINE = "stock", "moves", "running", "per_machine"


def features(instance: ProvisioningInstance) -> frozenset[str]:
    """Return what a method must take into account: `stock` where it ends, `moves` where they are limited.

    `per_machine` where only so many tasks of some class may share a machine.
    """
    limited = {MOVES: instance.max_moves, PER_MACHINE: getattr(instance, "per_machine", None)}
    asked = {STOCK: has_stock(instance)} | {feature: limit is not None for feature, limit in limited.items()}
    return frozenset(feature for feature, is_asked in asked.items() if is_asked)


def has_stock(instance: ProvisioningInstance) -> bool:
    """Return whether only so many machines of some type can be had."""
    return instance.stock is not None and bool((instance.stock != ANY_NUMBER).any())


def anew(instance: ProvisioningInstance) -> ProvisioningInstance:
    """Return the instance without running machines and limits on moves: a cluster made anew of what can be had."""
    return instance if instance.running is None else instance.replace(running=None, max_moves=None)


def unlimited(instance: ProvisioningInstance) -> ProvisioningInstance:
    """Return the instance without stocks, running machines and limits on moves: its best solution costs no more.

    How many tasks of a class may share a machine is kept.
    """
    if instance.running is None and not features(instance) - {PER_MACHINE}:
        return instance
    return instance.replace(stock=None, running=None, max_moves=None)
