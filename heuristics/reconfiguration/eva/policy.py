"""Eva (sections 3 and 4): Full or Partial Reconfiguration, whichever saves more until the next Full one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.heuristics.reconfiguration.eva.ensemble import MODES, TIE_BREAKS, Ensemble
from schedgap.heuristics.reconfiguration.monitor import SEMANTICS
from schedgap.heuristics.reconfiguration.player import policy

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.actions import Plan
    from schedgap.heuristics.reconfiguration.observation import Observation


@policy("eva", choices={"mode": MODES, "semantics": SEMANTICS, "tie_break": TIE_BREAKS})
def eva(
    observation: Observation,
    mode: str = "ensemble",
    throughput_aware: bool = True,
    multi_task: bool = True,
    tau: float = 0.95,
    semantics: str = "artifact",
    tie_break: str = "alignment",
) -> Plan:
    """Make two plans, one from scratch and one that keeps most of the last, and take the one that saves more.

    Both place tasks by Algorithm 1 (`kernels_pack`): Full Reconfiguration all of them, Partial Reconfiguration new ones
    and those on machines whose tasks are not worth the price. A set of tasks is worth its TNRP, by the throughputs
    learned so far (`ThroughputMonitor`). A plan saves TNRP minus price per second, and costs the migrations and new
    machines that it takes. Full is taken if that pays within the estimated time until the next Full one (equation 1).

    mode : `ensemble`; `full` or `partial`, always the same of the two.
    throughput_aware : False, a task is worth its reservation price whatever is beside it (Eva-RP, Figure 4).
    multi_task : False, a task's worth does not fall with its job's number of tasks (Eva-Single, Table 6).
    tau : throughput of a task beside one with which it has not been seen yet.
    semantics : `artifact`, as in the authors' code: Algorithm 1 rents the cheapest type that takes a set instead of the
        one tried; before it, as many tasks as fit are put on machines that stay, whether that pays or not; a job's
        number of tasks counts in Algorithm 1 only (in one-mode plans everywhere); both plans are made at every round.
        `paper`: none of that; Full Reconfiguration is looked at only when a job has arrived or ended, and learned
        throughputs are the largest seen instead of the mean.
    tie_break : what decides between tasks with which a set is worth the same: `alignment` (Tetris) as in the authors'
        code, then the list; or, with nothing added to the `paper`, the list.
    """
    memory = observation.memory.get("eva")
    if memory is None:
        memory = observation.memory["eva"] = Ensemble(mode, throughput_aware, multi_task, tau, semantics, tie_break)
    plan: Plan = memory.decide(observation)
    if memory.choices:
        observation.memory["details"] = {"full_share": memory.events.adoptions / memory.choices}
    return plan
