"""What the bounds assume of interference: that throughputs are products of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.formulations.reconfiguration.limits import too_dear

if TYPE_CHECKING:
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance


def products_of_pairs(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why a bound that prices pairs cannot take the instance."""
    if instance.stored_sets is None:
        return None
    return "has stored_sets, whose throughputs may exceed the products of pairs that this counts on; leave them out"


def boundable(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why the bounds on work and presence cannot take the instance."""
    return products_of_pairs(instance) or too_dear(instance)
