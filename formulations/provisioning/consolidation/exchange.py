"""A plan for a running cluster, and better ones: some machines at a time are chosen and packed anew by an integer program.

Sets        m some machines of the plan, some running ones that it gives back, and some that could be rented; c their classes
Variables   y[m] in {0, 1}: m is part of the plan;  n[m, c] tasks on it;  s[m, c] of them those that stay
Minimise    sum_m price[m] y[m], and of plans of one price the one that disrupts least
Rows        sum_m n[m, c] = the tasks of c that are on these machines now                           for each c
            sum_c demand[c, r] n[m, c] <= capacity[m, r] y[m]                                       for each m, r
            n[m, c] <= most[c] y[m]                                                                 for each m, c without demand
            s[m, c] <= n[m, c]                                                                      for each m that runs, c
            sum_m (sum_c weight[c] s[m, c] + node[m] y[m]) >= what must not be disrupted here, as the rest of the plan is
            sum_{m of k} y[m] <= what the rest of the plan leaves of the stock of k                 for each k with a stock

So machines change places that run and are kept with others that run and are given back, whose free room fits together better.
Ten machines and five others make a program of a second or less.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import Rows
from schedgap.formulations.provisioning.consolidation.consolidation import grouped_plan
from schedgap.formulations.provisioning.search import Search
from schedgap.instances import exact
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.method import Status
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import NEW
from schedgap.instances.provisioning.verify import price_step, verify

# Machines of the plan at a time, at first, at least and at most; a program that takes so many seconds is too large. Programs
# in vain after which the search ends.
SIZE, LEAST, MOST, PROGRAM_S, PATIENCE = 10, 4, 24, 2.0, 60
# Machines that could be rented, beside those that are in the plan; and the share of running ones that could come back.
RENTABLE, RETURNING = 3, 0.5
# Units of a resource that a machine has at most, and of disruption that a task or machine has.
COARSE = 2**20


class Exchange:
    """A plan as machines: keeps (M,), the running machine or `NEW`; types (M,); content (M, C)."""

    def __init__(self, instance: ProvisioningInstance, search: Search, threads: int, seed: int = 0) -> None:
        running = instance.running
        assert running is not None and search.best is not None and instance.max_disruption is not None
        self.instance, self.running, self.search, self.threads = instance, running, search, threads
        self.fits, self.rng, self.size = instance.fits(), np.random.default_rng(seed), SIZE
        self.before = running.contents(instance.num_classes)
        self.node = np.zeros(running.size, np.int64) if running.node_disruption is None else running.node_disruption
        self.most = exact.dot(self.before.sum(axis=0), instance.weight) + int(self.node.sum()) - instance.max_disruption
        plan = search.best
        self.types, self.content = plan.machines(instance.num_classes)
        keeps = np.full(plan.repeat.size, NEW) if plan.keeps is None else plan.keeps
        self.keeps: IntArray = np.repeat(keeps, plan.repeat)

    def run(self) -> int:
        """Choose and pack machines anew until the time ends or nothing gets cheaper; return how many programs were solved."""
        programs = idle = 0
        while self.search.is_open and self.search.left_s > PROGRAM_S / 10 and idle < PATIENCE:
            before = self.search.objective
            self._try(*self._chosen())
            programs += 1
            idle = 0 if self.search.objective != before else idle + 1
        return programs

    def _chosen(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return machines of the plan, running ones that are given back, and types to rent: of one machine's kind, at random."""
        instance, rng = self.instance, self.rng
        one = self.fits[self.types[rng.integers(self.types.size)]]
        alike: BoolArray = np.asarray(self.fits[:, one].any(axis=1))
        here = np.flatnonzero(alike[self.types])
        some = rng.choice(here, min(self.size, here.size), replace=False)
        back = np.setdiff1d(np.flatnonzero(alike[self.running.machine_type]), self.keeps)
        back = rng.choice(back, min(int(RETURNING * self.size), back.size), replace=False)
        types = np.flatnonzero(alike if instance.stock is None else alike & (instance.stock != 0))
        types = rng.choice(types, min(RENTABLE, types.size), replace=False)
        return some, back, np.append(self.types[some][self.keeps[some] == NEW], types)

    def _stayed(self, keeps: IntArray, content: IntArray) -> int:
        """Return what is not disrupted of these machines, in 1 / `ONE_TASK`."""
        runs = keeps != NEW
        stay = np.minimum(content[runs], self.before[keeps[runs]]).sum(axis=0)
        return int(exact.dot(stay, self.instance.weight)) + int(self.node[keeps[runs]].sum())

    def _try(self, some: IntArray, back: IntArray, rented: IntArray) -> None:
        """Choose and pack anew, and take over what is cheaper, or disrupts less for the same price."""
        instance, rest = self.instance, np.setdiff1d(np.arange(self.types.size), some)
        freed = self.content[some].sum(axis=0)
        classes = np.flatnonzero(freed)
        keeps = np.concatenate((self.keeps[some][self.keeps[some] != NEW], back, np.full(rented.size, NEW)))
        num_run, types = keeps.size - rented.size, np.append(self.running.machine_type[keeps[keeps != NEW]], rented)
        machine, which = np.nonzero(self.fits[types][:, classes])
        task_class = classes[which]
        stays = np.flatnonzero(machine < num_run)
        stays = stays[self.before[keeps[machine[stays]], task_class[stays]] > 0]
        y, n, s = np.split(np.arange(types.size + machine.size + stays.size), (types.size, types.size + machine.size))
        rows, i = Rows(types.size + machine.size + stays.size), np.arange(stays.size)
        rows.add("cover", (which, n, 1.0), lower=freed[classes], upper=freed[classes])
        rows.add("stay", (i, s, 1.0), (i, n[stays], -1.0), upper=np.zeros(i.size))
        most = np.minimum(freed, instance.most_together)[task_class]
        demand = instance.demand[instance.type2family[types[machine]], task_class]
        for r, resource in enumerate(instance.resources):
            unit = max(1, -(-int(instance.capacity[:, r].max()) // COARSE))
            room = -(instance.capacity[types, r] // unit)
            rows.add(resource, (machine, n, -(-demand[:, r] // unit)), (y, y, room), upper=np.zeros(y.size))
        free = np.flatnonzero((demand == 0).all(axis=1))
        row = np.arange(free.size)
        rows.add("kept", (row, n[free], 1.0), (row, machine[free], -most[free]), upper=np.zeros(free.size))
        self._limit(rows, rest, (s, task_class[stays]), y, keeps, types)
        cost = np.zeros(rows.num_variables)
        cost[y] = instance.price[types] // price_step(instance)
        # All together less than a step of the price.
        cost[s] = -instance.weight[task_class[stays]] / (2 * max(1, int(instance.weight.max())) * freed.sum())
        upper = np.concatenate(
            (np.ones(y.size), most, np.minimum(self.before[keeps[machine[stays]], task_class[stays]], most[stays]))
        )
        try:
            found = solve(
                rows.model(f"exchange-{instance.name}", cost, upper, price_step(instance)),
                time_limit_s=min(PROGRAM_S, self.search.left_s),
                threads=self.threads,
            )
        except BackendError:
            return
        self.size += 1 if found.status is Status.OPTIMAL and found.solve_s < PROGRAM_S / 4 else 0
        self.size -= found.status is not Status.OPTIMAL
        self.size = min(max(self.size, LEAST), MOST)
        if found.x is None:
            return
        content = np.zeros((types.size, instance.num_classes), np.int64)
        content[machine, task_class] = np.rint(found.x[n]).astype(np.int64)
        used = found.x[y] > 0.5
        self._take(
            np.append(self.types[rest], types[used]),
            np.append(self.keeps[rest], keeps[used]),
            np.vstack((self.content[rest], content[used])),
        )

    def _limit(
        self,
        rows: Rows,
        rest: IntArray,
        staying: tuple[IntArray, IntArray],
        y: IntArray,
        keeps: IntArray,
        types: IntArray,
    ) -> None:
        """Add the limit on disruption, and stocks, as the rest of the plan leaves them."""
        instance, (s, task_class), runs = self.instance, staying, keeps != NEW
        need = self.most - self._stayed(self.keeps[rest], self.content[rest])
        # In units in which the solver tells one from the next; rounded so that what is let through is allowed.
        unit = max(1, int(max(instance.weight.max(), self.node.max(initial=0))) // COARSE)
        weight, node = instance.weight // unit, self.node[keeps[runs]] // unit
        rows.add("disruption", (0, s, weight[task_class]), (0, y[runs], node), lower=np.array([-(-need // unit)]))
        if instance.stock is not None:
            limited = np.flatnonzero(instance.stock != ANY_NUMBER)
            place = np.full(instance.num_types, -1)
            place[limited] = np.arange(limited.size)
            mine, taken = place[types], np.bincount(self.types[rest], minlength=instance.num_types)[limited]
            left = instance.stock[limited] - taken
            rows.add("stock", (mine[mine >= 0], y[mine >= 0], 1.0), upper=left)

    def _take(self, types: IntArray, keeps: IntArray, content: IntArray) -> None:
        price, stayed = int(self.instance.price[types].sum()), self._stayed(keeps, content)
        now = int(self.instance.price[self.types].sum()), -self._stayed(self.keeps, self.content)
        if stayed < self.most or (price, -stayed) > now:
            return
        plan = grouped_plan(types, keeps, content)
        # Amounts that the program rounds may be too much for a machine.
        with suppress(VerifyError):
            self.search.keep(plan, verify(self.instance, plan))
            self.types, self.keeps, self.content = types, keeps, content
