"""The method `clairvoyant`: the cheapest schedule there is, every arrival and run time known in advance.

No policy can do better: it is what online policies are measured against on small instances, with migrations,
interference and every delay, by the cloud's own rules (Eva, sections 4.4 and 5).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedgap.formulations.reconfiguration.clairvoyant_search import Search
from schedgap.formulations.reconfiguration.clairvoyant_sets import fitting_sets, useful_types
from schedgap.formulations.reconfiguration.presence import must_plans
from schedgap.formulations.reconfiguration.products import boundable
from schedgap.formulations.reconfiguration.work_prices import work_prices
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.reconfiguration.model import FAMILY

if TYPE_CHECKING:
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance

MAX_TASKS = 4
# Tasks x plans x machine types that differ x plans at which a machine may be rented for one use.
MAX_CHOICES = 200


def few_choices(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why the search would not end in reasonable time."""
    reason = boundable(instance)
    if reason is not None:
        return reason
    tasks = int(instance.num_tasks.sum())
    if tasks > MAX_TASKS:
        return f"its jobs have {tasks} tasks in all; the search of every plan takes at most {MAX_TASKS}."
    first, last = must_plans(instance)
    kinds = useful_types(instance, fitting_sets(instance))
    boots = (instance.acquire_s + instance.setup_s)[kinds]
    plans, early = int(last.max() - first.min()), 1 + int((-(-boots // instance.period_s)).max())
    choices = tasks * plans * len(kinds) * early
    if choices > MAX_CHOICES:
        return (
            f"it has {tasks} tasks, {plans} plans at least, {len(kinds)} machine types that differ and {early} plans to "
            f"rent a machine at for one use; the search of every plan takes at most {MAX_CHOICES} of their product, "
            f"not {choices}."
        )
    return None


@method("clairvoyant", family=FAMILY, supports=few_choices, bounds=True, exact=True)
def clairvoyant(instance: ReconfigurationInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Search all plans of a small instance by branch and bound: the optimum with the future known."""
    begun = time.perf_counter()
    deadline = None if time_limit_s is None else begun + time_limit_s
    prices = work_prices(instance, deadline)
    search = Search(instance, prices.price)
    proven = search.run(deadline)
    status = Status.OPTIMAL if proven else Status.NO_SOLUTION if search.schedule is None else Status.FEASIBLE
    return Outcome(
        search.schedule,
        bound=max(prices.bound, search.bound()),
        status=status,
        solve_s=time.perf_counter() - begun,
        details={"decisions": search.nodes, "states": len(search.seen), "work_bound": prices.bound},
    )
