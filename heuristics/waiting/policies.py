"""The policies of Waiting Game: who waits for a fixed machine, and who rents (sections III and IV).

Parameters that they share:

machines : fixed machines; -1 for the cheapest number that `cheapest_number` finds. wait_limit_s : the longest
    wait, b in the paper; an instance that allows less cuts it. short_s : jobs that run so long or less are short, t in the
    paper. Both default to the paper's values for its real trace (section VI), and -1 stands for the best values found.
tuned_on : what is -1 is learnt from the jobs of the `history`, and from the instance's own where it has none; or in any
    case from the jobs of the instance `itself`, where what the history teaches is tried as well.
scheduling : who starts when a machine has room. `fcfs`: the head of the queue, as in the paper. `easy`: EASY
    backfilling. `sjf`: the shortest job heads the queue. `conservative`: conservative backfilling, each job in the first
    gap that holds it. All with known runtimes.
fit : the machine that a job goes to, the `first` with room or the `best`, which has the fewest cores free. The paper
    says best and its authors' simulator takes the first.
semantics : `paper`: jobs leave the queue at their limit, and jobs larger than a machine rent at arrival. `artifact`:
    as the authors' simulator does (`serve_as_artifact`), for instances whose runtimes are whole seconds.

A policy of our own, `worth-waiting`: a job waits as long as waiting is worth the rent that it saves, in the first gap that
holds it. What a job gains by waiting is its rent; what waiting costs does not depend on the job. So the limit is proportional
to the rent: `hours_per_dollar` x dollars of rent, up to `wait_limit_s`. If an hour of waiting costs l dollars, a job that would
wait longer than rent / l hours does better to rent, and 1 / l hours a dollar is the start of the search. Small jobs get limits
near 0: they are the compound policy's short jobs, but take an idle machine where there is one, and small means few core-hours,
not a short runtime.

And jobs are served by conservative backfilling (`serve_by_reservation`), which knows a job's wait when it comes, as the
paper assumes for Short Waits Wait: so a job that would wait longer rents at once, and no large job holds up others.

Thresholds say who counts as short and how long jobs wait. A policy may learn from the instance's history, the jobs known from
before, or with hindsight from the very jobs that it is scored on. All policies learn by the same search: it starts from the
best of a coarse grid around the usual values, a factor of 16 between its points, and goes on to the best of the neighbours, a
factor of 2 away in one threshold or in several, until none is better. What it finds is held against the trivial policies, in
which each threshold is 0 or longer than anything lasts: nobody waits, everybody waits or everybody rents. With hindsight it is
held against what the history teaches, too. At every point the policy buys its own best number of machines, unless that is
given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from schedgap.heuristics.waiting.compiled.kernels_machines import NO_LIMIT_US
from schedgap.heuristics.waiting.compiled.simulator import FIT, SCHEDULING, SEMANTICS, CompiledSimulator, Policy
from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, flattened, method
from schedgap.instances.units import DOLLAR, HOUR_US, NEVER, SECOND_US
from schedgap.instances.waiting.model import FAMILY, WaitingInstance
from schedgap.instances.waiting.verify import MAX_MACHINES, costs, rounded_up

TUNED = -1
COARSE = (1.0, 1 / 16, 16.0)
FINE = (1.0, 0.5, 2.0)
DAY_S, SHORT_S = 86_400.0, 180.0
# A threshold longer than anything lasts: everybody is short, or may wait as long as it takes.
FOREVER = 1e13


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What decides who waits how long; None for a threshold that the policy has not, `TUNED` for one to be found.

    wait_limit_s : the longest wait, b in the paper; an instance that allows less cuts it. short_s : jobs that run so long
    or less are short, t in the paper. hours_per_dollar : the longest wait for a dollar of rent; infinite for no such limit.
    """

    wait_limit_s: float | None = None
    short_s: float | None = None
    hours_per_dollar: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no threshold."""
        units = {"wait_limit_s": "seconds", "short_s": "seconds", "hours_per_dollar": "hours"}
        for name, value in asdict(self).items():
            if value is not None and value != TUNED and not value >= 0:
                raise MethodError(f"{name} is {value:g}; give {units[name]}, 0 or more, or {TUNED} for the best found.")

    def tuned(
        self, instance: WaitingInstance, cost: Callable[[Thresholds], int], also: dict[str, float] | None = None
    ) -> tuple[Thresholds, dict[str, float]]:
        """Return the thresholds with the best values found for those to be tuned, and these by name.

        cost : of thresholds that are all given, on the instance that is learnt from. also : values to be tried beside the
        grid's.
        """
        given = asdict(self)
        usual = {"wait_limit_s": DAY_S, "short_s": SHORT_S, "hours_per_dollar": DOLLAR / max(1, instance.wait_price)}
        free = {name: usual[name] for name, value in given.items() if value == TUNED}
        if instance.wait_price == 0 and free.pop("hours_per_dollar", None) is not None:
            # Waiting costs nothing, so none is too long.
            given["hours_per_dollar"] = math.inf
        costs: dict[tuple[float, ...], int] = {}

        def chosen(values: tuple[float, ...]) -> Thresholds:
            return Thresholds(**(given | dict(zip(free, values, strict=True))))

        def best(tries: list[tuple[float, ...]]) -> tuple[float, ...]:
            """Return the best of some points, the first of equals."""
            for point in tries:
                if point not in costs:
                    costs[point] = cost(chosen(point))
            return min(tries, key=costs.__getitem__)

        def descended(values: tuple[float, ...]) -> tuple[float, ...]:
            """Return the point from which no neighbour is better."""
            while (better := best(list(product(*(_scaled(value, FINE) for value in values))))) != values:
                values = better
            return values

        values = tuple(free.values())
        if values:
            grid = list(product(*(_scaled(value, COARSE) for value in values)))
            trivial = list(product((0.0, FOREVER), repeat=len(values)))
            trivial += [tuple(also[name] for name in free)] if also else []
            values = descended(best([descended(best(grid)), *trivial]))
        return chosen(values), dict(zip(free, values, strict=True))

    def simulation(
        self, instance: WaitingInstance, policy: Policy, rng: np.random.Generator | None = None
    ) -> CompiledSimulator:
        """Return the simulation of a policy with these thresholds, all given. The same draws from `rng` each time."""
        if self.wait_limit_s is not None:
            policy = replace(policy, limit_us=limit_of(instance, self.wait_limit_s))
        if self.short_s is not None:
            policy = replace(policy, short_us=microseconds("short_s", self.short_s))
        limit_us = None if self.hours_per_dollar is None else worth(instance, self.hours_per_dollar, policy.limit_us)
        return CompiledSimulator(instance, policy, deepcopy(rng), limit_us)


def _scaled(value: float, factors: tuple[float, ...]) -> list[float]:
    """Return a value times factors; the ends have no neighbours."""
    return [value * factor for factor in factors] if 0 < value < FOREVER else [value]


def limit_of(instance: WaitingInstance, wait_limit_s: float) -> int:
    """Return a limit in microseconds, cut to what the instance allows.

    Raises `MethodError` if it is negative or no number.
    """
    limit_us = microseconds("wait_limit_s", wait_limit_s)
    return limit_us if instance.max_wait_us is None else min(limit_us, instance.max_wait_us)


def microseconds(name: str, seconds: float) -> int:
    """Return a time in microseconds. Raises `MethodError` if it is negative or no number."""
    if math.isnan(seconds) or seconds < 0:
        raise MethodError(f"{name} is {seconds:g}; give seconds, 0 or more.")
    return NO_LIMIT_US if seconds * SECOND_US >= NO_LIMIT_US else round(seconds * SECOND_US)


def worth(instance: WaitingInstance, hours_per_dollar: float, limit_us: int) -> IntArray:
    """(J,) int64: how long each job may wait, in microseconds."""
    if hours_per_dollar == math.inf:
        return np.full(instance.num_jobs, limit_us)
    # Micro-dollars an hour x microseconds x hours a dollar: a millionth is microseconds.
    waits = instance.rent().astype(np.float64) * instance.runtime_us * (hours_per_dollar / DOLLAR)
    return np.minimum(waits, limit_us).astype(np.int64)


# Numbers tried between two neighbours of the best so far.
POINTS = 7
# How far beyond the most that are of use numbers are tried, so that the best has neighbours on both sides.
MARGIN = 4
# All numbers this near to the best are tried in the end.
NEAR = 2


def cheapest_number(
    cost: Callable[[int], int], least: int, machine_cost: int, most: int | None = None
) -> tuple[int, int, int]:
    """Return the number of machines of the lowest cost found, that cost, and how many numbers were tried.

    Tries `least` and then 1, 2, 4, ... while that many machines alone cost less than the best so far, which is when no
    larger number can be better, or `most` are passed; then evenly spaced numbers between the neighbours of the best, and
    so on until the neighbours are next to it; then all within two of it. The smallest number wins a tie.

    The cost of a policy over the number of machines need not have one valley: a trace's bursts leave small ones, and
    under bin packing another machine can even do harm. So this is a search from coarse to fine, not a proof; it is exact
    where there is one valley. O(log s) calls.

    cost : of a number of machines. machine_cost : what one machine costs at least, positive. most : from so many on,
    more make no difference but their price; None where nobody knows.
    """
    costs: dict[int, int] = {}

    def best() -> int:
        return min(costs, key=lambda number: (costs[number], number))

    def attempt(numbers: range) -> None:
        for number in numbers:
            if number >= least and number not in costs:
                costs[number] = cost(number)

    attempt(range(least, least + 1))
    ceiling = max(1, least)
    while ceiling * machine_cost < costs[best()] and (most is None or ceiling <= MARGIN * most):
        attempt(range(ceiling, ceiling + 1))
        ceiling *= 2
    while True:
        centre = best()
        below = max((number for number in costs if number < centre), default=centre)
        above = min((number for number in costs if number > centre), default=ceiling)
        if above - below > 2:
            step = max(1, (above - below) // (POINTS + 1))
            attempt(range(below + step, above, step))
            continue
        attempt(range(centre - NEAR, centre + NEAR + 1))
        if best() == centre:
            return centre, costs[centre], len(costs)


HISTORY = "history"
TUNED_ON = {"tuned_on": (HISTORY, "itself")}
CHOICES = {"scheduling": SCHEDULING, "fit": FIT, "semantics": SEMANTICS, **TUNED_ON}
NONE = Thresholds()
# More than anything costs.
MOST_COST = 2**200


@dataclass(frozen=True, slots=True)
class Serving:
    """How jobs are served, and what is learnt from; `policies` describes its fields."""

    scheduling: str = "fcfs"
    fit: str = "first"
    semantics: str = "paper"
    tuned_on: str = HISTORY


SERVING = Serving()


class Learnt(NamedTuple):
    """Thresholds and a number of machines, the values of the learnt thresholds by name, how many numbers were tried."""

    thresholds: Thresholds
    machines: int
    values: dict[str, float]
    tried: int


def play(
    instance: WaitingInstance,
    policy: Policy,
    machines: int,
    thresholds: Thresholds = NONE,
    *,
    tuned_on: str = HISTORY,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Play a policy with thresholds and a number of machines; what is -1 of these is learnt.

    tuned_on : `history` to learn from the jobs known from before, or where there are none from the instance itself;
    `itself` to learn from the jobs that the policy is then scored on.

    Raises `MethodError` for thresholds or a number of machines that cannot be.
    """
    limited = thresholds.wait_limit_s is not None
    check_machines(machines, 0 if limited or not policy.waits or thresholds.short_s is not None else 1)
    past = instance.history
    known = instance if past is None or tuned_on != HISTORY else past
    playable = replace(policy, limit_us=0 if limited else NO_LIMIT_US)
    for each in (instance, known):
        reason = playable.unsupported(each)
        if reason is not None:
            return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    before = None
    if past is not None and known is instance and playable.unsupported(past) is None:
        before = learn(past, policy, machines, thresholds, rng)
    learnt = learn(known, policy, machines, thresholds, rng, before)
    simulation = learnt.thresholds.simulation(instance, policy, rng)
    if machines != -1:
        check_machines(machines, simulation.least)
    number = max(learnt.machines, simulation.least)
    details = {"machines": number, "numbers_tried": learnt.tried, **learnt.values}
    return Outcome(simulation.run(number), details=details)


def learn(
    known: WaitingInstance,
    policy: Policy,
    machines: int,
    thresholds: Thresholds,
    rng: np.random.Generator | None,
    before: Learnt | None = None,
) -> Learnt:
    """Return what is found best on the jobs of an instance; `before`, learnt from others, is tried as well."""
    tried, lowest = 0, MOST_COST

    def cost_of(simulation: CompiledSimulator, number: int) -> int:
        """Return the cost; of what costs more than what is known already, anything that is more than that."""
        nonlocal tried, lowest
        tried += 1
        most_wait_us = min(lowest * HOUR_US // max(1, known.wait_price), NO_LIMIT_US)
        cost = costs(known, simulation.run(number, most_wait_us if known.wait_price else -1)).objective
        lowest = min(lowest, cost)
        return cost

    @cache
    def best(chosen: Thresholds) -> tuple[int, int]:
        """Return the lowest cost found on what is known, and the number of machines."""
        simulation = chosen.simulation(known, policy, rng)
        if machines == -1:
            least_cost = max(1, rounded_up(known.fixed_price * known.horizon_us))
            number, cost, _ = cheapest_number(
                partial(cost_of, simulation), simulation.least, least_cost, known.num_jobs
            )
            return cost, number
        # Without machines nobody may wait as long as it takes.
        return (cost_of(simulation, machines) if machines >= simulation.least else NEVER), machines

    chosen, values = thresholds.tuned(known, lambda each: best(each)[0], before and before.values)
    if machines != -1:
        return Learnt(chosen, machines, values, tried)
    cost, number = best(chosen)
    if before is not None:
        simulation = before.thresholds.simulation(known, policy, rng)
        if simulation.least <= before.machines and cost_of(simulation, before.machines) < cost:
            chosen, number, values = before[:3]
    return Learnt(chosen, number, values, tried + (before.tried if before else 0))


def check_machines(machines: int, least: int) -> None:
    """Refuse a number of machines that cannot be; -1 stands for the best.

    Raises `MethodError` if it is not -1 and below `least`, or too large.
    """
    if machines != -1 and not least <= machines <= MAX_MACHINES:
        why = ", since jobs wait for one however long it takes" if machines == 0 else ""
        raise MethodError(f"machines is {machines}; give {least} to {MAX_MACHINES}{why}, or -1 for the best number.")


def probability(name: str, value: float) -> float:
    """Return a probability. Raises `MethodError` outside 0 to 1."""
    if not 0 <= value <= 1:
        raise MethodError(f"{name} is {value:g}; give a probability, 0 to 1.")
    return value


def waits_are_unlimited(instance: WaitingInstance) -> str | None:
    """Return why a policy without a limit cannot take an instance, None if it can."""
    if instance.max_wait_us is None:
        return None
    return (
        f"jobs wait however long it takes, and here no job may wait longer than {instance.max_wait_us / SECOND_US:g} s"
    )


WEEK_S = 604_800.0


@method("worth-waiting", version=3, family=FAMILY, choices={"fit": FIT, **TUNED_ON})
def worth_waiting(
    instance: WaitingInstance,
    machines: int = -1,
    hours_per_dollar: float = -1.0,
    wait_limit_s: float = WEEK_S,
    fit: str = "first",
    tuned_on: str = HISTORY,
) -> Outcome:
    """Let each job wait as long as the rent saved is worth, in the first gap that holds it; no policy of the paper's.

    hours_per_dollar : the longest wait for a dollar of rent. wait_limit_s : the longest wait of all; an instance that
    allows less cuts it. machines, tuned_on : as the other policies have them (`policies`); -1 stands for the best found.

    Raises `MethodError` for parameters out of range.
    """
    policy = Policy(balks=True, scheduling="conservative", fit=fit)
    thresholds = Thresholds(wait_limit_s, hours_per_dollar=hours_per_dollar)
    return play(instance, policy, machines, thresholds, tuned_on=tuned_on)


PLACING = {key: CHOICES[key] for key in CHOICES if key != "scheduling"}
# Orders in which a job's start is known when it comes.
FORESEEN = {**PLACING, "scheduling": ("fcfs", "conservative")}


@method("all-rented", family=FAMILY)
def all_rented(instance: WaitingInstance) -> Outcome:
    """Buy no machine and rent for every job: what all other policies must beat."""
    return play(instance, Policy(waits=False), 0)


@method("njw", family=FAMILY, choices=PLACING)
@flattened(without=["scheduling"])
def njw(instance: WaitingInstance, machines: int = -1, serving: Serving = SERVING) -> Outcome:
    """No jobs wait: a job that finds no room rents (section III-B)."""
    return _play(instance, machines, serving, waits=False)


@method("ajw", family=FAMILY, supports=waits_are_unlimited, choices=CHOICES)
@flattened()
def ajw(instance: WaitingInstance, machines: int = -1, serving: Serving = SERVING) -> Outcome:
    """All jobs wait, and none rents that fits a machine (section III-A)."""
    return _play(instance, machines, serving)


@method("ajw-t", version=2, family=FAMILY, choices=CHOICES)
@flattened()
def ajw_t(
    instance: WaitingInstance, machines: int = -1, wait_limit_s: float = DAY_S, serving: Serving = SERVING
) -> Outcome:
    """All jobs wait, and rent when they have waited up to a limit (section III-C)."""
    return _play(instance, machines, serving, Thresholds(wait_limit_s))


@method("sww", version=2, family=FAMILY, choices=FORESEEN)
@flattened()
def sww(
    instance: WaitingInstance, machines: int = -1, wait_limit_s: float = DAY_S, serving: Serving = SERVING
) -> Outcome:
    """Short waits wait: a job that would wait longer than a limit rents at arrival (section IV-A).

    In `paper` semantics the wait is foreseen exactly, from the runtimes of the jobs that run and queue; this is possible
    where nobody who comes later may delay a job, so not under `easy` and `sjf`. In `artifact` semantics the jobs that
    `ajw-t` sends to on-demand machines go there at arrival instead: the same for jobs of one core, not for others.
    """
    return _play(instance, machines, serving, Thresholds(wait_limit_s), balks=True)


@method("ljw", version=2, family=FAMILY, supports=waits_are_unlimited, choices=CHOICES)
@flattened()
def ljw(instance: WaitingInstance, machines: int = -1, short_s: float = SHORT_S, serving: Serving = SERVING) -> Outcome:
    """Long jobs wait: a short job rents at arrival, idle machines or not (section IV-B)."""
    return _play(instance, machines, serving, Thresholds(short_s=short_s))


@method("compound", version=2, family=FAMILY, choices=FORESEEN)
@flattened()
def compound(
    instance: WaitingInstance,
    machines: int = -1,
    wait_limit_s: float = DAY_S,
    short_s: float = SHORT_S,
    serving: Serving = SERVING,
) -> Outcome:
    """Short jobs rent at arrival, and so do those that would wait longer than a limit (section IV-C)."""
    return _play(instance, machines, serving, Thresholds(wait_limit_s, short_s), balks=True)


@method("break-even", family=FAMILY, choices={key: CHOICES[key] for key in CHOICES if key != "semantics"})
@flattened(without=["semantics"])
def break_even(instance: WaitingInstance, machines: int = -1, serving: Serving = SERVING) -> Outcome:
    """Let a job wait until that has cost what renting at once would have, then rent: ski rental's break-even rule.

    Karlin et al. (Competitive snoopy caching, 1988): without foresight no job pays more than twice the lower of both.
    """
    hours = DOLLAR / instance.wait_price if instance.wait_price else math.inf
    return _play(instance, machines, serving, Thresholds(FOREVER, hours_per_dollar=hours))


@method("compound-mispredicted", version=3, family=FAMILY, stochastic=True, choices=FORESEEN)
@flattened()
def compound_mispredicted(
    instance: WaitingInstance,
    rng: np.random.Generator,
    machines: int = -1,
    wait_limit_s: float = DAY_S,
    short_s: float = SHORT_S,
    runtime_error: float = 0.1,
    wait_error: float = 0.1,
    serving: Serving = SERVING,
) -> Outcome:
    """Play the compound policy with wrong predictions of runtimes and waits (section VI-B, Figure 13).

    runtime_error : the probability that a job is taken for short if it is long, and for long if it is short.
    wait_error : that a job which should wait rents at once, and one that should rent at once waits up to the limit. In
    `artifact` semantics it is the probability that the head of the queue, each time that it is looked at, rents.
    """
    return _play(
        instance,
        machines,
        serving,
        Thresholds(wait_limit_s, short_s),
        rng,
        balks=True,
        runtime_error=probability("runtime_error", runtime_error),
        wait_error=probability("wait_error", wait_error),
    )


def _play(
    instance: WaitingInstance,
    machines: int,
    serving: Serving,
    thresholds: Thresholds = NONE,
    rng: np.random.Generator | None = None,
    **kind: Any,
) -> Outcome:
    policy = Policy(scheduling=serving.scheduling, fit=serving.fit, semantics=serving.semantics, **kind)
    return play(instance, policy, machines, thresholds, tuned_on=serving.tuned_on, rng=rng)
