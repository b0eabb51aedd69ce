"""What pools, marks, guards and waits say of the machines of a plan, as Karpenter and cluster-autoscaler look at them.

Pools, `consolidateAfter`, do-not-disrupt: kubernetes-sigs/karpenter, pkg/controllers/disruption and pkg/utils/{pdb,pod},
commit 2266468 (August 2026). Guards: as the disruption controller of Kubernetes counts them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import ANY, UNSETTLED, Cluster, Limits, settling
from schedgap.heuristics.reconfiguration.observation import EXECUTING, MIGRATING, Observation
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.provisioning.running import HELD, NO_SCALE_DOWN, STARTING, UNMANAGED, Pool
from schedgap.instances.reconfiguration.upkeep import ALWAYS, SEVERAL, Upkeep

# Longer ago than any wait.
LONG_AGO = -(2**40)


@dataclass(slots=True)
class Log:
    """What was on which machine after the last plan, in a policy's memory; machines and tasks by their numbers, ascending.

    runs : (M,) int64, 1 where a machine runs. since_s : (M,) int64, when a task of each machine last came or went, or it
    began to run. at : (T,) int64, the machine of each task, -1 for none or one that was new. moved_s : (T,) int64, when a plan
    moved the task from where it was, -1 for never.
    """

    machine: IntArray
    runs: IntArray
    since_s: IntArray
    task: IntArray
    at: IntArray
    moved_s: IntArray

    @classmethod
    def of(cls, observation: Observation, upkeep: Upkeep | None) -> Log:
        """Return the log as of an observation, from that of the last plan, which the memory has; at first of second 0."""
        log = observation.memory.get("log")
        if log is None:
            machine, task = observation.machine, observation.task
            none = np.empty(0, np.int64)
            log = cls(none, none, none, none, none, none)
            if upkeep is not None and observation.now_s == 0:
                size, quiet_s = upkeep.machines.pool.shape[0], upkeep.machines.quiet_s
                since_s = np.full(size, LONG_AGO) if quiet_s is None else -quiet_s
                at = numbers(machine, observation.task_machine)
                log = cls(machine[:size], np.ones(size, np.int64), since_s, task, at, np.full(task.shape, -1))
        observation.memory["log"] = log
        log.note(observation, observation.task_machine, upkeep is not None)
        return log

    def note(self, observation: Observation, place: IntArray, is_by_start: bool = True) -> None:
        """Take in what is where; O((M + T) log T).

        place : (T,) int64, an index of a machine, -1 for none or a new one. is_by_start : a machine that begins to run begins
        to be quiet.
        """
        machine, task, now_s = observation.machine, observation.task, observation.now_s
        runs = observation.machine_running.astype(np.int64) if is_by_start else np.ones(machine.shape, np.int64)
        at = numbers(machine, place)
        before, moved_s, left = self.at, self.moved_s, at[:0]
        if task is not self.task:
            where = np.searchsorted(self.task, task)
            found = np.append(self.task, -1)[where] == task
            ended = np.ones(self.task.shape, np.bool_)
            ended[where[found]] = False
            left = self.at[ended]
            before, moved_s = (np.where(found, np.append(old, -1)[where], -1) for old in (self.at, self.moved_s))
        moved = before != at
        changed = np.concatenate((left, before[moved], at[moved]))
        since = looked_up(self.machine, self.since_s, machine)
        # It was known then, and has not begun to run since.
        is_same = runs == looked_up(self.machine, self.runs, machine)
        self.since_s = np.where(is_same & ~np.isin(machine, changed), since, now_s)
        # A task that a plan has just sent to a new machine is on it at the next look: it does not move then.
        self.moved_s = np.where(moved & (before >= 0), now_s, moved_s)
        self.machine, self.runs, self.task, self.at = machine, runs, task, at


def numbers(machine: IntArray, place: IntArray) -> IntArray:
    """Return the numbers of machines of indices (T,), -1 for -1."""
    found: IntArray = np.append(machine, -1)[place]
    return found


def looked_up(keys: IntArray, values: IntArray, wanted: IntArray) -> IntArray:
    """Return the values of ascending keys, -1 for keys that are not there."""
    place = np.searchsorted(keys, wanted)
    found = np.append(keys, -1)[place] == wanted
    return np.where(found, np.append(values, -1)[place], -1)


@dataclass(slots=True, eq=False)
class Watch:
    """What keeps machines at a plan.

    pools : the instance's, or one. pool : (M,) int64 into them. marks : (M,) int64, but for what tasks say. held, kept : (T,)
    bool, tasks that Karpenter and cluster-autoscaler leave where they are. guarded : tasks of guards; guard : of each of these
    its guard; well : whether it runs; present : (G,) how many each guard has. gone : (P,) int64, machines of each pool that this
    plan has given up.
    """

    observation: Observation
    upkeep: Upkeep
    pools: tuple[Pool, ...]
    pool: IntArray
    marks: IntArray
    new_pool: IntArray
    held: BoolArray
    kept: BoolArray
    guarded: IntArray
    guard: IntArray
    well: BoolArray
    present: list[int]
    gone: IntArray

    @classmethod
    def of(cls, observation: Observation, upkeep: Upkeep, log: Log, default: Pool = ANY) -> Watch:
        """Look at an observation. default : of all machines where no pools are given."""
        machines, size = upkeep.machines, upkeep.machines.pool.shape[0]
        first = observation.machine < size
        new_pool = upkeep.new_pool if machines.pools else np.zeros_like(upkeep.new_pool)
        pool, marks = new_pool[observation.machine_type], np.zeros(observation.num_machines, np.int64)
        pool[first] = machines.pool[observation.machine[first]] if machines.pools else 0
        marks[first] = machines.marks[observation.machine[first]] & (HELD | NO_SCALE_DOWN)
        runs = observation.machine_running
        pools = machines.pools or (default,)
        waits = settling(pools, pool, observation.now_s - log.since_s)
        marks |= np.where(runs, waits, waits & ~UNSETTLED | STARTING)
        job = observation.task_job
        start_s = np.where(log.moved_s >= 0, log.moved_s, (observation.job_arrival_s - upkeep.age_s)[job])
        held_s = upkeep.held_s[job]
        stays = (upkeep.guard == SEVERAL)[job] | (observation.job_phase == MIGRATING)[job]
        held = stays | (held_s == ALWAYS) | (observation.now_s - start_s < held_s)
        guarded = np.flatnonzero((upkeep.guard >= 0)[job])
        guard = upkeep.guard[job[guarded]]
        well = observation.job_phase[job[guarded]] == EXECUTING
        present = np.bincount(guard, minlength=len(upkeep.guards)).tolist()
        kept, gone = stays | (upkeep.kept == 1)[job], np.zeros(len(pools) + 1, np.int64)
        return cls(
            *(observation, upkeep, pools, pool, marks, new_pool, held, kept),
            *(guarded, guard, well, present, gone),
        )

    def blocked(self, cluster: Cluster, stays: BoolArray) -> BoolArray:
        """(N,) bool: nodes with a task that stays, or with one of a guard that admits no move now.

        A task is away from where a plan moves it until it runs again.
        """
        place, found = cluster.tasks.place, np.zeros(cluster.number, np.bool_)
        found[place[stays & (place >= 0)]] = True
        if self.guarded.size:
            there = self.well & (place[self.guarded] == cluster.tasks.home[self.guarded])
            well = np.bincount(self.guard[there], minlength=len(self.present)).tolist()
            guards = zip(self.upkeep.guards, self.present, well, strict=True)
            full = np.array([guard.allows(number, left) == 0 for guard, number, left in guards])
            found[place[self.guarded[full[self.guard]]]] = True
        return found

    def limits(self, cluster: Cluster) -> Limits:
        """Return Karpenter's limits at a pass: nodes that are new, or got a task in this plan, do not go."""
        known, pools = self.pool.shape[0], (*self.pools, ANY)
        marks = np.full(cluster.number, STARTING)
        marks[:known] = self.marks
        tasks = cluster.tasks
        marks |= np.where(self.blocked(cluster, self.held), HELD, 0)
        came = np.unique(tasks.place[(tasks.place != tasks.home) & (tasks.place < known)])
        after = np.array([p.consolidate_after_s for p in pools])[self.pool[came]]
        marks[came] |= np.where((after > 0) & (marks[came] & STARTING == 0), HELD | UNSETTLED, HELD)
        at_s = self.upkeep.machines.at_s
        present = None if at_s is None else at_s + self.observation.now_s
        return Limits(pools, self.pool, marks, self.new_pool, present, self.gone)

    def give_up(self, nodes: IntArray) -> None:
        """Count nodes of the last plan that go against the budgets of their pools."""
        pool = self.pool[nodes]
        np.add.at(self.gone, pool[pool != UNMANAGED], 1)
