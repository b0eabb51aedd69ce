"""Prices for presence, beside given prices for progress, in one spell: what it costs at least that tasks must be there.

Second by second, for one machine with the planned tasks S, of which Q progress (Q is a part of S: the others boot,
fetch, wait or have ended, and disturb nobody):

    sum_{i in S that must be present} u_i + sum_{i in Q} pi_i r_i(Q) <= price              for every S, Q that fit  (1)

where tasks that need not be present any more may be there too, for what they progress. Three details make this a bound
by the authors' rules (Eva, section 5):

- A task that is moved away at a plan progresses on its old machine for `kill_s` more. So presence is counted in a
  window, from the longest `kill_s` after a plan until the shortest time after the next in which a task can leave
  (`kill_s`), begin to progress (`fetch_s + init_s`) or its machine's payment end (`terminate_s`). With equal `kill_s`,
  windows without gaps between them; in a gap only progress counts.
- In its first period a machine is not paid for `acquire_s` seconds, and nobody progresses on it for as long and for
  `setup_s`, `fetch_s`, `init_s` more. Whoever is moved there pays by lost progress what the machine does not cost:
      window sum u_i + sum_{i in Q} (seconds of progress)_i pi_i r_i(Q) <= (paid seconds) price           (2)
  Where it takes more than a period until anybody runs there, nobody who was sent there leaves before: at each of these plans
  the machine holds whom it held at the one before. So it is (2) for the mean of the seconds that are paid in all of these
  windows, and the progress of the last one.
- Duals that violate (1) or (2) by at most d are lowered by d each; where u becomes 0 the task is worth no more than
  one that need not be there.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp, LpSolution
from schedgap.formulations.column_generation.master import Generation
from schedgap.formulations.reconfiguration.contents import NANO, ContentPricer, Found, Items, useful
from schedgap.formulations.reconfiguration.kernels_contents import NOT_RUNNING
from schedgap.formulations.reconfiguration.presence import start_up_s
from schedgap.formulations.reconfiguration.work_prices import NANO_DOLLARS
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.reconfiguration.model import ReconfigurationInstance

# Violations below this share of a price are not looked for.
TOLERANCE = 2e-5
POOL = 4000
# A spell is done once this near to the value of its linear program, as a share.
NEAR = 1e-4
FIRST_NODES = 2_000
# A search that found nothing is repeated with so many times the nodes.
LONGER = 10


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """A machine type for one window: nano-dollars an hour of the window. speed_price : (C,), for progress in it."""

    machine_type: int
    price: int
    speed_price: IntArray


def window_s(instance: ReconfigurationInstance) -> tuple[int, int]:
    """Return the seconds from a plan until its window opens, and from the next plan until it closes."""
    early = min(int(instance.kill_s.min()), int(start_up_s(instance).min()), instance.terminate_s)
    return int(instance.kill_s.max()), early


def offers(instance: ReconfigurationInstance, speed_price: IntArray) -> list[Offer]:
    """Return machines in later windows, then in their first, which others make superfluous left out."""
    opens, closes = window_s(instance)
    window, first = instance.period_s + closes - opens, int(start_up_s(instance).min())
    made = []
    for k, price in enumerate((instance.catalogue.price * NANO).tolist()):
        made.append(Offer(k, price, speed_price))
        acquire, setup = int(instance.acquire_s[k]), int(instance.setup_s[k])
        # Whoever is sent to a new machine stays at all plans until it runs there.
        plans = max(1, -(-(acquire + setup + first) // instance.period_s))
        ends = [instance.period_s * n + closes for n in range(1, plans + 1)]
        paid = sum(max(0, min(window, end - acquire)) for end in ends)
        if paid < window * plans:
            progress = np.maximum(0, ends[-1] - acquire - setup - start_up_s(instance))
            share = np.minimum(progress, window).tolist()
            # In Python's integers: a price times a long period may go beyond 64 bits.
            slower = [-(-p * s // window) for p, s in zip(speed_price.tolist(), share, strict=True)]
            made.append(Offer(k, price * paid // (window * plans), np.array(slower, np.int64)))
    kept = useful(
        instance,
        np.array([offer.machine_type for offer in made]),
        np.array([offer.price for offer in made]),
        np.stack([offer.speed_price for offer in made]),
    )
    return [made[n] for n in kept]


class SpellPricer(Generation):
    """Finds presence prices spell by spell; contents found in one spell are tried in the next."""

    master: GrowingLp

    def __init__(
        self,
        instance: ReconfigurationInstance,
        speed_price: IntArray,
        node_limit: int,
        deadline: float | None = None,
    ) -> None:
        super().__init__(GrowingLp([], []))
        self.pricer = ContentPricer(instance)
        self.offers = offers(instance, speed_price)
        self.node_limit, self.deadline = node_limit, deadline
        self.num_classes = instance.catalogue.num_classes
        self.pool = np.zeros((0, 2 * self.num_classes), np.int64)
        self.pool_cost = np.zeros(0)
        self.nodes = self.best = 0
        # (C,), the prices that prove `best`.
        self.proven = np.zeros(self.num_classes, np.int64)

    def worth(self, most: IntArray, presence: IntArray, late: IntArray) -> int:
        """Return the proven worth of one spell's presence, nano-dollars an hour times plans. All (C,).

        At the deadline (of `perf_counter`) it is what was proven before, 0 at first.
        """
        classes = np.flatnonzero(most)
        self.master = GrowingLp(presence[classes].astype(np.float64), np.full(classes.size, np.inf))
        self.master.add_columns(*self._alone(classes))
        usable = (self.pool <= np.concatenate((most, late))).all(axis=1)
        self.master.add_columns(self.pool_cost[usable], self.pool[usable][:, classes].astype(np.float64))
        self.best, self.spell = 0, (classes, most, presence, late)
        self.proven = np.zeros(self.num_classes, np.int64)
        self.generate(math.inf if self.deadline is None else self.deadline)
        return self.best

    def price(self, trial: FloatArray, found: LpSolution) -> tuple[bool, bool]:
        """Lower the prices by the greatest violation, and add the contents that violate most."""
        classes, most, presence, late = self.spell
        price = np.zeros(self.num_classes, np.int64)
        price[classes] = np.clip(trial * NANO_DOLLARS, 0, self.pricer.dearest)
        contents, costs, violation = self._violated(classes, np.flatnonzero(late), most, late, price)
        if self.is_late():
            return False, False
        left_over = np.maximum(0, price - violation)
        worth = sum(p * n for p, n in zip(left_over.tolist(), presence.tolist(), strict=True))
        if worth > self.best:
            self.best, self.proven = worth, left_over
        if contents:
            rows = np.array(contents)
            self.master.add_columns(np.array(costs), rows[:, classes].astype(np.float64))
            self.pool = np.concatenate((self.pool, rows))[-POOL:]
            self.pool_cost = np.concatenate((self.pool_cost, np.array(costs)))[-POOL:]
        return bool(contents) and self.best < found.objective * NANO_DOLLARS * (1 - NEAR), True

    def is_late(self) -> bool:
        """Tell whether the deadline has passed."""
        return self.deadline is not None and time.perf_counter() >= self.deadline

    def _alone(self, classes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return what one task alone leaves to pay at most, as columns."""
        cost = np.full(classes.size, np.inf)
        for offer in self.offers:
            fits = self._fits(offer, classes)
            cost[fits] = np.minimum(cost[fits], (offer.price - offer.speed_price[classes[fits]]) / NANO_DOLLARS)
        return np.maximum(cost, 0.0), np.eye(classes.size)

    def _fits(self, offer: Offer, classes: IntArray) -> IntArray:
        family = self.pricer.type2family[offer.machine_type]
        demand = self.pricer.demand[family][classes]
        fits = (demand[:, 0] >= 0) & (demand <= self.pricer.capacity[offer.machine_type]).all(axis=1)
        return np.flatnonzero(fits)

    def _violated(
        self, classes: IntArray, left: IntArray, most: IntArray, late: IntArray, price: IntArray
    ) -> tuple[list[IntArray], list[float], int]:
        """Return contents worth more than their offers, what they leave to pay, and the greatest violation."""
        size, num_late = classes.size, left.size
        task_class = np.concatenate((classes, classes, left))
        runs = np.concatenate((np.ones(size, np.int64), np.zeros(size, np.int64), np.ones(num_late, np.int64)))
        group = np.concatenate((np.arange(size), np.arange(size), size + np.arange(num_late)))
        limit = np.concatenate((most[classes], late[left]))
        worth = np.concatenate((price[classes], price[classes], np.zeros(num_late, np.int64)))
        undisturbed = self.pricer.class2workload[task_class] == NOT_RUNNING
        contents, costs, violation = [], [], 0
        for offer in self.offers:
            if self.is_late():
                break
            speed = np.where(runs == 1, offer.speed_price[task_class], 0)
            # Of two equal items one is enough: progress for nothing, or idleness where it helps nobody.
            shown = np.where(runs == 1, speed > 0, (offer.speed_price[task_class] == 0) | ~undisturbed)
            target = offer.price + int(offer.price * TOLERANCE)
            found = self._search(
                offer.machine_type, Items(task_class, runs, group, limit, worth * shown, speed), target
            )
            violation = max(violation, found.upper - offer.price)
            if found.content.any():
                row = np.zeros(2 * self.num_classes, np.int64)
                np.add.at(row, task_class[: 2 * size], found.content[: 2 * size])
                row[self.num_classes + left] = found.content[2 * size :]
                contents.append(row)
                costs.append(self._left_to_pay(offer, task_class, found, runs, speed))
        return contents, costs, violation

    def _search(self, machine_type: int, items: Items, target: int) -> Found:
        """Search briefly for any content worth more than the target, longer only where none was found and time is left."""
        nodes = FIRST_NODES
        while True:
            begun = time.perf_counter()
            found = self.pricer.best(machine_type, items, target, min(nodes, self.node_limit))
            self.nodes += found.nodes
            if found.content.any() or found.upper <= target or nodes >= self.node_limit:
                return found
            now = time.perf_counter()
            # A search of ten times the nodes takes ten times as long, about.
            if self.deadline is not None and now + LONGER * (now - begun) > self.deadline:
                return found
            nodes *= LONGER

    def _left_to_pay(self, offer: Offer, task_class: IntArray, found: Found, runs: IntArray, speed: IntArray) -> float:
        rates = self.pricer.rates(task_class, found.content * runs)
        return (offer.price - float((found.content * runs * speed) @ rates)) / NANO_DOLLARS
