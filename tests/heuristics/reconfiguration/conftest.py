"""Views made by hand, small random instances, and Eva's rules task by task: slow, obvious, from the rules alone."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.view import EXECUTING, QUEUED, Market, View
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.model import ReconfigurationInstance

# Type "big" has 10 CPUs for $10 an hour, "small" 5 for $6.
BIG, SMALL = 0, 1


def view_of(
    demand,
    tasks,
    machines=(),
    *,
    capacity=((10,), (5,)),
    price=(10, 6),
    family=None,
    sizes=None,
    phase=None,
    held=None,
    rate=None,
    running=None,
    now_s=600,
    **fields,
):
    """A view. demand : one tuple a class (or one such list a family). tasks : (class, machine or -1), a job each.

    sizes : number of tasks of each job, neighbours in `tasks`, instead. machines : their types. Tasks that are on a
    machine run there, unhindered, unless `phase`, `held`, `rate` and `running` say otherwise.
    """
    rows = np.array(demand, np.int64)
    rows = rows[None] if rows.ndim == 2 else rows
    family = np.zeros(len(price), np.int64) if family is None else np.array(family)
    capacity, price = np.array(capacity, np.int64), np.array(price, np.int64) * 1_000_000
    task_class = np.array([c for c, _ in tasks], np.int64)
    place = np.array([m for _, m in tasks], np.int64)
    sizes = np.ones(len(tasks), np.int64) if sizes is None else np.array(sizes)
    first = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
    kmin = [
        min(
            (
                k
                for k in range(len(price))
                if (rows[family[k], c] >= 0).all() and (rows[family[k], c] <= capacity[k]).all()
            ),
            key=lambda k: price[k],
        )
        for c in range(rows.shape[1])
    ]
    market = Market(
        resources=tuple(f"cpu{r}" for r in range(capacity.shape[1])),
        families=tuple(f"f{f}" for f in range(rows.shape[0])),
        type_names=tuple(f"t{k}" for k in range(len(price))),
        type2family=family,
        capacity=capacity,
        price=price,
        acquire_s=np.zeros(len(price), np.int64),
        setup_s=np.zeros(len(price), np.int64),
        period_s=300,
    )
    num_classes = rows.shape[1]
    values = {
        "now_s": now_s,
        "market": market,
        "demand": rows,
        "reservation_type": np.array(kmin, np.int64),
        "class_names": tuple(f"c{c}" for c in range(num_classes)),
        "class2workload": np.arange(num_classes),
        "delays_s": np.tile(np.array([1, 10, 1, 20, 80]), (num_classes, 1)),
        "job": np.arange(sizes.size),
        "job_class": task_class[first],
        "job_tasks": sizes,
        "job_arrival_s": np.zeros(sizes.size, np.int64),
        "job_phase": np.where(place[first] < 0, QUEUED, EXECUTING) if phase is None else np.array(phase),
        "job_attained_s": np.zeros(sizes.size),
        "num_ended": 0,
        "ended": np.empty(0, np.int64),
        "ended_s": np.empty(0, np.int64),
        "job_duration_s": None,
        "task": np.arange(len(tasks)),
        "task_job": np.repeat(np.arange(sizes.size), sizes),
        "task_class": task_class,
        "task_machine": place,
        "task_held_on": place.copy() if held is None else np.array(held),
        "task_rate": np.where(place < 0, -1.0, 1.0) if rate is None else np.array(rate, np.float64),
        "machine": np.arange(len(machines)),
        "machine_type": np.array(machines, np.int64),
        "machine_running": np.ones(len(machines), np.bool_) if running is None else np.array(running),
        "throughput": None,
        "memory": {},
    }
    values.update({key: np.array(value) if isinstance(value, list) else value for key, value in fields.items()})
    for holder in (values, {"a": capacity, "b": price, "c": family}):
        for value in holder.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
    return View(**values)


def instance_of(seed, jobs=12, **changes):
    """A random instance of two families, four types and a few classes, whose throughputs are exact in binary."""
    rng = np.random.default_rng(seed)
    classes, workloads = 4, 3
    job2class = np.concatenate((np.arange(classes), rng.integers(0, classes, jobs - classes)))
    cpu = rng.integers(1, 5, (2, classes, 1)) * 1000
    demand = np.concatenate((cpu, rng.integers(0, 4, (2, classes, 1)) * 1024), axis=2)
    if seed % 3 == 0:
        demand[1, 0] = -1
    catalogue = ProvisioningInstance(
        name="random",
        resources=("cpu", "ram_gib"),
        families=("narrow", "wide"),
        type_names=("n5", "n10", "w7", "w14"),
        type2family=[0, 0, 1, 1],
        capacity=[[5000, 4096], [10000, 8192], [7000, 6144], [14000, 12288]],
        price=[1_000_000, 1_750_000, 1_500_000, 2_500_000],
        demand=demand,
        counts=np.ones(classes),
        workloads=tuple(f"w{w}" for w in range(workloads)),
        class2workload=np.arange(classes) % workloads,
        throughput=rng.choice([500, 750, 875, 1000], (workloads, workloads)),
    )
    delays = {key: rng.integers(0, 6, workloads) for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")}
    fields = {
        "name": f"random-{seed}",
        "catalogue": catalogue,
        "acquire_s": rng.integers(0, 8, 4),
        "setup_s": rng.integers(0, 30, 4),
        **delays,
        "arrival_s": np.sort(rng.integers(0, 400, jobs)),
        "work_s": rng.integers(1, 400, jobs),
        "job2class": job2class,
        "num_tasks": rng.choice([1, 1, 2, 3], jobs),
        "period_s": 20,
    }
    return ReconfigurationInstance(**{**fields, **changes})


@dataclass
class PlainTable:
    """Observations of (class, sorted classes beside it)."""

    tau: float = 0.95
    seen: dict = field(default_factory=dict)

    def throughput(self, c, beside):
        key = (c, tuple(sorted(beside)))
        if key in self.seen:
            return sum(self.seen[key]) / len(self.seen[key])
        product = 1.0
        for d in beside:
            pair = self.seen.get((c, (d,)))
            product *= self.tau if pair is None else sum(pair) / len(pair)
        return product


@dataclass
class Plain:
    """A view's tasks and machines, and a plan in the making: place[task] = ("old", machine) or ("new", number)."""

    view: View
    table: PlainTable
    place: dict = field(default_factory=dict)
    chosen: set[int] = field(default_factory=set)
    new_types: list[int] = field(default_factory=list)

    def demand(self, k, tasks):
        rows = [self.view.demand[self.view.market.type2family[k], self.view.task_class[t]].tolist() for t in tasks]
        return None if any(min(row) < 0 for row in rows) else [sum(column) for column in zip(*rows, strict=True)]

    def fits(self, k, tasks):
        demand = self.demand(k, tasks)
        return demand is not None and all(
            d <= c for d, c in zip(demand, self.view.market.capacity[k].tolist(), strict=True)
        )

    def worth(self, tasks, sizes):
        total = 0.0
        for t in tasks:
            c = int(self.view.task_class[t])
            f = self.table.throughput(c, [int(self.view.task_class[u]) for u in tasks if u != t])
            n = int(self.view.job_tasks[self.view.task_job[t]]) if sizes else 1
            total += self.price(self.kmin(t)) * (f if n == 1 else max(0.0, 1 - (1 - f) * n))
        return total

    def kmin(self, t):
        return int(self.view.reservation_type[self.view.task_class[t]])

    def price(self, k):
        return float(self.view.market.price[k])

    def aligned(self, k, t, tasks):
        capacity = self.view.market.capacity[k].tolist()
        used = self.demand(k, tasks) or [0] * len(capacity)
        own = self.demand(k, [t])
        assert own is not None
        return sum(d / c * ((c - u) / c) for d, c, u in zip(own, capacity, used, strict=True) if c > 0)

    def committed(self, m):
        return [t for t in range(self.view.num_tasks) if self.view.task_machine[t] == m]

    def reusable(self, k):
        free = [
            m
            for m in range(self.view.num_machines)
            if self.view.machine_type[m] == k and self.view.machine_running[m] and m not in self.chosen
        ]
        return max(free, key=lambda m: len(self.committed(m)), default=None)

    def take(self, k, on, tasks):
        if on is not None:
            self.chosen.add(on)
            where = ("old", on)
        else:
            self.new_types.append(k)
            where = ("new", len(self.new_types) - 1)
        for t in tasks:
            self.place[t] = where

    def pack(self, listed, downsizing=True):
        market = self.view.market
        todo = list(listed)
        for k in sorted(range(len(market.type_names)), key=lambda k: -market.price[k]):
            while todo:
                on = self.reusable(k)
                chosen = []
                while True:
                    options = [t for t in todo if t not in chosen and self.fits(k, [*chosen, t])]
                    if not options:
                        break
                    best = max(
                        options,
                        key=lambda t: (
                            round(self.worth([*chosen, t], True), 3),
                            on is not None and int(self.view.task_held_on[t]) == on,
                            round(self.aligned(k, t, chosen), 9),
                        ),
                    )
                    if chosen and self.worth([*chosen, best], True) < self.worth(chosen, True) - 1e-3:
                        break
                    chosen.append(best)
                own = len(chosen) == 1 and self.kmin(chosen[0]) == k
                if chosen and (own or self.worth(chosen, True) >= self.price(k) - 1e-3):
                    rented = k
                    if downsizing:
                        # By the demand on the family tried, as in the authors' code, and by that on its own.
                        need = np.array(self.demand(k, chosen))
                        takes = [
                            x
                            for x in range(len(market.type_names))
                            if self.fits(x, chosen) and (need <= market.capacity[x]).all()
                        ]
                        rented = min(takes, key=self.price)
                    self.take(rented, on if rented == k else None, chosen)
                    todo = [t for t in todo if t not in chosen]
                    continue
                for t in [t for t in todo if self.kmin(t) == k]:
                    self.take(k, self.reusable(k), [t])
                    todo.remove(t)
                break

    def insert(self, listed, sizes=False):
        todo = list(listed)
        while True:
            options = []
            for t in todo:
                for m in sorted(self.chosen):
                    there = [u for u, where in sorted(self.place.items()) if where == ("old", m)]
                    k = int(self.view.machine_type[m])
                    if self.fits(k, [*there, t]):
                        held = int(self.view.task_held_on[t]) == m
                        score = (round(self.worth([*there, t], sizes), 3), held, round(self.aligned(k, t, there), 9))
                        options.append((score, t, m))
            if not options:
                return todo
            _, t, m = max(options, key=lambda option: option[0])
            self.place[t] = ("old", m)
            todo.remove(t)

    def keep(self, frozen, partly):
        """Begin with what stays: frozen tasks, and in part all on machines that pay."""
        for m in range(self.view.num_machines):
            there = self.committed(m)
            own = len(there) == 1 and self.kmin(there[0]) == self.view.machine_type[m]
            pays = bool(there) and (own or self.worth(there, False) >= self.price(int(self.view.machine_type[m])))
            stay = there if any(frozen[t] for t in there) or pays else []
            stay = stay if partly else [t for t in there if frozen[t]]
            if stay:
                self.chosen.add(m)
                self.place.update(dict.fromkeys(stay, ("old", m)))

    def listed(self, partly):
        """In full, by number; in part, new tasks first, then by machine."""
        todo = [t for t in range(self.view.num_tasks) if t not in self.place]
        return sorted(todo, key=lambda t: int(self.view.task_machine[t])) if partly else todo

    def machine(self):
        """(T,) as in `Plan`."""
        base = {"old": 0, "new": self.view.num_machines}
        return [base[self.place[t][0]] + self.place[t][1] for t in range(self.view.num_tasks)]


@pytest.fixture(scope="session")
def make_view():
    return view_of


@pytest.fixture(scope="session")
def make_instance():
    return instance_of


@pytest.fixture(scope="session")
def plain():
    return Plain


@pytest.fixture(scope="session")
def plain_table():
    return PlainTable
