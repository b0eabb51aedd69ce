"""Branch and bound over plans: every decision worth a thought, played by the simulator's own rules.

A node is the true state of the simulator at the second of a plan. Its children are all decisions that some optimal schedule
may take:

- each task that may be sent stays, goes to a machine in the plan with room, or to a new one. New machines are told apart
  by their lowest task. Types with the same delays that can hold the same sets of the instance's tasks differ in nothing
  but their price: the cheapest is enough, unless it may run out.
- a machine without tasks is kept or given back; one that is never used again is better given back now.
- a machine may be rented before it is used, but not earlier than it takes to run by then: until its first task it
  changes nothing but the price, so the last plan that is early enough is best.

A machine that runs at second 0 is as any other that a plan has, save that no plan rented it, so that none had better done so
later: the third of these does not ask about it, nor do states forget it as long as it is unused. The search then begins at 0.
Likewise one to which a job is sent that ends while it is stopped: the machine that the job leaves may be given back for it.

The simulator refuses decisions with more machines of a type than there are; all of the above leaves others no fewer.

The method `clairvoyant`: the cheapest schedule there is, every arrival and run time known in advance.

No policy can do better: it is what online policies are measured against on small instances, with migrations,
interference and every delay, by the simulator's own rules (Eva, sections 4.4 and 5).

Costs of single plans and bounds on what is left are summed in 64-bit integers, those of whole schedules in Python's; an
instance whose prices and times could lead further is unsupported (`largest_amount`). Below that everything is a proof.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from schedgap.formulations.reconfiguration.clairvoyant.decisions import (
    Decision,
    Decisions,
    DecisionSpace,
    Node,
    decision_space,
    fitting_sets,
    micro,
    schedule_of,
    useful_types,
    with_more,
)
from schedgap.formulations.reconfiguration.clairvoyant.kernels_step import BEFORE, canonicalise, phases, rest, step
from schedgap.formulations.reconfiguration.contents import boundable
from schedgap.formulations.reconfiguration.limits import NANO
from schedgap.formulations.reconfiguration.presence import late_plans, must_plans, num_plans
from schedgap.formulations.reconfiguration.work_prices import work_prices
from schedgap.instances.arrays import IntArray
from schedgap.instances.method import Found, Outcome, Status, method, untold
from schedgap.instances.provisioning.moves import RUNNING, STOCK
from schedgap.instances.reconfiguration.model import (
    FAMILY,
    MAX_TIME_S,
    ReconfigurationInstance,
    ReconfigurationSchedule,
)
from schedgap.instances.reconfiguration.simulator.events import advance
from schedgap.instances.reconfiguration.simulator.simulator import Simulator
from schedgap.instances.reconfiguration.simulator.state import DONE, State, with_rows


@dataclass(slots=True)
class ClairvoyantSearch:
    """The search of one instance, and what it has found, which `found` is told of. prune : False visits all, for tests."""

    space: DecisionSpace
    work_price: IntArray
    prune: bool = True
    found: Found = untold
    best: int | None = None
    schedule: ReconfigurationSchedule | None = None
    nodes: int = 0
    open: list[Node] = field(default_factory=list)
    root_bound: int = 0
    seen: dict[bytes, int] = field(default_factory=dict)

    def run(self, deadline: float | None) -> bool:
        """Search until the best schedule is proven, and return True, or until the deadline of `perf_counter`."""
        root = self._root()
        self.root_bound = micro(root.bound)
        if deadline is not None and time.perf_counter() >= deadline:
            self.open = [root]
            return False
        if self.prune:
            self._alone(root)
        self.open = [root]
        while self.open:
            node = self.open[-1]
            if deadline is not None and time.perf_counter() >= deadline:
                return False
            if self.is_hopeless(node.bound):
                self.open.pop()
                continue
            children = self._children(node, deadline)
            if children is None:
                return False
            self.open.pop()
            children.sort(key=lambda child: -child.bound)
            self.open.extend(children)
        return True

    def bound(self) -> int:
        """Return what is proven: the best schedule's cost, or the least that an open node may still cost."""
        values = [micro(node.bound) for node in self.open]
        if self.best is not None:
            values.append(self.best)
        return min(values, default=self.root_bound)

    def _root(self) -> Node:
        space, instance = self.space, self.space.instance
        start = int(space.first_plan[0]) - max(space.early[k] for k in space.kinds) * instance.period_s
        start = 0 if instance.running is not None else max(start, 0)
        state = Simulator(instance, 0).state
        advance(state, start)
        live = int(state.clock[0].num_machines)
        # No plan has rented them: `decisions` asks whether one had better been made later.
        state.machines.lease["rented"][:live] = BEFORE
        serial = np.arange(live)
        canonicalise(state, start, space.price, serial)
        worth, later = self._rest(state, start)
        return Node(state, start, 0, worth, later, serial, live)

    def is_hopeless(self, amount: int) -> bool:
        """Whether a schedule that costs so much, in micro-dollars an hour times seconds, is not better than the best."""
        return self.prune and self.best is not None and micro(amount) >= self.best

    def _alone(self, root: Node) -> None:
        """Find a first schedule: every task alone on the cheapest machine, moved only from one that it shares at first."""
        reservation = self.space.instance.catalogue.reservation_type
        assert reservation is not None
        node = root
        while not self._ended(node):
            found = phases(node.state, node.at)
            rows = int(node.state.clock[0].num_machines)
            stay = node.state.task["sent_to"].tolist()
            shared = {j for k, j in enumerate(self.space.task2job) if stay[k] >= 0 and stay.count(stay[k]) > 1}
            new = [k for k, j in enumerate(self.space.task2job) if found[j] and (stay[k] < 0 or j in shared)]
            used = {stay[k] for k, j in enumerate(self.space.task2job) if found[j] and k not in new}
            types = tuple(int(reservation[self.space.instance.job2class[self.space.task2job[k]]]) for k in new)
            empty = tuple(m for m in range(rows) if m not in used and node.state.machines.lease[m].released < 0)
            child = self._child(node, Decision(types, empty, tuple((k, rows + i) for i, k in enumerate(new))))
            if child is None:
                # Some type has too few machines for that.
                return
            node = child
        self._accept(node)

    def _ended(self, node: Node) -> bool:
        return bool((node.state.job["phase"] == DONE).all())

    def _accept(self, node: Node) -> None:
        machine, live = node.state.machines.lease, int(node.state.clock[0].num_machines)
        closing = 0
        for m in range(live):
            if machine[m].paid_until >= 0:
                continue
            paid = max(node.at + self.space.instance.terminate_s - int(machine[m].paid_from), 0)
            closing += int(self.space.price[machine[m].type]) * paid
        cost = micro(node.spent + closing)
        if self.best is None or cost < self.best:
            self.best, self.schedule = cost, schedule_of(node)
            self.found(self.schedule)

    def _children(self, node: Node, deadline: float | None) -> list[Node] | None:
        if self._ended(node):
            self._accept(node)
            return []
        if node.at > MAX_TIME_S:
            return []
        children: list[Node] = []
        for decision in Decisions(self.space, node, self.is_hopeless).all():
            self.nodes += 1
            if deadline is not None and self.nodes % 64 == 0 and time.perf_counter() >= deadline:
                return None
            child = self._child(node, decision)
            if child is None or self.is_hopeless(child.bound):
                continue
            if self.prune:
                key = _key(child.at, child.state)
                if self.seen.get(key, child.spent + 1) <= child.spent:
                    continue
                self.seen[key] = child.spent
            children.append(child)
        return children

    def _child(self, node: Node, decision: Decision) -> Node | None:
        space, period = self.space, self.space.instance.period_s
        state, serial = with_more(node, len(decision.new_types))
        for task, row in decision.sent:
            state.target[task] = row
        new_types, released = np.array(decision.new_types, np.int64), np.array(decision.released, np.int64)
        spent = step(state, node.at, period, space.price, new_types, released, serial)
        if spent < 0:
            return None
        live, at = int(state.clock[0].num_machines), node.at + period
        state = state._replace(machines=with_rows(state.machines, live, live))
        worth, later = self._rest(state, at)
        spent += node.spent
        rented = node.rented + len(decision.new_types)
        return Node(
            state, at, spent, max(spent + worth, node.bound), later, serial[:live].copy(), rented, node, decision
        )

    def _rest(self, state: State, at: int) -> tuple[int, int]:
        space = self.space
        given = space.acquire, space.price, space.first_plan, space.cover, self.work_price
        worth, later = rest(state, at, space.instance.period_s, *given)
        return worth, later


def _key(at: int, state: State) -> bytes:
    """Return the same bytes for equal canonical states at one second."""
    machines = state.machines
    arrays = (state.clock, state.task, state.job, state.active, machines.lease, machines.used, machines.contending)
    return at.to_bytes(8) + b"".join(array.tobytes() for array in (*arrays, machines.images))


MAX_TASKS = 4
# Tasks x plans x machine types that differ, or machines that run x plans at which a machine may be rented for one use.
MAX_CHOICES = 200
# Of micro-dollars an hour times seconds, and of nano-dollars an hour times task seconds.
MAX_AMOUNT = 2**62


def largest_amount(instance: ReconfigurationInstance) -> int:
    """Return what no sum of the compiled search is above.

    No search has more machines at a time than `MAX_CHOICES`, nor is one of them paid, or work left, for longer than a
    schedule lasts in which nobody is ever moved, which the first schedule found is no longer than.
    """
    dearest = int(instance.catalogue.price.max())
    lasts: int = (num_plans(instance) + 2) * instance.period_s + instance.terminate_s + int(instance.acquire_s.max())
    machines = dearest * MAX_CHOICES * (lasts + int(instance.setup_s.max()))
    work: int = sum(n * w for n, w in zip(instance.num_tasks.tolist(), instance.work_s.tolist(), strict=True))
    return max(machines, dearest * NANO * work)


def few_choices(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why the search would not end in reasonable time."""
    if (reason := boundable(instance)) is not None:
        return reason
    tasks = int(instance.num_tasks.sum())
    if tasks > MAX_TASKS:
        return f"its jobs have {tasks} tasks in all; the search of every plan takes at most {MAX_TASKS}."
    first, last = must_plans(instance)
    kinds = useful_types(instance, fitting_sets(instance))
    boots = (instance.acquire_s + instance.setup_s)[kinds]
    begins = 0 if instance.running is not None else int(first.min())
    plans, early = int(last.max()) - begins, 1 + int((-(-boots // instance.period_s)).max())
    there = 0 if instance.running is None else instance.running.size
    choices = tasks * plans * (len(kinds) + there) * early
    if choices > MAX_CHOICES:
        runs = f" beside {there} machines that run" if there else ""
        return (
            f"it has {tasks} tasks, {plans} plans at least, {len(kinds)} machine types that differ{runs} and {early} plans to "
            f"rent a machine at for one use; the search of every plan takes at most {MAX_CHOICES} of their product, "
            f"not {choices}."
        )
    amount = largest_amount(instance)
    if amount > MAX_AMOUNT:
        return f"has prices times times of up to {amount:.3g}, which the search would have to sum beyond 62 bits"
    return late_plans(instance)


@method("clairvoyant", version=2, family=FAMILY, supports=few_choices, exact=True, handles=(STOCK, RUNNING))
def clairvoyant(
    instance: ReconfigurationInstance, *, time_limit_s: float | None = None, found: Found = untold
) -> Outcome:
    """Search all plans of a small instance by branch and bound: the optimum with the future known."""
    begun = time.perf_counter()
    deadline = None if time_limit_s is None else begun + time_limit_s
    prices = work_prices(instance, deadline)
    found(bound=prices.bound)
    search = ClairvoyantSearch(decision_space(instance), prices.price, found=found)
    proven = search.run(deadline)
    if search.schedule is None:
        status = Status.INFEASIBLE if proven else Status.NO_SOLUTION
    else:
        status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Outcome(
        search.schedule,
        bound=max(prices.bound, search.bound()),
        status=status,
        solve_s=time.perf_counter() - begun,
        details={"decisions": search.nodes, "states": len(search.seen), "work_bound": prices.bound},
    )
