"""What completion times are compared to: those of the plain rule, simulated on the same instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.harvest.verify import job_times_ms

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.model import HarvestInstance

MOST_KEPT = 16
_kept: dict[str, IntArray | None] = {}


def plain_times_ms(instance: HarvestInstance) -> IntArray | None:
    """Return (J,) int64, the jobs' completion times if each task goes to a random VM that it fits on, with seed 0.

    None if that never completes all tasks, as can be where the provider runs out of VMs. Those of the instances asked for
    last are kept: every method's solution of an instance is compared to the same.
    """
    # Here, since it brings Numba, which nobody needs who only lists or reads instances.
    from schedgap.instances.harvest.cluster import Cluster

    if instance.digest in _kept:
        times = _kept.pop(instance.digest)
    else:
        cluster = Cluster(instance, seed=0)
        times = job_times_ms(instance, cluster.schedule()) if cluster.run_plain() else None
    _kept[instance.digest] = times
    while len(_kept) > MOST_KEPT:
        del _kept[next(iter(_kept))]
    return times
