"""Machines and running jobs for the parts of the compiled loops, which only compiled code can call."""

import numba
import numpy as np
import pytest

from schedgap.heuristics.waiting.compiled.kernels_machines import (
    Jobs,
    Placed,
    change_free,
    end_job,
    end_jobs,
    find_machine,
    next_fit,
    other_machine,
    start_job,
)
from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator, Policy


@numba.njit
def change(machines, k, cores, memory):
    change_free(machines, k, cores, memory)


@numba.njit
def find(machines, cores, memory, but):
    return find_machine(machines, cores, memory) if but < 0 else other_machine(machines, cores, memory, but)


@numba.njit
def after(free, cores, memory, k):
    return next_fit(free, cores, memory, k)


@numba.njit
def start(jobs, machines, running, count, placed, j, k, now):
    start_job(jobs, machines, running, count, placed, j, k, now, now + jobs.runtime[j])


@numba.njit
def end(jobs, machines, running, count, placed):
    return end_job(jobs, machines, running, count, placed)


@numba.njit
def end_all(jobs, machines, running, count, placed, now):
    return end_jobs(jobs, machines, running, count, placed, now)


class Compiled:
    """Empty machines for an instance, as the loops have them; `change` and the others call their parts."""

    change, find, after, start, end, end_all = map(staticmethod, (change, find, after, start, end, end_all))

    def __init__(self, instance, number, fit="first"):
        simulator = CompiledSimulator(instance, Policy(fit=fit))
        self.jobs = Jobs(instance.submit_us, instance.runtime_us, simulator.cores, instance.memory_mib)
        self.machines, self.running, self.look = simulator._empty(number)
        self.placed = Placed(np.full(instance.num_jobs, -1), np.zeros(instance.num_jobs, np.int64))

    def free(self):
        """Return [cores, MiB] of each machine."""
        size = self.machines.free.shape[1] >> 1
        leaves = self.machines.free[:, size:].T
        return [leaf for leaf in leaves.tolist() if leaf[0] >= 0]


@pytest.fixture(scope="session")
def compiled():
    return Compiled
