"""What a policy is shown at a plan: the present, in copies.

An observation in the form that the compiled packing rules take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.heuristics.reconfiguration.actions import Draft, Market
from schedgap.heuristics.reconfiguration.kernels_player import Catalogue, Present
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.reconfiguration.upkeep import Upkeep

QUEUED, MIGRATING, EXECUTING = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The present, in copies: nothing in it leads to what comes.

    Letters used for shapes: C task classes and W workloads seen so far, N unfinished jobs, T their tasks, M machines of
    the last plan.

    demand : (F, C, R) int64; a row of -1 where a class may not run on a family. reservation_type : (C,) int64, the
    cheapest machine type that fits one task. class_names : (C,). class2workload : (C,) int64.
    delays_s : (W, 5) int64, of a workload: fetch, build, kill, upload, init.
    job : (N,) int64, ascending. job_class, job_tasks : (N,) int64. job_arrival_s : (N,) int64.
    job_phase : (N,) int64, QUEUED, MIGRATING (must stay where it was sent) or EXECUTING.
    job_attained_s : (N,) float64, work done. num_ended : jobs that have ended so far. ended, ended_s : (E,) int64, those
    that ended since the last plan, and when.
    job_duration_s : (N,) int64, all the work of a job; None unless the policy knows durations.
    task, task_job, task_class : (T,) int64, task_job an index into `job`; tasks of a job are neighbours.
    task_machine : (T,) int64, index of the machine that the last plan sent it to, -1 for none. task_held_on : (T,)
    int64, of the one that holds it now. task_rate : (T,) float64, normalised throughput now, -1 where none is seen.
    machine : (M,) int64, ascending. machine_type : (M,) int64. machine_running : (M,) bool, false while it boots.
    stock_left : (K,) int64, how many more machines of each type this plan may rent, -1 for any number; None where that is so
    of all types. A machine that is given back counts until it is paid no more.
    throughput : (W, W) float64, pairwise; None unless the policy knows the throughput.
    upkeep : what controllers of real clusters look at, of the jobs in `job`; None where nothing is said.
    memory : the policy's own, empty at first and kept from plan to plan.
    """

    now_s: int
    market: Market
    demand: IntArray
    reservation_type: IntArray
    class_names: tuple[str, ...]
    class2workload: IntArray
    delays_s: IntArray
    job: IntArray
    job_class: IntArray
    job_tasks: IntArray
    job_arrival_s: IntArray
    job_phase: IntArray
    job_attained_s: FloatArray
    num_ended: int
    ended: IntArray
    ended_s: IntArray
    job_duration_s: IntArray | None
    task: IntArray
    task_job: IntArray
    task_class: IntArray
    task_machine: IntArray
    task_held_on: IntArray
    task_rate: FloatArray
    machine: IntArray
    machine_type: IntArray
    machine_running: BoolArray
    stock_left: IntArray | None
    throughput: FloatArray | None
    upkeep: Upkeep | None
    memory: dict[str, Any]

    @property
    def num_tasks(self) -> int:
        """Number of tasks of unfinished jobs."""
        return int(self.task.shape[0])

    @property
    def num_machines(self) -> int:
        """Number of machines of the last plan."""
        return int(self.machine.shape[0])

    def draft(self) -> Draft:
        """Return a plan to work on, in which every task stays where it is."""
        return Draft(self.market, self.demand, self.task_class, self.task_machine, self.machine_type)


def catalogue_of(observation: Observation) -> Catalogue:
    """Return what can be rented and what the classes seen so far ask for."""
    market = observation.market
    price = market.price.astype(np.float64)
    return Catalogue(
        demand=observation.demand,
        family=market.type2family,
        capacity=market.capacity,
        price=price,
        falling=np.argsort(-market.price, kind="stable"),
        kmin=observation.reservation_type,
        worth=price[observation.reservation_type],
    )


def present_of(observation: Observation, multi_task: bool = True) -> Present:
    """Return tasks and machines; unless `multi_task`, every task counts as a job of its own."""
    sizes = observation.job_tasks[observation.task_job] if multi_task else np.ones(observation.num_tasks, np.int64)
    return Present(
        task_class=observation.task_class,
        job_size=sizes,
        sent_to=observation.task_machine,
        held_on=observation.task_held_on,
        machine_type=observation.machine_type,
        running=observation.machine_running,
    )
