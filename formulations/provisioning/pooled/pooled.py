"""Renting for all tasks together, then packing: the method for clouds, whose machines are large beside tasks.

1. Machine types in whose place another is as good go (`offered`).
2. The pooled program (`program`) proposes machines, and proves a bound: no solution costs less than whole machines
   with the capacities that all tasks together need. Where packing finds room for all tasks, that is the optimum.
3. Machines are filled one after the other, as the program's relaxation shares the tasks (`Dive`).
4. For the tasks that are left to less than a machine of any type the program proposes machines, on which they are packed
   (`packing`), with a little of each machine spared, by halves between what was too little and what was enough. What finds
   no room there is a smaller instance, treated alike.
5. So it goes on with all machines and tasks, as long as these can settle by annealing (`choose_fleets`): by types where the
   program is small, first with zones joined and, of these, with whole tasks where they are few. Fleets that are drawn end 1 to 9%
   dearer.
6. Where tasks are many, machines that cost more than their tasks are worth are taken apart, and 3 and 4 repeated for theirs.
7. A few machines at a time are exchanged for others that are drawn, on which their tasks settle by annealing (`exchange`).

Where tasks are of a few kinds only, whole tasks leave much of a machine free, which nothing of this sees: contents are generated.

Filling machines one after the other, each near what the linear program puts on machines of its type.

The program by types says how many machines of a type are rented, and which tasks share them. A machine gets at most its
part of each class, rounded up, and of these the contents of most value: a small integer program. The program's values make
nearly all contents that fill a machine equally good; its shares keep for each machine what goes together. After half of the
whole machines of each type the program is solved anew for what is left, until it rents no whole machine.
"""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import Rows
from schedgap.formulations.provisioning.column_generation.relaxation import Relaxation
from schedgap.formulations.provisioning.limits import too_expensive, without_interference
from schedgap.formulations.provisioning.pooled.kernels_place import draw_machines
from schedgap.formulations.provisioning.pooled.packing import (
    MOST_SETTLED,
    SETTLING,
    Joined,
    bounding,
    is_small,
    pack,
    reduced,
    settle,
)
from schedgap.formulations.provisioning.pooled.program import MAX_SHARES, Pooled, Rented, spread
from schedgap.formulations.provisioning.search import Search, restoring
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.provisioning.classes import merge_equal_classes, part_of
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import DISRUPTION, PER_MACHINE, STOCK
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.units import NEVER

# Share of the whole machines of a type that are filled before the program is solved anew.
FILLED = 0.5
# Share of a machine's price that its contents may be worth less, before its type waits for the next program.
MAX_LOSS = 0.05
# By which share values are disturbed, so that equal ones are not taken in the order of classes.
NOISE = 0.002
# Seconds for the contents of one machine.
CONTENT_S = 0.05
# At most such a part of the machines that are still to be filled get the same contents.
COPIES = 8


def dive(instance: ProvisioningInstance, rng: np.random.Generator, end: float) -> tuple[IntArray, IntArray, IntArray]:
    """Return types (M,) and contents (M, C) of full machines, and the tasks (C,) that are left.

    end : of `time.perf_counter()`, when no further machine is filled.
    """
    left = instance.counts.copy()
    types: list[int] = []
    contents: list[IntArray] = []
    while left.any() and time.perf_counter() < end:
        classes = np.flatnonzero(left)
        part = part_of(instance, classes, left[classes], np.array(types, np.int64))
        relaxed = Pooled(part, by_type=True).relax(end - time.perf_counter())
        if relaxed is None:
            break
        number = len(types)
        whole = np.floor(relaxed.machines + 1e-6)
        for k in np.flatnonzero(whole).tolist():
            share, machines = relaxed.shares[k].copy(), relaxed.machines[k]
            to_fill = int(np.ceil(FILLED * whole[k]))
            while to_fill > 0:
                most = np.minimum(np.ceil(share / machines - 1e-7), np.minimum(left[classes], part.most_together))
                most = most.astype(np.int64)
                value = relaxed.value * (1 + NOISE * rng.random(classes.size))
                content = _fill(part, k, most, value)
                if time.perf_counter() > end or content @ relaxed.value < (1 - MAX_LOSS) * instance.price[k]:
                    break
                used = content > 0
                copies = max(1, min(to_fill // COPIES, int((share[used] / content[used]).min())))
                share, machines = np.maximum(share - copies * content, 0), machines - copies
                left[classes] -= copies * content
                to_fill -= copies
                types += [k] * copies
                contents += [spread(content[None], classes, instance.num_classes)[0]] * copies
        if len(types) == number:
            break
    return np.array(types, np.int64), np.array(contents, np.int64).reshape(-1, instance.num_classes), left


def _fill(instance: ProvisioningInstance, k: int, most: IntArray, value: FloatArray) -> IntArray:
    """(C,) int64: contents of a machine of type k with at most so many (C,) tasks of a class, of nearly the most value."""
    content = np.zeros_like(most)
    classes = np.flatnonzero((most > 0) & (value > 0))
    if classes.size == 0:
        return content
    demand, capacity = instance.demand[instance.type2family[k], classes], instance.capacity[k]
    rows = Rows(classes.size)
    for r, resource in enumerate(instance.resources):
        rows.add(resource, (0, np.arange(classes.size), demand[:, r]), upper=capacity[r : r + 1])
    model = rows.model("content", -value[classes] / value[classes].max(), most[classes], 1)
    try:
        x = solve(model, time_limit_s=CONTENT_S).x
    except BackendError:
        return content
    if x is not None:
        content[classes] = np.rint(x).astype(np.int64)
    return content if (content[classes] @ demand <= capacity).all() else np.zeros_like(most)


UNLIMITED_S = 60.0
# Shares of the time limit for one program, one packing, and one program for what found no room, and the least seconds for
# each: solvers of less time have solutions that are far too dear.
PROGRAM_SHARE, PACKING_SHARE, REST_SHARE = 0.1, 0.05, 0.03
PROGRAM_S, PACKING_S, REST_S = 0.5, 0.2, 0.2
# The share above the bound from which on a program's machines are no use: it had too little time.
DEAR = 0.25
# Seconds for the first program, of use only if it is soon solved.
FIRST_S = 0.3
# Shares of the time limit for what the first dive leaves, and for what another leaves; when diving is over.
FIRST_SHARE, PART_SHARE, LAST_SHARE = 0.2, 0.05, 0.85
# Least seconds for what a dive leaves, and the share of the time that is left which a dive may take.
LEAST_S, DIVE_SHARE = 1.2, 0.6
# Shares of the time limit for exchanging machines first, and for fleets of joined zones; of the time until the end, for fleets
# of large instances, and until which these take machines apart, or small ones look for fleets.
EXCHANGE_SHARE, JOINED_SHARE, FLEET_SHARE, RUIN_SHARE = 0.1, 0.25, 0.3, 0.7
# How often all tasks try to settle on a fleet; moves for that a second of the time limit, and at most for each task.
TRIES, MOVES, MOST_MOVES = 3, 200_000, 20_000
# Machines that are taken apart at once, at most, and the least share of its price that counts as a machine's loss.
MOST_RUINED, LEAST_LOSS = 25, 1e-4
# Machines that are exchanged at once, at most; draws of new ones; the part of all tries that must be cheaper; by what share of
# the best price what is exchanged may cost more than it; and how often in vain for each machine, after which none are any more.
MOST_EXCHANGED, DRAWS, CHEAPER, MOST_DEARER, IN_VAIN = 8, 200, 0.5, 0.03, 2_000
# What is spared of each machine first, the least difference that is tried, and the most, in average tasks.
FIRST_SPARE, LEAST_SPARE, MOST_SPARE = 0.1, 0.02, 30.0
MAX_DEPTH = 8
# Times a machine that some are taken apart without gain, after which none are any more.
PATIENCE = 10
MAX_CLASSES = 3_000
# Task classes up to which contents of machines are generated first, and the share of the time limit for that.
FEW_KINDS, CONTENTS_SHARE = 6, 0.4


@method("bound-pooled", family=FAMILY, bounds=True, version=3, handles=(STOCK, DISRUPTION, PER_MACHINE))
def bound_pooled(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1, found: Found = untold
) -> Outcome:
    """Bound the price by whole machines whose capacities together hold all tasks, pooled by machine family, then by type."""
    end = time.perf_counter() + (UNLIMITED_S if time_limit_s is None else time_limit_s)
    small = reduced(instance).instance
    bound = 0
    for made in bounding(small):
        # Those of joined zones take little.
        left_s = 0.8 * (end - time.perf_counter())
        if left_s > 0:
            bound = max(bound, made().solve(0.0, left_s, threads).bound)
            found(bound=bound)
    return Outcome(bound=bound)


def supported(instance: ProvisioningInstance) -> str | None:
    """Return None, or why tasks cannot be packed in reasonable memory: contents have a place for each distinct demand."""
    if instance.num_classes > MAX_CLASSES and merge_equal_classes(instance).instance.num_classes > MAX_CLASSES:
        return f"more than {MAX_CLASSES} distinct demands: the contents of all machines would not fit; use pattern-rounding"
    if (types_alone(instance) < 0).any():
        return "some tasks fit no machine type of which any number can be had: nothing is left for what finds no room"
    return without_interference(instance)


@method("pooled", family=FAMILY, supports=supported, bounds=True, version=5, handles=(STOCK, PER_MACHINE))
def pooled(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1, found: Found = untold
) -> Outcome:
    """Rent whole machines for all tasks together by an integer program, then pack; bound and solution."""
    start = time.perf_counter()
    small = reduced(instance)
    limit_s = UNLIMITED_S if time_limit_s is None else time_limit_s
    search = Renting(small.instance, start, limit_s, threads, restoring(found, small.restore))
    build_s = time.perf_counter() - start
    search.run()
    details = {"types": small.instance.num_types, "programs": search.programs}
    return search.outcome_for(instance, small.restore, build_s, details)


def types_alone(instance: ProvisioningInstance) -> IntArray:
    """(C,) int64: the cheapest type that fits one task of each class, of those without a stock; -1 for none."""
    if instance.stock is None:
        return instance.reservation_type
    types: IntArray = np.full(instance.num_classes, -1, np.int64)
    fits = instance.fits() & (instance.stock == ANY_NUMBER)[:, None]
    for k in np.argsort(-instance.price, kind="stable").tolist():
        types[fits[k]] = k
    return types


def _alone(instance: ProvisioningInstance) -> tuple[IntArray, IntArray]:
    """Return types (T,) and contents (T, C) of the machines on which each task costs least alone."""
    task2class = np.repeat(np.arange(instance.num_classes), instance.counts)
    return types_alone(instance)[task2class], np.eye(instance.num_classes, dtype=np.int64)[task2class]


class Renting(Search):
    """One run: the best solution, the bound and the clock."""

    def __init__(
        self, instance: ProvisioningInstance, start: float, limit_s: float, threads: int, found: Found = untold
    ) -> None:
        super().__init__(start, limit_s, found)
        self.instance, self.threads = instance, threads
        self.programs = self.tries = 0
        self.random, self.rng = np.array([1], np.uint64), np.random.default_rng(0)
        self._joined: Joined | None = None
        self.types = np.zeros(0, np.int64)
        self.content = np.zeros((0, instance.num_classes), np.int64)

    def run(self) -> None:
        """Rent for all tasks together, dive, take machines apart again and again; prove with what time is left."""
        if not self.is_open:
            return
        if self.objective is None:
            self.improve(*_alone(self.instance))
        self._choose_contents()
        if not self.is_open:
            return
        families = Pooled(self.instance, by_type=False)
        rented = self._rented(families, 0.0, FIRST_S)
        if rented.machines is not None and not self._is_dear(rented, int(rented.machines @ self.instance.price)):
            self._fill(rented.machines)
        end = self.start + LAST_SHARE * self.limit_s
        program_s = max(PROGRAM_S, PROGRAM_SHARE * self.limit_s)
        is_one, now = self.instance.num_types == 1, time.perf_counter()
        is_by_type = not is_one and self.instance.num_types * self.instance.num_classes <= MAX_SHARES
        if is_small(self.instance) and not is_one:
            soon = now + EXCHANGE_SHARE * self.limit_s
            if self.objective is not None and self.objective > (1 + DEAR) * self.bound:
                rng, rest_s = np.random.default_rng(0), FIRST_SHARE * self.limit_s
                self.improve(*self._recreated(self.instance, rng, rest_s, soon, by_type=False))
            self.exchange(soon)
            program = families if families.totals is not None else Pooled(self.instance, by_type=True)
            self.join_fleets(soon + JOINED_SHARE * self.limit_s)
            self.choose_fleets(program, now + RUIN_SHARE * (end - now))
        elif is_by_type:
            if self.instance.num_tasks <= MOST_SETTLED:
                self.choose_fleets(families, now + FLEET_SHARE * (end - now))
            self._ruin(now + RUIN_SHARE * (end - now))
        else:
            self.widen(families, now + RUIN_SHARE * (end - now), program_s)
        if is_one:
            self.widen(families, end, program_s)
        else:
            self.exchange(end)
        for made in bounding(self.instance):
            if self.is_open:
                self.raise_bound(made().solve(0.0, self.left_s / 2, self.threads).bound)

    def _choose_contents(self) -> None:
        """Bound and pack by the contents of machines, where tasks are of few kinds."""
        if self.instance.num_classes > FEW_KINDS or self.instance.stock is not None or too_expensive(self.instance):
            return
        end = time.perf_counter() + min(self.left_s, CONTENTS_SHARE * self.limit_s)
        relaxation = Relaxation(self.instance)
        relaxation.solve(end, self.objective)
        self.raise_bound(relaxation.bound)
        left_s = end - time.perf_counter()
        if self.is_open and left_s > 0 and self.objective is not None:
            found = relaxation.master.best_solution(left_s, self.objective)
            if found is not None:
                self.improve(*found.machines(self.instance.num_classes))

    def improve(self, types: IntArray, content: IntArray) -> None:
        """Take machines of types (M,) with contents (M, C) if they are cheaper than the best."""
        paid = int(self.instance.price[types].sum())
        if self.objective is None or paid < self.objective:
            self.types, self.content = types, content
            self.keep(Provisioning.from_machines(types, content), paid)

    def exchange(self, end: float) -> None:
        """Take a few machines at a time for others that cost no more, the longer in vain the more above the best, until `end`.

        The new ones are drawn, and the tasks settle on them or not.
        """
        instance, rng, price = self.instance, np.random.default_rng(0), self.instance.price
        fits, types, content = instance.fits(), self.types, self.content
        stock = np.full(price.size, NEVER) if instance.stock is None else instance.stock
        stock = np.where(stock == ANY_NUMBER, NEVER, stock)
        least = np.where(instance.demand < 0, NEVER, instance.demand).min(axis=0)
        idle, known = 0, self.objective
        while self.is_open and time.perf_counter() < end and self.objective is not None and idle < IN_VAIN * types.size:
            idle, known = (idle + 1, known) if self.objective == known else (0, self.objective)
            given = np.zeros(types.size, np.bool_)
            number = min(types.size, int(rng.integers(2, MOST_EXCHANGED + 1)))
            given[rng.choice(types.size, number, replace=False)] = True
            counts = content[given].sum(axis=0)
            classes = np.flatnonzero(counts)
            before = int(price[types[given]].sum())
            most = self.objective * (1 + MOST_DEARER * idle / (IN_VAIN * types.size))
            dearer = int(most) - int(price[types].sum())
            budget = before - 1 if rng.random() < CHEAPER else before + max(0, dearer)
            left = stock - np.bincount(types[~given], minlength=price.size)
            new = np.zeros(max(1, number + int(rng.integers(-1, 2))), np.int64)
            need = counts[classes] @ least[classes]
            capacity, suits = instance.capacity, fits[:, classes]
            spare = draw_machines(need, budget, price, capacity, left, suits, DRAWS, self.random, new)
            if spare < 0 or np.array_equal(np.sort(new), np.sort(types[given])):
                continue
            settled = settle(instance, new, fits[new], counts, self.random)
            if settled is not None:
                used = settled.any(axis=1)
                types = np.concatenate((types[~given], new[used]))
                content = np.vstack((content[~given], settled[used]))
                self.improve(types, content)

    def _ruin(self, end: float) -> None:
        """Dive, then again and again take machines apart and rent for their tasks, until `end`.

        The more a machine costs beyond what its tasks are worth, the likelier it is taken apart.
        """
        instance, rng = self.instance, np.random.default_rng(0)
        relaxed = Pooled(instance, by_type=True).relax(end - time.perf_counter()) if self.is_open else None
        if relaxed is None:
            return
        # Not from a better start, if there was one: what other methods found is hard to improve by taking machines apart.
        types, content = self._recreated(instance, rng, FIRST_SHARE * self.limit_s, end, by_type=False)
        self.improve(types, content)
        idle, known = 0, self.objective
        while self.is_open and time.perf_counter() < end - LEAST_S and idle < PATIENCE * types.size:
            idle, known = (idle + 1, known) if self.objective == known else (0, self.objective)
            loss = np.maximum(instance.price[types] - content @ relaxed.value, LEAST_LOSS * instance.price[types])
            number = int(rng.integers(1, min(MOST_RUINED, types.size) + 1))
            ruined = np.zeros(types.size, np.bool_)
            ruined[rng.choice(types.size, number, replace=False, p=loss / loss.sum())] = True
            counts = content[ruined].sum(axis=0)
            classes = np.flatnonzero(counts)
            part = part_of(instance, classes, counts[classes], types[~ruined])
            by_type = bool(rng.integers(2))
            more_types, more = self._recreated(part, rng, PART_SHARE * self.limit_s, end, by_type=by_type)
            if instance.price[more_types].sum() <= instance.price[types[ruined]].sum():
                types = np.concatenate((types[~ruined], more_types))
                content = np.vstack((content[~ruined], spread(more, classes, instance.num_classes)))
                self.improve(types, content)

    def _recreated(
        self, instance: ProvisioningInstance, rng: np.random.Generator, limit_s: float, end: float, *, by_type: bool
    ) -> tuple[IntArray, IntArray]:
        """Return types (M,) and contents (M, C) of machines with all tasks: a dive, and machines rented for the rest.

        limit_s : seconds for the rest. by_type : rent for it by types, not by families.
        """
        now = time.perf_counter()
        types, content, left = dive(instance, rng, now + DIVE_SHARE * (end - now))
        if left.any():
            classes = np.flatnonzero(left)
            part = part_of(instance, classes, left[classes], types)
            now = time.perf_counter()
            rest = Renting(part, now, min(max(LEAST_S, limit_s), end - now), self.threads)
            rest.improve(*_alone(part))
            rest.widen(Pooled(part, by_type=by_type), now + rest.limit_s, max(PROGRAM_S, PROGRAM_SHARE * rest.limit_s))
            self.programs += rest.programs
            types = np.append(types, rest.types)
            content = np.vstack((content, spread(rest.content, classes, instance.num_classes)))
        return types, content

    def join_fleets(self, end: float) -> None:
        """Choose fleets with zones joined, if some offer the same: with whole tasks too, where these are few."""
        self._joined = Joined(self.instance)
        if (joined := self._joined.instance) is None:
            return
        now = time.perf_counter()
        if is_small(joined):
            self.choose_fleets(Pooled(joined, by_type=True, whole=True), (now + end) / 2)
        self.choose_fleets(Pooled(joined, by_type=True), end)

    def choose_fleets(self, program: Pooled, end: float) -> None:
        """Settle all tasks on machines that a program chooses, each round with more time for it, until `end`."""
        self.tries = TRIES if self.instance.num_tasks <= MOST_SETTLED else 0
        limit_s = max(PROGRAM_S, PROGRAM_SHARE * self.limit_s)
        while self.widen(program, end, limit_s):
            limit_s *= 2

    def widen(self, program: Pooled, end: float, limit_s: float) -> bool:
        """Look for the least spare with which all tasks fit, until `end`; whether more time for programs may find better.

        limit_s : seconds for each program.
        """
        low, high, step, spare, is_cut = 0.0, np.inf, FIRST_SPARE, 0.0, False
        while self.is_open and time.perf_counter() < end and low < MOST_SPARE and high - low > LEAST_SPARE:
            rented = self._rented(program, spare, limit_s)
            if rented.machines is None:
                return False
            is_cut |= rented.is_cut
            paid = int(rented.machines @ program.instance.price)
            if spare == 0 and self._is_dear(rented, paid):
                limit_s *= 2
                continue
            if (self.objective is not None and paid >= self.objective) or self._fill(rented.machines, program.instance):
                high = spare
            else:
                low, step = spare, 2 * step
            spare = low + step if high == np.inf else (low + high) / 2
        return is_cut and self.is_open and time.perf_counter() < end

    def _rented(self, program: Pooled, spare: float, limit_s: float) -> Rented:
        """Rent with so much to spare."""
        self.programs += 1
        rented = program.solve(spare, min(self.left_s, limit_s), self.threads)
        if spare == 0:
            self.raise_bound(rented.bound)
        return rented

    def _is_dear(self, rented: Rented, paid: int) -> bool:
        """Whether machines cost far more than they had to if their program had more time."""
        return rented.is_cut and paid > (1 + DEAR) * self.bound

    def _fill(self, machines: IntArray, rented: ProvisioningInstance | None = None) -> bool:
        """Pack on machines (K,) of each type; returns whether nothing was left. rented : whose types they are, if joined."""
        if self.tries:
            joined = self._joined if self._joined is not None and rented is self._joined.instance else None
            drawn = (machines if joined is None else self._drawn(machines, joined.members) for _ in range(self.tries))
            return any(map(self._settled, drawn))
        types, content, is_whole = self._packed(self.instance, machines, MAX_DEPTH)
        self.improve(types, content)
        return is_whole

    def _drawn(self, machines: IntArray, members: list[IntArray]) -> IntArray:
        """(K,): machines of each type, drawn for those of each joined one."""
        drawn = np.zeros(self.instance.num_types, np.int64)
        for types, number in zip(members, machines.tolist(), strict=True):
            stock = np.full(types.size, ANY_NUMBER) if self.instance.stock is None else self.instance.stock[types]
            there = np.repeat(types, np.where(stock == ANY_NUMBER, number, np.minimum(stock, number)))
            np.add.at(drawn, self.rng.permutation(there)[:number], 1)
        return drawn

    def _settled(self, machines: IntArray) -> bool:
        """Settle all tasks on machines (K,) of each type; returns whether they did."""
        instance, types = self.instance, np.repeat(np.arange(self.instance.num_types), machines)
        moves = max(SETTLING, min(MOST_MOVES, int(MOVES * self.limit_s / instance.num_tasks)))
        content = settle(instance, types, instance.fits()[types], instance.counts, self.random, moves)
        if content is not None:
            used = content.any(axis=1)
            self.improve(types[used], content[used])
        return content is not None

    def _packed(
        self, instance: ProvisioningInstance, machines: IntArray, depth: int
    ) -> tuple[IntArray, IntArray, bool]:
        """Return types (M,) and contents (M, C) of machines with all tasks, and whether those given were enough."""
        types = np.repeat(np.arange(instance.num_types), machines)
        content = pack(instance, types, min(self.left_s, max(PACKING_S, PACKING_SHARE * self.limit_s)))
        used = content.any(axis=1)
        types, content = types[used], content[used]
        left = instance.counts - content.sum(axis=0)
        if not left.any():
            return types, content, True
        more_types, more = self._rest(instance, left, types, depth)
        return np.concatenate((types, more_types)), np.vstack((content, more)), False

    def _rest(
        self, instance: ProvisioningInstance, left: IntArray, rented: IntArray, depth: int
    ) -> tuple[IntArray, IntArray]:
        """Rent and pack for the tasks (C,) that found no room; at the last depth each on a machine of its own.

        rented : (M,) the types of the machines that the others are on.
        """
        classes = np.flatnonzero(left)
        part = part_of(instance, classes, left[classes], rented)
        types, content = _alone(part)
        if depth > 0 and self.left_s > 0:
            limit_s = min(self.left_s, max(REST_S, REST_SHARE * self.limit_s))
            found = Pooled(part, by_type=True).solve(0.0, limit_s, self.threads)
            if found.machines is not None and found.machines.any():
                types, content, _ = self._packed(part, found.machines, depth - 1)
        return types, spread(content, classes, instance.num_classes)
