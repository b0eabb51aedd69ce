"""SlackSched (section 3.1): tasks go where they are expected to be complete first; as the paper has it, and its variants.

rule : `holding`, the paper's rule where a task that waits for a VM holds its place there (`kernels_rules`); `literal`,
Algorithm 1 to the letter, whoever else waits there; `no-delay`, which starts each task that fits anywhere, first in first out,
where it is most likely to complete (section 4.2), and for which `reconsider_s` says nothing; `heartbeat`, in which VMs in turn
take the tasks that complete there likelier than `threshold`, most likely first (Algorithm 3): the paper names no threshold, and
VMs send heartbeats at every event and every `reconsider_s`; `scispot`, `no-delay` but where the integral of t f(t) from the
VM's age over the task's length is least, which is the waste that Kadupitiya et al. (Modeling the temporally constrained
preemptions of transient cloud VMs, HPDC 2020) add to the length: f is of the time from a change to a shrink, learnt as
SlackSched learns it instead of their bathtub's parameters, and no VM is ordered in place of one that runs.

order : in which the tasks of a job choose, jobs in their order. `given`, or of our own `longest-first`, by their estimates: a
job is complete when its last task is, which is mostly one of the longest: their kills delay the job, those of short tasks
seldom do. In the given order short ones take the VMs that stay; here the longest choose first, and short ones get what is left,
where they hardly ever run long enough to be killed. Heartbeats take the shortest in any order.

span : what is predicted is the time between a change and the next `change`, or the next `shrink` (Equation 3).

Names from before these were options stay, with their rows, and systems have names: `NAMES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from schedgap.heuristics.harvest.rules import CHOICES, POOL, PoolOptions, play
from schedgap.heuristics.harvest.slacksched import kernels_rules
from schedgap.heuristics.harvest.slacksched.state import (
    PREDICTION,
    SPANS,
    SURVIVAL,
    Matcher,
    PredictionOptions,
    new_matcher,
)
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.harvest.simulator.state import State
from schedgap.instances.method import Outcome, Status, flattened, method

RULES: dict[str, Callable[[State, Matcher], int]] = {
    "holding": kernels_rules.play_holding,
    "literal": kernels_rules.play_literal,
    "no-delay": lambda state, matcher: kernels_rules.play_no_delay(state, matcher, False),
    "heartbeat": kernels_rules.play_heartbeat,
    "scispot": lambda state, matcher: kernels_rules.play_no_delay(state, matcher, True),
}
NEVER_WAIT = ("no-delay", "scispot")
ORDERS = ("given", "longest-first")
# A look takes a microsecond at least.
MOST_LOOKS = 10**8


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """Which variant is played; see above."""

    rule: str = "holding"
    order: str = "given"
    span: str = "change"
    threshold: float = 0.7


RULE = RuleOptions()
OPTIONS = tuple(field.name for field in fields(RuleOptions))
SLACK_CHOICES = {**CHOICES, "survival": SURVIVAL}


@method(
    "slacksched",
    version=2,
    family=FAMILY,
    choices={**SLACK_CHOICES, "rule": tuple(RULES), "order": ORDERS, "span": SPANS},
    later=OPTIONS,
)
@flattened()
def slacksched(
    instance: HarvestInstance,
    options: RuleOptions = RULE,
    prediction: PredictionOptions = PREDICTION,
    pool: PoolOptions = POOL,
) -> Outcome:
    """Let each task start or wait where it is expected to be complete first, and hold its place there (Equation 2)."""
    return _play(instance, options, prediction, pool)


def _play(instance: HarvestInstance, options: RuleOptions, prediction: PredictionOptions, pool: PoolOptions) -> Outcome:
    if options.order == "longest-first":
        order = np.lexsort((-instance.estimate_ms, instance.task2job()))
        renumbered = instance.replace(runtime_ms=instance.runtime_ms[order], estimate_ms=instance.estimate_ms[order])
        outcome = _play(renumbered, replace(options, order="given"), prediction, pool)
        if outcome.solution is None:
            return outcome
        return replace(outcome, solution=replace(outcome.solution, task=order[outcome.solution.task]))
    if options.rule not in NEVER_WAIT and (reason := _too_many_looks(instance, prediction)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    rule = RULES[options.rule]
    matcher = new_matcher(instance, prediction, options.span, options.threshold, pool.free_every_ms)
    return play(instance, lambda state: rule(state, matcher), pool)


def _too_many_looks(instance: HarvestInstance, prediction: PredictionOptions) -> str | None:
    every_s = prediction.reconsider_s
    if every_s <= 0:
        return None
    looks = instance.latest_ms() / (1000 * every_s)
    if looks <= MOST_LOOKS:
        return None
    return (
        f"may be looked at {looks:.3g} times, every {every_s:g} s until all is done, more than {MOST_LOOKS:.0e}; give a "
        "longer reconsider_s, or 0"
    )


# Version, options and what is said of each name that `slacksched` with these options has.
NAMES = {
    "slacksched-literal": (2, RuleOptions("literal"), "whoever else waits there (Algorithm 1)"),
    "slacksched-no-delay": (2, RuleOptions("no-delay"), "where it is most likely to complete, without waiting"),
    "slacksched-heartbeat": (2, RuleOptions("heartbeat"), "VMs in turn taking what likely completes (Algorithm 3)"),
    "slacksched-shrinks": (2, RuleOptions(span="shrink"), "predicting from the time to the next shrink (Equation 3)"),
    "longest-first-matching": (2, RuleOptions(order="longest-first"), "the longest tasks of each job choosing first"),
    "longest-first-no-delay": (
        1, RuleOptions("no-delay", "longest-first"), "without waiting, the longest tasks of each job choosing first",
    ),
    "scispot": (1, RuleOptions("scispot", span="shrink"), "without waiting, where least is wasted by VMs' ages"),
}  # fmt: skip


def _named(name: str, version: int, fixed: RuleOptions, what: str) -> None:
    """Register `slacksched` with some of its options under a name, which has the other parameters that say anything."""

    def named(
        instance: HarvestInstance,
        options: RuleOptions = fixed,
        prediction: PredictionOptions = PREDICTION,
        pool: PoolOptions = POOL,
    ) -> Outcome:
        return _play(instance, options, prediction, pool)

    chosen = {key: getattr(fixed, key) for key in OPTIONS if getattr(fixed, key) != getattr(RULE, key)}
    label = ",".join(f"{key}={value}" for key, value in chosen.items())
    named.__doc__ = f"Be `slacksched[{label}]`: {what}."
    hidden = [key for key in OPTIONS if (key, fixed.rule) != ("threshold", "heartbeat")]
    hidden += ["reconsider_s"] if fixed.rule in NEVER_WAIT else []
    method(name, version=version, family=FAMILY, choices=SLACK_CHOICES)(flattened(without=hidden)(named))


for each, (version, fixed, what) in NAMES.items():
    _named(each, version, fixed, what)
