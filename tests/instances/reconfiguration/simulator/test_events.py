"""The simulator's rules a second time: second by second, in plain Python, from the paper's words."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.instances.reconfiguration.verify import paid_s, played

NEVER = 10**9


@dataclass
class Task:
    job: int
    stage: str = "unplanned"
    due: int = 0
    goes_to: int = -1
    held_on: int = -1


@dataclass
class Machine:
    kind: int
    paid_from: int
    runs_from: int
    released: int | None = None
    paid_until: int | None = None
    images: set = field(default_factory=set)


def plainly(instance, schedule, rate_of):
    """Play a schedule in steps of one second; returns each machine's paid seconds and each job's end."""
    catalogue = instance.catalogue
    first = instance.first_task()
    tasks = [Task(j) for j in range(instance.num_jobs) for _ in range(instance.num_tasks[j])]
    members = [tasks[first[j] : first[j + 1]] for j in range(instance.num_jobs)]
    workload = [int(instance.class2workload[c]) for c in instance.job2class]
    machines, progress, ready, ends = [], [0] * instance.num_jobs, {}, {}

    def demand(task, m):
        return catalogue.demand[catalogue.type2family[machines[m].kind], instance.job2class[task.job]]

    def holds(m):
        return [task for task in tasks if task.held_on == m]

    def release_if_empty(m, t):
        if machines[m].released is not None and machines[m].paid_until is None and not holds(m):
            machines[m].paid_until = max(t + instance.terminate_s, machines[m].paid_from)

    def stages_pass(t):
        for task in tasks:
            w = workload[task.job]
            if task.stage == "killing" and task.due <= t:
                task.stage, task.due = "uploading", t + int(instance.upload_s[w])
                ready.pop(task.job, None)
            if task.stage == "uploading" and task.due <= t:
                task.stage, m = "waiting", task.held_on
                task.held_on = -1
                release_if_empty(m, t)
            if task.stage == "fetching" and task.due <= t:
                task.stage = "active"
        for task in tasks:
            mates = members[task.job]
            if task.stage != "waiting" or any(mate.stage in ("killing", "uploading") for mate in mates):
                continue
            m, w = task.goes_to, workload[task.job]
            used = sum((demand(other, m) for other in holds(m)), np.zeros(2, np.int64))
            if machines[m].runs_from > t or (used + demand(task, m) > catalogue.capacity[machines[m].kind]).any():
                continue
            build = 0 if w in machines[m].images else int(instance.build_s[w])
            machines[m].images.add(w)
            task.held_on, task.stage, task.due = m, "fetching", t + int(instance.fetch_s[w]) + build
        for j, mates in enumerate(members):
            if all(mate.stage == "active" for mate in mates) and j not in ready:
                ready[j] = t + int(instance.init_s[workload[j]])

    def settle(t):
        before = None
        while before != (before := [(task.stage, task.due, task.held_on) for task in tasks]):
            stages_pass(t)

    t = 0
    while len(ends) < instance.num_jobs or any(machine.paid_until is None for machine in machines):
        settle(t)
        done = {j for j in range(instance.num_jobs) if j not in ends and progress[j] >= instance.work_s[j] * 10**9}
        if t % instance.period_s == 0:
            for m in np.flatnonzero(schedule.rented_s == t):
                kind = int(schedule.machine_type[m])
                paid_from = t + int(instance.acquire_s[kind])
                machines.append(Machine(kind, paid_from, paid_from + int(instance.setup_s[kind])))
            for m in np.flatnonzero(schedule.released_s == t):
                machines[m].released = t
            moves = np.flatnonzero(schedule.move_s == t)
            moving = {tasks[schedule.move_task[n]].job for n in moves} - done
            for n in moves:
                if tasks[schedule.move_task[n]].job in moving:
                    tasks[schedule.move_task[n]].goes_to = int(schedule.move_machine[n])
            for j in moving:
                for task in members[j]:
                    launched = task.stage != "unplanned"
                    task.stage = "killing" if launched else "waiting"
                    task.due = t + int(instance.kill_s[workload[j]])
                # A job that is stopped while it starts up does not start to progress meanwhile.
                if ready.get(j, 0) > t:
                    ready[j] = NEVER
        for j in done:
            ends[j] = t
            for task in members[j]:
                m, task.stage, task.held_on = task.held_on, "ended", -1
                release_if_empty(m, t)
        for m in range(len(machines)):
            release_if_empty(m, t)
        settle(t)
        for j, mates in enumerate(members):
            going = j in ready and ready[j] <= t and all(mate.stage in ("active", "killing") for mate in mates)
            if going:
                progress[j] += min(rate(instance, workload, holds(mate.held_on), j, rate_of) for mate in mates)
        t += 1
        assert t < 100_000
    paid = [machine.paid_until - machine.paid_from for machine in machines]
    return paid, [ends[j] for j in range(instance.num_jobs)]


def rate(instance, workload, held, job, rate_of):
    """Of a task of the job among those that contend on its machine."""
    together = sorted(workload[task.job] for task in held if task.stage in ("active", "killing"))
    return rate_of(instance, together, workload[job])


def wandering(seed, share=0.3):
    """A policy that moves tasks about at random, wherever they fit."""
    rng = np.random.default_rng(seed)

    def decide(observation):
        draft = observation.draft()
        for task in rng.permutation(observation.num_tasks).tolist():
            placed = draft.machine[task] >= 0
            if observation.job_phase[observation.task_job[task]] == 1 or (placed and rng.random() > share):
                continue
            others = [m for m in range(len(draft.types)) if m != draft.machine[task] and draft.fits(task, m)]
            if others and rng.random() < 0.7:
                draft.put(task, int(rng.choice(others)))
                continue
            demand = observation.demand[observation.market.type2family, observation.task_class[task]]
            fits = (demand >= 0).all(axis=1) & (demand <= observation.market.capacity).all(axis=1)
            draft.put(task, draft.rent(int(rng.choice(np.flatnonzero(fits)))))
        return draft.plan()

    return decide


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_plays_a_schedule_as_the_plain_rules_do(seed, stored, made, sets, product, looked_up):
    instance = made(seed, jobs=3 + seed % 9, period_s=(10, 20, 35)[seed % 3])
    if stored:
        instance = instance.replace(stored_sets=sets(seed, len(instance.catalogue.workloads)))
    schedule = play(Player(instance), wandering(seed)).solution
    simulator = played(instance, schedule)

    def rate_of(instance, together, own):
        stored = looked_up(instance.stored_sets, together)
        return stored.get(own, product(instance.throughput, together, own))

    paid, ends = plainly(instance, schedule, rate_of)
    assert paid_s(simulator).tolist() == paid
    assert simulator.jobs["finish"].tolist() == ends
