"""A schedule as a picture: fixed machines as bars, filled as far as they were used while they were paid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.picture import MAX_BARS, Bar, Part, Picture
from schedgap.instances.waiting.objective import paid_us
from schedgap.instances.waiting.solution import RENTED

if TYPE_CHECKING:
    from schedgap.instances.waiting.model import WaitingInstance
    from schedgap.instances.waiting.solution import WaitingSchedule


def picture(instance: WaitingInstance, schedule: WaitingSchedule) -> Picture:
    """Return mean cores in use of each fixed machine, and of all rented ones together as the last bar."""
    paid = paid_us(instance, schedule)
    core_us = instance.cores.astype(np.float64) * instance.runtime_us
    fixed = schedule.machine != RENTED
    used = np.bincount(schedule.machine[fixed], core_us[fixed], schedule.num_machines) / paid
    jobs = np.bincount(schedule.machine[fixed], minlength=schedule.num_machines)
    shown = min(schedule.num_machines, MAX_BARS - 1)
    bars = [
        Bar(
            f"fixed {m}",
            1,
            (float(instance.machine_cores),),
            (Part(f"{jobs[m]:,} jobs", 1, (float(used[m]),)),),
        )
        for m in range(shown)
    ]
    rented = float(core_us[~fixed].sum()) / paid
    bars.append(Bar("rented", 1, (rented,), (Part(f"{int((~fixed).sum()):,} jobs", 1, (rented,)),)))
    return Picture(("mean cores in use",), tuple(bars), schedule.num_machines - shown)
