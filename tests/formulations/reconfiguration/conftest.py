"""Tiny instances with odd delays, and random schedules that waste, migrate and share as they please."""

import numpy as np
import pytest

from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.model import ReconfigurationInstance
from schedgap.instances.reconfiguration.simulator import events, plans
from schedgap.instances.reconfiguration.simulator import state as codes
from schedgap.instances.reconfiguration.simulator.simulator import Simulator

PLANS = 40


def simple(work_s=(100,), *, throughput=None, classes=(0,), **changes):
    """Jobs of 1 CPU on machines of 2 CPU for a micro-dollar a second, a plan every 50 s, no delays unless changed."""
    number = max(classes) + 1
    catalogue = ProvisioningInstance(
        name="simple",
        resources=("cpu",),
        families=("any",),
        type_names=("two",),
        type2family=[0],
        capacity=[[2000]],
        price=[3600],
        demand=np.full((1, number, 1), 1000),
        counts=np.ones(number),
        workloads=tuple(f"w{c}" for c in range(number)),
        class2workload=np.arange(number),
        throughput=throughput,
    )
    fields = {
        "name": "simple",
        "catalogue": catalogue,
        "acquire_s": [0],
        "setup_s": [0],
        **dict.fromkeys(("fetch_s", "build_s", "kill_s", "upload_s", "init_s"), np.zeros(number)),
        "arrival_s": np.zeros(len(work_s)),
        "work_s": work_s,
        "job2class": classes if len(classes) == len(work_s) else (0,) * len(work_s),
        "num_tasks": np.ones(len(work_s)),
        "period_s": 50,
        "terminate_s": 0,
    }
    return ReconfigurationInstance(**{**fields, **changes})


def odd(seed):
    """A few jobs of one or two tasks, some classes that may not run everywhere, delays from nothing to two periods."""
    rng = np.random.default_rng(seed)
    types, classes, period = int(rng.integers(2, 4)), int(rng.integers(1, 4)), int(rng.choice([10, 20, 30]))
    jobs, workloads = int(rng.integers(classes, 5)), int(rng.integers(1, classes + 1))
    family = np.array([0, 1, 0])[:types]
    demand = rng.integers(1, 3, (2, classes, 2)) * np.array([1000, 1024])
    if rng.random() < 0.5:
        demand[1, 0] = -1
    catalogue = ProvisioningInstance(
        name="odd",
        resources=("cpu", "ram_gib"),
        families=("a", "b"),
        type_names=("t0", "t1", "t2")[:types],
        type2family=family,
        capacity=rng.integers(2, 7, (types, 2)) * np.array([1000, 1024]),
        price=rng.integers(1, 9, types) * 360_000,
        demand=demand,
        counts=np.ones(classes),
        workloads=tuple(f"w{w}" for w in range(workloads)),
        class2workload=np.concatenate((np.arange(workloads), rng.integers(0, workloads, classes - workloads))),
        throughput=rng.choice([1000, 900, 700, 500, 200], (workloads, workloads)) if rng.random() < 0.7 else None,
    )

    def delays(number, longest):
        return np.where(rng.random(number) < 0.4, 0, rng.integers(0, longest + 1, number))

    return ReconfigurationInstance(
        name=f"odd-{seed}",
        catalogue=catalogue,
        acquire_s=delays(types, int(rng.choice([3, period, 2 * period]))),
        setup_s=delays(types, int(rng.choice([3, period]))),
        fetch_s=delays(workloads, 4),
        build_s=delays(workloads, 3),
        kill_s=delays(workloads, 6),
        upload_s=delays(workloads, 5),
        init_s=delays(workloads, 6),
        arrival_s=np.sort(rng.integers(0, 2 * period, jobs)),
        work_s=rng.integers(1, 4 * period, jobs),
        job2class=np.concatenate((np.arange(classes), rng.integers(0, classes, jobs - classes))),
        num_tasks=np.where(rng.random(jobs) < 0.3, 2, 1),
        period_s=period,
        terminate_s=int(rng.integers(0, 4)),
    )


class Wanderer:
    """Plays one random schedule: jobs stay, share and machines are given back with three random probabilities."""

    def __init__(self, instance, rng):
        self.instance, self.rng, self.simulator = instance, rng, Simulator(instance, 2000)
        self.stays, self.shares, self.releases = rng.random(), rng.random(), rng.random() ** 0.3
        self.first = instance.first_task()

    def demand(self, kind, job):
        catalogue = self.instance.catalogue
        return catalogue.demand[catalogue.type2family[kind], self.instance.job2class[job]]

    def cost(self):
        """The price of the schedule in micro-dollars; None if it does not end."""
        state, period = self.simulator.state, self.instance.period_s
        for plan in range(PLANS):
            events.advance(state, plan * period)
            active = state.active[: state.clock[0].num_active].tolist()
            jobs = [j for j in active if events.ends_at(state, j) > plan * period]
            if not jobs and state.clock[0].seen == self.instance.num_jobs:
                self.apply(plan * period, {}, released=1.0)
                events.advance(state, plan * period + period + 100)
                lease = self.simulator.leases
                seconds = lease["paid_until"] - lease["paid_from"]
                return -(-int(seconds @ self.instance.catalogue.price[lease["type"]]) // 3600)
            self.apply(plan * period, self.plan(plan * period, jobs), self.releases)
        return None

    def plan(self, t, jobs):
        """Tasks to machines: migrating jobs stay, others do as it happens."""
        state, rng = self.simulator.state, self.rng
        live = [m for m in range(self.simulator.num_machines) if state.machines.lease[m].released < 0]
        self.kind = {m: int(state.machines.lease[m].type) for m in live}
        self.left = {m: self.instance.catalogue.capacity[k].copy() for m, k in self.kind.items()}
        frozen = [j for j in jobs if state.job[j].phase == codes.MIGRATING]
        free = [j for j in jobs if j not in frozen]
        rng.shuffle(free)
        target = {}
        for j in frozen:
            target |= self.put_back(j)
        for j in free:
            stays = state.job[j].phase != codes.QUEUED and rng.random() < self.stays
            before = {m: left.copy() for m, left in self.left.items()}
            again = self.put_back(j) if stays else {}
            if not again:
                self.left = before
                again = {k: self.put_anywhere(t, j) for k in range(self.first[j], self.first[j + 1])}
            target |= again
        return target

    def put(self, m, job):
        demand = self.demand(self.kind[m], job)
        if (demand < 0).any() or (demand > self.left[m]).any():
            return False
        self.left[m] -= demand
        return True

    def put_back(self, job):
        tasks = range(self.first[job], self.first[job + 1])
        target = {k: int(self.simulator.state.task[k].sent_to) for k in tasks}
        return target if all([self.put(m, job) for m in target.values()]) else {}

    def put_anywhere(self, t, job):
        if self.rng.random() < self.shares:
            for m in self.rng.permutation(list(self.left)).astype(int).tolist():
                if self.put(m, job):
                    return m
        catalogue = self.instance.catalogue
        by_price = np.argsort(catalogue.price, kind="stable")
        for k in (by_price if self.rng.random() < 0.5 else self.rng.permutation(by_price)).tolist():
            demand = self.demand(k, job)
            if (demand >= 0).all() and (demand <= catalogue.capacity[k]).all():
                m = plans.rent(self.simulator.state, t, k)
                self.kind[m], self.left[m] = k, catalogue.capacity[k] - demand
                return m
        raise AssertionError("no type takes the task")

    def apply(self, t, target, released):
        state = self.simulator.state
        for m in range(self.simulator.num_machines):
            if m not in target.values() and (released == 1.0 or self.rng.random() < released):
                plans.release(state, t, m)
        for task, m in target.items():
            state.target[task] = m
        assert plans.apply_plan(state, t) == codes.FINE


@pytest.fixture(scope="session")
def plain():
    """Makes instances whose figures can be reckoned by hand."""
    return simple


@pytest.fixture(scope="session")
def oddities():
    """Makes random tiny instances."""
    return odd


@pytest.fixture(scope="session")
def wander():
    """Returns the costs of some random schedules of an instance."""

    def costs(instance, number, seed):
        rng = np.random.default_rng(seed)
        found = [Wanderer(instance, rng).cost() for _ in range(number)]
        return [cost for cost in found if cost is not None]

    return costs
