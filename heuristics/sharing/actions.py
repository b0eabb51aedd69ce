"""What a policy answers to an offer, the job that the machine serves, and its check."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import MethodError
from schedgap.instances.units import SECOND_MS, shown_amount

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.sharing.simulator.simulator import Simulator


def checked_job(answer: object, simulator: Simulator, machine: int, present: IntArray) -> int:
    """Return the job that a policy answered with.

    present : (N,) int64, ascending, the jobs that it was shown.

    Raises
    ------
    MethodError
        unless it is one of them whose next task the machine can run now.
    """
    instance, state = simulator.instance, simulator.state
    where = f"offer of machine {machine} at {simulator.now_ms / SECOND_MS:.12g} s"
    try:
        # To Python a bool is a whole number, but it names no job.
        job = operator.index(None if isinstance(answer, bool) else answer)  # type: ignore[arg-type]
    except TypeError:
        raise MethodError(f"{where}: the policy returned {type(answer).__name__}; return a job or None.") from None
    place = int(np.searchsorted(present, job))
    if place == present.shape[0] or present[place] != job:
        raise MethodError(f"{where}: the policy returned job {job}, which is not there; return one of observation.job.")
    who = f"{where}: the policy returned job {instance.job_name(job)}"
    way_out = "return one of observation.job[observation.fitting]."
    if simulator.num_to_start[job] == 0:
        raise MethodError(f"{who}, all of whose tasks have started; {way_out}")
    k = int(state.machines[machine].to_class)
    if state.speed[job, k] == 0:
        raise MethodError(f"{who}, which class {instance.machine_names[k]} does not serve; {way_out}")
    for r, name in enumerate(instance.resources):
        needs, free = int(instance.demand[job, r]), int(state.free[machine, r])
        if needs > free:
            raise MethodError(
                f"{who}, whose tasks need {shown_amount(needs, name)}; {shown_amount(free, name)} are free; {way_out}"
            )
    return job
