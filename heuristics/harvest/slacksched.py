"""SlackSched (section 3.1): tasks go where they are expected to be complete first; as the paper has it, and its variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.heuristics.harvest import kernels_play_slack
from schedgap.heuristics.harvest.engine import SURVIVAL
from schedgap.heuristics.harvest.matcher import new_matcher
from schedgap.heuristics.harvest.simulate import CHOICES, play_kernel
from schedgap.instances.harvest.model import FAMILY
from schedgap.instances.method import Outcome, Status, method

if TYPE_CHECKING:
    from schedgap.heuristics.harvest.kernels_acquire import Acquire
    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.harvest.kernels_state import State
    from schedgap.instances.harvest.model import HarvestInstance

# What all of them have: window_h, refresh_s, survival of the prediction engine, and how often waiting tasks are looked at
# again although nothing has changed, as `new_matcher` has them.
SLACK_CHOICES = {**CHOICES, "survival": SURVIVAL}

# A look takes a microsecond at least.
MOST_LOOKS = 10**8


@method("slacksched", version=2, family=FAMILY, choices=SLACK_CHOICES)
def slacksched(
    instance: HarvestInstance,
    window_h: float = 24.0,
    refresh_s: float = 3600.0,
    reconsider_s: float = 30.0,
    survival: str = "ecdf",
    acquirer: str = "keep",
    scaling: str = "none",
    interruptible_every_s: int = 60,
) -> Outcome:
    """Let each task start or wait where it is expected to be complete first, and hold its place there (Equation 2)."""
    return play_matcher(
        instance,
        kernels_play_slack.RESERVED,
        window_h=window_h,
        refresh_s=refresh_s,
        reconsider_s=reconsider_s,
        survival=survival,
        acquirer=acquirer,
        scaling=scaling,
        interruptible_every_s=interruptible_every_s,
    )


@method("slacksched-literal", version=2, family=FAMILY, choices=SLACK_CHOICES)
def slacksched_literal(
    instance: HarvestInstance,
    window_h: float = 24.0,
    refresh_s: float = 3600.0,
    reconsider_s: float = 30.0,
    survival: str = "ecdf",
    acquirer: str = "keep",
    scaling: str = "none",
    interruptible_every_s: int = 60,
) -> Outcome:
    """Let each task start or wait where it is expected to be complete first, whoever else waits there (Algorithm 1)."""
    return play_matcher(
        instance,
        kernels_play_slack.LITERAL,
        window_h=window_h,
        refresh_s=refresh_s,
        reconsider_s=reconsider_s,
        survival=survival,
        acquirer=acquirer,
        scaling=scaling,
        interruptible_every_s=interruptible_every_s,
    )


@method("slacksched-no-delay", version=2, family=FAMILY, choices=SLACK_CHOICES)
def slacksched_no_delay(
    instance: HarvestInstance,
    window_h: float = 24.0,
    refresh_s: float = 3600.0,
    survival: str = "ecdf",
    acquirer: str = "keep",
    scaling: str = "none",
    interruptible_every_s: int = 60,
) -> Outcome:
    """Start each task that fits anywhere, first in first out, where it is most likely to complete (section 4.2)."""
    return play_matcher(
        instance,
        kernels_play_slack.NO_DELAY,
        window_h=window_h,
        refresh_s=refresh_s,
        survival=survival,
        acquirer=acquirer,
        scaling=scaling,
        interruptible_every_s=interruptible_every_s,
    )


@method("slacksched-heartbeat", version=2, family=FAMILY, choices=SLACK_CHOICES)
def slacksched_heartbeat(
    instance: HarvestInstance,
    threshold: float = 0.7,
    window_h: float = 24.0,
    refresh_s: float = 3600.0,
    reconsider_s: float = 30.0,
    survival: str = "ecdf",
    acquirer: str = "keep",
    scaling: str = "none",
    interruptible_every_s: int = 60,
) -> Outcome:
    """Let VMs in turn take the tasks that complete there likelier than a threshold, most likely first (Algorithm 3).

    The paper names no threshold. VMs send heartbeats at every event and every `reconsider_s`.
    """
    return play_matcher(
        instance,
        kernels_play_slack.HEARTBEAT,
        threshold=threshold,
        window_h=window_h,
        refresh_s=refresh_s,
        reconsider_s=reconsider_s,
        survival=survival,
        acquirer=acquirer,
        scaling=scaling,
        interruptible_every_s=interruptible_every_s,
    )


@method("slacksched-shrinks", version=2, family=FAMILY, choices=SLACK_CHOICES)
def slacksched_shrinks(
    instance: HarvestInstance,
    window_h: float = 24.0,
    refresh_s: float = 3600.0,
    reconsider_s: float = 30.0,
    survival: str = "ecdf",
    acquirer: str = "keep",
    scaling: str = "none",
    interruptible_every_s: int = 60,
) -> Outcome:
    """Be `slacksched`, predicting from the time between a change and the next shrink (Equation 3)."""
    return play_matcher(
        instance,
        kernels_play_slack.RESERVED,
        span="shrink",
        window_h=window_h,
        refresh_s=refresh_s,
        reconsider_s=reconsider_s,
        survival=survival,
        acquirer=acquirer,
        scaling=scaling,
        interruptible_every_s=interruptible_every_s,
    )


def play_matcher(
    instance: HarvestInstance,
    rule: int,
    *,
    acquirer: str,
    scaling: str,
    interruptible_every_s: int,
    window_h: float = 24.0,
    refresh_s: float = 3600.0,
    reconsider_s: float = 30.0,
    survival: str = "ecdf",
    span: str = "change",
    threshold: float = 0.0,
) -> Outcome:
    """Play one of the rules of `kernels_play_slack`; parameters as `new_matcher` and `play_kernel` have them."""
    looks = (
        instance.latest_ms() / (1000 * reconsider_s)
        if reconsider_s > 0 and rule != kernels_play_slack.NO_DELAY
        else 0.0
    )
    if looks > MOST_LOOKS:
        reason = (
            f"may be looked at {looks:.3g} times, every {reconsider_s:g} s until all is done, more than {MOST_LOOKS:.0e}; give a "
            "longer reconsider_s, or 0"
        )
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    matcher = new_matcher(
        instance,
        window_h=window_h,
        refresh_s=refresh_s,
        reconsider_s=reconsider_s,
        survival=survival,
        span=span,
        threshold=threshold,
    )

    def kernel(state: State, acquire: Acquire, parameter: FloatArray) -> int:
        return int(kernels_play_slack.play_slack(state, matcher, rule, acquire, parameter))

    return play_kernel(instance, kernel, acquirer=acquirer, scaling=scaling, every_s=(interruptible_every_s, 0))
