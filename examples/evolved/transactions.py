"""Transactions that read and write keys: in which order do they end soonest? A family in one file, with its methods.

A transaction is rigid: its access at position p happens p - 1 steps after its start. In the chosen order each starts as early as
it may, from step 1 on: a write comes after every access of its key by those before it, a read after every write. What is
minimised is the makespan, the step in which the last one ends. Two transactions that share a key which one of them writes
conflict: the later one starts at least the largest p - q + 1 after the earlier, over shared keys at positions p and q.

Source: txn_scheduling of ADRS (skydiscover-ai/skydiscover @59643ef, 2026-08-18; UCB-ADRS/ADRS-Leaderboard @f856497).
Letters used for shapes: N transactions, A accesses.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from transactions_kernels import LONGEST, anneal
from transactions_orders import cliques, delays, one_machine, order_bound, parts, solve_order

from schedgap.instances.arrays import BoolArray, IntArray, content_hash, first_true, lock, locked_bools, locked_ints
from schedgap.instances.csv_table import read_rows, whole_number
from schedgap.instances.documents import Columns, Field, Index, InstanceDocument, Positive, SolutionDocument
from schedgap.instances.draws import drawn, generator
from schedgap.instances.errors import InstanceError, VerifyError
from schedgap.instances.family import Family, Scored, register_family
from schedgap.instances.method import Found, Outcome, Status, method, untold
from schedgap.instances.model import InstanceModel, check_shapes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FAMILY, SCHEMA = "transactions", "schedgap/transactions/1"
MAX_STEPS = 2**28
# Above so many transactions the matrix of delays takes too much.
MAX_MATRIX = 4000
# Rounds of a search: their shares of all steps, and how much ties count in them.
ROUNDS = ((1 / 7, 0.2), (2 / 7, 0.03), (4 / 7, 0.03))
# N^2 times the steps between two looks at the clock: some hundredths of a second.
CHUNK = 20_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TransactionsInstance(InstanceModel):
    """Transactions by their lengths in steps, and what each reads and writes.

    length : (N,) int64, positive. owner, key, position : (A,) int64, of each access its transaction, its key, and its position,
    from 1 to the transaction's length. is_write : (A,) bool. Raises `InstanceError` on anything inconsistent.
    """

    name: str
    length: IntArray
    owner: IntArray
    key: IntArray
    position: IntArray
    is_write: BoolArray
    digest: str = ""

    def __post_init__(self) -> None:
        self._lock(("length", "owner", "key", "position"))
        lock(self, ("is_write",), locked_bools)
        size = (self.owner.size,)
        check_shapes(
            self, {"length": (self.length.size,), **dict.fromkeys(("owner", "key", "position", "is_write"), size)}
        )
        if self.length.size == 0 or self.length.min() < 1 or self.length.max() > MAX_STEPS // self.length.size:
            raise InstanceError(f"{self.name}: give lengths from 1 that add up to at most {MAX_STEPS} steps.")
        if self.owner.size and not 0 <= self.owner.min() <= self.owner.max() < self.length.size:
            raise InstanceError(f"{self.name}: an access is of none of the {self.length.size} transactions.")
        if (bad := first_true((self.position < 1) | (self.position > self.length[self.owner]))) is not None:
            owner = self.owner[bad]
            raise InstanceError(
                f"{self.name}: transaction {owner} has {self.length[owner]} steps, no step {self.position[bad]}; move the access."
            )
        content = [SCHEMA, self.length, self.owner, self.key, self.position, self.is_write.astype(np.int64)]
        object.__setattr__(self, "digest", content_hash(content))

    @property
    def num_transactions(self) -> int:
        """Number of transactions."""
        return int(self.length.shape[0])

    def delays(self) -> IntArray:
        """Return how much later j starts than i at least where i comes before j, (N, N)."""
        return delays(self.num_transactions, self.owner, self.key, self.position, self.is_write)

    def part(self, chosen: IntArray) -> TransactionsInstance:
        """Return an instance of some transactions, numbered in the order given."""
        accesses = [np.flatnonzero(self.owner == each) for each in chosen.tolist()]
        rows = np.concatenate(accesses)
        owner = np.repeat(np.arange(len(accesses)), [each.size for each in accesses])
        fields = {key: getattr(self, key)[rows] for key in ("key", "position", "is_write")}
        return self.replace(name=f"{self.name}-part", length=self.length[chosen], owner=owner, **fields)


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """order : (N,) int64, the transactions, first to last. No makespan: that is computed, never told."""

    order: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", locked_ints(self.order))


def verify(instance: TransactionsInstance, solution: Order) -> int:
    """Return the makespan by the rule itself, key by key, in Python's integers; `VerifyError` for what is no order. O(A)."""
    order, n = solution.order, instance.num_transactions
    if order.ndim != 1 or not np.array_equal(np.sort(order), np.arange(n)):
        raise VerifyError(
            f"the order has shape {order.shape}, {np.unique(order).size} different; give each of 0 to {n - 1} once."
        )
    accesses: list[list[tuple[int, int, bool]]] = [[] for _ in range(n)]
    rows = zip(instance.key.tolist(), instance.position.tolist(), instance.is_write.tolist(), strict=True)
    for owner, access in zip(instance.owner.tolist(), rows, strict=True):
        accesses[owner].append(access)
    makespan, lasts, writes = 0, dict[int, int](), dict[int, int]()
    for each in order.tolist():
        start = max([1, *((lasts if w else writes).get(key, 0) - p + 2 for key, p, w in accesses[each])])
        for key, position, is_write in accesses[each]:
            step = start + position - 1
            lasts[key] = max(lasts.get(key, 0), step)
            if is_write:
                writes[key] = max(writes.get(key, 0), step)
        makespan = max(makespan, start + int(instance.length[each]) - 1)
    return makespan


def native_score(runs: Sequence[Scored]) -> dict[str, float]:
    """Return the scores of the two public evaluators over the sum of makespans: 0 where a run failed.

    `lb` is meant for the three published workloads: 537 is their sum as given, 95.1 the ideal that its authors set.
    """
    if not runs or any(run.objective is None for run in runs):
        return {"sky": 0.0, "lb": 0.0}
    total = sum(run.objective or 0 for run in runs)
    return {"sky": 1e6 / (1 + total), "lb": min(max(100 * (537 - total) / (537 - 95.1), 0.0), 100.0)}


def workloads(path: Path, workload: int = 1) -> TransactionsInstance:
    """Read a workload of a CSV file: workload, transaction, length, and accesses such as `r54@5 w3@6`."""
    lengths, accesses = [], []
    columns = ("workload", "transaction", "length", "accesses_kind_key_at_position")
    for line, row in read_rows(path, columns, "list of transactions"):
        if whole_number(path, line, "workload", row["workload"]) != workload:
            continue
        for text in row["accesses_kind_key_at_position"].split():
            if (found := re.fullmatch(r"([rw])(\d{1,9})@(\d{1,9})", text, re.ASCII)) is None:
                raise InstanceError(
                    f"{path.name} line {line}: '{text:.60}' is no access; write r or w, the key, @ and the position."
                )
            accesses.append((len(lengths), int(found[2]), int(found[3]), found[1] == "w"))
        lengths.append(whole_number(path, line, "length", row["length"]))
    if not lengths:
        raise InstanceError(f"{path.name}: there is no workload {workload}; give the number of one that is there.")
    owner, key, position, is_write = np.array(accesses, np.int64).reshape(-1, 4).T
    return TransactionsInstance(f"W{workload}", np.array(lengths), owner, key, position, is_write.astype(bool))


def random_transactions(
    transactions: int = 20, accesses: int = 4, keys: int = 12, writes: float = 0.4, *, seed: int = 0
) -> TransactionsInstance:
    """Draw transactions of one access a step, of different keys; key k is drawn in proportion to 1/(k + 1)."""
    if not (transactions >= 1 and 1 <= accesses <= keys and 0 <= writes <= 1):
        raise InstanceError(
            "generator random-transactions: give transactions, as many keys as accesses, and writes from 0 to 1."
        )
    rng = generator(FAMILY, "random-transactions", transactions, accesses, keys, writes, seed)
    key = np.empty((transactions, accesses), np.int64)
    for row in key:
        # The smallest of exponential times of these rates come in such an order.
        row[:] = np.argsort(-np.log1p(-rng.random(keys)) * np.arange(1, keys + 1), kind="stable")[:accesses]
    owner, position = np.divmod(np.arange(key.size), accesses)
    is_write = drawn(rng, [0, 1], [1 - writes, writes], key.size) == 1
    name = f"random-{transactions}-{accesses}-{keys}-s{seed}"
    return TransactionsInstance(name, np.full(transactions, accesses), owner, key.ravel(), position + 1, is_write)


INSTANCE = InstanceDocument(
    SCHEMA,
    TransactionsInstance,
    Columns("transactions", Field("length", Positive)),
    Columns(
        "accesses",
        Field("transaction", Index, "owner"),
        Field("key", Index),
        Field("position", Positive),
        Field("write", bool, "is_write"),
    ),
)
SOLUTION: SolutionDocument[TransactionsInstance, Order] = SolutionDocument(
    "schedgap/transactions-solution/1", Order, Columns("", Field("transaction", Index, "order"))
)
TRANSACTIONS = register_family(
    Family(
        name=FAMILY,
        instance=TransactionsInstance,
        solution=Order,
        verify=verify,
        read_instance=INSTANCE.read,
        write_instance=INSTANCE.write,
        read_solution=SOLUTION.read,
        write_solution=SOLUTION.write,
        objective_scale=1,
        objective_unit="steps",
        generators={"random-transactions": random_transactions},
        importers={"workloads": workloads},
        shrink=lambda instance: instance.part(np.arange(min(6, instance.num_transactions))),
        native_score=native_score,
        bound_methods=("bound-order",),
        large=(("random-transactions", {"transactions": 400, "accesses": 6, "keys": 300}),),
        size="transactions",
    )
)


@method("as-given", family=FAMILY)
def as_given(instance: TransactionsInstance) -> Order:
    """Keep the order in which the transactions are given."""
    return Order(np.arange(instance.num_transactions))


@method("greedy", family=FAMILY)
def greedy(instance: TransactionsInstance) -> Order:
    """Append the transaction after which the makespan is least; of several the one that starts first. O(N^2)."""
    delay, n = instance.delays(), instance.num_transactions
    ready, makespan, left, order = np.zeros(n, np.int64), 0, np.arange(n), []
    while left.size:
        ends = np.maximum(ready[left] + instance.length[left], makespan)
        at = np.lexsort((ready[left], ends))[0]
        order.append(left[at])
        makespan, ready = ends[at], np.maximum(ready, ready[left[at]] + delay[left[at]])
        left = np.delete(left, at)
    return Order(np.array(order))


def is_large(instance: TransactionsInstance) -> str | None:
    """Return None, or how many transactions there are where a matrix of them all takes too much."""
    n = instance.num_transactions
    return None if n <= MAX_MATRIX else f"has {n} transactions, more than {MAX_MATRIX}; use as-given"


@method("local-search", family=FAMILY, supports=is_large, stochastic=True)
def local_search(
    instance: TransactionsInstance,
    *,
    rng: np.random.Generator,
    time_limit_s: float | None = None,
    found: Found = untold,
    steps: int = 200_000,
    hot: float = 0.35,
    cold: float = 0.08,
) -> Outcome:
    """Anneal by moving blocks of transactions to any place, in three rounds that get longer; see `anneal`."""
    ends = time.perf_counter() + (np.inf if time_limit_s is None else 0.9 * time_limit_s)
    n, delay = instance.num_transactions, instance.delays().astype(np.int32)
    start = greedy(instance)
    found(start)
    best = np.append(start.order, verify(instance, start))
    lengths, work = instance.length.astype(np.int32), np.empty((2 * LONGEST + 3, n + 1), np.int32)
    random = rng.integers(1, 2**63, 1, np.uint64)
    state = delay, delay.T.copy(), lengths, start.order.copy(), best, work, np.empty(n + 1), random
    done, chunk = 0, 1 + CHUNK // n**2
    for share, ties in ROUNDS:
        total, heat = max(int(steps * share), 1), np.array([hot, cold, ties])
        for first in range(0, total, chunk):
            if time.perf_counter() > ends:
                return Outcome(Order(best[:n]), details={"steps": done})
            last, before = min(first + chunk, total), best[n]
            anneal(*state, first, last, total, heat)
            done += last - first
            if best[n] < before:
                found(Order(best[:n]))
    return Outcome(Order(best[:n]), details={"steps": done})


@method("bound-keys", family=FAMILY, bounds=True)
def bound_keys(instance: TransactionsInstance) -> Outcome:
    """Take each key as a machine that serves one write, or some read, a step: Jackson's rule on its heads and tails."""
    bound = int(instance.length.max())
    tail = instance.length[instance.owner] - instance.position
    for key in np.unique(instance.key[instance.is_write]):
        at = np.flatnonzero((instance.key == key) & instance.is_write)
        reads = np.flatnonzero((instance.key == key) & ~instance.is_write)
        for chosen in (at, *(np.append(at, read) for read in reads.tolist())):
            bound = max(bound, one_machine(instance.position[chosen] - 1, tail[chosen]))
    return Outcome(bound=bound)


@method("bound-order", family=FAMILY, bounds=True, supports=is_large)
def bound_order(instance: TransactionsInstance, *, time_limit_s: float | None = None, rounds: int = 40) -> Outcome:
    """Bound the orders of transactions that all conflict, by walks with prices and a memory of two; in whole numbers."""
    ends = time.perf_counter() + (np.inf if time_limit_s is None else 0.8 * time_limit_s)
    delay, bounds = instance.delays(), [int(bound_keys(instance).bound or 0)]
    problems = [
        (delay[np.ix_(chosen, chosen)], instance.length[chosen])
        for chosen in cliques(delay, instance.owner, instance.key, instance.is_write)
    ]
    first = [order_bound(*problem, 1, ends) for problem in problems]
    if problems:
        bounds.append(order_bound(*problems[int(np.argmax(first))], rounds, ends))
    return Outcome(bound=max(bounds + first))


@method("cp-sat", family=FAMILY, supports=is_large, exact=True)
def cp_sat(
    instance: TransactionsInstance,
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    steps: int = 20_000,
    rounds: int = 5,
) -> Outcome:
    """Solve each part that conflicts with no other: search and bound it, and let CP-SAT close what is open between both."""
    ends = time.perf_counter() + (np.inf if time_limit_s is None else 0.9 * time_limit_s)
    if time.perf_counter() >= ends:
        return Outcome(status=Status.NO_SOLUTION)

    def share(of: float) -> float | None:
        return None if time_limit_s is None else of * max(ends - time.perf_counter(), 0.0)

    delay, orders = instance.delays(), list[IntArray]()
    problems = [(instance.part(chosen), chosen) for chosen in parts(delay)]
    bounds = [int(bound_order(each, time_limit_s=share(0.3), rounds=rounds).bound or 0) for each, _ in problems]
    bound = max(bounds)
    for (part, chosen), least in zip(problems, bounds, strict=True):
        searched = local_search(part, rng=np.random.default_rng(0), time_limit_s=share(0.5), steps=steps)
        order, makespan = searched.solution.order, verify(part, searched.solution)
        if makespan > bound:
            cut = delay[np.ix_(chosen, chosen)]
            order, proven = solve_order(cut, part.length, order, (least, makespan), share(1.0), threads)
            bound = max(bound, proven)
        orders.append(chosen[order])
    return Outcome(Order(np.concatenate(orders)), bound, backend="cp-sat")
