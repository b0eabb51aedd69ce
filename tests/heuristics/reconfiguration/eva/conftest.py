"""Eva's two plans a second time, task by task: slow, obvious, from the rules alone."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.observation import Observation


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
    """An observation's tasks and machines, and a plan in the making: place[task] = ("old", machine) or ("new", number)."""

    observation: Observation
    table: PlainTable
    place: dict = field(default_factory=dict)
    chosen: set[int] = field(default_factory=set)
    new_types: list[int] = field(default_factory=list)

    def demand(self, k, tasks):
        rows = [
            self.observation.demand[self.observation.market.type2family[k], self.observation.task_class[t]].tolist()
            for t in tasks
        ]
        return None if any(min(row) < 0 for row in rows) else [sum(column) for column in zip(*rows, strict=True)]

    def fits(self, k, tasks):
        demand = self.demand(k, tasks)
        return demand is not None and all(
            d <= c for d, c in zip(demand, self.observation.market.capacity[k].tolist(), strict=True)
        )

    def worth(self, tasks, sizes):
        total = 0.0
        for t in tasks:
            c = int(self.observation.task_class[t])
            f = self.table.throughput(c, [int(self.observation.task_class[u]) for u in tasks if u != t])
            n = int(self.observation.job_tasks[self.observation.task_job[t]]) if sizes else 1
            total += self.price(self.kmin(t)) * (f if n == 1 else max(0.0, 1 - (1 - f) * n))
        return total

    def kmin(self, t):
        return int(self.observation.reservation_type[self.observation.task_class[t]])

    def price(self, k):
        return float(self.observation.market.price[k])

    def aligned(self, k, t, tasks):
        capacity = self.observation.market.capacity[k].tolist()
        used = self.demand(k, tasks) or [0] * len(capacity)
        own = self.demand(k, [t])
        assert own is not None
        return sum(d / c * ((c - u) / c) for d, c, u in zip(own, capacity, used, strict=True) if c > 0)

    def committed(self, m):
        return [t for t in range(self.observation.num_tasks) if self.observation.task_machine[t] == m]

    def reusable(self, k):
        free = [
            m
            for m in range(self.observation.num_machines)
            if self.observation.machine_type[m] == k and self.observation.machine_running[m] and m not in self.chosen
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
        market = self.observation.market
        unplaced = list(listed)
        for k in sorted(range(len(market.type_names)), key=lambda k: -market.price[k]):
            while unplaced:
                on = self.reusable(k)
                chosen = []
                while True:
                    options = [t for t in unplaced if t not in chosen and self.fits(k, [*chosen, t])]
                    if not options:
                        break
                    best = max(
                        options,
                        key=lambda t: (
                            round(self.worth([*chosen, t], True), 3),
                            on is not None and int(self.observation.task_held_on[t]) == on,
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
                    unplaced = [t for t in unplaced if t not in chosen]
                    continue
                for t in [t for t in unplaced if self.kmin(t) == k]:
                    self.take(k, self.reusable(k), [t])
                    unplaced.remove(t)
                break

    def insert(self, listed, sizes=False):
        unplaced = list(listed)
        while True:
            options = []
            for t in unplaced:
                for m in sorted(self.chosen):
                    there = [u for u, where in sorted(self.place.items()) if where == ("old", m)]
                    k = int(self.observation.machine_type[m])
                    if self.fits(k, [*there, t]):
                        held = int(self.observation.task_held_on[t]) == m
                        score = (round(self.worth([*there, t], sizes), 3), held, round(self.aligned(k, t, there), 9))
                        options.append((score, t, m))
            if not options:
                return unplaced
            _, t, m = max(options, key=lambda option: option[0])
            self.place[t] = ("old", m)
            unplaced.remove(t)

    def keep(self, frozen, partly):
        """Begin with what stays: frozen tasks, and in part all on machines that pay."""
        for m in range(self.observation.num_machines):
            there = self.committed(m)
            own = len(there) == 1 and self.kmin(there[0]) == self.observation.machine_type[m]
            pays = bool(there) and (
                own or self.worth(there, False) >= self.price(int(self.observation.machine_type[m]))
            )
            stay = there if any(frozen[t] for t in there) or pays else []
            stay = stay if partly else [t for t in there if frozen[t]]
            if stay:
                self.chosen.add(m)
                self.place.update(dict.fromkeys(stay, ("old", m)))

    def listed(self, partly):
        """In full, by number; in part, new tasks first, then by machine."""
        unplaced = [t for t in range(self.observation.num_tasks) if t not in self.place]
        return sorted(unplaced, key=lambda t: int(self.observation.task_machine[t])) if partly else unplaced

    def machine(self):
        """(T,) as in `Plan`."""
        base = {"old": 0, "new": self.observation.num_machines}
        return [base[self.place[t][0]] + self.place[t][1] for t in range(self.observation.num_tasks)]


@pytest.fixture
def plain_table():
    return PlainTable


@pytest.fixture
def plain_plan():
    return Plain
