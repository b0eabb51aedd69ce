"""What a policy is shown when a machine is offered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Machines:
    """The cluster, known from the start.

    Letters used for shapes: K machine classes, M machines, R resources.

    class_count : (K,) int64. capacity : (K, R) int64, of one machine. machine2class : (M,) int64.
    """

    resources: tuple[str, ...]
    class_names: tuple[str, ...]
    class_count: IntArray
    capacity: IntArray
    machine2class: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The present, in copies: nothing in it leads to what comes.

    Letters used for shapes: N jobs present (arrived and not ended; those that arrive at this very moment come after the
    tasks that end at it), K machine classes, M machines, R resources.

    machine, machine_class : what is offered. free : (M, R) int64, free capacity of every machine.
    fitting : (F,) int64, indices into `job`: those with a task to start that is served and fits on the offered machine.
    At least one; the answer is one of `job[fitting]`, or None.
    job : (N,) int64, ascending. arrival_ms, weight : (N,) int64. demand : (N, R) int64. performance : (N, K) int64,
    thousandths. serves : (N, K) bool, where tasks of a job may run, fit and make progress. num_tasks : (N,) int64.
    to_start : (N,) int64, tasks that have not started. running : (N, K) int64, tasks that run on each class.
    share : (N,) float64, in the notion that the policy asked for.
    work_to_start_ms, next_work_ms : (N,) int64, work of all tasks that have not started, and of the first of them (0 if
    there is none); None unless the policy knows durations.
    memory : the policy's own, empty at first and kept from offer to offer.
    """

    now_ms: int
    machines: Machines
    machine: int
    machine_class: int
    free: IntArray
    fitting: IntArray
    job: IntArray
    arrival_ms: IntArray
    weight: IntArray
    demand: IntArray
    performance: IntArray
    serves: BoolArray
    num_tasks: IntArray
    to_start: IntArray
    running: IntArray
    share: FloatArray
    work_to_start_ms: IntArray | None
    next_work_ms: IntArray | None
    memory: dict[str, Any]
