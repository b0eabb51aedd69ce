"""The artifact's semantics against a plain reference of its rules."""

from __future__ import annotations

import heapq
from itertools import accumulate
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.heuristics.waiting.compiled.kernels_machines import NO_LIMIT_US
from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator, Policy
from schedgap.instances.units import SECOND_US

if TYPE_CHECKING:
    from schedgap.instances.waiting.model import WaitingInstance

RENTED = -1
QUICK = settings(max_examples=60, deadline=None)
# Few values, so that times tie; runtimes with fractions of a second, and below one.
GAPS = st.sampled_from([0, 0, 1, 2, 3, 7])
RUNTIMES = st.sampled_from([300_000, 1_000_000, 1_700_000, 2_000_000, 3_000_000, 5_250_000, 8_000_000])
CORES, MEMORY = st.sampled_from([1, 1, 2, 3, 4, 5]), st.sampled_from([0, 1, 2, 5, 8, 9])
LIMITS = st.sampled_from([None, 0, 1, 4, 10])


def artifact_semantics(
    instance: WaitingInstance,
    num_machines: int,
    limit_us: int | None,
    *,
    waits: bool = True,
    relabels: bool = False,
    at_once: list[bool] | None = None,
) -> tuple[list[int], list[int]]:
    """Where each job runs and when it starts, by the rules of the authors' simulator. relabels : who left waited 0."""
    submit = [int(t) for t in instance.submit_us]
    occupied = [int(t) // SECOND_US * SECOND_US for t in instance.runtime_us]
    cores, memory = instance.cores.tolist(), instance.memory_mib.tolist()
    idle = [[instance.machine_cores, instance.machine_memory_mib] for _ in range(num_machines)]
    machine: dict[int, int] = {}
    wait: dict[int, int] = {}
    ends: list[tuple[int, int]] = []
    queue: list[int] = []

    def fits(job: int) -> int:
        for k, (idle_cores, idle_memory) in enumerate(idle):
            if cores[job] <= idle_cores and memory[job] <= idle_memory:
                return k
        return -1

    def place(job: int, k: int, now: int) -> None:
        machine[job], wait[job] = k, now - submit[job]
        idle[k][0] -= cores[job]
        idle[k][1] -= memory[job]
        heapq.heappush(ends, (now + occupied[job], job))

    def complete() -> int:
        now, job = heapq.heappop(ends)
        idle[machine[job]][0] += cores[job]
        idle[machine[job]][1] += memory[job]
        return now

    def serve_queue(now: int) -> None:
        while queue:
            head = queue[0]
            if limit_us is not None and now - submit[head] > limit_us:
                queue.pop(0)
                machine[head], wait[head] = RENTED, 0 if relabels else limit_us
                continue
            k = fits(head)
            if k < 0:
                break
            queue.pop(0)
            place(head, k, now)

    for job, now in enumerate(submit):
        if not waits:
            if job == 0 or submit[job - 1] != now:
                while ends and ends[0][0] <= now:
                    complete()
            k = fits(job)
            if k < 0:
                machine[job], wait[job] = RENTED, 0
            else:
                place(job, k, now)
            continue
        while ends and ends[0][0] <= now:
            serve_queue(complete())
        if at_once and at_once[job]:
            machine[job], wait[job] = RENTED, 0
        elif not queue and fits(job) >= 0:
            place(job, fits(job), now)
        else:
            queue.append(job)
    while ends:
        serve_queue(complete())
    for job in queue:
        machine[job], wait[job] = RENTED, 0
    return [machine[j] for j in range(len(submit))], [submit[j] + wait[j] for j in range(len(submit))]


@st.composite
def traces(draw):
    """Machines of 4 cores and 8 MiB; some jobs are larger."""
    jobs = draw(st.lists(st.tuples(GAPS, RUNTIMES, CORES, MEMORY), min_size=1, max_size=40))
    submit = accumulate(gap * SECOND_US for gap, *_ in jobs)
    return [(now, *job) for now, (_, *job) in zip(submit, jobs, strict=True)], 4, 8


def agrees(schedule, expected) -> None:
    assert (schedule.machine.tolist(), schedule.start_us.tolist()) == expected


@QUICK
@given(traces(), st.integers(0, 3), LIMITS, st.booleans(), st.sampled_from([-1, 1_700_000]))
def test_artifact(make_instance, trace, machines, limit, relabels, short):
    instance = make_instance(*trace)
    limit_us = None if limit is None else limit * SECOND_US
    longest = NO_LIMIT_US if limit_us is None else limit_us
    policy = Policy(limit_us=longest, balks=relabels, short_us=short, semantics="artifact")
    at_once = (instance.runtime_us <= short).tolist()
    expected = artifact_semantics(instance, machines, limit_us, relabels=relabels, at_once=at_once)
    agrees(CompiledSimulator(instance, policy).run(machines), expected)


@QUICK
@given(traces(), st.integers(0, 3))
def test_no_jobs_wait(make_instance, trace, machines):
    instance = make_instance(*trace)
    schedule = CompiledSimulator(instance, Policy(waits=False, semantics="artifact")).run(machines)
    agrees(schedule, artifact_semantics(instance, machines, None, waits=False))
