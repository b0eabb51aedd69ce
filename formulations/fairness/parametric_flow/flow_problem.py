"""When a fairness problem is one of sending flow from users to machine classes, and its numbers, exactly.

Let b(k) be a resource that binds on class k: where a machine has enough of it for any mix of the users that may run there,
it has enough of all. With a(i, k) the value of a task in the notion's measure, q(k) the worth of a unit of b(k) and u(i)
of the user, let

    a(i, k) / d(i, b(k)) = q(k) u(i)        for every user and class where it may run

as it is where one resource binds and performance is the machine's own, or the notion counts no performance. Then
y(i, k) = q(k) d(i, b(k)) x(i, k) is a flow: a class takes C(k) = q(k) n(k) l(k, b(k)) of it, and user i that receives Y has
the share Y / h(i). Its tasks limit it to Y <= U(i) where a(i, k) is the same on all its classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from schedgap.instances.fairness.exact_shares import exact_fitting, exact_scale, exact_values
from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance


@dataclass(frozen=True, slots=True, eq=False)
class FlowProblem:
    """Users, classes and what flows between them, in whole numbers, each kind in a unit of its own.

    classes_of : of each user. capacity : C(k). limit : U(i), None for none. height : h(i). binding : b(k).
    per_task : q(k) d(i, b(k)) of each pair. weight, price : h(i) and q(k) of a cut, in one unit.
    """

    classes_of: dict[int, tuple[int, ...]]
    capacity: dict[int, int]
    limit: tuple[int | None, ...]
    height: tuple[int, ...]
    binding: dict[int, int]
    per_task: dict[tuple[int, int], int]
    weight: tuple[float, ...]
    price: dict[int, float]


def flow_problem(instance: FairnessInstance) -> FlowProblem | str:
    """Return the flow problem of an instance, or why it is none. O(N K R^2)."""
    demand, capacity = instance.demand.tolist(), instance.capacity.tolist()
    count, tasks = instance.machine_count.tolist(), instance.tasks.tolist()
    fits, value = exact_fitting(instance), exact_values(instance)
    allowed = instance.allowed.tolist()
    users, classes = range(instance.num_users), range(instance.num_machine_classes)
    classes_of = {i: tuple(k for k in classes if allowed[i][k] and fits[i][k] and value[i][k]) for i in users}
    users_of = {k: [i for i in users if k in classes_of[i]] for k in classes}
    binding = {}
    for k, here in users_of.items():
        if here:
            found = _binding([demand[i] for i in here], capacity[k])
            if found is None:
                return f"has no resource that binds alone on machine class {instance.machine_names[k]}"
            binding[k] = found
    ratio = {(i, k): Fraction(value[i][k], demand[i][binding[k]]) for i in users for k in classes_of[i]}
    parts = _rank_one(ratio, classes_of, users_of)
    if parts is None:
        return "has users for whom machines differ in other proportions, which no flow has"
    worth, own = parts
    limit: list[Fraction | None] = []
    for i in users:
        never_met = tasks[i] == UNLIMITED or sum(count[k] * fits[i][k] for k in classes_of[i]) <= tasks[i]
        values = {value[i][k] for k in classes_of[i]}
        if not never_met and len(values) > 1:
            return f"has user {instance.user_name(i)} with {tasks[i]} tasks that are worth more on some machines"
        limit.append(None if never_met else values.pop() * tasks[i] / own[i])
    height = [exact_scale(instance, i, fits[i], value[i]) / own[i] for i in users]
    room = {k: worth[k] * count[k] * capacity[k][r] for k, r in binding.items()}
    per_task = {(i, k): worth[k] * demand[i][binding[k]] for i, k in ratio}
    unit = lcm(*(x.denominator for x in (*room.values(), *per_task.values(), *filter(None, limit))))
    tallest = max(height)
    tall = lcm(*(x.denominator for x in height))
    return FlowProblem(
        classes_of,
        {k: int(x * unit) for k, x in room.items()},
        tuple(None if x is None else int(x * unit) for x in limit),
        tuple(int(x * tall) for x in height),
        binding,
        {pair: int(x * unit) for pair, x in per_task.items()},
        tuple(float(x / tallest) for x in height),
        {k: float(x / tallest) for k, x in worth.items()},
    )


def _binding(needs: list[list[int]], holds: list[int]) -> int | None:
    """Return a resource of which every user takes the largest part of a machine."""
    for r, have in enumerate(holds):
        if all(mine[r] and all(d * have <= mine[r] * h for d, h in zip(mine, holds, strict=True)) for mine in needs):
            return r
    return None


def _rank_one(
    ratio: dict[tuple[int, int], Fraction], classes_of: dict[int, tuple[int, ...]], users_of: dict[int, list[int]]
) -> tuple[dict[int, Fraction], dict[int, Fraction]] | None:
    """Return factors of classes and users whose products the ratios are, or None if there are none."""
    worth: dict[int, Fraction] = {}
    own: dict[int, Fraction] = {}
    for first in users_of:
        if first in worth or not users_of[first]:
            continue
        worth[first] = Fraction(1)
        front = [first]
        while front:
            k = front.pop()
            for i in users_of[k]:
                if i in own:
                    continue
                own[i] = ratio[i, k] / worth[k]
                for other in classes_of[i]:
                    if other not in worth:
                        worth[other] = ratio[i, other] / own[i]
                        front.append(other)
    if any(value != worth[k] * own[i] for (i, k), value in ratio.items()):
        return None
    return worth, own
