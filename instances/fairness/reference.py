"""The fair shares of an instance, proven: what an allocation is measured against.

Finding them takes a linear program, and programs are solved on another floor: a formulation registers the function that
finds them. What it returns is checked here by its certificate, so nobody has to believe it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from schedgap.instances.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.fairness.allocation import FairnessAllocation
    from schedgap.instances.fairness.fair_point import FairPoint
    from schedgap.instances.fairness.model import FairnessInstance

    Finder = Callable[[FairnessInstance], FairnessAllocation | FairPoint]

# Instances come in series, a run of each method on each.
_KEPT = 8
_finders: list[Finder] = []
_known: OrderedDict[str, FloatArray] = OrderedDict()


def finds_fair_point(finder: Finder) -> Finder:
    """Make a function known that finds the max-min fair allocation of an instance, with its certificate, or the exact point."""
    _finders[:] = [finder]
    return finder


def knows_a_finder() -> bool:
    """Return whether a function is registered that finds fair points."""
    return bool(_finders)


def find_fair_point(instance: FairnessInstance) -> FairnessAllocation | FairPoint:
    """Return what the registered function finds, not yet checked.

    Raises
    ------
    VerifyError
        if none is registered.
    """
    if not _finders:
        raise VerifyError(
            f"the fair shares of {instance.name} are not known; import schedgap.formulations.fairness.water_filling, "
            "which finds them."
        )
    return _finders[0](instance)


def known_fair_shares(instance: FairnessInstance) -> FloatArray | None:
    """Return (N,) float64, the fair shares if they were proven before in this process, or None."""
    return _known.get(instance.digest)


def keep_fair_shares(instance: FairnessInstance, shares: FloatArray) -> None:
    """Keep proven fair shares, (N,) float64, for the next allocations of the instance."""
    _known[instance.digest] = shares
    if len(_known) > _KEPT:
        _known.popitem(last=False)
