"""Who waits, for how long, and in which order jobs are served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.waiting.compiled.state import NO_LIMIT_US
from schedgap.instances.arrays import IntArray, locked_ints
from schedgap.instances.units import SECOND_US

if TYPE_CHECKING:
    from schedgap.instances.waiting.model import WaitingInstance

SCHEDULING = ("fcfs", "easy", "sjf", "conservative")
FIT = ("first", "best")
SEMANTICS = ("paper", "artifact")
# Words that best fit may count machines by: one for each core and 64 jobs, and up to four times as many are tried.
MAX_BUCKETS = 2**25


@dataclass(frozen=True, slots=True)
class Policy:
    """Who waits, for how long, and in which order jobs are served.

    waits : whether a job that finds no room waits, or rents. limit_us : the longest wait. short_us : jobs that run so
    long or less rent at arrival, whether a machine is idle or not; -1 for none. balks : whether a job that would wait
    longer than the limit rents at arrival, or at the end of its limit.
    runtime_error : probability that a job is taken for short if it is long, or for long. wait_error : that a job which
    should wait rents at once, or one which should rent at once waits up to its limit; in `artifact` semantics, that the
    head of the queue, each time that it is looked at, rents.
    """

    waits: bool = True
    limit_us: int = NO_LIMIT_US
    short_us: int = -1
    balks: bool = False
    scheduling: str = "fcfs"
    fit: str = "first"
    semantics: str = "paper"
    runtime_error: float = 0.0
    wait_error: float = 0.0

    def unsupported(self, instance: WaitingInstance) -> str | None:
        """Return why the policy cannot be played on an instance, None if it can."""
        if self.scheduling in ("easy", "sjf") and self.balks and self.waits:
            return (
                f"under scheduling={self.scheduling} a job's wait depends on jobs still to come, so none can tell at "
                "arrival that it would be too long; use scheduling=fcfs or conservative"
            )
        if self.semantics == "artifact" and self.scheduling != "fcfs":
            return f"the authors' simulator serves first come, first served, not {self.scheduling}; use semantics=paper"
        if self.semantics == "artifact" and (instance.runtime_us % SECOND_US).any():
            return (
                "the authors' simulator frees a machine after whole seconds, and a job here runs for a fraction more, so "
                "its schedules would overload machines; use semantics=paper, or runtimes in whole seconds"
            )
        _, room = core_units(instance)
        if (
            max(room, room * instance.num_jobs // 64) > MAX_BUCKETS
            and self.fit == "best"
            and self.scheduling != "conservative"
        ):
            return (
                f"machines are counted by {room} cores for best fit, too many for {instance.num_jobs} jobs; use first"
            )
        if instance.max_wait_us is not None and self.waits and self.limit_us > instance.max_wait_us:
            return f"a job may wait no longer than {instance.max_wait_us / SECOND_US:g} s, and here it may wait longer"
        return None


def core_units(instance: WaitingInstance) -> tuple[IntArray, int]:
    """Return each job's and a machine's cores in the largest exact unit: the same jobs fit the same machines.

    A machine has no more units than the jobs that fit it have together, and a job that needs more cores than a machine
    one more than that.
    """
    fits = instance.cores <= instance.machine_cores
    unit = max(1, int(np.gcd.reduce(instance.cores[fits], initial=0)))
    units = instance.cores // unit
    if unit == 1 and int(instance.cores.max()) <= instance.machine_cores <= instance.num_jobs:
        return instance.cores, instance.machine_cores
    room = min(instance.machine_cores // unit, max(1, sum(units[fits].tolist())))
    return locked_ints(np.where(fits, units, room + 1)), room
