"""The method `bound-work`: the cost of all work at the best prices that no machine beats.

Proven in integers (`work_prices`) for every instance that `limits` lets pass; beyond that it is unsupported.
"""

from __future__ import annotations

import time

from schedgap.formulations.reconfiguration.products import boundable
from schedgap.formulations.reconfiguration.work_prices import work_prices
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.offer import RUNNING, STOCK
from schedgap.instances.reconfiguration.model import FAMILY, ReconfigurationInstance


@method("bound-work", family=FAMILY, supports=boundable, bounds=True, handles=(STOCK, RUNNING))
def bound_work(instance: ReconfigurationInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Bound the cost by work alone: at any time, on machines shared in the best way, interference included."""
    begun = time.perf_counter()
    found = work_prices(instance, None if time_limit_s is None else begun + time_limit_s)
    return Outcome(
        bound=found.bound,
        status=Status.NO_SOLUTION,
        solve_s=time.perf_counter() - begun,
        details={"columns": found.columns, "iterations": found.iterations, "nodes": found.nodes},
    )
