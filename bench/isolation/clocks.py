"""A run's clocks, as its supervisor keeps them: the hard wall, how long the timed call took, how quick the machine is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MAX_COMPILE_S = 300.0
# The timed call and its repetition.
MAX_CALLS = 2
# Reading and hashing the instance, and packing the solution. A judgement: 1.5e9 was measured for reading and hashing 0.8 MB, and
# much less for some kB, where it takes a millisecond whatever the size.
PACKED_BYTES_PER_S = 1e8
_NUMBERS = 4096
_ROUNDS = 5


def reference_s() -> float:
    """Return the seconds that a fixed piece of work takes here, the least of five rounds of about half a millisecond.

    Half of it is NumPy's (sorting, adding up), half is the interpreter's, as in most methods.
    """
    numbers = np.arange(_NUMBERS, dtype=np.int64) * 2654435761 % 1048583
    best = float("inf")
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        np.sort(numbers)
        np.cumsum(numbers * numbers)
        total = 0
        for i in range(4000):
            total += i & 7
        best = min(best, time.perf_counter() - start)
    return best


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a process may take beside the wall limit of its timed call.

    start_s : until it says that it is there. restarts : how often it may say that something untimed is over; a
    repetition of the timed call is always one. compile_s : of compilation. most_s : of its whole life, whatever it says.
    """

    start_s: float = 0.0
    restarts: int = 1
    compile_s: float = MAX_COMPILE_S
    most_s: float = math.inf


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
        self._end = time.monotonic() + allowance.most_s
        self._deadline = time.monotonic() + allowance.start_s + wall_s

    @property
    def deadline(self) -> float:
        """Return when the process is killed, as things stand."""
        return min(self._deadline, self._end)

    def restart(self) -> None:
        """Give the whole limit from now on, if that is still allowed."""
        self.resume()
        if self._restarts_left > 0:
            self._restarts_left -= 1
            self._deadline = time.monotonic() + self._wall_s

    def pause(self) -> None:
        """Stop the clock, for no longer than the allowance in all."""
        if self._paused_at is None:
            self._paused_at = time.monotonic()
            self._left_s = self._deadline - self._paused_at
            self._deadline = self._paused_at + self._compile_left_s

    def resume(self) -> None:
        """Let the clock run on from where it stopped."""
        if self._paused_at is not None:
            now = time.monotonic()
            self.paused_s += now - self._paused_at
            self._compile_left_s = max(0.0, self._compile_left_s - (now - self._paused_at))
            self._paused_at = None
            self._deadline = now + self._left_s


class CallClock:
    """How long the timed call took, as seen from here, and whether what is said of it fits together.

    A call begins, ends, and may be repeated once. Where foreign code runs in the process that says so, all counts from the
    moment at which it was given its instance to its answer, but for what it takes to read and to pack so many bytes: nothing
    of the call may be done before or after it, and there is one call.
    spent : processor seconds so far, of all processes of the run.
    """

    def __init__(self, spent: Callable[[], float] = float, *, is_foreign: bool = False) -> None:
        self._spent, self._is_foreign = spent, is_foreign
        self._calls_left = 1 if is_foreign else MAX_CALLS
        # Moments: seconds by the wall's clock, and of processors.
        self._given: tuple[float, float] | None = None
        self._instance_bytes = 0
        self._called: tuple[float, float] | None = None
        self._took: tuple[float, float] | None = None

    def given(self, instance_bytes: int) -> None:
        """Note that the process has its instance from now on."""
        self._given, self._instance_bytes = self._now(), instance_bytes

    def called(self) -> bool:
        """Note that the call begins; False if it cannot."""
        if self._called is not None or not self._calls_left:
            return False
        self._called, self._took = self._now(), None
        self._calls_left -= 1
        return True

    def returned(self) -> bool:
        """Note that the call is over; False if none is under way."""
        if self._called is None:
            return False
        self._took, self._called = self._since(self._called), None
        return True

    def took(self, answer_bytes: int) -> tuple[float | None, float]:
        """Return how long the last call took, now that the answer is there, and its processor seconds; None if none has ended."""
        if self._took is None:
            return None, 0.0
        if self._given is None or not self._is_foreign:
            return self._took
        around_s = (self._instance_bytes + answer_bytes) / PACKED_BYTES_PER_S
        wall_s, cpu_s = (
            max(call, all_s - around_s) for call, all_s in zip(self._took, self._since(self._given), strict=True)
        )
        return wall_s, cpu_s

    def _now(self) -> tuple[float, float]:
        return time.monotonic(), self._spent()

    def _since(self, moment: tuple[float, float]) -> tuple[float, float]:
        wall_s, cpu_s = self._now()
        return wall_s - moment[0], cpu_s - moment[1]
