"""Small random sharing instances, for tests and exact methods."""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import generator
from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness.model import ONE
from schedgap.instances.sharing.model import FAMILY, SharingInstance
from schedgap.instances.units import GIB_MIB, SECOND_MS


def random_jobs(
    jobs: int = 4,
    *,
    seed: int = 0,
    machine_classes: int = 2,
    most_machines: int = 2,
    most_tasks: int = 3,
    step_s: float = 1.0,
    own_performance: bool = False,
    notion: str = "eunomia",
) -> SharingInstance:
    """Draw a few jobs of 1 to `most_tasks` tasks that arrive close together, for tests and exact methods.

    machine_classes : of 1 to `most_machines` machines with 1 to 4 cores and GiB, the first with 4 of each so that every
    task fits. step_s : arrivals are multiples of it and work too, of up to 6 steps. own_performance : each job has its
    own performance on each class, 0 on some; else that of a class is the same for all. It is 0.5, 1 or 2.
    """
    for name, value in (("jobs", jobs), ("machine_classes", machine_classes), ("most_machines", most_machines)):
        if value < 1:
            raise InstanceError(f"{name} is {value}; give at least 1.")
    if most_tasks < 1 or step_s <= 0:
        raise InstanceError(f"most_tasks is {most_tasks}, step_s {step_s:g}; give at least 1, and a positive step.")
    rng = generator(FAMILY, "random-jobs", jobs, machine_classes, most_machines, most_tasks, own_performance, seed)

    def upto(most: int, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        """Return whole numbers from 1 to `most`."""
        return 1 + (rng.random(shape) * most).astype(np.int64)

    step_ms = max(1, round(step_s * SECOND_MS))
    capacity = upto(4, machine_classes, 2)
    capacity[0] = 4
    rows = jobs if own_performance else 1
    performance = 250 * 2 ** upto(3, rows, machine_classes)
    allowed = rng.random((jobs, machine_classes)) < 0.7
    allowed[:, 0] |= ~allowed[:, 1:].any(axis=1)
    demand = upto(3, jobs, 2)
    if own_performance:
        performance = np.where(rng.random(performance.shape) < 0.1, 0, performance)
    performance = np.broadcast_to(performance, allowed.shape).copy()
    fits = (demand[:, None, :] <= capacity).all(axis=2) & (performance > 0)
    unserved = ~(fits & allowed).any(axis=1)
    allowed[unserved, 0] = True
    performance[unserved, 0] = np.where(performance[unserved, 0] > 0, performance[unserved, 0], ONE)
    sizes = upto(most_tasks, jobs)
    return SharingInstance(
        name=f"random-jobs-{jobs}-s{seed}",
        notion=notion,
        resources=("cpu", "ram_gib"),
        machine_names=tuple(f"class-{k}" for k in range(machine_classes)),
        machine_count=upto(most_machines, machine_classes),
        capacity=capacity * np.array([ONE, GIB_MIB]),
        arrival_ms=np.cumsum(upto(4, jobs) - 1) * step_ms,
        demand=demand * np.array([ONE, GIB_MIB]),
        weight=upto(2, jobs) * ONE,
        performance=performance,
        allowed=allowed,
        first_task=np.concatenate(([0], np.cumsum(sizes))),
        work_ms=upto(6, int(sizes.sum())) * step_ms,
    )
