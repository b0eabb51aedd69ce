"""The plans, slots and variables of `clairvoyant-program`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.reconfiguration.clairvoyant_program_slots import slots
from schedgap.instances.reconfiguration.model import MAX_TIME_S

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Sizes and the numbers of the variables; I tasks, J jobs, K plans, M slots.

    kind, copy : (M,) type of each slot, and which one of its type. job : (I,) of each task. first : (J,) first plan.
    y, s, w, e, d : (M, K). x : (I, M, K). z, f, g, loss : (J, K). rest : (J,).
    """

    kind: IntArray
    copy: IntArray
    job: IntArray
    first: IntArray
    y: IntArray
    s: IntArray
    w: IntArray
    e: IntArray
    d: IntArray
    x: IntArray
    z: IntArray
    f: IntArray
    g: IntArray
    loss: IntArray
    rest: IntArray

    @property
    def num_variables(self) -> int:
        """Number of columns of the program."""
        return int(self.rest[-1]) + 1


def num_plans(instance: ReconfigurationInstance) -> int:
    """Return a horizon: every job, alone on machines of its own from its first plan, has ended, and one plan more."""
    delay = (instance.fetch_s + instance.build_s + instance.init_s)[instance.class2workload][instance.job2class]
    boot = int((instance.acquire_s + instance.setup_s).max())
    last = int((instance.first_plan_s() + delay + instance.work_s).max()) + boot
    return -(-last // instance.period_s) + 1


def late_plans(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why a schedule may need plans after the last one that there is."""
    if (num_plans(instance) + 1) * instance.period_s > MAX_TIME_S:
        return f"its last plans may come after {MAX_TIME_S} s, when there are none any more; give shorter times"
    return None


def layout(instance: ReconfigurationInstance) -> Layout:
    """Return the variables, numbered one kind after the other."""
    kind, copy = slots(instance)
    job = np.repeat(np.arange(instance.num_jobs), instance.num_tasks)
    plans = num_plans(instance)
    on_slot, of_job = (kind.shape[0], plans), (instance.num_jobs, plans)
    shapes: dict[str, tuple[int, ...]] = {key: on_slot for key in ("y", "s", "w", "e", "d")}
    shapes |= {"x": (job.shape[0], *on_slot), "z": of_job, "f": of_job, "g": of_job, "loss": of_job, "rest": of_job[:1]}
    numbers: dict[str, IntArray] = {}
    used = 0
    for key, shape in shapes.items():
        size = math.prod(shape)
        numbers[key] = used + np.arange(size).reshape(shape)
        used += size
    return Layout(kind, copy, job, instance.first_plan_s() // instance.period_s, **numbers)
