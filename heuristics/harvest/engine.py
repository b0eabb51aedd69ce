"""The prediction engine for users: what the kernels of `kernels_engine` predict, for arrays of VMs and tasks at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.harvest import kernels_engine
from schedgap.heuristics.harvest.kernels_engine import Engine
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import HOUR_MS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from schedgap.instances.arrays import FloatArray, IntArray

SURVIVAL = ("ecdf", "kaplan-meier")
SPANS = ("change", "shrink")


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What the changes of a window tell of those to come (SlackSched, section 3.1).

    Times are milliseconds. x : whether the VM grew (0) or shrank (1) last. e : time since then. d : length of the task.
    a : how long the VM still has no room for it. All broadcast against each other.
    """

    engine: Engine

    @property
    def shrink_probability(self) -> tuple[float, float]:
        """That the next change is a shrink, after a growth and after a shrink."""
        after_growth, after_shrink = self.engine.number[kernels_engine.P_SHRINK :].tolist()
        return after_growth, after_shrink

    def survival(self, ms: ArrayLike) -> FloatArray:
        """Return the probability that a VM goes without a change for longer than that."""
        return self._curve(ms)[0]

    def integral(self, ms: ArrayLike) -> FloatArray:
        """Return the integral of the survival from 0 on, in milliseconds."""
        return self._curve(ms)[1]

    def completion_probability(self, x: ArrayLike, e: ArrayLike, d: ArrayLike) -> FloatArray:
        """Return the probability that the VM does not shrink while the task runs, if it starts now (Equation 1)."""
        shape, (x, e, d) = _flat(x, e, d)
        out = np.empty(e.shape)
        kernels_engine.completion_probabilities(self.engine, x.astype(np.int64), e, d, out)
        return out.reshape(shape)

    def expected_time(self, x: ArrayLike, a: ArrayLike, e: ArrayLike, d: ArrayLike) -> FloatArray:
        """Return the expected time until the task is complete if it waits for this VM (Equation 2)."""
        shape, (x, a, e, d) = _flat(x, a, e, d)
        out = np.empty(e.shape)
        kernels_engine.expected_times(self.engine, x.astype(np.int64), a, e, d, out)
        return out.reshape(shape)

    def _curve(self, ms: ArrayLike) -> tuple[FloatArray, FloatArray]:
        shape, (ms,) = _flat(ms)
        survival, integral = np.empty(ms.shape), np.empty(ms.shape)
        kernels_engine.curve_values(self.engine, ms, survival, integral)
        return survival.reshape(shape), integral.reshape(shape)


def predict(
    now_ms: int,
    log_ms: IntArray,
    log_vm: IntArray,
    log_gap: IntArray,
    log_before: IntArray,
    log_after: IntArray,
    changed_ms: IntArray,
    cores: IntArray,
    *,
    window_h: float = 24.0,
    survival: str = "ecdf",
    span: str = "change",
) -> Prediction:
    """Learn from changes that were seen up to a moment.

    log_ms, log_vm, log_gap, log_before, log_after : (N,) int64, changes in order of time: when, of which VM, how long after
    the change before, the direction of that one and of this one. changed_ms, cores : (V,) int64, when each VM changed last
    and what it has now, 0 if it is not there.
    window_h : hours that are looked back. survival : `ecdf` counts all gaps that end in the window (the paper's way, in which
    long gaps are too rare), `kaplan-meier` each gap as far as the window shows it. span : time between a change and the next
    `change`, or the next `shrink` (Equation 3).

    Raises
    ------
    MethodError
        for parameters out of range.
    """
    engine = new_engine(len(log_ms), len(cores), window_h=window_h, survival=survival, span=span)
    log = [
        np.asarray(values, np.int64) for values in (log_ms, log_vm, log_gap, log_before, log_after, changed_ms, cores)
    ]
    kernels_engine.observe(engine, now_ms, len(log_ms), *log)
    return Prediction(engine)


def new_engine(
    num_events: int,
    num_vms: int,
    *,
    window_h: float = 24.0,
    refresh_s: float = 3600.0,
    survival: str = "ecdf",
    span: str = "change",
) -> Engine:
    """Return an engine that has seen nothing, with room for a log of so many events of so many VMs.

    Raises
    ------
    MethodError
        for parameters out of range.
    """
    if not 0 < window_h <= 1e6:
        raise MethodError(f"window_h is {window_h:g}; give hours, more than 0 and at most 1000000.")
    if not 1 <= refresh_s <= 1e9:
        raise MethodError(f"refresh_s is {refresh_s:g}; give seconds, at least 1 and at most 1000000000.")
    room = num_events + num_vms
    option = np.zeros(kernels_engine.ENGINE_OPTIONS, np.int64)
    option[kernels_engine.WINDOW_MS] = round(window_h * HOUR_MS)
    option[kernels_engine.REFRESH_MS] = round(refresh_s * 1000)
    option[kernels_engine.SURVIVAL] = SURVIVAL.index(survival)
    option[kernels_engine.SPAN] = SPANS.index(span)
    engine = Engine(
        option=option,
        mark=np.zeros(kernels_engine.ENGINE_MARKS, np.int64),
        number=np.zeros(kernels_engine.ENGINE_NUMBERS),
        curve=np.zeros((kernels_engine.MOST_CELLS + 1, 2)),
        entry=np.zeros(room, np.int64),
        exit=np.zeros(room, np.int64),
        is_end=np.zeros(room, np.int64),
        order=np.zeros(room, np.int64),
        joins=np.zeros(room, np.int64),
        scratch=np.zeros(room, np.int64),
        step_ms=np.zeros(room, np.int64),
        step_survival=np.zeros(room),
        next_shrink=np.zeros(num_vms, np.int64),
    )
    engine.mark[kernels_engine.NEXT_REFRESH] = -1
    return engine


def _flat(*values: ArrayLike) -> tuple[tuple[int, ...], list[FloatArray]]:
    arrays = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in values))
    return arrays[0].shape, [np.ascontiguousarray(array).reshape(-1) for array in arrays]
