"""Which running machines to keep and which to rent, if their free room only had to hold what moves together.

Sets        e running machines: n[e, c] tasks of each class c on them, of type k(e), family f(e); k machine types
Variables   y[e] in {0, 1}: e is kept;  z[e, c] tasks that stay;  X[f, c] tasks that come to machines of family f, in shares
            Y[k] new machines;  w[e, c] tasks that come to e, of the classes that few machines have room for; y, w, Y whole
Minimise    sum_e price[k(e)] y[e] + sum_k price[k] Y[k]
Rows        sum_e z[e, c] + sum_f X[f, c] >= counts[c]                                              for each class c
            z[e, c] <= n[e, c] y[e]                                                                 for each e, c
            sum_c demand[c, r] (z[e, c] + w[e, c]) <= capacity[k(e), r] y[e]                        for each e that has w, r
            X[f, c] <= sum_k most[k, c] Y[k]                                                        for each f, c that has w
            sum_e (capacity[k(e), r] y[e] - sum_c demand[c, r] (z[e, c] + w[e, c])) + sum_k (capacity[k, r] - spare[r]) Y[k]
                - sum_c demand[c, r] X[f, c] >= 0                                                   for each f, r
            sum_e (sum_c weight[c] (n[e, c] - z[e, c]) + node[e] (1 - y[e])) <= max_disruption
            sum_{e of k} y[e] + Y[k] <= stock[k]                                                    for each k with a stock

and w counts as z in the first. most[k, c] is how many tasks of c a machine of k holds. A task stays only as far as its machine
is kept: that is what makes the relaxation strong, whose bound is near that of whole machines. Every plan is a solution of the
program without spare, so its bound is one.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import LinearModel, Rows, proven_cost
from schedgap.formulations.provisioning.consolidation.consolidation import grouped_plan, trim
from schedgap.formulations.provisioning.consolidation.exchange import Exchange
from schedgap.formulations.provisioning.limits import hardest_apart, without_interference
from schedgap.formulations.provisioning.pooled.kernels_place import place_best
from schedgap.formulations.provisioning.pooled.packing import pack
from schedgap.formulations.provisioning.pooled.pooled import types_alone
from schedgap.formulations.provisioning.pooled.program import Pooled
from schedgap.formulations.provisioning.search import Search
from schedgap.instances import exact
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.provisioning.classes import part_of
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import DISRUPTION, PER_MACHINE, STOCK, anew, disruption
from schedgap.instances.provisioning.running import ANY_NUMBER, ONE_TASK
from schedgap.instances.provisioning.solution import NEW
from schedgap.instances.provisioning.verify import price_step, verify

# Units of a resource that a machine has at most in the program, and steps of a task's disruption.
COARSE, FINE = 2**20, 2**10
# Classes are told apart by machine where a smaller share of machines has room for a task, up to so many pairs.
SCARCE, MAX_PAIRS = 0.4, 6_000
MAX_SHARES = 200_000
ALMOST = 1e-6
# Share of what found no room that the next program gets more: less waste is enough for most of it.
SHORT = 0.5
UNLIMITED_S = 60.0
# Shares of the time for one program, and after which none with more room begins; programs in vain after which none does.
PROGRAM_SHARE, ROOM_SHARE, PATIENCE = 0.25, 0.15, 12
# Seconds for what finds no room, each time.
REST_S = 1.0


def supports(instance: ProvisioningInstance) -> str | None:
    """Return None, or why the program says nothing of the instance, or is too large."""
    if (reason := without_interference(instance)) is not None:
        return reason
    if instance.running is None or instance.max_disruption is None:
        return f"{instance.name} has no limit on disruption; use pooled"
    shares = instance.running.count.size + int((instance.demand[:, :, 0] >= 0).sum())
    return None if shares <= MAX_SHARES else f"the program would have {shares} shares, over {MAX_SHARES}"


@method(
    "consolidation-pooled",
    version=2,
    family=FAMILY,
    supports=supports,
    bounds=True,
    handles=(STOCK, DISRUPTION, PER_MACHINE),
)
def consolidation_pooled(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1, found: Found = untold
) -> Outcome:
    """Choose the machines to keep and to rent by a small integer program, then pack what moves: bound and plan."""
    start = time.perf_counter()
    limit_s = UNLIMITED_S if time_limit_s is None else time_limit_s
    search = Keeping(instance, start, limit_s, threads, found)
    build_s = time.perf_counter() - start
    search.run()
    return search.outcome_for(instance, lambda plan: plan, build_s, {"programs": search.programs})


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What the program says.

    kept : (E,) bool. content : (E, C) int64, tasks that stay on machines, and those that come of which it says where. comes :
    (F, C) int64, other tasks that come to machines of each family. rented : (K,) int64. price, bound : micro-dollars of the
    program's solution, and below all plans where there was no more room.
    """

    kept: BoolArray
    content: IntArray
    comes: IntArray
    rented: IntArray
    price: int
    bound: int


class Keeping(Search):
    """One run: the program with more and more room, the best plan, the bound."""

    def __init__(
        self, instance: ProvisioningInstance, start: float, limit_s: float, threads: int, found: Found = untold
    ) -> None:
        super().__init__(start, limit_s, found)
        running = instance.running
        assert running is not None
        self.instance, self.running, self.threads, self.programs = instance, running, threads, 0
        self.content = running.contents(instance.num_classes)
        self.stays = self._staying()
        self.family = instance.type2family[running.machine_type]
        self.hard = self._hard()
        self.stay_at = np.nonzero((self.content > 0) & instance.fits()[running.machine_type])

    def _staying(self) -> IntArray:
        """(E, C) int64: what fits of what is on each machine, in the order of classes; the rest has to leave in any case."""
        instance, types = self.instance, self.running.machine_type
        stays = np.where(instance.fits()[types], np.minimum(self.content, instance.most_together), 0)
        demand = np.maximum(instance.demand[instance.type2family[types]], 0)
        rest = instance.capacity[types] - np.einsum("ec,ecr->er", stays, demand)
        for e in np.flatnonzero((rest < 0).any(axis=1)).tolist():
            for c in np.flatnonzero(stays[e])[np.argsort(instance.weight[stays[e] > 0], kind="stable")].tolist():
                while stays[e, c] and (rest[e] < 0).any() and demand[e, c][rest[e] < 0].any():
                    stays[e, c] -= 1
                    rest[e] += demand[e, c]
        return stays

    def _hard(self) -> tuple[IntArray, IntArray]:
        """Return machines and classes (N,) that may be brought together, of classes that few machines have room for now."""
        instance, types = self.instance, self.running.machine_type
        demand, fits = instance.demand[self.family], instance.fits()[types]
        rest = instance.capacity[types] - np.einsum("ec,ecr->er", self.stays, np.maximum(demand, 0))
        has_room = (fits & (demand <= rest[:, None, :]).all(axis=2)).sum(axis=0)
        share = has_room / np.maximum(fits.sum(axis=0), 1)
        chosen: list[int] = []
        pairs = 0
        for c in np.argsort(share, kind="stable").tolist():
            pairs += int(fits[:, c].sum())
            if share[c] >= SCARCE or pairs > MAX_PAIRS:
                break
            chosen.append(c)
        machine, which = np.nonzero(fits[:, np.sort(np.array(chosen, np.int64))])
        return machine, np.sort(np.array(chosen, np.int64))[which]

    def run(self) -> None:
        """Solve the program, pack its machines, and exchange some of them while there is time."""
        self._solve()
        if self.best is not None and self.is_open:
            self.programs += Exchange(self.instance, self, self.threads).run()

    def _solve(self) -> None:
        """Solve, pack, and ask for as much more room as was short, until no program is cheaper than the best plan."""
        room = np.zeros((len(self.instance.families), len(self.instance.resources)))
        over, idle, share = 0, 0, PROGRAM_SHARE
        while self.is_open and idle < PATIENCE and (self.best is None or self.left_s > (1 - ROOM_SHARE) * self.limit_s):
            is_first = not room.any() and over == 0
            limit_s = min(self.left_s, max(1.0, share * self.limit_s))
            chosen = self._chosen(room, over, limit_s)
            if chosen is None:
                return
            if is_first:
                self.raise_bound(chosen.bound)
            if self.objective is not None and chosen.price >= self.objective:
                return
            before = self.objective
            short, more = self._packed(chosen)
            idle = 0 if self.objective != before else idle + 1
            if not short.any() and more == 0:
                if chosen.price <= self.bound or share >= 1:
                    return
                # The program had too little time.
                share *= 2
            room, over = room + SHORT * short, over + more

    def _chosen(self, room: FloatArray, over: int, limit_s: float) -> Chosen | None:
        """Solve the program with so much more room (F, R), and so much less disruption."""
        self.programs += 1
        model = self.model(room, over)
        try:
            found = solve(model, time_limit_s=limit_s, threads=self.threads)
        except BackendError:
            return None
        if found.x is None:
            return None
        size, num_types = self.running.size, self.instance.num_types
        kept, rented = found.x[:size] > 0.5, np.rint(found.x[-num_types:]).astype(np.int64)
        first, stays, come = size, np.zeros_like(self.content), np.zeros_like(self.content)
        for where, into in ((self.stay_at, stays), (self.hard, come)):
            into[where] = np.floor(found.x[first : first + where[0].size] + ALMOST).astype(np.int64)
            first += where[0].size
        # What stays in shares stays whole, unless something comes for which there is room then only.
        content = np.where(np.asarray(come.any(axis=1))[:, None], stays + come, self.stays)
        comes = np.zeros(self.instance.demand.shape[:2], np.int64)
        comes[self.instance.demand[:, :, 0] >= 0] = np.floor(found.x[first:-num_types] + ALMOST).astype(np.int64)
        bound = 0 if found.bound is None else proven_cost(found.bound) * model.objective_scale
        price = self.instance.price
        return Chosen(
            kept, content, comes, rented, int(price[self.running.machine_type[kept]].sum() + rented @ price), bound
        )

    def model(self, room: FloatArray, over: int) -> LinearModel:
        """Build the program. room : (F, R), to spare of the machines of each family. over : so much less may be disrupted."""
        instance, running, types = self.instance, self.running, self.running.machine_type
        (stays, stay_class), (gets, get_class) = self.stay_at, self.hard
        into, comes = np.nonzero(instance.demand[:, :, 0] >= 0)
        sizes = (running.size, stays.size, gets.size, into.size, instance.num_types)
        y, z, w, x, rented = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
        machine, task_class, placed = np.append(stays, gets), np.append(stay_class, get_class), np.append(z, w)
        number = np.append(self.content[self.stay_at], instance.most_together[get_class])
        rows, i = Rows(sum(sizes)), np.arange(machine.size)
        rows.add("cover", (task_class, placed, 1.0), (comes, x, 1.0), lower=instance.counts)
        rows.add("kept", (i, placed, 1.0), (i, machine, -number), upper=np.zeros(machine.size))
        self._add_new(rows, (into, comes, x), rented)
        for r, resource in enumerate(instance.resources):
            there, coming = instance.demand[self.family[machine], task_class, r], instance.demand[into, comes, r]
            unit = max(1, int(np.gcd.reduce(np.concatenate((there, coming)))))
            unit *= max(1, -(-int(instance.capacity[:, r].max()) // (unit * COARSE)))
            capacity = -(-instance.capacity[:, r] // unit)
            rows.add(
                resource,
                (self.family, y, capacity[types]),
                (self.family[machine], placed, -(there // unit)),
                (instance.type2family, rented, capacity),
                (into, x, -(coming // unit)),
                lower=room[:, r] / unit,
            )
            # Where it says what comes, a machine holds that beside what stays.
            full = np.unique(gets)
            row = np.full(running.size, -1)
            row[full] = np.arange(full.size)
            held = row[machine] >= 0
            rows.add(
                f"{resource} of each",
                (np.arange(full.size), full, capacity[types[full]]),
                (row[machine[held]], placed[held], -(there[held] // unit)),
                lower=np.zeros(full.size),
            )
        for c in hardest_apart(instance).tolist():
            most, mine, comes_in = instance.most_together[c], task_class == c, comes == c
            rows.add(
                f"apart-{c}",
                (self.family, y, most),
                (instance.type2family, rented, most),
                (self.family[machine[mine]], placed[mine], -1.0),
                (into[comes_in], x[comes_in], -1.0),
                lower=np.zeros(len(instance.families)),
            )
        self._add_limits(rows, (z, stay_class), y, rented, over)
        step, cost_of = price_step(instance), np.zeros(int(rented[-1]) + 1)
        cost_of[y], cost_of[rented] = instance.price[types] // step, instance.price // step
        upper = np.concatenate(
            (np.ones(y.size), number, instance.counts[comes], np.full(rented.size, instance.num_tasks))
        )
        integral = np.zeros(cost_of.size, np.bool_)
        integral[y] = integral[w] = integral[rented] = True
        return rows.model(f"keeping-{instance.name}", cost_of, upper, step, integral=integral)

    def _add_new(self, rows: Rows, coming: tuple[IntArray, IntArray, IntArray], rented: IntArray) -> None:
        """Let tasks that come, of which it is said to which running machine, come else to new machines that hold them only."""
        instance, (into, comes, x) = self.instance, coming
        hard = np.isin(comes, self.hard[1])
        demand = np.maximum(instance.demand[instance.type2family], 0)
        free = np.where(demand > 0, instance.capacity[:, None, :] // np.maximum(demand, 1), instance.num_tasks).min(
            axis=2
        )
        holds = np.where(instance.fits(), np.minimum(free, instance.most_together), 0)
        row = np.flatnonzero(hard)
        types, which = np.nonzero(instance.type2family[:, None] == into[row])
        rows.add(
            "new",
            (which, rented[types], holds[types, comes[row][which]]),
            (np.arange(row.size), x[row], -1.0),
            lower=np.zeros(row.size),
        )

    def _add_limits(
        self, rows: Rows, staying: tuple[IntArray, IntArray], y: IntArray, rented: IntArray, over: int
    ) -> None:
        """Add the limit on disruption, and stocks. staying : variables of the tasks that stay, and their classes."""
        instance, running, (z, task_class) = self.instance, self.running, staying
        node = np.zeros(running.size, np.int64) if running.node_disruption is None else running.node_disruption
        of_task = instance.weight[running.task_class]
        step = max(ONE_TASK // FINE, int(np.gcd.reduce(np.concatenate((of_task, node)))))
        assert instance.max_disruption is not None
        whole = int(exact.dot(running.count, of_task // step)) + int((node // step).sum())
        rows.add(
            "stay",
            (0, z, (instance.weight // step)[task_class]),
            (0, y, node // step),
            lower=np.array([whole - max(0, instance.max_disruption - over) // step]),
        )
        if instance.stock is not None:
            limited = np.flatnonzero(instance.stock != ANY_NUMBER)
            place = np.full(instance.num_types, -1)
            place[limited] = np.arange(limited.size)
            owner = place[running.machine_type]
            runs = owner >= 0
            rows.add(
                "stock",
                (owner[runs], y[runs], 1.0),
                (np.arange(limited.size), rented[limited], 1.0),
                upper=instance.stock[limited],
            )

    def _packed(self, chosen: Chosen) -> tuple[FloatArray, int]:
        """Pack on the machines that were chosen, keep the plan; return what was short (F, R), and of disruption."""
        instance, machines = self.instance, np.flatnonzero(chosen.kept)
        types = np.concatenate(
            (self.running.machine_type[machines], np.repeat(np.arange(instance.num_types), chosen.rented))
        )
        content = np.zeros((types.size, instance.num_classes), np.int64)
        content[: machines.size] = chosen.content[machines]
        family = instance.type2family[types]
        demand = np.maximum(instance.demand[family], 0)
        before = np.zeros_like(content)
        before[: machines.size] = np.minimum(content[: machines.size], self.content[machines])
        trim(content, before, np.maximum(content.sum(axis=0) - instance.counts, 0))
        rest = instance.capacity[types] - np.einsum("mc,mcr->mr", content, demand)
        left = instance.counts - content.sum(axis=0)
        scale = 1.0 / np.maximum(instance.capacity.max(axis=0), 1)
        fits = instance.fits()[types]
        sizes = (np.where(fits[:, :, None], demand, 0).max(axis=0, initial=0) * scale).max(axis=1)
        turn = np.argsort(-sizes, kind="stable")
        # To each family what the program says, which keeps room for tasks that may go nowhere else; then what is left of it.
        for f in range(len(instance.families)):
            here = np.minimum(chosen.comes[f], left)
            left -= here
            only = fits & (family == f)[:, None]
            place_best(turn, here, only, instance.most_together, family, instance.demand, rest, scale, content)
            left += here
        place_best(turn, left, fits, instance.most_together, family, instance.demand, rest, scale, content)
        short = np.zeros((len(instance.families), len(instance.resources)))
        keeps = np.concatenate((machines, np.full(types.size - machines.size, NEW)))
        if left.any():
            classes = np.flatnonzero(left)
            allowed = instance.demand[:, classes, 0] >= 0
            taken = np.where(allowed[:, :, None], instance.demand[:, classes], 0) * left[classes][:, None]
            short = taken.sum(axis=1) / np.maximum(allowed.sum(axis=0).max(), 1)
            more_types, more = self._rest(left, types)
            types, content = np.concatenate((types, more_types)), np.vstack((content, more))
            keeps = np.concatenate((keeps, np.full(more_types.size, NEW)))
        needed = content.any(axis=1) | (keeps != NEW)
        types, keeps, content = types[needed], keeps[needed], content[needed]
        plan = grouped_plan(types, keeps, content)
        assert instance.max_disruption is not None
        over = disruption(instance, plan) - instance.max_disruption
        # Not if it disrupts too much, if amounts that the program rounds are too much for a machine, or a stock ends.
        with suppress(VerifyError):
            self.keep(plan, verify(instance, plan))
        return short, max(0, over)

    def _rest(self, left: IntArray, rented: IntArray) -> tuple[IntArray, IntArray]:
        """Return types (M,) and contents (M, C) of machines for the tasks (C,) that found no room."""
        instance, classes = self.instance, np.flatnonzero(left)
        part = part_of(anew(instance), classes, left[classes], rented)
        found = Pooled(part, by_type=True).solve(0.0, min(REST_S, max(0.1, self.left_s)), self.threads)
        types, rows = np.zeros(0, np.int64), np.zeros((0, classes.size), np.int64)
        if found.machines is not None:
            types = np.repeat(np.arange(instance.num_types), found.machines)
            rows = pack(part, types, REST_S)
        over = left[classes] - rows.sum(axis=0)
        alone = np.repeat(np.arange(classes.size), over)
        types = np.concatenate((types, types_alone(instance)[classes[alone]]))
        rows = np.vstack((rows, np.eye(classes.size, dtype=np.int64)[alone]))
        content = np.zeros((types.size, instance.num_classes), np.int64)
        content[:, classes] = rows
        return types, content
