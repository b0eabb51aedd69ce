"""A view in the form that the compiled packing rules take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_wares import Now, Wares

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.view import View


def wares_of(view: View) -> Wares:
    """Return what can be rented and what the classes seen so far ask for."""
    market = view.market
    price = market.price.astype(np.float64)
    return Wares(
        demand=view.demand,
        family=market.type2family,
        capacity=market.capacity,
        price=price,
        falling=np.argsort(-market.price, kind="stable"),
        kmin=view.reservation_type,
        worth=price[view.reservation_type],
    )


def now_of(view: View, multi_task: bool = True) -> Now:
    """Return tasks and machines; unless `multi_task`, every task counts as a job of its own."""
    sizes = view.job_tasks[view.task_job] if multi_task else np.ones(view.num_tasks, np.int64)
    return Now(view.task_class, sizes, view.task_machine, view.task_held_on, view.machine_type, view.machine_running)
