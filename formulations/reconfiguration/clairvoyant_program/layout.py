"""The plans, slots and variables of `clairvoyant-program`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.reconfiguration.clairvoyant_program.slots import slots
from schedgap.formulations.reconfiguration.presence import num_plans

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
