"""Lowest share first: a machine with room serves the job that has least so far (Eunomia, section III-B), in four notions.

The papers leave open in which order machines are offered and what breaks ties; both move results, and are parameters here
(`instances.sharing.simulator`). Beside them the two orders that know no fairness: by arrival, and by work.

And the rules of systems that the papers compare with or name: YARN's two schedulers, without their reservations, locality and
limits of users; the max-min fairness of Gavel, served task by task instead of by rounds of a linear program; and Themis'
finish-time fairness, whose auctions are left out: who is worst off is served.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.heuristics.sharing.player import Observation, policy
from schedgap.instances.arrays import first_true
from schedgap.instances.errors import MethodError
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


@method("gavel", family=FAMILY, choices=CHOICES)
@flattened()
def gavel(instance: SharingInstance, offering: Offering = OFFERING, draw: int = 0) -> SharingSchedule:
    """Serve the job whose progress is the lowest part of what an equal share of its machines gives (Gavel's max-min).

    Narayanan et al., Heterogeneity-aware cluster scheduling policies (OSDI 2020), section 4.1: throughput over that of an equal
    split, which is the same number of jobs for all. Unlike `eunomia`, it counts only machines on which the job may run.
    """
    simulator = offering.simulator(instance, draw)
    users = as_users(instance, np.arange(instance.num_jobs), np.diff(instance.first_task))
    alone = users.fitting() * users.machine_count * users.performance * users.allowed
    simulator.set_keys(users.performance, users.weight * alone.sum(axis=1))
    simulator.run()
    return simulator.schedule()


def _memory(resources: tuple[str, ...]) -> int:
    """Return which resource is memory, -1 for none."""
    return next((r for r, name in enumerate(resources) if name.startswith(("ram", "mem"))), -1)


def _has_memory(instance: SharingInstance) -> str | None:
    if _memory(instance.resources) >= 0:
        return None
    return f"YARN counts memory, and none of {', '.join(instance.resources)} is; name a resource memory or ram"


@method("yarn-fair", family=FAMILY, supports=_has_memory, choices=CHOICES)
@flattened()
def yarn_fair(instance: SharingInstance, offering: Offering = OFFERING, draw: int = 0) -> SharingSchedule:
    """Serve the job with the least memory per weight: YARN's FairScheduler with its policy `fair` and no minimum shares.

    Hadoop's documentation and its class FairSharePolicy; its policy drf is `drf` here.
    """
    simulator = offering.simulator(instance, draw)
    memory = instance.demand[:, [_memory(instance.resources)]]
    simulator.set_keys(np.broadcast_to(memory, instance.performance.shape), instance.weight)
    simulator.run()
    return simulator.schedule()


@policy("yarn-capacity")
def yarn_capacity(observation: Observation, queues: int = 4) -> int:
    """Serve the queue that uses least of its part of the memory, and there the job that came first (YARN's CapacityScheduler).

    Instances name no organisations: jobs are dealt to queues of equal capacity in turn, as they come. One queue is `fifo`, a
    queue a job is `yarn-fair` without weights. Capacities are elastic: no queue is held back where room is left. What counts is
    memory, or the first resource where none is.
    """
    if queues < 1:
        raise MethodError(f"queues is {queues}; give at least 1.")
    memory = max(_memory(observation.machines.resources), 0)
    queue = observation.job % queues
    used = np.bincount(queue, observation.running.sum(axis=1) * observation.demand[:, memory], queues)
    fitting = observation.fitting
    return int(observation.job[fitting[np.argmin(used[queue[fitting]])]])


@policy("themis", knows=("durations",))
def themis(observation: Observation) -> int:
    """Serve the job whose end is delayed most by sharing: the largest ratio of its time here to that on its part alone.

    Mahajan et al., Themis (NSDI 2020), section 3: rho is the time from arrival to the end, at what runs now, over the time that
    all tasks take on 1 / N of the machines, of N jobs present. Without a running task it is infinite; of those, who has waited
    longest for its own measure comes first. Tasks that run count as done, and weights count as parts.
    """
    assert observation.work_to_start_ms is not None
    machines, demand = observation.machines, observation.demand[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        fits = np.where(demand > 0, machines.capacity / demand, np.inf).min(axis=2)
    alone = (fits * machines.class_count * observation.performance * observation.serves).sum(axis=1)
    total = observation.memory.setdefault("total", {})
    work = [
        total.setdefault(j, w)
        for j, w in zip(observation.job.tolist(), observation.work_to_start_ms.tolist(), strict=True)
    ]
    part = alone * observation.weight / observation.weight.sum()
    fair_ms, waited = np.array(work) / part, observation.now_ms - observation.arrival_ms
    rate = (observation.running * observation.performance).sum(axis=1)
    left_ms = observation.work_to_start_ms / np.maximum(rate, 1)
    order = np.lexsort((-(waited + np.where(rate > 0, left_ms, 0)) / fair_ms, rate > 0))
    return int(observation.job[order[np.isin(order, observation.fitting)][0]])
