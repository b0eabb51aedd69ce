"""Thresholds of a policy: who counts as short, how long jobs wait. Each is given, or learnt like the number of machines.

A policy may learn from the instance's history, the jobs known from before, or with hindsight from the very jobs that it is
scored on. All policies learn by the same search: it starts from the best of a coarse grid around the usual values, a factor of 16
between its points, and goes on to the best of the neighbours, a factor of 2 away in one threshold or in several, until none is
better. What it finds is held against the trivial policies, in which each threshold is 0 or longer than anything lasts: nobody
waits, everybody waits or everybody rents. With hindsight it is held against what the history teaches, too. At every point the
policy buys its own best number of machines, unless that is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import product

import numpy as np

from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator, Policy
from schedgap.heuristics.waiting.compiled.state import NO_LIMIT_US
from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.units import DOLLAR, SECOND_US
from schedgap.instances.waiting.model import WaitingInstance

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
