"""A cluster that plays by the rules of `events`: for policies, all at once, up to a moment, or offer by offer."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from schedgap.instances.arrays import IntArray
from schedgap.instances.sharing.model import SharingInstance, SharingSchedule
from schedgap.instances.sharing.simulator import events
from schedgap.instances.sharing.simulator.state import NOBODY, Rules, initial_state
from schedgap.instances.units import NEVER

# Choices that the papers leave open, and that move results; the first of each is the default.
NODES = ("index", "fastest", "random")
TIES = ("first", "last", "random")
OFFERS = ("each", "batch")


class Simulator:
    """The state of machines, tasks and jobs at one moment; `state` is what the kernels work on.

    A machine that is offered serves, of the waiting jobs that it serves and that fit, the one with the lowest key, until
    none fits. With gains (J, K), scale (J,) and base (J,) of `set_keys` and n(j, k) running tasks of job j on class k,

        key(j) = base(j) + sum_k n(j, k) gain(j, k) / scale(j).

    Gains that are whole numbers are added exactly, so jobs with equal tasks have equal keys.

    nodes : in which order machines are offered at an arrival, and which task counts as the first of those that end at
    the same moment: that on the machine with the lowest `index`, the one on the machine `fastest` for its job, or a
    `random` one; at an arrival, the fastest for the first job that arrives.
    ties : of jobs with equal keys the one that arrived `first`, `last`, or that a `random` order of all jobs names first.
    offers : a machine is offered after `each` single end of a task, or once all that end at a moment have, and the jobs of
    that moment have arrived (`batch`). All jobs of a moment arrive before machines are offered to them.
    """

    def __init__(
        self,
        instance: SharingInstance,
        *,
        nodes: str = "index",
        ties: str = "first",
        offers: str = "each",
        seed: int = 0,
        declines: bool = False,
    ) -> None:
        """Begin at moment 0 with idle machines and all keys 0.

        seed : of what is random. declines : whoever answers offers may leave a machine idle on which a job fits.
        """
        self.instance = instance
        rules = Rules(NODES.index(nodes), OFFERS.index(offers) == 1, declines)
        self.state = initial_state(instance, rules, ties, seed)

    @property
    def now_ms(self) -> int:
        """The moment to which time has passed."""
        return int(self.state.clock[0].now)

    @property
    def next_ms(self) -> int | None:
        """When the next task ends or the next job arrives; None if neither will."""
        state, times = self.state, []
        if state.clock[0].running:
            times.append(int(state.ends[0].time))
        if state.clock[0].arrived < self.instance.num_jobs:
            times.append(int(state.jobs[state.clock[0].arrived].arrival))
        return min(times, default=None)

    @property
    def present(self) -> IntArray:
        """(N,) int64, ascending: the jobs that have arrived by `now_ms`, that moment included, and not ended."""
        arrived = np.searchsorted(self.instance.arrival_ms, self.now_ms, side="right")
        return np.append(self.admitted, np.arange(self.state.clock[0].arrived, arrived))

    @property
    def admitted(self) -> IntArray:
        """(N,) int64, ascending: of the jobs `present` those that can be served already, which the others are next."""
        return np.sort(self.state.jobs.present[: self.state.clock[0].present])

    @property
    def running(self) -> IntArray:
        """(J, K) int64: the tasks of each job that run on each machine class now; not to be written."""
        return self.state.runs

    @property
    def num_to_start(self) -> IntArray:
        """(J,) int64: the tasks of each job, whether it has arrived or not, that have not started."""
        to_start: IntArray = np.diff(self.instance.first_task) - self.state.jobs.started[:-1]
        return to_start

    @property
    def num_unfinished(self) -> IntArray:
        """(J,) int64: the tasks of each job, whether it has arrived or not, that have not ended, running ones included."""
        unfinished: IntArray = np.diff(self.instance.first_task) - self.state.jobs.ended[:-1]
        return unfinished

    def set_keys(
        self, gain: ArrayLike, scale: ArrayLike = 1.0, base: ArrayLike = 0.0, jobs: IntArray | slice = slice(None)
    ) -> None:
        """Set what decides who is served, for all jobs or some, from now on.

        gain : (N, K) or what broadcasts to it. scale : (N,), positive. base : (N,). All finite.
        """
        self.state.gain[jobs] = gain
        all_jobs = self.state.jobs[:-1]
        all_jobs.scale[jobs], all_jobs.offset[jobs] = scale, base
        events.renew_keys(self.state)

    def run_until(self, ms: int) -> None:
        """Let time pass up to a moment.

        Whatever happens at that moment itself is still to come: tasks that end then still run, and jobs that arrive then
        are `present` but have not been served.
        """
        events.play(self.state, ms)

    def run(self) -> None:
        """Let time pass until the last task has ended."""
        events.play(self.state, NEVER)

    def next_offer(self) -> int | None:
        """Go to the next offer of a machine on which a waiting job fits, and return the machine; None after the last.

        `now_ms` is then the moment of the offer. Only for a cluster that `declines`.
        """
        m = int(events.next_offer(self.state, NEVER))
        return None if m == NOBODY else m

    def serve(self, machine: int, job: int) -> bool:
        """Start the next task of a job on a machine, and return whether a waiting job still fits there.

        The job must be admitted and wait, be served there, and fit.
        """
        return bool(events.start(self.state, machine, job) != NOBODY)

    def schedule(self) -> SharingSchedule:
        """Return what has been decided; tasks that have not started are on machine -1."""
        return SharingSchedule(self.state.tasks.machine, self.state.tasks.start)
