"""Primal simplex in whole numbers of any size, for linear programs that floating point cannot solve.

The tableau of a basis B is kept in whole numbers over one denominator, |det B|, which every pivot divides out exactly (Edmonds,
1967; Bareiss, 1968): for M rows and N columns a pivot is O(M N) products of numbers with as many digits as that determinant.

The fair point in exact fractions, by progressive filling in whole numbers: where floating point loses it.

With a(i, k) the value of a task and h(i) that of a share of 1, the program of a level, x tasks, A the users that still rise and
s(i) the shares that all have so far, is

    maximise    theta
    subject to  sum_i d(i, r) x(i, k) <= n(k) l(k, r),    sum_k x(i, k) <= D(i)
                sum_k a(i, k) x(i, k) >= h(i) (s(i) + theta)  for i in A,    >= h(i) s(i)  for all others

Its duals are a cut that the optimum meets with equality, and whoever has a weight in it stops. Each program starts from
the basis of the last. The result is proven for any numbers at all (`schedgap.instances.fairness.certificate`); what is limited
is the size of the tableau (`MOST_ENTRIES`), as a pivot touches all of it. Equal users and machine classes are merged first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from schedgap.formulations.fairness.level_program import groups_of
from schedgap.instances.arrays import IntArray
from schedgap.instances.fairness.certificate import ExactCut, FairPoint
from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance
from schedgap.instances.fairness.shares import exact_fitting, exact_scale, exact_values

# Pivots in a row that raise nothing after which the rule is one that cannot go in circles (Bland, 1977).
PATIENCE = 30


class OutOfTimeError(Exception):
    """The deadline was met within a program."""


class ExactTableau:
    """Maximise one variable over matrix @ x <= room, x >= 0, all whole numbers, from x = 0 on.

    Variables are numbered: columns of the matrix 0 to n - 1, the rows' slacks n to n + m - 1, later ones from there.
    basic : of each row of the tableau, its variable. others : of each column. value : of the basic variables.
    """

    def __init__(self, matrix: Any, room: Sequence[int]) -> None:
        rows, columns = matrix.shape
        # The last row is that of the objective.
        self.table = np.zeros((rows + 1, columns), object)
        self.table[:rows] = matrix
        self.denominator = 1
        self.first_slack, self.next_variable = columns, columns + rows
        self.basic = list(range(columns, columns + rows))
        self.others = list(range(columns))
        self.value = [Fraction(each) for each in room]

    def add_objective(self, slacks: Sequence[int], coefficients: Sequence[int]) -> int:
        """Add a variable with entries in some rows, to be maximised instead of the last; return its number."""
        column = np.zeros(self.table.shape[0], object)
        place = {variable: j for j, variable in enumerate(self.others)}
        row = {variable: r for r, variable in enumerate(self.basic)}
        for slack, coefficient in zip(slacks, coefficients, strict=True):
            variable = self.first_slack + slack
            if variable in place:
                column = column + coefficient * self.table[:, place[variable]]
            else:
                column[row[variable]] += coefficient * self.denominator
        self.table = np.hstack((self.table, column[:, None]))
        self.table[-1] = 0
        self.table[-1, -1] = -self.denominator
        self.others.append(self.next_variable)
        self.next_variable += 1
        return self.others[-1]

    def maximise(self, deadline: float) -> None:
        """Pivot until the objective is as large as it can be, which is known to be finite.

        Raises
        ------
        OutOfTimeError
            at the deadline, on `time.perf_counter`'s clock.
        """
        idle = 0
        while (column := self._entering(careful=idle > PATIENCE)) is not None:
            if time.perf_counter() > deadline:
                raise OutOfTimeError
            row = self._leaving(column)
            idle = 0 if self.value[row] else idle + 1
            self.pivot(row, column)

    def fix(self, variable: int, instead: int) -> Fraction:
        """Keep a basic variable at its value from now on, a nonbasic one in its place; return the value."""
        row, column = self.basic.index(variable), self.others.index(instead)
        value, self.value[row] = self.value[row], Fraction(0)
        self.pivot(row, column)
        self.table = np.delete(self.table, column, axis=1)
        del self.others[column]
        return value

    def pivot(self, row: int, column: int) -> None:
        """Exchange the basic variable of a row for the variable of a column."""
        table, by = self.table, self.table[row, column]
        step = self.value[row] * Fraction(self.denominator, by)
        entering = table[:, column].copy()
        for r in np.flatnonzero(entering[:-1] != 0).tolist():
            self.value[r] -= step * Fraction(entering[r], self.denominator)
        self.value[row] = step
        kept = table[row].copy()
        table *= by
        some = np.flatnonzero(entering != 0)
        table[some] -= entering[some, None] * kept
        table //= self.denominator
        table[row] = kept
        table[:, column] = -entering
        table[row, column] = self.denominator
        self.denominator = by
        if by < 0:
            np.negative(table, out=table)
            self.denominator = -by
        self.basic[row], self.others[column] = self.others[column], self.basic[row]

    def duals(self) -> dict[int, int]:
        """Return what is positive of the rows' duals, times the denominator."""
        first, after = self.first_slack, self.first_slack + self.table.shape[0] - 1
        worth = zip(self.others, self.table[-1].tolist(), strict=True)
        return {variable - first: dual for variable, dual in worth if first <= variable < after and dual}

    def values(self) -> dict[int, Fraction]:
        """Return the positive values of the matrix's own variables."""
        both = zip(self.basic, self.value, strict=True)
        return {variable: value for variable, value in both if variable < self.first_slack and value}

    def _entering(self, *, careful: bool) -> int | None:
        worth = self.table[-1].tolist()
        better = [j for j, each in enumerate(worth) if each < 0]
        if not better:
            return None
        return min(better, key=lambda j: (0 if careful else worth[j], self.others[j]))

    def _leaving(self, column: int) -> int:
        entries = self.table[:-1, column].tolist()
        rows = [r for r, entry in enumerate(entries) if entry > 0]
        return min(rows, key=lambda r: (self.value[r] / entries[r], self.basic[r]))


# Entries of a tableau: 25,000 take a minute or so, where all numbers are of 40 bits.
MOST_ENTRIES = 25_000


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """The rows of an instance's program, in whole numbers.

    pairs : merged user and class of each column. matrix : (m, n) Python integers. room : (m,). factor : (m,), what each row
    was multiplied by. place : of a capacity row its (class, resource), None for others. first_share : the rows from there on
    are the shares of users. height : (U,), h(i) in their rows. merged : users and classes to their groups.
    """

    pairs: list[tuple[int, int]]
    matrix: Any
    room: list[int]
    factor: list[Fraction]
    place: list[tuple[int, int] | None]
    first_share: int
    height: list[int]
    user2group: IntArray
    class2group: IntArray


def is_too_large(instance: FairnessInstance) -> str | None:
    """Return None, or how large the tableau would be."""
    user2group, class2group = groups_of(instance)[::2]
    users, classes = int(user2group.max()) + 1, int(class2group.max()) + 1
    limited = int((instance.tasks != UNLIMITED).any()) * users
    entries = (users + limited + classes * len(instance.resources)) * users * classes
    if entries <= MOST_ENTRIES:
        return None
    return f"its exact tableau has up to {entries} entries, more than {MOST_ENTRIES}"


def exact_fair_point(instance: FairnessInstance, deadline: float = float("inf")) -> FairPoint:
    """Return the max-min fair point with its proof.

    Raises
    ------
    OutOfTimeError
        at the deadline, on `time.perf_counter`'s clock.
    """
    program = _program(instance)
    tableau = ExactTableau(program.matrix, program.room)
    active = set(range(len(program.height)))
    cuts = []
    while active:
        users = sorted(active)
        level = tableau.add_objective([program.first_share + i for i in users], [program.height[i] for i in users])
        tableau.maximise(deadline)
        duals = tableau.duals()
        stops = {row - program.first_share for row in duals if row >= program.first_share} & active
        cuts.append(_cut(instance, program, duals))
        first = program.first_share + min(stops)
        tableau.fix(level, tableau.first_slack + first)
        active -= stops
    return FairPoint(_tasks(instance, program, tableau.values()), tuple(cuts))


def _program(instance: FairnessInstance) -> _Program:
    user2group, first_user, class2group, first_class = groups_of(instance)
    fits, value = exact_fitting(instance), exact_values(instance)
    demand, capacity, tasks = instance.demand.tolist(), instance.capacity.tolist(), instance.tasks.tolist()
    count, weight = ([0] * first_class.size, [0] * first_user.size)
    for k, group in enumerate(class2group.tolist()):
        count[group] += int(instance.machine_count[k])
    for i, group in enumerate(user2group.tolist()):
        weight[group] += int(instance.weight[i])
    users, classes = first_user.tolist(), first_class.tolist()
    pairs = [
        (u, c)
        for u, i in enumerate(users)
        for c, k in enumerate(classes)
        if instance.allowed[i, k] and fits[i][k] and value[i][k]
    ]
    rows: list[list[int]] = []
    room: list[int] = []
    factor: list[Fraction] = []
    place: list[tuple[int, int] | None] = []

    def add(entries: list[int], limit: int, also: int = 0, where: tuple[int, int] | None = None) -> int:
        """Add a row divided by its greatest common divisor, which is returned."""
        common = gcd(*entries, limit, also)
        rows.append([entry // common for entry in entries])
        room.append(limit // common)
        factor.append(Fraction(1, common))
        place.append(where)
        return common

    for c, k in enumerate(classes):
        for r, has in enumerate(capacity[k]):
            needs = [demand[users[u]][r] if at == c else 0 for u, at in pairs]
            if any(needs):
                add(needs, has * count[c], where=(c, r))
    limits = [0] * first_user.size
    for i, u in enumerate(user2group.tolist()):
        limits[u] += max(tasks[i], 0)
    for u, limit in enumerate(limits):
        if limit:
            add([int(at == u) for at, _ in pairs], limit)
    first_share, height = len(rows), []
    for u, i in enumerate(users):
        own = gcd(*value[i])
        scale = exact_scale(instance, i, fits[i], value[i]) * Fraction(weight[u], int(instance.weight[i])) / own
        entries = [-(value[i][classes[c]] // own) * scale.denominator if at == u else 0 for at, c in pairs]
        common = add(entries, 0, scale.numerator)
        height.append(scale.numerator // common)
        factor[-1] = Fraction(scale.denominator, common)
    matrix = np.array(rows, object).reshape(len(rows), len(pairs))
    return _Program(pairs, matrix, room, factor, place, first_share, height, user2group, class2group)


def _cut(instance: FairnessInstance, program: _Program, duals: dict[int, int]) -> ExactCut:
    """Return the cut of a program's duals, of the instance's own users and classes, in whole numbers."""
    worth, price = dict[int, Fraction](), dict[tuple[int, int], Fraction]()
    for row, dual in duals.items():
        if (where := program.place[row]) is not None:
            price[where] = dual * program.factor[row]
        elif row >= program.first_share:
            worth[row - program.first_share] = dual * program.factor[row]
    common = lcm(*(each.denominator for each in (*worth.values(), *price.values())))
    shared = gcd(*(int(each * common) for each in (*worth.values(), *price.values())))
    unit = Fraction(common, shared)
    values = exact_values(instance)
    return ExactCut(
        # Users of a group differ in the unit of their performance.
        {i: worth[u] * unit / gcd(*values[i]) for i, u in enumerate(program.user2group.tolist()) if u in worth},
        {
            (k, r): int(price[c, r] * unit)
            for k, c in enumerate(program.class2group.tolist())
            for r in range(len(instance.resources))
            if (c, r) in price
        },
    )


def _tasks(
    instance: FairnessInstance, program: _Program, amounts: dict[int, Fraction]
) -> dict[tuple[int, int], Fraction]:
    """Return the tasks of the instance's own users, by weight, on its own classes, by their machines."""
    merged = {program.pairs[column]: amount for column, amount in amounts.items()}
    weight, count = instance.weight.tolist(), instance.machine_count.tolist()
    of_user, of_class = dict[int, list[int]](), dict[int, list[int]]()
    for i, u in enumerate(program.user2group.tolist()):
        of_user.setdefault(u, []).append(i)
    for k, c in enumerate(program.class2group.tolist()):
        of_class.setdefault(c, []).append(k)
    return {
        (i, k): amount
        * Fraction(weight[i] * count[k], sum(weight[j] for j in of_user[u]) * sum(count[m] for m in of_class[c]))
        for (u, c), amount in merged.items()
        for i in of_user[u]
        for k in of_class[c]
    }
