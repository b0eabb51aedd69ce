"""The method `clairvoyant`: the cheapest schedule there is, every arrival and run time known in advance.

No policy can do better: it is what online policies are measured against on small instances, with migrations,
interference and every delay, by the simulator's own rules (Eva, sections 4.4 and 5).

Costs of single plans and bounds on what is left are summed in 64-bit integers, those of whole schedules in Python's; an
instance whose prices and times could lead further is unsupported (`largest_amount`). Below that everything is a proof.
"""

from __future__ import annotations

import time

from schedgap.formulations.reconfiguration.clairvoyant.search import ClairvoyantSearch
from schedgap.formulations.reconfiguration.clairvoyant.space import decision_space, fitting_sets, useful_types
from schedgap.formulations.reconfiguration.limits import NANO
from schedgap.formulations.reconfiguration.presence import late_plans, must_plans, num_plans
from schedgap.formulations.reconfiguration.products import boundable
from schedgap.formulations.reconfiguration.work_prices import work_prices
from schedgap.instances.method import Found, Outcome, Status, method, untold
from schedgap.instances.provisioning.offer import RUNNING, STOCK
from schedgap.instances.reconfiguration.model import FAMILY, ReconfigurationInstance

MAX_TASKS = 4
# Tasks x plans x machine types that differ, or machines that run x plans at which a machine may be rented for one use.
MAX_CHOICES = 200
# Of micro-dollars an hour times seconds, and of nano-dollars an hour times task seconds.
MAX_AMOUNT = 2**62


def largest_amount(instance: ReconfigurationInstance) -> int:
    """Return what no sum of the compiled search is above.

    No search has more machines at a time than `MAX_CHOICES`, nor is one of them paid, or work left, for longer than a
    schedule lasts in which nobody is ever moved, which the first schedule found is no longer than.
    """
    dearest = int(instance.catalogue.price.max())
    lasts: int = (num_plans(instance) + 2) * instance.period_s + instance.terminate_s + int(instance.acquire_s.max())
    machines = dearest * MAX_CHOICES * (lasts + int(instance.setup_s.max()))
    work: int = sum(n * w for n, w in zip(instance.num_tasks.tolist(), instance.work_s.tolist(), strict=True))
    return max(machines, dearest * NANO * work)


def few_choices(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why the search would not end in reasonable time."""
    if (reason := boundable(instance)) is not None:
        return reason
    tasks = int(instance.num_tasks.sum())
    if tasks > MAX_TASKS:
        return f"its jobs have {tasks} tasks in all; the search of every plan takes at most {MAX_TASKS}."
    first, last = must_plans(instance)
    kinds = useful_types(instance, fitting_sets(instance))
    boots = (instance.acquire_s + instance.setup_s)[kinds]
    begins = 0 if instance.running is not None else int(first.min())
    plans, early = int(last.max()) - begins, 1 + int((-(-boots // instance.period_s)).max())
    there = 0 if instance.running is None else instance.running.size
    choices = tasks * plans * (len(kinds) + there) * early
    if choices > MAX_CHOICES:
        runs = f" beside {there} machines that run" if there else ""
        return (
            f"it has {tasks} tasks, {plans} plans at least, {len(kinds)} machine types that differ{runs} and {early} plans to "
            f"rent a machine at for one use; the search of every plan takes at most {MAX_CHOICES} of their product, "
            f"not {choices}."
        )
    amount = largest_amount(instance)
    if amount > MAX_AMOUNT:
        return f"has prices times times of up to {amount:.3g}, which the search would have to sum beyond 62 bits"
    return late_plans(instance)


@method("clairvoyant", version=2, family=FAMILY, supports=few_choices, exact=True, handles=(STOCK, RUNNING))
def clairvoyant(
    instance: ReconfigurationInstance, *, time_limit_s: float | None = None, found: Found = untold
) -> Outcome:
    """Search all plans of a small instance by branch and bound: the optimum with the future known."""
    begun = time.perf_counter()
    deadline = None if time_limit_s is None else begun + time_limit_s
    prices = work_prices(instance, deadline)
    found(bound=prices.bound)
    search = ClairvoyantSearch(decision_space(instance), prices.price, found=found)
    proven = search.run(deadline)
    if search.schedule is None:
        status = Status.INFEASIBLE if proven else Status.NO_SOLUTION
    else:
        status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Outcome(
        search.schedule,
        bound=max(prices.bound, search.bound()),
        status=status,
        solve_s=time.perf_counter() - begun,
        details={"decisions": search.nodes, "states": len(search.seen), "work_bound": prices.bound},
    )
