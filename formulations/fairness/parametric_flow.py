"""When a fairness problem is one of sending flow from users to machine classes, and its numbers, exactly.

Let b(k) be a resource that binds on class k: where a machine has enough of it for any mix of the users that may run there,
it has enough of all. With a(i, k) the value of a task in the notion's measure, q(k) the worth of a unit of b(k) and u(i)
of the user, let

    a(i, k) / d(i, b(k)) = q(k) u(i)        for every user and class where it may run

as it is where one resource binds and performance is the machine's own, or the notion counts no performance. Then
y(i, k) = q(k) d(i, b(k)) x(i, k) is a flow: a class takes C(k) = q(k) n(k) l(k, b(k)) of it, and user i that receives Y has
the share Y / h(i). Its tasks limit it to Y <= U(i) where a(i, k) is the same on all its classes.

Maximum flow from users to machine classes in whole numbers of any size.

Solvers' flows hold 32 or 64 bits; fair shares are fractions whose common denominators do not fit.

The fair point as a flow, exactly: where users are sent flow by machine classes (`flow_problem`).

What users can receive together is a polymatroid, so its fair base decomposes (Fujishige, 1980, Lexicographically optimal
base of a polymatroid with respect to a weight vector; Megiddo, 1974, for flows):

    1. Send as much as possible, regardless of shares; the level s is what all users would then have if they had the
       same share.
    2. Send each user its part of that at most. If all goes through, they have it.
    3. Otherwise the minimum cut parts the users. Those on the source's side, with the classes there, have less than s,
       whatever the others do; the others have at least s, without these classes. Users there that have all their tasks
       run keep that, and need the other classes for it. Do each side alone.

Of N users and K classes, at most 4 N flows of K phases; numbers are exact, with as many digits as fractions need, so the
shares found are right at any size. The certificate is in floating point: where it carries no proof it is left out (`settle`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import TypeAlias

import numpy as np

from schedgap.formulations.fairness.fair_point import settled
from schedgap.instances.fairness.fair_point import FEW_UNITS, FairPoint, allocation_at
from schedgap.instances.fairness.model import (
    FAMILY,
    SPREAD,
    TASK,
    UNLIMITED,
    Certificate,
    FairnessAllocation,
    FairnessInstance,
)
from schedgap.instances.fairness.shares import exact_fitting, exact_scale, exact_values
from schedgap.instances.fairness.verify import FAIR
from schedgap.instances.method import Outcome, Status, method


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


# From a user to a class.
Flow: TypeAlias = dict[tuple[int, int], int]


def max_flow(
    supply: Mapping[int, int], capacity: Mapping[int, int], classes_of: Mapping[int, Sequence[int]]
) -> tuple[Flow, set[int], set[int]]:
    """Return a maximum flow, and the users and classes on the source's side of the minimum cut.

    supply : of each user, what it can send. capacity : of each class, what it can take. classes_of : where each user may
    send; classes that have no capacity entry are left out.

    Dinic's algorithm, in phases of shortest paths: at most K + 1 of them for K classes, each O(E) and O(K) a path.
    """
    left, room = dict(supply), dict(capacity)
    edges = {user: [k for k in classes_of[user] if k in room] for user in supply}
    senders: dict[int, dict[int, int]] = {k: {} for k in room}
    while True:
        depth, ends = _depths(left, room, edges, senders)
        if not ends:
            break
        _block(left, room, edges, senders, depth)
    flow = {(user, k): amount for k, sent in senders.items() for user, amount in sent.items() if amount}
    return flow, {node for node in depth if node >= 0}, {~node for node in depth if node < 0}


def _depths(
    left: Mapping[int, int],
    room: Mapping[int, int],
    edges: Mapping[int, Sequence[int]],
    senders: Mapping[int, Mapping[int, int]],
) -> tuple[dict[int, int], bool]:
    """Return how far nodes are from users with something left, up to the nearest class with room, and if there is one.

    A user is its number i, a class k is ~k.
    """
    front = [user for user, amount in left.items() if amount]
    depth = dict.fromkeys(front, 0)
    far = 0
    while front:
        far += 1
        classes = []
        for user in front:
            for k in edges[user]:
                if ~k not in depth:
                    depth[~k] = far
                    classes.append(k)
        if any(room[k] for k in classes):
            return depth, True
        far += 1
        front = []
        for k in classes:
            for user, amount in senders[k].items():
                if amount and user not in depth:
                    depth[user] = far
                    front.append(user)
    return depth, False


def _block(
    left: dict[int, int],
    room: dict[int, int],
    edges: Mapping[int, Sequence[int]],
    senders: dict[int, dict[int, int]],
    depth: Mapping[int, int],
) -> None:
    """Send along paths that go one deeper at every step, until there is none."""
    nexts = {node: edges[node] if node >= 0 else [*senders[~node]] for node in depth}
    turn = dict.fromkeys(depth, 0)

    def is_open(node: int, to: int) -> bool:
        if node >= 0:
            return depth.get(~to) == depth[node] + 1
        return depth.get(to) == depth[node] + 1 and senders[~node].get(to, 0) > 0

    for start in [user for user in left if depth.get(user) == 0]:
        path = [start]
        while path and left[start]:
            node = path[-1]
            if node < 0 and room[~node]:
                _send(path, left, room, senders)
                path = [start]
                continue
            ahead = nexts[node]
            while turn[node] < len(ahead) and not is_open(node, ahead[turn[node]]):
                turn[node] += 1
            if turn[node] < len(ahead):
                to = ahead[turn[node]]
                path.append(~to if node >= 0 else to)
            else:
                path.pop()
                if path:
                    turn[path[-1]] += 1


def _send(path: Sequence[int], left: dict[int, int], room: dict[int, int], senders: dict[int, dict[int, int]]) -> None:
    """Send as much as a path allows; users on it after the first send less to the class before them, more to the next."""
    steps = [(path[place], ~path[place + 1]) for place in range(0, len(path), 2)]
    returns = [(path[place + 1], ~path[place]) for place in range(1, len(path) - 1, 2)]
    start, end = path[0], ~path[-1]
    amount = min(left[start], room[end], *(senders[k][user] for user, k in returns))
    left[start] -= amount
    room[end] -= amount
    for user, k in returns:
        senders[k][user] -= amount
    for user, k in steps:
        senders[k][user] = senders[k].get(user, 0) + amount


FairFlow: TypeAlias = dict[tuple[int, int], Fraction]


def is_no_flow(instance: FairnessInstance) -> str | None:
    """Return None, or why the fair point is not a matter of flow."""
    problem = flow_problem(instance)
    return f"{problem}; use water-filling or progressive-filling" if isinstance(problem, str) else None


@method("parametric-flow", family=FAMILY, supports=is_no_flow, exact=True)
def parametric_flow(instance: FairnessInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Find the fair point by maximum flows in exact arithmetic, where one resource binds and no user has a favourite machine."""
    start = time.perf_counter()
    problem = flow_problem(instance)
    assert isinstance(problem, FlowProblem)
    built = time.perf_counter()
    deadline = None if time_limit_s is None else start + time_limit_s
    flow, flows = fair_flow(problem, deadline)
    solved = time.perf_counter()
    solution, status, reason = None, Status.NO_SOLUTION, dict[str, str]()
    if flow is not None:
        solution, status, reason = settled(instance, _allocation(instance, problem, flow))
    return Outcome(
        solution=solution,
        bound=FAIR,
        status=status,
        build_s=built - start,
        solve_s=solved - built,
        extract_s=time.perf_counter() - solved,
        details={"flows": flows, **reason},
    )


def fair_flow(problem: FlowProblem, deadline: float | None = None) -> tuple[FairFlow | None, int]:
    """Return the flow at the fair point, None at the deadline (of `time.perf_counter`), and how many flows that took."""
    found: FairFlow = {}
    flows = 0
    # Users to raise, users that keep their limit, and the classes that they have to themselves.
    parts = [(set(range(len(problem.height))), set[int](), set(problem.capacity))]
    while parts:
        raised, kept, classes = parts.pop()
        if not raised and not kept:
            continue
        if deadline is not None and time.perf_counter() > deadline:
            return None, flows
        room = {k: problem.capacity[k] for k in classes}
        most = sum(room.values())
        held = {i: _limit(problem, i, most) for i in kept}
        flows += 1
        everything, _, _ = max_flow({i: _limit(problem, i, most) for i in raised} | held, room, problem.classes_of)
        height = sum(problem.height[i] for i in raised)
        total = sum(everything.values()) - sum(held.values())
        if not raised:
            found |= {pair: Fraction(amount) for pair, amount in everything.items()}
            continue
        # All in the height-th part of a unit.
        level = {i: total * problem.height[i] for i in raised}
        held = {i: amount * height for i, amount in held.items()}
        supply = {i: min(part, _limit(problem, i, most) * height) for i, part in level.items()} | held
        flows += 1
        flow, low_users, low_classes = max_flow(supply, {k: c * height for k, c in room.items()}, problem.classes_of)
        full = {i for i in raised - low_users if supply[i] < level[i]}
        if sum(flow.values()) == sum(level.values()) + sum(held.values()):
            found |= {pair: Fraction(amount, height) for pair, amount in flow.items()}
            continue
        low_classes &= classes
        parts.append((raised & low_users, kept & low_users, low_classes))
        parts.append((raised - low_users - full, (kept - low_users) | full, classes - low_classes))
    return found, flows


def _limit(problem: FlowProblem, user: int, most: int) -> int:
    limit = problem.limit[user]
    return most if limit is None else min(limit, most)


def _allocation(instance: FairnessInstance, problem: FlowProblem, flow: FairFlow) -> FairnessAllocation:
    """Return the flow in whole units of amounts, rounded down, unless some amount is so small that it would feel that."""
    tasks = {(i, k): amount / problem.per_task[i, k] for (i, k), amount in sorted(flow.items()) if amount}
    if min(tasks.values()) * TASK < FEW_UNITS:
        return replace(allocation_at(instance, FairPoint(tasks, ())), certificate=fair_cuts(problem, flow))
    entries = [(i, k, int(amount * TASK)) for (i, k), amount in tasks.items()]
    user, machine_class, amount = np.array(entries, np.int64).T
    return FairnessAllocation(user, machine_class, amount, np.full(user.shape, SPREAD), fair_cuts(problem, flow))


def fair_cuts(problem: FlowProblem, flow: FairFlow) -> Certificate:
    """Return why a flow is fair: each user's limit, or the classes that it and those who share them fill together.

    Users at a level with room for more tasks reach their classes, the users that these classes serve, and so on; all that
    is reached has no larger share and no room. That is a cut of the level: every user counts for its height, so that a
    unit of flow counts for 1, and a unit of the binding resource costs what it carries.
    """
    received = [Fraction(0)] * len(problem.height)
    served: dict[int, list[int]] = {k: [] for k in problem.capacity}
    for (i, k), amount in flow.items():
        if amount:
            received[i] += amount
            served[k].append(i)
    shares = [amount / height for amount, height in zip(received, problem.height, strict=True)]
    full = [i for i, amount in enumerate(received) if amount == problem.limit[i]]
    counted, priced = [(cut, i, 1.0) for cut, i in enumerate(full)], list[tuple[int, int, int, float]]()
    raised = sorted(set(range(len(received))) - set(full), key=lambda i: shares[i])
    users, classes = set[int](), set[int]()
    for place, i in enumerate(raised):
        front = [i]
        users.add(i)
        while front:
            for k in set(problem.classes_of[front.pop()]) - classes:
                classes.add(k)
                front += set(served[k]) - users
                users.update(served[k])
        if place + 1 == len(raised) or shares[raised[place + 1]] > shares[i]:
            cut = len(full) + place
            counted += [(cut, user, problem.weight[user]) for user in sorted(users)]
            priced += [(cut, k, problem.binding[k], problem.price[k]) for k in sorted(classes)]
    shared = np.array(counted, np.float64).reshape(-1, 3)
    paid = np.array(priced, np.float64).reshape(-1, 4)
    cut_user, cut_place = shared[:, :2].astype(np.int64), paid[:, :3].astype(np.int64)
    return Certificate(
        cut_user[:, 0], cut_user[:, 1], shared[:, 2], cut_place[:, 0], cut_place[:, 1], cut_place[:, 2], paid[:, 3]
    )
