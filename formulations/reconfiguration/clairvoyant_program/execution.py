"""What the simulator makes of the program's placements, plan by plan: a schedule that keeps all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.reconfiguration.simulator.events import advance, ends_at
from schedgap.instances.reconfiguration.simulator.plans import apply_plan, release, rent
from schedgap.instances.reconfiguration.simulator.simulator import Simulator
from schedgap.instances.reconfiguration.simulator.state import FINE, MIGRATING, NO_STOCK, RUNNING

if TYPE_CHECKING:
    from schedgap.formulations.reconfiguration.clairvoyant_program.layout import Layout
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance
    from schedgap.instances.reconfiguration.solution import ReconfigurationSchedule


def executed(instance: ReconfigurationInstance, at: Layout, x: FloatArray) -> ReconfigurationSchedule | None:
    """Play a solution of the program.

    A job that the program thinks has ended stays where it is until it has; a task whose job may not be moved yet stays
    too. A task for which its machine has no room then gets a new one of the cheapest type that fits it. None if machines run
    out by that, or jobs never end where the program, which ignores interference, leaves them.
    """
    return _Execution(instance, at, x).schedule()


class _Execution:
    def __init__(self, instance: ReconfigurationInstance, at: Layout, x: FloatArray) -> None:
        self.instance, self.at = instance, at
        self.simulator = Simulator(instance)
        self.new, self.ready = x[at.s] > 0.5, x[at.w] > 0.5
        self.place = np.where(x[at.x].max(axis=1) > 0.5, x[at.x].argmax(axis=1), -1)
        self.machine = np.full(at.kind.shape[0], -1)
        self.coming = np.full(at.kind.shape[0], -1)
        self.target = np.full(at.job.shape[0], -1)
        self.moves: list[tuple[int, int, int]] = []

    def schedule(self) -> ReconfigurationSchedule | None:
        """Play until every job has ended, or machines run out."""
        simulator, period, t = self.simulator, self.instance.period_s, 0
        while True:
            advance(simulator.state, t * period)
            active = simulator.state.active[: simulator.state.clock[0].num_active].tolist()
            jobs = [j for j in active if ends_at(simulator.state, j) > t * period]
            is_over = not jobs and simulator.next_arrival_s is None
            if t > self.new.shape[1] and jobs and self._is_stuck(jobs):
                return None
            if self._plan(t, jobs, is_over) == NO_STOCK:
                return None
            if is_over:
                break
            t += 1
        return simulator.schedule(*np.array(self.moves, np.int64).reshape(-1, 3).T)

    def _is_stuck(self, jobs: list[int]) -> bool:
        """Whether all these run without progress; behind the last plan of the program nothing moves them, and no job comes."""
        state = self.simulator.state.job[jobs]
        return bool(((state["phase"] == RUNNING) & (state["rate"] == 0)).all())

    def _plan(self, t: int, jobs: list[int], is_over: bool) -> int:
        now = t * self.instance.period_s
        self.simulator.make_room(2 * self.at.job.shape[0] + 2 * self.at.kind.shape[0])
        state = self.simulator.state
        self.left = self.instance.catalogue.capacity[self.simulator.leases["type"]].copy()
        place = np.full(self.target.shape, -1) if is_over else self._begin(t)
        target = np.full(self.target.shape, -1)
        first = state.given.first_task
        frozen = [j for j in jobs if state.job[j].phase == MIGRATING]
        for j in sorted(jobs, key=lambda j: j not in frozen):
            for i in range(first[j], first[j + 1]):
                slot = -1 if j in frozen else place[i]
                if slot >= 0 and self.machine[slot] < 0:
                    # Only now, since nobody may come.
                    self.machine[slot] = self._rented(now, int(self.at.kind[slot]))
                target[i] = self._put(i, now, (self.machine[slot] if slot >= 0 else -1, self.target[i]))
        kept = set(target.tolist()) | set(self.coming.tolist())
        for m in range(self.simulator.num_machines):
            if m not in kept:
                release(state, now, m)
        for i in np.flatnonzero((target >= 0) & (target != self.target)).tolist():
            self.moves.append((now, i, int(target[i])))
        self.target = np.where(target >= 0, target, self.target)
        state.target[:] = self.target
        status = apply_plan(state, now)
        assert status in (FINE, NO_STOCK)
        return status

    def _begin(self, t: int) -> IntArray:
        """Rent what has to be ready for the next plan; return the slot of each task, or -1."""
        now = t * self.instance.period_s
        plans = self.new.shape[1]
        if t >= plans:
            return np.full(self.target.shape, -1)
        for slot in np.flatnonzero(self.coming >= 0).tolist():
            self.machine[slot], self.coming[slot] = self.coming[slot], -1
        for slot in np.flatnonzero(self.new[:, t]).tolist():
            self.machine[slot] = -1
        if t + 1 < plans:
            for slot in np.flatnonzero(self.ready[:, t + 1]).tolist():
                self.coming[slot] = self._rented(now, int(self.at.kind[slot]))
        return self.place[:, t]

    def _put(self, task: int, now: int, wishes: tuple[int, ...]) -> int:
        """Return the first machine of the wishes that has room for the task, else a new one."""
        state, catalogue = self.simulator.state, self.instance.catalogue
        c = int(self.instance.job2class[self.at.job[task]])
        for m in wishes:
            if m >= 0 and state.machines.lease[m].released < 0:
                demand = catalogue.demand[catalogue.type2family[state.machines.lease[m].type], c]
                if (demand >= 0).all() and (demand <= self.left[m]).all():
                    self.left[m] -= demand
                    return int(m)
        kind = int(catalogue.reservation_type[c])
        m = self._rented(now, kind)
        self.left[m] -= catalogue.demand[catalogue.type2family[kind], c]
        return m

    def _rented(self, now: int, kind: int) -> int:
        self.left = np.concatenate((self.left, self.instance.catalogue.capacity[kind][None]))
        return rent(self.simulator.state, now, kind)
