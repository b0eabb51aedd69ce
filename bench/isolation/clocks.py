"""A run's clocks, as its supervisor keeps them: the hard wall, and how long the timed call took."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_COMPILE_S = 300.0
# The timed call and its repetition.
MAX_CALLS = 2
# What may pass between the end of the call and its answer: a hash of the instance, and the packing of the solution.
PACKING_S = 1.0
PACKED_BYTES_PER_S = 2e7


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a process may take beside the wall limit of its timed call.

    start_s : until it says that it is there. restarts : how often it may say that something untimed is over; a
    repetition of the timed call is always one. compile_s : of compilation.
    """

    start_s: float = 0.0
    restarts: int = 1
    compile_s: float = MAX_COMPILE_S


class WallClock:
    """The hard wall of a run: its clock starts anew after warming up, and stands still while code is compiled.

    A cold cache would otherwise fail every run whose limit is shorter than compiling takes, for good, since the child
    that is killed has not filled the cache yet. A method can write these messages too: it cannot gain more by them than
    the allowance.
    """

    def __init__(self, wall_s: float, allowance: Allowance) -> None:
        self._wall_s = wall_s
        self._paused_at: float | None = None
        self._left_s = wall_s
        self._compile_left_s = allowance.compile_s
        self._restarts_left = allowance.restarts
        self.paused_s = 0.0
        self.deadline = time.monotonic() + allowance.start_s + wall_s

    def restart(self) -> None:
        """Give the whole limit from now on, if that is still allowed."""
        self.resume()
        if self._restarts_left > 0:
            self._restarts_left -= 1
            self.deadline = time.monotonic() + self._wall_s

    def pause(self) -> None:
        """Stop the clock, for no longer than the allowance in all."""
        if self._paused_at is None:
            self._paused_at = time.monotonic()
            self._left_s = self.deadline - self._paused_at
            self.deadline = self._paused_at + self._compile_left_s

    def resume(self) -> None:
        """Let the clock run on from where it stopped."""
        if self._paused_at is not None:
            now = time.monotonic()
            self.paused_s += now - self._paused_at
            self._compile_left_s = max(0.0, self._compile_left_s - (now - self._paused_at))
            self._paused_at = None
            self.deadline = now + self._left_s


class CallClock:
    """How long the timed call took, as seen from here, and whether what is said of it fits together.

    A call begins, ends, and may be repeated once. What follows its end (packing the answer) counts too if it takes longer
    than it can: nothing of the call may be left for then.
    spent : processor seconds so far, of all processes of the run. cpu_s : those of the last call.
    """

    def __init__(self, spent: Callable[[], float] = float) -> None:
        self._spent, self._spent_before_s, self.cpu_s = spent, 0.0, 0.0
        self._called_at: float | None = None
        self._returned_at: float | None = None
        self._calls = 0
        self._seconds = 0.0

    def called(self) -> bool:
        """Note that the call begins; False if it cannot."""
        if self._called_at is not None or self._calls == MAX_CALLS:
            return False
        self._called_at, self._returned_at = time.monotonic(), None
        self._calls += 1
        self._spent_before_s = self._spent()
        return True

    def returned(self) -> bool:
        """Note that the call is over; False if none is under way."""
        if self._called_at is None:
            return False
        self._returned_at = time.monotonic()
        self._seconds, self._called_at = self._returned_at - self._called_at, None
        self.cpu_s = self._spent() - self._spent_before_s
        return True

    def seconds(self, answer_bytes: int) -> float | None:
        """Return how long the last call took, now that the answer is there; None if none has ended."""
        if self._returned_at is None:
            return None
        packing_s = time.monotonic() - self._returned_at
        return self._seconds + max(0.0, packing_s - PACKING_S - answer_bytes / PACKED_BYTES_PER_S)
