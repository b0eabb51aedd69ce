"""What is read from the simulator and what a plan does to it, against its state read in plain Python."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.kernels_player import seen_jobs, seen_machines, seen_tasks
from schedgap.heuristics.reconfiguration.observation import EXECUTING, MIGRATING, QUEUED
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.instances.reconfiguration.simulator import state as codes

PHASE = {codes.QUEUED: QUEUED, codes.MIGRATING: MIGRATING, codes.STARTING: EXECUTING, codes.RUNNING: EXECUTING}


def shown(state, now):
    """Jobs with phase and work done; machines with type and whether they run; tasks with their machines' indices."""
    jobs = state.active[: state.clock[0].num_active].tolist()
    rows = state.machines.lease[: state.clock[0].num_machines]
    machines = [m for m, row in enumerate(rows) if row.released < 0]
    index = {m: i for i, m in enumerate(machines)}
    tasks = [
        (k, i, index.get(int(state.task[k].sent_to), -1), index.get(int(state.task[k].held_on), -1))
        for i, j in enumerate(jobs)
        for k in range(state.given.first_task[j], state.given.first_task[j + 1])
    ]
    done = [(row.progress + row.rate * (now - row.settled)) / 1e9 for row in state.job[jobs]]
    return jobs, [PHASE[int(p)] for p in state.job["phase"][jobs]], done, machines, tasks


@pytest.mark.parametrize("seed", range(4))
def test_an_observation_is_what_the_state_says(make_instance, seed):
    player, rng, moved = Player(make_instance(seed, jobs=8)), np.random.default_rng(seed), 0
    while (observation := player.observe()) is not None:
        state = player.simulator.state
        jobs, phase, done, machines, tasks = shown(state, player.now)
        job, job_phase, attained = seen_jobs(state, player.now)
        assert (job.tolist(), job_phase.tolist(), attained.tolist()) == (jobs, phase, done)
        machine, machine_type, running = seen_machines(state, player.now)
        assert machine.tolist() == machines
        assert machine_type.tolist() == state.machines.lease["type"][machines].tolist()
        assert running.tolist() == (state.machines.lease["runs_from"][machines] <= player.now).tolist()
        task, task_job, _, sent_to, held_on, rate = seen_tasks(state, job, machine)
        assert list(zip(task, task_job, sent_to, held_on, strict=True)) == tasks
        assert ((rate >= 0) == (state.task["stage"][task] == codes.ACTIVE)).all()
        draft = observation.draft()
        for t in range(observation.num_tasks):
            frozen = observation.job_phase[observation.task_job[t]] == MIGRATING
            if draft.machine[t] < 0 or (not frozen and rng.random() < 0.1):
                draft.put(t, draft.rent(int(observation.reservation_type[observation.task_class[t]])))
        plan = draft.plan()
        wanted = [(int(observation.task[t]), m) for t, m in enumerate(plan.machine) if m != sent_to[t]]
        player.act(plan)
        _, moved_task, moved_to = player.moves[-1]
        assert set(moved_task.tolist()) <= {t for t, _ in wanted}
        assert (player.simulator.state.task["sent_to"][moved_task] == moved_to).all()
        moved += moved_task.shape[0]
    assert moved > 8
