"""Playing the rules that predict: as `kernels_play` plays those that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.heuristics.harvest.kernels_matcher import FREE_EVERY_MS
from schedgap.heuristics.harvest.kernels_play import FREE_EVERY, next_moment
from schedgap.heuristics.harvest.kernels_slack_variants import pass_heartbeat, pass_literal, pass_no_delay
from schedgap.heuristics.harvest.kernels_slacksched import pass_slacksched
from schedgap.instances.harvest.kernels_events import HAPPENED
from schedgap.instances.jit import lean_kernel

if TYPE_CHECKING:
    from schedgap.heuristics.harvest.kernels_acquire import Acquire
    from schedgap.heuristics.harvest.kernels_matcher import Matcher
    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.harvest.kernels_state import State

RESERVED, LITERAL, NO_DELAY, HEARTBEAT = 0, 1, 2, 3


@lean_kernel
def play_slack(s: State, m: Matcher, rule: int, acquire: Acquire, parameter: FloatArray) -> int:
    """Play a rule until all tasks are complete or nothing happens any more; return the status of `advance`.

    parameter : as `kernels_play.play` has it.
    """
    m.option[FREE_EVERY_MS] = int(parameter[FREE_EVERY])
    while True:
        status = next_moment(s, acquire)
        if status != HAPPENED:
            return status
        if rule == RESERVED:
            pass_slacksched(s, m)
        elif rule == LITERAL:
            pass_literal(s, m)
        elif rule == NO_DELAY:
            pass_no_delay(s, m)
        else:
            pass_heartbeat(s, m)
