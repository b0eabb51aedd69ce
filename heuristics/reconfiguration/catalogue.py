"""An observation in the form that the compiled packing rules take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_catalogue import Catalogue, Present

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.observation import Observation


def catalogue_of(observation: Observation) -> Catalogue:
    """Return what can be rented and what the classes seen so far ask for."""
    market = observation.market
    price = market.price.astype(np.float64)
    return Catalogue(
        demand=observation.demand,
        family=market.type2family,
        capacity=market.capacity,
        price=price,
        falling=np.argsort(-market.price, kind="stable"),
        kmin=observation.reservation_type,
        worth=price[observation.reservation_type],
    )


def present_of(observation: Observation, multi_task: bool = True) -> Present:
    """Return tasks and machines; unless `multi_task`, every task counts as a job of its own."""
    sizes = observation.job_tasks[observation.task_job] if multi_task else np.ones(observation.num_tasks, np.int64)
    return Present(
        task_class=observation.task_class,
        job_size=sizes,
        sent_to=observation.task_machine,
        held_on=observation.task_held_on,
        machine_type=observation.machine_type,
        running=observation.machine_running,
    )
