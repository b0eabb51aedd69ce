"""Plain references for the simulators: slow, obvious, written from the rules and from nothing else."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np
import pytest

from schedgap.instances.waiting.model import WaitingInstance

RENTED = -1
FOREVER, NEVER = 2**62, 2**63


def instance_of(rows: list[tuple[int, int, int, int]], machine_cores: int, machine_memory_mib: int) -> WaitingInstance:
    """Rows of (submit, runtime, cores, memory) in microseconds and MiB; on-demand machines are large enough for all."""
    submit, runtime, cores, memory = np.array(rows, np.int64).reshape(-1, 4).T
    return WaitingInstance(
        name="rows",
        submit_us=submit,
        runtime_us=runtime,
        cores=cores,
        memory_mib=memory,
        machine_cores=machine_cores,
        machine_memory_mib=machine_memory_mib,
        fixed_price=400_000,
        rented_cores=np.array([1, 64]),
        rented_memory_mib=np.array([4, 64]),
        rented_price=np.array([1_000_000, 5_000_000]),
        horizon_us=max(1, int(submit[-1])),
    )


@dataclass
class Plain:
    """Machines and a queue in `paper` semantics. Jobs are numbers into the instance's arrays."""

    instance: WaitingInstance
    num_machines: int
    limit_us: list[int | None]
    scheduling: str = "fcfs"
    fit: str = "first"
    running: list[tuple[int, int]] = field(default_factory=list)
    queue: list[int] = field(default_factory=list)
    machine: dict[int, int] = field(default_factory=dict)
    start: dict[int, int] = field(default_factory=dict)

    def free(self, k: int, without: tuple[int, ...] = ()) -> tuple[int, int]:
        there = [j for _, j in self.running if self.machine[j] == k and j not in without]
        return (
            self.instance.machine_cores - sum(int(self.instance.cores[j]) for j in there),
            self.instance.machine_memory_mib - sum(int(self.instance.memory_mib[j]) for j in there),
        )

    def has_room(self, k: int, job: int, without: tuple[int, ...] = ()) -> bool:
        cores, memory = self.free(k, without)
        return bool(self.instance.cores[job] <= cores and self.instance.memory_mib[job] <= memory)

    def room(self, job: int, but: int = -1) -> int:
        roomy = [k for k in range(self.num_machines) if k != but and self.has_room(k, job)]
        if not roomy:
            return -1
        return roomy[0] if self.fit == "first" else min(roomy, key=lambda k: (self.free(k)[0], k))

    def begin(self, job: int, k: int, now: int) -> None:
        self.machine[job] = k
        self.start[job] = now
        self.queue.remove(job)
        self.running.append((now + int(self.instance.runtime_us[job]), job))

    def serve(self, now: int) -> None:
        if self.scheduling == "sjf":
            self.queue.sort(key=lambda j: (self.instance.runtime_us[j], j))
        while self.queue:
            k = self.room(self.queue[0])
            if k < 0:
                break
            self.begin(self.queue[0], k, now)
        if self.scheduling == "easy" and self.queue:
            for job in list(self.queue[1:]):
                k = self.room(job)
                if k >= 0 and self.delays_head(job, k, now):
                    k = self.room(job, but=k)
                if k >= 0:
                    self.begin(job, k, now)

    def delays_head(self, job: int, k: int, now: int) -> bool:
        """Whether the head could not start on the machine reserved for it, at the time reserved, were the job on k."""
        head = self.queue[0]
        for time in sorted({end for end, _ in self.running}):
            ended = tuple(j for end, j in self.running if end <= time)
            roomy = [m for m in range(self.num_machines) if self.has_room(m, head, ended)]
            if roomy:
                break
        if k != roomy[0] or now + int(self.instance.runtime_us[job]) <= time:
            return False
        cores, memory = self.free(k, ended)
        both_cores = self.instance.cores[head] + self.instance.cores[job]
        return bool(both_cores > cores or self.instance.memory_mib[head] + self.instance.memory_mib[job] > memory)

    def leaves_at(self, job: int) -> int:
        limit = self.limit_us[job]
        return NEVER if limit is None else int(self.instance.submit_us[job]) + limit

    def next_event(self) -> int:
        return min([end for end, _ in self.running] + [self.leaves_at(j) for j in self.queue], default=NEVER)

    def advance(self, until: int) -> None:
        """Play all ends and leaves up to a time, included."""
        while self.next_event() <= until:
            now = self.next_event()
            if any(end == now for end, _ in self.running):
                self.running = [(end, j) for end, j in self.running if end != now]
            else:
                job = min(j for j in self.queue if self.leaves_at(j) == now)
                self.queue.remove(job)
                self.machine[job] = RENTED
                self.start[job] = now
            self.serve(now)

    def foreseen_start(self, job: int, now: int) -> int:
        """When a job that joins the queue now will start if nobody comes after it and it does not leave."""
        future = copy.deepcopy(self)
        future.instance = self.instance
        future.limit_us[job] = None
        future.serve(now)
        while job in future.queue:
            future.advance(future.next_event())
        return future.start[job]

    def rent(self, job: int, now: int) -> None:
        if job in self.queue:
            self.queue.remove(job)
        self.machine[job] = RENTED
        self.start[job] = now


def paper_semantics(
    instance: WaitingInstance,
    num_machines: int,
    limit_us: list[int | None],
    *,
    balks: bool = False,
    at_once: list[bool] | None = None,
    mistaken: list[bool] | None = None,
    scheduling: str = "fcfs",
    fit: str = "first",
) -> tuple[list[int], list[int]]:
    """Where each job runs and when it starts. limit_us : of each job, None for none. at_once : jobs that just rent."""
    plain = Plain(instance, num_machines, list(limit_us), scheduling, fit)
    for job in range(instance.num_jobs):
        now = int(instance.submit_us[job])
        plain.advance(now)
        if (at_once and at_once[job]) or not instance.fits_fixed()[job]:
            plain.rent(job, now)
            continue
        wrong = bool(mistaken and mistaken[job])
        limit = limit_us[job]
        plain.queue.append(job)
        if balks or wrong:
            begin = plain.foreseen_start(job, now) if num_machines else NEVER
            long = limit is not None and begin - now > limit
            if (long and not wrong) or (wrong and not long and begin > now):
                plain.rent(job, now)
                continue
        plain.serve(now)
        plain.advance(now)
    plain.advance(FOREVER)
    return ([plain.machine[j] for j in range(instance.num_jobs)], [plain.start[j] for j in range(instance.num_jobs)])


def conservative(
    instance: WaitingInstance, num_machines: int, limit_us: list[int | None], *, balks: bool = True, fit: str = "first"
) -> tuple[list[int], list[int]]:
    """Where each job runs and when it starts if for each is reserved the first gap that holds it. limit_us : -1 to rent."""
    reserved: list[tuple[int, int, int, int]] = []
    machine, start = [], []

    def free(k: int, time: int) -> tuple[int, int]:
        there = [j for k2, begin, end, j in reserved if k2 == k and begin <= time < end]
        return (
            instance.machine_cores - sum(int(instance.cores[j]) for j in there),
            instance.machine_memory_mib - sum(int(instance.memory_mib[j]) for j in there),
        )

    for job in range(instance.num_jobs):
        now, runtime = int(instance.submit_us[job]), int(instance.runtime_us[job])
        limit = limit_us[job]
        gaps = []
        for k in range(num_machines) if limit != -1 and instance.fits_fixed()[job] else ():
            changes = sorted({now} | {t for k2, begin, end, _ in reserved if k2 == k for t in (begin, end) if t > now})
            for begin in changes:
                inside = [begin] + [t for t in changes if begin < t < begin + runtime]
                if all(
                    free(k, t)[0] >= instance.cores[job] and free(k, t)[1] >= instance.memory_mib[job] for t in inside
                ):
                    gaps.append((begin, free(k, begin)[0] if fit == "best" else 0, k))
                    break
        begin, _, k = min(gaps, default=(NEVER, 0, RENTED))
        if gaps and (limit is None or begin - now <= limit):
            reserved.append((k, begin, begin + runtime, job))
        else:
            stays = not balks and limit not in (None, -1) and instance.fits_fixed()[job]
            begin, k = now + (limit if stays else 0), RENTED
        machine.append(k)
        start.append(begin)
    return machine, start


@pytest.fixture(scope="session")
def make_instance():
    return instance_of


@pytest.fixture(scope="session")
def plain_paper():
    return paper_semantics


@pytest.fixture(scope="session")
def plain_conservative():
    return conservative


# Sizes of jobs, and machines that may be too small for some: (cores, MiB) each.
KINDS = {
    "single": ([1], [1], (1, 1)),
    "alike": ([2], [3], (5, 8)),
    "mixed": ([1, 1, 2, 3, 4, 5], [0, 1, 2, 5, 8, 9], (4, 8)),
}


@pytest.fixture(scope="session")
def make_trace():
    """Make a trace of up to 40 jobs from a seed, `make_trace(3, "mixed")`, with few values of times, so that they tie."""

    def make_trace(seed: int, kind: str, unit_us: int = 1) -> WaitingInstance:
        rng = np.random.default_rng(seed)
        jobs = int(rng.integers(1, 41))
        cores, memory, machine = KINDS[kind]
        columns = (
            np.cumsum(rng.choice([0, 0, 1, 2, 3, 7], jobs)) * unit_us,
            rng.choice([1, 2, 3, 5, 8, 20], jobs) * unit_us,
            rng.choice(cores, jobs),
            rng.choice(memory, jobs),
        )
        return instance_of(list(zip(*(column.tolist() for column in columns), strict=True)), *machine)

    return make_trace
