"""Lowest share first: a machine with room serves the job that has least so far (Eunomia, section III-B), in four notions.

The papers leave open in which order machines are offered and what breaks ties; both move results, and are parameters here
(`instances.sharing.simulator`). Beside them the two orders that know no fairness: by arrival, and by work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import first_true
from schedgap.instances.fairness.shares import value_and_scale
from schedgap.instances.method import flattened, method
from schedgap.instances.sharing.model import FAMILY, SharingInstance, SharingSchedule
from schedgap.instances.sharing.simulator.simulator import NODES, OFFERS, TIES, Simulator
from schedgap.instances.sharing.verify import as_users

FITTING = ("fluid", "whole")
CHOICES = {"nodes": NODES, "ties": TIES, "offers": OFFERS}
SHARE_CHOICES = {**CHOICES, "fitting": FITTING}


@dataclass(frozen=True, slots=True)
class Offering:
    """nodes, ties, offers : as `Simulator` has them."""

    nodes: str = "index"
    ties: str = "first"
    offers: str = "each"

    def simulator(self, instance: SharingInstance, draw: int) -> Simulator:
        """Return the cluster at moment 0. draw : seed of what is `random`."""
        return Simulator(instance, nodes=self.nodes, ties=self.ties, offers=self.offers, seed=draw)


OFFERING = Offering()


def _lowest_share_first(
    instance: SharingInstance, notion: str, offering: Offering, draw: int, fitting: str = "fluid"
) -> SharingSchedule:
    """Play the policy that serves the job with the lowest share.

    fitting : the tasks that a machine could run for one job alone, by which progress and task shares are measured, count
    with fractions (`fluid`) or without (`whole`).
    """
    simulator = offering.simulator(instance, draw)
    jobs = np.arange(instance.num_jobs)
    users = as_users(instance, jobs, np.diff(instance.first_task))
    simulator.set_keys(*value_and_scale(users, notion, whole=fitting == "whole"))
    simulator.run()
    return simulator.schedule()


@method("eunomia", version=3, family=FAMILY, choices=SHARE_CHOICES)
@flattened()
def eunomia(
    instance: SharingInstance, offering: Offering = OFFERING, fitting: str = "fluid", draw: int = 0
) -> SharingSchedule:
    """Serve the job with the lowest progress share (Eunomia, section III-B)."""
    return _lowest_share_first(instance, "eunomia", offering, draw, fitting)


@method("tsf", version=3, family=FAMILY, choices=SHARE_CHOICES)
@flattened()
def tsf(
    instance: SharingInstance, offering: Offering = OFFERING, fitting: str = "fluid", draw: int = 0
) -> SharingSchedule:
    """Serve the job with the lowest task share: tasks over those it could run alone (TSF)."""
    return _lowest_share_first(instance, "tsf", offering, draw, fitting)


def _all_demand_the_first(instance: SharingInstance) -> str | None:
    if (job := first_true(instance.demand[:, 0] == 0)) is None:
        return None
    name = instance.job_name(job)
    return (
        f"job {name} demands no {instance.resources[0]}, in which choosy measures shares; name another resource first"
    )


@method("choosy", version=3, family=FAMILY, supports=_all_demand_the_first, choices=CHOICES)
@flattened()
def choosy(instance: SharingInstance, offering: Offering = OFFERING, draw: int = 0) -> SharingSchedule:
    """Serve the job with the lowest share of the first resource (Choosy, constrained max-min fairness)."""
    return _lowest_share_first(instance, "cmmf", offering, draw)


@method("drf", version=3, family=FAMILY, choices=CHOICES)
@flattened()
def drf(instance: SharingInstance, offering: Offering = OFFERING, draw: int = 0) -> SharingSchedule:
    """Serve the job with the lowest dominant share (DRF; DRFH where machines differ)."""
    return _lowest_share_first(instance, "drf", offering, draw)


@method("fifo", family=FAMILY, choices={"nodes": NODES, "offers": OFFERS})
@flattened(without=["ties"])
def fifo(instance: SharingInstance, offering: Offering = OFFERING, draw: int = 0) -> SharingSchedule:
    """Serve the job that arrived first of those that fit."""
    simulator = offering.simulator(instance, draw)
    simulator.run()
    return simulator.schedule()


@method("shortest-job-first", version=2, family=FAMILY, choices=CHOICES)
@flattened()
def shortest_job_first(instance: SharingInstance, offering: Offering = OFFERING, draw: int = 0) -> SharingSchedule:
    """Serve the job with the least work of all tasks together: clairvoyant, no policy knows it."""
    simulator = offering.simulator(instance, draw)
    work_ms = np.add.reduceat(instance.work_ms, instance.first_task[:-1])
    simulator.set_keys(0.0, base=work_ms)
    simulator.run()
    return simulator.schedule()
