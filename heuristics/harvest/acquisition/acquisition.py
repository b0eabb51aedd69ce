"""Acquisition: which harvest VMs a pool keeps, gives back and asks for; what every method with a pool can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.harvest.acquisition import kernels_acquire
from schedgap.heuristics.harvest.acquisition import kernels_acquire as kernels_reservation
from schedgap.heuristics.harvest.acquisition.kernels_acquire import (
    Acquire,
    AcquireRules,
    Counter,
    Judged,
    Record,
    VmSearch,
    judge,
    renew,
)
from schedgap.instances.arrays import record, records
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.simulator.state import NOBODY

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.harvest.simulator.state import State

# `keep`: nothing is given back, evicted VMs are replaced (the paper's baseline). `recent`: the tenth of the pool that changed
# last is given back each hour (Algorithm 2). `reservation`: of our own, see `kernels_reservation`.
ACQUIRERS = {"keep": kernels_acquire.KEEP, "recent": kernels_acquire.RECENT, "reservation": kernels_acquire.RESERVATION}
# `none`: as many VMs are held as at the start. `cores`: as many cores (the fixed budget of Appendix B.4). `utilisation`: 60 to
# 80% of the cores are used (section 3.2). `demand`: the same, with the cores that waiting tasks need counted as used.
# No more cores than there are can be used: with `utilisation` a pool that shrank in a lull grows by a quarter an hour at most,
# however many tasks wait.
SCALINGS = {
    "none": kernels_acquire.UNSCALED,
    "cores": kernels_acquire.CONSTANT,
    "utilisation": kernels_acquire.UTILISATION,
    "demand": kernels_acquire.DEMAND,
}
GIVEN_BACK = {"keep": 0.0, "recent": 0.1, "reservation": 0.25}
# The utilisation to hold, lowest and highest.
UTILISATION_BOUNDS = (0.6, 0.8)

# Of the reservation rule: hours for which a VM is held, and bad hours that a change of VMs costs.
HORIZON_H, CHANGE_COST = 8.0, 0.25


def acquisition(
    instance: HarvestInstance,
    acquirer: str = "keep",
    scaling: str = "none",
    *,
    fraction: float | None = None,
    warm_up: bool = True,
) -> Acquisition:
    """Return what keeps the pool of an instance.

    Parameters
    ----------
    acquirer : one of `ACQUIRERS`. scaling : one of `SCALINGS`; until the first job arrives a pool does not follow the load.
    fraction : of the pool, the most that is given back at an epoch, at most a half; None for the rule's own `GIVEN_BACK`.
    warm_up : whether VMs are given back before the first job arrives.

    Raises
    ------
    MethodError
        for an unknown rule, or a fraction out of range.
    """
    for what, given, known in (("acquirer", acquirer, ACQUIRERS), ("scaling", scaling, SCALINGS)):
        if given not in known:
            raise MethodError(f"{what} '{given}' is unknown; choose one of {', '.join(known)}.")
    fraction = GIVEN_BACK[acquirer] if fraction is None else fraction
    if not 0 <= fraction <= 0.5:
        raise MethodError(f"the acquirer is to give back a fraction of {fraction} of the pool; give 0 to 0.5.")
    low, high = (1.0, 1.0) if scaling == "cores" else UTILISATION_BOUNDS
    rules = AcquireRules(
        rule=ACQUIRERS[acquirer],
        scaling=SCALINGS[scaling],
        target=int(instance.leased.sum()),
        fraction=round(fraction * 1000),
        low=round(low * 1000),
        high=round(high * 1000),
        warm_up=int(warm_up),
        cores=int(instance.event_cores[instance.first_event[:-1]][instance.leased].sum()),
    )
    search = _search(instance) if acquirer == "reservation" else None
    return Acquisition(Acquire(rules, records(Judged, instance.num_vms)), search)


@dataclass(frozen=True, slots=True)
class Acquisition:
    """What keeps a pool. search : of the reservation rule."""

    acquire: Acquire
    search: VmSearch | None

    def look_after(self, state: State) -> None:
        """Renew the pool, at an epoch. There must be room for `max_leases` leases more."""
        worse = 0 if self.search is None else judge(state, self.acquire, self.search)
        renew(state, self.acquire, worse)
        if self.search is not None:
            kernels_reservation.remember(state, self.search)


def _search(instance: HarvestInstance) -> VmSearch:
    """Return the memory of the reservation rule before anything is seen."""
    num_vms, features = instance.num_vms, kernels_reservation.FEATURES
    return VmSearch(
        horizon=HORIZON_H,
        cost=CHANGE_COST,
        counter=record(Counter),
        vms=records(Record, num_vms, lease=np.where(instance.leased, np.cumsum(instance.leased) - 1, NOBODY)),
        feature=np.zeros((num_vms, features)),
        sample=np.zeros((kernels_reservation.SAMPLES, features)),
        sample_bad=np.zeros(kernels_reservation.SAMPLES),
        offer=np.zeros((kernels_reservation.OFFERS, features)),
        offer_bad=np.zeros(kernels_reservation.OFFERS),
        weight=np.array(kernels_reservation.FIRST_WEIGHTS),
        system=np.zeros((features, features)),
        step=np.zeros(features),
        quality=np.zeros(kernels_reservation.OFFERS),
    )
