"""Owl, as Eva's evaluation extends it (section 6.1): pairs of tasks that hardly slow each other down."""

from __future__ import annotations

from schedgap.heuristics.reconfiguration.actions import Plan
from schedgap.heuristics.reconfiguration.catalogue import catalogue_of, present_of
from schedgap.heuristics.reconfiguration.kernels_owl import owl_plan
from schedgap.heuristics.reconfiguration.observation import MIGRATING, Observation
from schedgap.heuristics.reconfiguration.player import policy


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
