"""The cheapest bound: work is done at a fixed machine's price at full use, or rented, whichever is less."""

from __future__ import annotations

import numpy as np

from schedgap.formulations.waiting.models import Scaled, scale
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY, WaitingInstance

# Weights of cores and of memory in a job's size, as (cores, memory).
WEIGHTS = ((1, 0), (0, 1), (1, 1))


def work_amount(scaled: Scaled) -> int:
    """Return a lower bound on the amount of every schedule, waits or none.

    s machines that are paid for P do at most s P of work, counting a job as its share of a machine's cores, of its
    memory, or as a weighted mean of both. So fixed jobs cost at least price x share x runtime each, and with any fixed
    job at least one machine is paid for the horizon. O(N log N).

    Runtimes add up to less than 2^62, and everything else is Python's integers: a proof at every size.
    """
    instance = scaled.instance
    cores, memory = instance.cores[scaled.jobs], instance.memory_mib[scaled.jobs]
    kinds, which = np.unique(np.stack((scaled.rent, cores, memory)), axis=1, return_inverse=True)
    runtimes = np.zeros(kinds.shape[1], np.int64)
    np.add.at(runtimes, which.reshape(-1), scaled.runtime)
    best = instance.fixed_price * scaled.horizon + scaled.always_rented
    for of_cores, of_memory in WEIGHTS:
        parts = (of_cores + of_memory) * instance.machine_cores * instance.machine_memory_mib
        total = 0
        for (rent, c, m), runtime in zip(kinds.T.tolist(), runtimes.tolist(), strict=True):
            size = of_cores * c * instance.machine_memory_mib + of_memory * m * instance.machine_cores
            total += runtime * min(rent * parts, instance.fixed_price * size)
        best = max(best, -(-total // parts) + scaled.always_rented)
    return min(best, scaled.all_rented)


@method("bound-work", family=FAMILY, bounds=True)
def bound_work(instance: WaitingInstance) -> Outcome:
    """Bound the cost by the work of the jobs at the lower of two prices; exact integers."""
    scaled = scale(instance)
    return Outcome(bound=scaled.objective(work_amount(scaled)), status=Status.NO_SOLUTION)
