"""No-Packing (Eva, section 6.1): every task on a machine of its own, the cheapest type that fits it.

Owl, as Eva's evaluation extends it (section 6.1): pairs of tasks that hardly slow each other down.

Stratus, as Eva's evaluation implements it (section 6.1): tasks that end at about the same time share a machine.

Synergy, as Eva's evaluation adapts it (section 6.1): best fit on rented machines, and nothing ever moves.

Tetris' packing (Grandl et al., SIGCOMM 2014) on rented machines.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.provisioning.fit_decreasing import best_aligned
from schedgap.heuristics.reconfiguration.actions import Plan
from schedgap.heuristics.reconfiguration.kernels_owl import best_fit, owl_plan
from schedgap.heuristics.reconfiguration.kernels_stratus import stratus_plan
from schedgap.heuristics.reconfiguration.monitor import SEMANTICS, ThroughputMonitor
from schedgap.heuristics.reconfiguration.observation import MIGRATING, Observation, catalogue_of, present_of
from schedgap.heuristics.reconfiguration.player import policy
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.units import resource_scale


@policy("no-packing", handles=("stock",))
def no_packing(observation: Observation) -> Plan:
    """Rent the cheapest machine that fits, of those that can be had, for each task, and keep it there."""
    new = np.flatnonzero(observation.task_machine < 0)
    types = observation.reservation_type[observation.task_class[new]]
    if observation.stock_left is not None:
        types = _cheapest_left(observation, new, observation.stock_left.copy())
        new, types = new[types >= 0], types[types >= 0]
    machine = observation.task_machine.copy()
    machine[new] = observation.num_machines + np.arange(new.shape[0])
    return Plan(machine, types)


def _cheapest_left(observation: Observation, tasks: IntArray, left: IntArray) -> IntArray:
    """Return the cheapest type that each task in turn can have, -1 for none. left : (K,) of each type, -1 for any number."""
    market = observation.market
    demand = observation.demand[market.type2family]
    fits: BoolArray = np.all((demand >= 0) & (demand <= market.capacity[:, None]), axis=2)
    rising = np.argsort(market.price, kind="stable")
    found = np.full(tasks.shape, -1)
    for n, c in enumerate(observation.task_class[tasks].tolist()):
        some = rising[fits[rising, c] & (left[rising] != 0)]
        if some.size:
            found[n] = some[0]
            # Below 0 it never comes to 0.
            left[some[0]] -= 1
    return found


@policy("owl", knows=("throughput",), version=2)
def owl(observation: Observation) -> Plan:
    """Pair new tasks and tasks that are alone, best pairs first, by their true throughput beside each other.

    Pairs of task classes and single ones are taken by falling ratio of throughput-normalised reservation price to the
    price of the cheapest type that fits them, single ones first on ties, then by class number; in the authors' code
    that order depends on the hash seed. Of one class, new tasks go first, then those on the oldest machines. A pair gets
    a new machine; a task that stays single stays where it is if that is of its reservation-price type, and gets a new
    machine otherwise. So no machine has more than two tasks, and nobody leaves a pair before the other task has ended.
    """
    assert observation.throughput is not None
    place, new_type = owl_plan(
        catalogue_of(observation),
        present_of(observation),
        (observation.job_phase == MIGRATING)[observation.task_job],
        observation.class2workload,
        observation.throughput,
    )
    return Plan(place, new_type)


@policy("stratus", knows=("durations",), choices={"semantics": SEMANTICS})
def stratus(observation: Observation, semantics: str = "artifact") -> Plan:
    """Put tasks on machines of their run-time class, and give up machines that are less than half used.

    A task's class is floor(log2) of its run time, a machine's that of its longest task, 0 if it is empty. A new task
    goes to a running machine: of its class, the one with the closest run time; else of a higher class, else of a lower
    one, the one with the most room, summed over resources in the units in which people write them. The others, longest
    first, are cut into groups of at most 1, 2, 3, ... tasks that some type takes, and each group gets a new machine:
    the one with the largest (demand for its tightest resource / that of a reference type) / price.
    Then every machine with less than half of each resource in use is given up, unless it holds one task of which it
    is the reservation-price type, and its tasks are placed likewise.

    semantics : in `artifact`, as in the authors' code, a task's run time is all of its job's, however much is done; the
        reference type is the cheapest of all, so that a GPU that it does not have is worth any price, and the first type
        with GPUs wins; and a machine
        without GPUs never counts as less than half used. In `paper`, it is what is left to do; the reference is the
        cheapest type of the same family; and resources that a machine does not have do not count.
    """
    assert observation.job_duration_s is not None
    as_paper = semantics == "paper"
    left_s = (
        observation.job_duration_s - observation.job_attained_s
        if as_paper
        else observation.job_duration_s.astype(np.float64)
    )
    reference = _reference_types(observation, as_paper)
    place, new_type = stratus_plan(
        catalogue_of(observation),
        present_of(observation),
        (observation.job_phase == MIGRATING)[observation.task_job],
        np.maximum(left_s, 1.0)[observation.task_job],
        np.array([float(resource_scale(name)) for name in observation.market.resources]),
        reference,
        not as_paper,
    )
    return Plan(place, new_type)


def _reference_types(observation: Observation, by_family: bool) -> IntArray:
    market = observation.market
    if not by_family:
        return np.full(market.price.shape[0], np.argmin(market.price))
    same = market.type2family[:, None] == market.type2family
    cheapest: IntArray = np.where(same, market.price, np.iinfo(np.int64).max).argmin(axis=1)
    return cheapest


@policy("synergy", choices={"semantics": SEMANTICS}, version=2)
def synergy(observation: Observation, tau: float = 0.95, semantics: str = "artifact") -> Plan:
    """Put each new task where the tasks are then worth the most per price, if that is the price at least.

    Worth is the summed throughput-normalised reservation price, by the throughputs learned so far. Ties go to the
    larger alignment, then to the machine of the task that is listed first, tasks of migrating jobs before the others, as
    in the authors' code. Where no machine in use will do, the task gets a new one of its reservation-price type.

    tau : throughput of a task beside one with which it has not been seen yet. semantics : in `paper`, a task's worth
    also falls with its job's number of tasks, and the learned throughputs are the largest seen instead of the mean.
    """
    monitor = observation.memory.get("monitor")
    if monitor is None:
        monitor = observation.memory["monitor"] = ThroughputMonitor(tau, semantics)
    monitor.observe(observation)
    place, new_type = best_fit(
        catalogue_of(observation),
        monitor.table,
        present_of(observation),
        (observation.job_phase == MIGRATING)[observation.task_job],
        semantics == "paper",
    )
    return Plan(place, new_type)


@policy("tetris")
def tetris(observation: Observation) -> Plan:
    """Fill machine after machine with the new tasks that are best aligned with its room, then rent for the first one left.

    Tetris fills machines that it has; here a new one is of the task's reservation-price type, and is filled likewise. Nothing
    moves, and a machine without a task is given up. Interference and its preference for jobs that end soon are left out.
    """
    market, place = observation.market, observation.task_machine.copy()
    types, classes = observation.machine_type.tolist(), observation.task_class
    free = market.capacity[observation.machine_type]
    held = np.flatnonzero(place >= 0)
    np.subtract.at(
        free, place[held], observation.demand[market.type2family[observation.machine_type[place[held]]], classes[held]]
    )
    new = np.flatnonzero(place < 0)
    left = np.bincount(classes[new], minlength=observation.class2workload.size)
    queues = {c: new[classes[new] == c].tolist()[::-1] for c in np.unique(classes[new]).tolist()}

    def fill(machine: int, room: IntArray) -> None:
        k = types[machine]
        for c in best_aligned(observation.demand[market.type2family[k]], market.capacity[k], room, left):
            place[queues[c].pop()] = machine

    for machine, room in enumerate(free):
        fill(machine, room)
    for task in new.tolist():
        if place[task] < 0:
            c, k = int(classes[task]), int(observation.reservation_type[classes[task]])
            types.append(k)
            place[queues[c].pop()] = len(types) - 1
            left[c] -= 1
            fill(len(types) - 1, market.capacity[k] - observation.demand[market.type2family[k], c])
    return Plan(place, np.array(types[observation.num_machines :], np.int64))
