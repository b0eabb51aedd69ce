"""Stratus, as Eva's evaluation implements it (section 6.1): tasks that end at about the same time share a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.actions import Plan
from schedgap.heuristics.reconfiguration.catalogue import catalogue_of, present_of
from schedgap.heuristics.reconfiguration.kernels_stratus import stratus_plan
from schedgap.heuristics.reconfiguration.monitor import SEMANTICS
from schedgap.heuristics.reconfiguration.observation import MIGRATING, Observation
from schedgap.heuristics.reconfiguration.player import policy
from schedgap.instances.units import resource_scale

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


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
