"""SlackSched (section 3.1): tasks go where they are expected to be complete first; as the paper has it, and its variants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from schedgap.heuristics.harvest.rules import CHOICES, POOL, PoolOptions, play
from schedgap.heuristics.harvest.slacksched import kernels_slacksched, kernels_variants
from schedgap.heuristics.harvest.slacksched.matcher import PREDICTION, SURVIVAL, PredictionOptions, new_matcher
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Outcome, Status, flattened, method

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.heuristics.harvest.slacksched.state import Matcher
    from schedgap.instances.harvest.simulator.state import State

    Rule: TypeAlias = Callable[[State, Matcher], int]

SLACK_CHOICES = {**CHOICES, "survival": SURVIVAL}

# A look takes a microsecond at least.
MOST_LOOKS = 10**8


@method("slacksched", version=2, family=FAMILY, choices=SLACK_CHOICES)
@flattened()
def slacksched(
    instance: HarvestInstance, prediction: PredictionOptions = PREDICTION, pool: PoolOptions = POOL
) -> Outcome:
    """Let each task start or wait where it is expected to be complete first, and hold its place there (Equation 2)."""
    return _play(instance, kernels_slacksched.play_slacksched, prediction, pool)


@method("longest-first-matching", version=2, family=FAMILY, choices=SLACK_CHOICES)
@flattened()
def longest_first_matching(
    instance: HarvestInstance, prediction: PredictionOptions = PREDICTION, pool: PoolOptions = POOL
) -> Outcome:
    """Be `slacksched`, the tasks of each job choosing in order of their estimates, the longest first.

    Of our own. A job is complete when its last task is, which is mostly one of the longest: their kills delay the job, those of
    short tasks seldom do. In the order of the tasks' numbers short ones take the VMs that stay; here the longest choose first,
    and short ones get what is left, where they hardly ever run long enough to be killed. Jobs keep their order.
    """
    return _play(instance, kernels_slacksched.play_slacksched, prediction, pool, longest_first=True)


@method("longest-first-no-delay", family=FAMILY, choices=SLACK_CHOICES)
@flattened(without=["reconsider_s"])
def longest_first_no_delay(
    instance: HarvestInstance, prediction: PredictionOptions = PREDICTION, pool: PoolOptions = POOL
) -> Outcome:
    """Be `slacksched-no-delay`, the tasks of each job choosing in order of their estimates, the longest first.

    Of our own, to tell what the order does in `longest-first-matching` from what waiting does.
    """
    return _play(instance, kernels_variants.play_no_delay, prediction, pool, longest_first=True)


@method("slacksched-literal", version=2, family=FAMILY, choices=SLACK_CHOICES)
@flattened()
def slacksched_literal(
    instance: HarvestInstance, prediction: PredictionOptions = PREDICTION, pool: PoolOptions = POOL
) -> Outcome:
    """Let each task start or wait where it is expected to be complete first, whoever else waits there (Algorithm 1)."""
    return _play(instance, kernels_variants.play_literal, prediction, pool)


@method("slacksched-no-delay", version=2, family=FAMILY, choices=SLACK_CHOICES)
@flattened(without=["reconsider_s"])
def slacksched_no_delay(
    instance: HarvestInstance, prediction: PredictionOptions = PREDICTION, pool: PoolOptions = POOL
) -> Outcome:
    """Start each task that fits anywhere, first in first out, where it is most likely to complete (section 4.2)."""
    return _play(instance, kernels_variants.play_no_delay, prediction, pool)


@method("slacksched-heartbeat", version=2, family=FAMILY, choices=SLACK_CHOICES)
@flattened()
def slacksched_heartbeat(
    instance: HarvestInstance,
    threshold: float = 0.7,
    prediction: PredictionOptions = PREDICTION,
    pool: PoolOptions = POOL,
) -> Outcome:
    """Let VMs in turn take the tasks that complete there likelier than a threshold, most likely first (Algorithm 3).

    The paper names no threshold. VMs send heartbeats at every event and every `reconsider_s`.
    """
    return _play(instance, kernels_variants.play_heartbeat, prediction, pool, threshold=threshold)


@method("slacksched-shrinks", version=2, family=FAMILY, choices=SLACK_CHOICES)
@flattened()
def slacksched_shrinks(
    instance: HarvestInstance, prediction: PredictionOptions = PREDICTION, pool: PoolOptions = POOL
) -> Outcome:
    """Be `slacksched`, predicting from the time between a change and the next shrink (Equation 3)."""
    return _play(instance, kernels_slacksched.play_slacksched, prediction, pool, span="shrink")


def _play(
    instance: HarvestInstance,
    rule: Rule,
    prediction: PredictionOptions,
    pool: PoolOptions,
    *,
    longest_first: bool = False,
    span: str = "change",
    threshold: float = 0.0,
) -> Outcome:
    """Play a rule. longest_first : whether the tasks of each job are numbered so. span, threshold : as `new_matcher` has them."""
    if longest_first:
        order = np.lexsort((-instance.estimate_ms, instance.task2job()))
        renumbered = instance.replace(runtime_ms=instance.runtime_ms[order], estimate_ms=instance.estimate_ms[order])
        outcome = _play(renumbered, rule, prediction, pool, span=span, threshold=threshold)
        if outcome.solution is None:
            return outcome
        return replace(outcome, solution=replace(outcome.solution, task=order[outcome.solution.task]))
    if (reason := _too_many_looks(instance, rule, prediction)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    matcher = new_matcher(instance, prediction, span=span, threshold=threshold, free_every_ms=pool.free_every_ms)
    return play(instance, lambda state: rule(state, matcher), pool)


def _too_many_looks(instance: HarvestInstance, rule: Rule, prediction: PredictionOptions) -> str | None:
    every_s = prediction.reconsider_s
    if every_s <= 0 or rule == kernels_variants.play_no_delay:
        return None
    looks = instance.latest_ms() / (1000 * every_s)
    if looks <= MOST_LOOKS:
        return None
    return (
        f"may be looked at {looks:.3g} times, every {every_s:g} s until all is done, more than {MOST_LOOKS:.0e}; give a "
        "longer reconsider_s, or 0"
    )
