"""The fair shares of an instance, proven: what an allocation is measured against.

Finding them takes a linear program, and programs are solved on another floor, which this one does not import: the function
that finds them is known by name, and imported when it is called. What it returns is checked by its certificate, so nobody
has to believe it.
"""

from __future__ import annotations

from collections import OrderedDict
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.fairness.fair_point import FairPoint
    from schedgap.instances.fairness.model import FairnessInstance
    from schedgap.instances.fairness.solution import FairnessAllocation

FINDER = ("schedgap.formulations.fairness.fair_point", "find_fair_point")
# Instances come in series, a run of each method on each.
_KEPT = 8
_known: OrderedDict[str, FloatArray] = OrderedDict()


def find_fair_point(instance: FairnessInstance) -> FairnessAllocation | FairPoint:
    """Return the max-min fair allocation of an instance, with its certificate, or the exact point; not yet checked.

    Raises
    ------
    BackendError
        if it is not found.
    """
    return _finder()(instance)


def _finder() -> Callable[[FairnessInstance], FairnessAllocation | FairPoint]:
    module, name = FINDER
    finder: Callable[[FairnessInstance], FairnessAllocation | FairPoint] = getattr(import_module(module), name)
    return finder


def known_fair_shares(instance: FairnessInstance) -> FloatArray | None:
    """Return (N,) float64, the fair shares if they were proven before in this process, or None."""
    return _known.get(instance.digest)


def keep_fair_shares(instance: FairnessInstance, shares: FloatArray) -> None:
    """Keep proven fair shares, (N,) float64, for the next allocations of the instance."""
    _known[instance.digest] = shares
    if len(_known) > _KEPT:
        _known.popitem(last=False)
