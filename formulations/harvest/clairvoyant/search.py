"""The best schedule that is known with hindsight, and a bound: lists, due dates by prices, and exchanges of tasks.

Lists place each task where it starts first, and leave some 3 % of a crowded pool idle: what is left of a VM before it shrinks
is rarely as long as the next task. Tasks that are exchanged between lanes (`lanes`) fill that up. Exchanges seldom change
which jobs wait, so that is decided before, by prices (`priced_ends`) and by lists: each is tried for a while, and the better
one has the rest of the moves.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.alone import alone_ends, ending_together
from schedgap.formulations.harvest.clairvoyant.clairvoyant import ROUNDS, Lists, follow, needs_fixed_pool, wander
from schedgap.formulations.harvest.clairvoyant.lanes import Exchange
from schedgap.formulations.harvest.clairvoyant.priced_ends import priced_ends
from schedgap.formulations.harvest.price_bound.price_bound import LEVELS, priced
from schedgap.formulations.harvest.work_bound import bound_work
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Found, Outcome, method, untold

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

# Of the time, until lists end and for prices at most; of moves and time, to choose between two schedules.
LISTS, PRICES, CHOOSING = 0.2, 0.25, 0.1
# Of moves and time, for the better one; the rest goes on from the best, divided into lanes anew and cooled down half.
MAIN, LUKEWARM = 0.7, 0.5


@method("clairvoyant-search", version=3, family=FAMILY, supports=needs_fixed_pool, stochastic=True, bounds=True)
def clairvoyant_search(
    instance: HarvestInstance,
    *,
    rng: np.random.Generator,
    time_limit_s: float | None = None,
    found: Found = untold,
    changes: int = 500,
    rounds: int = 100,
    moves: int = 5_000_000,
) -> Outcome:
    """Know all events: the best list and due dates by prices, improved by exchanges of tasks; and the bound of prices.

    changes : of the lists' due dates. rounds : of improving prices, as of bound-prices. moves : exchanges; fewer if time is
        over, for which they cool down too.
    """
    if changes < 0 or rounds < 1 or moves < 0:
        raise MethodError(f"changes is {changes}, rounds {rounds}, moves {moves}; give at least 0, 1 and 0.")
    begun = time.perf_counter()
    limit_s = math.inf if time_limit_s is None else time_limit_s
    deadline = begun + limit_s
    lists = Lists(instance, begun, alone_ends(instance), found)
    tried = follow(lists, ROUNDS, deadline)
    if lists.best is not None:
        tried += wander(lists, changes, begun + LISTS * limit_s, rng)
    if lists.best is None or lists.is_done:
        return lists.outcome(lists=tried, moves=0)
    starts = [lists.best[1:]]
    prices = priced(instance, rounds, LEVELS, begun + PRICES * limit_s)
    work = bound_work(instance, time_limit_s=None if time_limit_s is None else PRICES * time_limit_s)
    lists.bound = max(lists.bound, prices.bound, work.bound or 0)
    found(bound=lists.bound)
    if instance.objective == "jobs":
        origin = int(instance.arrival_ms[0])
        due = priced_ends(prices, lists.ends_of(starts[0][1]) - origin, time.perf_counter() + PRICES * limit_s)
        if due is not None:
            starts.append(lists.place(due + origin))
    random = np.array([int(rng.integers(1, 2**63))], np.uint64)
    done, drafts = 0, []
    for each in starts:
        until = time.perf_counter()
        objective, some = _improved(lists, each, int(CHOOSING * moves), random, until + CHOOSING * (deadline - until))
        done += some
        drafts.append(objective)
    now, best = time.perf_counter(), starts[int(np.argmin(drafts))]
    done += _improved(lists, best, int(MAIN * moves), random, now + MAIN * (deadline - now))[1]
    done += _improved(lists, lists.best[1:], moves - int(MAIN * moves), random, deadline, LUKEWARM)[1]
    return lists.outcome(lists=tried, moves=done)


def _improved(
    lists: Lists, start: tuple[IntArray, IntArray], moves: int, random: np.ndarray, deadline: float, since: float = 0.0
) -> tuple[int, int]:
    """Exchange tasks of a schedule, VMs and starts; return the least objective, and how many moves were made."""
    if lists.is_done or not moves or time.perf_counter() >= deadline:
        return lists.learn(*start), 0
    draft = Exchange(lists.future, ending_together(lists.instance), *start)
    return draft.improve(moves, random, deadline, lists.learn, enough=lists.bound, since=since)
