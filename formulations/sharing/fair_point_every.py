"""The online policy that knows what is fair: every few seconds it computes the exact fair point among the jobs present."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.fairness.fair_point import find_fair_point
from schedgap.instances.errors import BackendError, MethodError, VerifyError
from schedgap.instances.fairness.fair_point import FairPoint, check_fair_point
from schedgap.instances.fairness.shares import value_and_scale
from schedgap.instances.fairness.verify import shares_of
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.sharing.model import FAMILY, MAX_TOTAL_MS, SharingInstance
from schedgap.instances.sharing.simulator.simulator import NODES, OFFERS, TIES, Simulator
from schedgap.instances.sharing.snapshot import as_users
from schedgap.instances.units import SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray


@method("fair-point-every", family=FAMILY, choices={"nodes": NODES, "ties": TIES, "offers": OFFERS})
def fair_point_every(
    instance: SharingInstance,
    *,
    time_limit_s: float | None = None,
    every_s: float = 5.0,
    nodes: str = "index",
    ties: str = "first",
    offers: str = "each",
    draw: int = 0,
) -> Outcome:
    """Serve the job that has least of its exact fair share, which is computed anew every few seconds.

    every_s : at multiples of it the fair point of the jobs present is found, in the instance's notion, each with the tasks
    that it has not finished. A job that arrives in between counts until then as if its fair share were the largest one.
    Where a fair point is not proven, which `details` count, the last one goes on to hold. It claims no bound, at any size.
    nodes, ties, offers, draw : as `Simulator` has them.

    Raises
    ------
    MethodError
        if `every_s` is less than a millisecond, or more than all times of an instance.
    """
    if not 1 <= every_s * SECOND_MS <= MAX_TOTAL_MS:
        raise MethodError(f"every_s is {every_s:g}; give 0.001 to {MAX_TOTAL_MS / SECOND_MS:.3g} seconds.")
    every_ms = round(every_s * SECOND_MS)
    begun = time.perf_counter()
    simulator = Simulator(instance, nodes=nodes, ties=ties, offers=offers, seed=draw)
    users = as_users(instance, np.arange(instance.num_jobs), np.diff(instance.first_task))
    value, scale = value_and_scale(users)
    # Until the first fair point all jobs count as if theirs were equal.
    simulator.set_keys(value, scale)
    points, missed, solve_s, at = 0, 0, 0.0, 0
    while (upcoming := simulator.next_ms) is not None:
        if time_limit_s is not None and time.perf_counter() - begun >= time_limit_s:
            return Outcome(status=Status.NO_SOLUTION, solve_s=solve_s, details={"fair_points": points})
        # Between two events nothing changes that a fair point depends on.
        at = max(at, -(-upcoming // every_ms) * every_ms)
        simulator.run_until(at)
        jobs = simulator.present
        if jobs.size:
            started = time.perf_counter()
            try:
                fair = _fair_shares(instance, jobs, simulator.num_unfinished[jobs])
            except (BackendError, VerifyError):
                missed += 1
            else:
                points += 1
                target = np.full(instance.num_jobs, fair.max())
                target[jobs] = fair
                simulator.set_keys(value, scale * target)
            solve_s += time.perf_counter() - started
        at += every_ms
    return Outcome(simulator.schedule(), solve_s=solve_s, details={"fair_points": points, "not_found": missed})


def _fair_shares(instance: SharingInstance, jobs: IntArray, unfinished: IntArray) -> FloatArray:
    """Return (N,) float64, the shares of some jobs at the max-min fair point among them."""
    users = as_users(instance, jobs, unfinished)
    found = find_fair_point(users)
    if isinstance(found, FairPoint):
        return np.array([float(share) for share in check_fair_point(users, found)])
    return shares_of(users, found)
