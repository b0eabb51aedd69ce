"""A policy of our own: SlackSched's matching with the longest tasks of each job first.

A job is complete when its last task is, which is mostly one of the longest: their kills delay the job, those of short tasks
seldom do. In the order of the tasks' numbers short ones take the VMs that stay; here the longest, by their estimates, choose
first, and short ones get what is left, where they hardly ever run long enough to be killed. Jobs keep their order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.harvest.slacksched import SLACK_CHOICES, slacksched
from schedgap.instances.harvest.model import FAMILY
from schedgap.instances.method import method

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.method import Outcome


@method("longest-first-matching", version=2, family=FAMILY, choices=SLACK_CHOICES)
def longest_first_matching(
    instance: HarvestInstance,
    window_h: float = 24.0,
    refresh_s: float = 3600.0,
    reconsider_s: float = 30.0,
    survival: str = "ecdf",
    acquirer: str = "keep",
    scaling: str = "none",
    interruptible_every_s: int = 60,
) -> Outcome:
    """Be `slacksched`, the tasks of each job choosing in order of their estimates, the longest first."""
    order = np.lexsort((-instance.estimate_ms, instance.task2job()))
    renumbered = instance.replace(runtime_ms=instance.runtime_ms[order], estimate_ms=instance.estimate_ms[order])
    outcome: Outcome = slacksched(
        renumbered,
        window_h=window_h,
        refresh_s=refresh_s,
        reconsider_s=reconsider_s,
        survival=survival,
        acquirer=acquirer,
        scaling=scaling,
        interruptible_every_s=interruptible_every_s,
    )
    if outcome.solution is None:
        return outcome
    return replace(outcome, solution=replace(outcome.solution, task=order[outcome.solution.task]))
