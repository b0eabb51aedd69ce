"""The fair point as a flow, exactly: where users are sent flow by machine classes (`flow_problem`).

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
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from schedgap.formulations.fairness.parametric_flow.flow_problem import FlowProblem, flow_problem
from schedgap.formulations.fairness.parametric_flow.max_flow import max_flow
from schedgap.formulations.fairness.settle import settled
from schedgap.instances.fairness.fair_point import FEW_UNITS, FairPoint, allocation_at
from schedgap.instances.fairness.model import FAMILY, FairnessInstance
from schedgap.instances.fairness.solution import SPREAD, TASK, Certificate, FairnessAllocation
from schedgap.instances.fairness.verify import FAIR
from schedgap.instances.method import Outcome, Status, method

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
