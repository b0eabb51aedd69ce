"""Synergy, as Eva's evaluation adapts it (section 6.1): best fit on rented machines, and nothing ever moves."""

from __future__ import annotations

from schedgap.heuristics.reconfiguration.actions import Plan
from schedgap.heuristics.reconfiguration.catalogue import catalogue_of, present_of
from schedgap.heuristics.reconfiguration.kernels_synergy import best_fit
from schedgap.heuristics.reconfiguration.monitor import SEMANTICS, ThroughputMonitor
from schedgap.heuristics.reconfiguration.observation import MIGRATING, Observation
from schedgap.heuristics.reconfiguration.player import policy


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
