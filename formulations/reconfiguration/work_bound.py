"""The methods `bound-progress`, which prices presence and progress together, and `bound-presence`, presence alone.

    bound = sum over plans t of window sum_{i must be in t} u[t, i]  +  sum over tasks i of pi[i] work[i]

for prices that no machine beats (`spell_prices`). pi is a share of the prices of `bound-work`: with share 1 nothing is
left for presence, with share 0 interference and acquisition that is not paid cost the bound the most. Every share
gives a valid bound; the best of a few is returned, or that of work alone if it is better.

Prices come from linear programs in floats and are made whole; what they prove is computed in integers that stay within 62
bits for every instance that `contents` lets pass. Beyond that the instance is unsupported.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from schedgap.formulations.reconfiguration.contents import boundable
from schedgap.formulations.reconfiguration.fluid_prices import fluid_prices, whole_worths
from schedgap.formulations.reconfiguration.presence import Spells, spells
from schedgap.formulations.reconfiguration.spell_prices import SpellPricer, window_s
from schedgap.formulations.reconfiguration.work_prices import micro_dollars, work_prices, work_s
from schedgap.instances.arrays import IntArray
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.moves import RUNNING, STOCK
from schedgap.instances.reconfiguration.model import FAMILY, ReconfigurationInstance
from schedgap.instances.units import DOLLAR

# Shares that are tried, the best on the Alibaba trace first; all of them only where there is little to price. Share 0
# is presence alone: so, time allowing, no bound of this module is better than `bound-progress`.
PERCENT = (80, 90, 60, 20, 0)
PERCENT_OF_MANY = (80, 90, 0)
FEW_SPELLS = 100
NODE_LIMIT = 1_000_000
# A certificate's prices are so much lower, one part in 2^22, that its checker finds prices of resources for them in floats.
SPARE_BITS = 22
# Nodes of the search for contents until it proves more than prices of resources do. After so many spells in which it does not,
# it is not tried on further ones.
FEW_NODES, MOST_FUTILE, ENDED = 20_000, 3, 0.999


@method("bound-progress", version=3, family=FAMILY, supports=boundable, bounds=True, handles=(STOCK, RUNNING))
def bound_progress(
    instance: ReconfigurationInstance, *, time_limit_s: float | None = None, num_spells: int = 1000
) -> Outcome:
    """Bound the cost by presence and progress: who must be there, moment by moment, and what work costs at least.

    num_spells : stretches of time that are priced apart; more are tighter and take longer.
    """
    begun = time.perf_counter()
    deadline = None if time_limit_s is None else begun + time_limit_s
    work = work_prices(instance, deadline)
    run = _Run(instance, spells(instance, num_spells), deadline)
    tried = PERCENT if run.spells.number <= FEW_SPELLS else PERCENT_OF_MANY
    bounds = {percent: run.bound(work.price * percent // 100) for percent in tried}
    chosen = max(tried, key=lambda percent: bounds[percent])
    bound = bounds[chosen]
    details = {"work_bound": work.bound, "percent": chosen, "spells": run.spells.number}
    return run.outcome(max(work.bound, bound), begun, details)


@method("bound-presence", version=3, family=FAMILY, supports=boundable, bounds=True, handles=(STOCK, RUNNING))
def bound_presence(
    instance: ReconfigurationInstance, *, time_limit_s: float | None = None, num_spells: int = 1000
) -> Outcome:
    """Bound the cost by presence alone: the least price of machines for those who must be there, without interference.

    num_spells : stretches of time that are priced apart; more are tighter and take longer.
    """
    begun = time.perf_counter()
    run = _Run(instance, spells(instance, num_spells), None if time_limit_s is None else begun + time_limit_s)
    nothing = np.zeros(instance.catalogue.num_classes, np.int64)
    return run.outcome(run.bound(nothing), begun, {"spells": run.spells.number}, run.proof())


class _Run:
    """What the bounds of one run have in common: the instance, its spells, the deadline and the counters."""

    def __init__(self, instance: ReconfigurationInstance, cut: Spells, deadline: float | None) -> None:
        self.instance, self.spells, self.deadline = instance, cut, deadline
        opens, closes = window_s(instance)
        self.window = instance.period_s + closes - opens
        self.iterations = self.nodes = 0
        # Of each spell the prices of presence that a certificate shows, and what they prove, micro-dollars.
        self.prices: list[IntArray] = []
        self.proven = 0

    def bound(self, speed_price: IntArray) -> int:
        """Return the proven bound, micro-dollars, at these prices; spells after the deadline are worth nothing."""
        pricer, cut = SpellPricer(self.instance, speed_price, FEW_NODES, self.deadline), self.spells
        number = cut.number if self.window > 0 else 0
        fluid = np.zeros_like(cut.presence)
        if number and not speed_price.any():
            fluid = fluid_prices(self.instance, pricer.offers, cut, self.deadline)
        worths, futile, self.prices = [], 0, []
        for g in range(number):
            known = sum(p * n for p, n in zip(fluid[g].tolist(), cut.presence[g].tolist(), strict=True))
            found, prices = known, fluid[g]
            while futile < MOST_FUTILE and not pricer.is_late():
                if (better := pricer.worth(cut.most[g], cut.presence[g], cut.late[g])) > found:
                    found, prices = better, pricer.proven
                # A search that ends proves nearly as much as resources do, or more.
                has_ended = better >= known * ENDED
                if has_ended and pricer.node_limit < NODE_LIMIT:
                    # Contents can be searched: thoroughly from here on.
                    pricer.node_limit = NODE_LIMIT
                    continue
                futile = 0 if has_ended else futile + 1
                break
            worths.append(found)
            self.prices.append(prices - (prices >> SPARE_BITS))
        shown = zip(self.prices, cut.presence, strict=False)
        self.proven = sum(
            p * n for prices, there in shown for p, n in zip(prices.tolist(), there.tolist(), strict=True)
        )
        worth = sum(worths)
        if number and not speed_price.any() and not self.instance.acquire_s.any():
            worth = sum(whole_worths(self.instance, cut, worths, self.deadline))
        self.iterations += pricer.iterations
        self.nodes += pricer.nodes
        self.proven = micro_dollars(self.proven * self.window)
        work = sum(int(p) * int(w) for p, w in zip(speed_price, work_s(self.instance), strict=True))
        return micro_dollars(worth * self.window + work)

    def proof(self) -> dict[str, Any] | None:
        """Return the prices of presence by spell, nano-dollars an hour, and how much of a period they count.

        None where machines are paid later than they are ordered, which has contents that are cheaper at first.
        """
        if self.instance.acquire_s.any():
            return None
        period_s, cut = self.instance.period_s, self.spells
        spells = [
            {
                "from_s": int(cut.first[g]) * period_s,
                "until_s": int(cut.until[g]) * period_s,
                "classes": np.flatnonzero(price).tolist(),
                "prices": price[price > 0].tolist(),
            }
            for g, price in enumerate(self.prices)
        ]
        return {"window_s": max(self.window, 0), "spells": spells}

    def outcome(
        self, bound: int, begun: float, details: dict[str, int], proof: dict[str, Any] | None = None
    ) -> Outcome:
        """Return the outcome."""
        return Outcome(
            bound=bound,
            status=Status.NO_SOLUTION,
            solve_s=time.perf_counter() - begun,
            details={**details, "iterations": self.iterations, "nodes": self.nodes},
            certificate=None if proof is None else {"bound": self.proven / DOLLAR, "proof": proof},
        )
