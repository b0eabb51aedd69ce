"""The least cost of a tiny schedule over time, by every decision at every plan: slow and plain."""

from itertools import product

from schedgap.instances.reconfiguration.simulator import events, plans
from schedgap.instances.reconfiguration.simulator import state as codes
from schedgap.instances.reconfiguration.simulator.simulator import Simulator

MACHINES = 24
MOST_PLAYS = 1500


def paid(state, price, now):
    """What machines cost up to a second, those that are paid for entirely."""
    total = 0
    for row in state.machines.lease[: state.clock[0].num_machines]:
        until = row.paid_until if row.paid_until >= 0 else now
        total += int(price[row.type]) * max(int(until - row.paid_from), 0)
    return total


def cheapest(instance, limit):
    """The least cost of all schedules below a limit, or the limit: every decision, in full, at every plan.

    None if that takes too many plays. Only what was paid already ends a line of play.
    Of machines that have never been used, there are at most two beside those that run at second 0.
    """
    begins = 0 if instance.running is None else instance.running.size
    price, period = instance.catalogue.price, instance.period_s
    kinds = range(instance.catalogue.num_types)
    best = limit
    plays = 0
    stack = [(Simulator(instance, MACHINES).state, 0)]
    # Who arrives at second 0 is in its plan.
    events.advance(stack[0][0], 0)
    while stack:
        before, t = stack.pop()
        plays += 1
        if plays > MOST_PLAYS:
            return None
        n, active = (
            int(before.clock[0].num_machines),
            before.active[: before.clock[0].num_active],
        )
        jobs = [j for j in active.tolist() if events.ends_at(before, j) > t]
        if active.size == 0 and before.clock[0].seen == instance.num_jobs:
            state = codes.copied(before, MACHINES)
            for m in range(n):
                plans.release(state, t, m)
            best = min(best, -(-paid(state, price, t) // 3600))
            continue
        frozen = [j for j in jobs if before.job[j].phase == codes.MIGRATING]
        free = [j for j in jobs if j not in frozen]
        there = [m for m in range(n) if before.machines.lease[m].released < 0]
        unused = [m for m in there if m >= begins and not before.machines.images[m].any()]
        if len(unused) > 2:
            continue
        # Places: machines that are there, or a new one of a type for this task and those after it.
        for early in (None, *kinds) if len(unused) < 2 else (None,):
            new = [(k, i) for k in kinds for i in range(len(free))]
            for places in product([(-1, m) for m in there] + new, repeat=len(free)):
                used = {m for kind, m in places if kind < 0} | {int(before.task[j].sent_to) for j in frozen}
                empty = [m for m in there if m not in used]
                for keeps in product((False, True), repeat=len(empty)):
                    state = codes.copied(before, MACHINES)
                    if early is not None:
                        plans.rent(state, t, early)
                    rented = {}
                    for j, place in zip(free, places, strict=True):
                        if place[0] >= 0 and place not in rented:
                            rented[place] = plans.rent(state, t, place[0])
                        state.target[j] = rented.get(place, place[1])
                    for j in frozen:
                        state.target[j] = state.task[j].sent_to
                    for m, keep in zip(empty, keeps, strict=True):
                        if not keep:
                            plans.release(state, t, m)
                    if plans.apply_plan(state, t) != codes.FINE:
                        continue
                    events.advance(state, t + period)
                    if -(-paid(state, price, t + period) // 3600) < best:
                        stack.append((state, t + period))
    return best
