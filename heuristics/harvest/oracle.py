"""The paper's greedy Oracle: what comes of the VMs is known, and nothing is planned with it."""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.harvest.kernels_oracle import Foresight, play_oracle
from schedgap.heuristics.harvest.rules import CHOICES, POOL, PoolOptions, fixed_pool_reason, play_kernel
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.option_groups import flattened
from schedgap.instances.units import NEVER

GUARANTEES = ("no-shrink", "no-kill")


@method("oracle", version=2, family=FAMILY, choices={**CHOICES, "guarantee": GUARANTEES})
@flattened()
def oracle(instance: HarvestInstance, guarantee: str = "no-shrink", pool: PoolOptions = POOL) -> Outcome:
    """Place a task only where it will complete before the VM shrinks, which is known, by its estimate, which may be wrong.

    Greedy, first in first out (SlackSched, section 4.1): a waiting task that is safe on some VM now is placed on the one that
    is safe for the shortest time that is long enough. guarantee : the VM does not shrink before the task's end (`no-shrink`,
    the paper's), or, if the estimates are right, no shrink before the task's end kills anything on the VM (`no-kill`).
    """
    if (reason := fixed_pool_reason(instance, pool.acquirer, pool.scaling)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    foresight, kind, free_every = _foresight(instance), GUARANTEES.index(guarantee), pool.free_every_ms
    return play_kernel(
        Simulator(instance, epoch_ms=pool.epoch_ms),
        pool,
        lambda state, acquire: int(play_oracle(state, foresight, kind, acquire, free_every)),
    )


def _foresight(instance: HarvestInstance) -> Foresight:
    first, cores = instance.first_event, instance.event_cores
    shrinks = np.concatenate(([False], np.diff(cores) < 0))
    shrinks[first[:-1]] = False
    # The first shrink from each event on, of its own VM or of one after it; then those of others are taken out.
    places = np.where(shrinks, np.arange(cores.size), cores.size)
    place = np.minimum.accumulate(places[::-1])[::-1]
    own = place < first[1:][instance.event2vm()]
    shrink_ms = np.where(own, instance.event_ms[np.where(own, place, 0)], NEVER)
    return Foresight(
        event_ms=instance.event_ms.copy(),
        event_cores=cores.copy(),
        shrink_ms=shrink_ms,
        at=first[:-1].copy(),
        last=first[1:].copy(),
        shortest=np.minimum.reduceat(instance.estimate_ms, instance.first_task[:-1]),
        safe=np.zeros(instance.num_vms, np.int64),
    )
