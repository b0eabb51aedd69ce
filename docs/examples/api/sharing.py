"""Generators, when tasks end, and the fairness problem of a moment."""

import numpy as np

from schedgap.bench.plugins.discover import load_methods
from schedgap.heuristics.sharing import policy
from schedgap.instances import find_method
from schedgap.instances import sharing as s

assert s.macro(jobs=4, seed=1).num_jobs == s.random_jobs(4, seed=1).num_jobs == 4
instance = s.micro(tasks=5)
load_methods(["sharing"])
schedule = find_method("sharing", "fifo").func(instance)
schedule = getattr(schedule, "solution", schedule)
assert s.ends_ms(instance, schedule).shape == (instance.num_tasks,)
jobs, tasks = np.array([0, 1]), np.array([3, 4])
assert s.as_users(instance, jobs, tasks).num_users == 2
now = s.Snapshot(0, jobs, np.zeros((2, len(instance.machine_count)), np.int64), tasks)
assert s.fairness_at(instance, now).tasks.tolist() == [3, 4]


@policy("first")
def first(observation):
    """Serve the first job that fits the machine that is offered."""
    return observation.job[observation.fitting[0]]
