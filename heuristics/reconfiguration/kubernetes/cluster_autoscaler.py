"""cluster-autoscaler over time: kubernetes/autoscaler, cluster-autoscaler-release-1.37, commit a16f0ae (2026)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster_autoscaler import EXPANDERS, grow, is_little_used, shrink
from schedgap.heuristics.provisioning.kubernetes.scale_up import ScaleUp
from schedgap.heuristics.reconfiguration.kubernetes.present import Present
from schedgap.heuristics.reconfiguration.player import policy

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.actions import Plan
    from schedgap.heuristics.reconfiguration.observation import Observation


@policy("cluster-autoscaler", stochastic=True, choices={"expander": EXPANDERS}, handles=("stock",))
def cluster_autoscaler(
    observation: Observation,
    rng: np.random.Generator,
    expander: str = "least-waste",
    utilisation_percent: int = 50,
    unneeded_s: int = 600,
    delay_after_add_s: int = 600,
) -> Plan:
    """Add nodes for new tasks and drop little used ones at each plan, by the rules of `cluster-autoscaler` of `provisioning`.

    A machine goes if at all plans of the last `unneeded_s` its use was at most `utilisation_percent`, nothing was rented for
    `delay_after_add_s`, it runs, none of its tasks belongs to a job that migrates, and its tasks fit on machines that run.
    Empty machines wait for the same time. Interference and delays are not looked at.
    """
    present = Present.of(observation, np.arange(observation.num_tasks))
    cluster, known, now = present.cluster, observation.num_machines, observation.now_s
    grow(cluster, ScaleUp(cluster, observation.market.resources, expander, rng))
    if cluster.waiting.size:
        # Machines ran out: the play ends.
        return present.plan()
    little = is_little_used(cluster, observation.market.resources, utilisation_percent)[:known]
    since = present.since("little", dict(zip(observation.machine.tolist(), little.tolist(), strict=True)))
    unneeded = little & (now - np.array([since[m] for m in observation.machine.tolist()], np.int64) >= unneeded_s)
    if cluster.number > known:
        observation.memory["added_s"] = now
    if now - observation.memory.get("added_s", -delay_after_add_s) < delay_after_add_s:
        unneeded[:] = False
    types = present.hide()
    empty = np.bincount(cluster.tasks.place, minlength=cluster.number)[:known] == 0
    shrink(cluster, np.flatnonzero(unneeded & present.is_movable & ~empty))
    present.show(types)
    return present.plan(empty & ~unneeded)
