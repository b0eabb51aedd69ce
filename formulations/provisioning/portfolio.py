"""Several methods in turn, each where it pays, sharing what they find: the best solution and the best bound at any time.

Without stocks and limits on disruption the machine types in whose place another is as good go first. Then in turn, until bound
and solution meet or the time is over:

1. quick bounds, where machines are of one type all of them: no bound of a later part is shown that is below one of these;
2. `patterns`, where the contents of machines are few;
3. heuristics, of those that the process knows: `first-fit-decreasing`, and `pattern-rounding` where there is time for it;
4. where machines hold many tasks, `pooled` for the rest of the time: whole machines for all tasks together, then packing;
5. where they hold few, `bound-pooled` and a little of `pooled`;
6. where all machines are of one type, `branch-cut-and-price`, for most of the time;
7. `column-generation`, from the best solution and bound so far, for the rest of the time.

With a limit on disruption `consolidation-pooled` comes first. With it or a stock: `consolidation-ilp` where it is small, the
heuristics that know the limits, `bound-pooled` and machines exchanged as in `pooled` where any number of tasks may move, and
`consolidation`. There the bound of the instance without limits is one, too, and its solution is taken where it keeps to them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from schedgap.formulations.provisioning.column_generation.column_generation import ColumnGeneration
from schedgap.formulations.provisioning.column_generation.column_generation import supported as can_price
from schedgap.formulations.provisioning.limits import claimed, without_interference
from schedgap.formulations.provisioning.pooled.packing import Offered, reduced, without_dominated
from schedgap.formulations.provisioning.pooled.pooled import Renting
from schedgap.formulations.provisioning.pooled.pooled import supported as can_pool
from schedgap.formulations.provisioning.pooled.program import Pooled
from schedgap.formulations.provisioning.search import Search
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.method import REGISTRY, Found, Outcome, Status, method, untold
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import DISRUPTION, PER_MACHINE, STOCK, anew, keeping, unlimited
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import verify

UNLIMITED_S = 60.0
# Those that know stocks and disruption.
LIMITED_HEURISTICS = ("karpenter", "karpenter-consolidation", "cluster-autoscaler", "settled")
# Shares of the time of methods that know the limits, if not two fifths.
SHARES = {"consolidation-pooled": 0.6, "consolidation": 1.0}
# Tasks up to which placing them one by one is quick.
MAX_ONE_BY_ONE = 20_000
MAX_PATTERNS = 20_000
# Share of the time for `pooled` where machines have stocks.
RENTING_SHARE = 0.9
# Shares of the time where machines of all types have stocks: for the bound by whole machines, and of what is left then until
# which machines are exchanged, fleets chosen, and machines exchanged again.
BOUNDING_SHARE, EXCHANGE_SHARE, FLEET_SHARE, LAST_SHARE = 0.2, 0.2, 0.4, 0.9
# Tasks a machine from which on packing machines that are rented for all together is better than choosing contents.
MANY = 8
# The quick bounds, and another that is quick for bins; the share of the time limit for each that takes time.
BOUNDS, BINS_BOUND, BOUND_SHARE = ("bound-resource", "bound-resource-prices"), "bound-dual-feasible", 0.02
# Share of the time for `branch-cut-and-price`, which packs bins better than it packs machines of several types.
BINS_SHARE = 0.8
# Share of the time for `pattern-rounding`, the seconds that are enough for it, about, and machine types times tasks up to
# which it is quick where machines hold many tasks.
PATTERNS_SHARE, PATTERNS_S, QUICK = 0.2, 7.0, 50_000
# Turns without gain after which column generation ends.
PATIENCE = 10


@method(
    "portfolio",
    version=7,
    family=FAMILY,
    supports=without_interference,
    bounds=True,
    handles=(STOCK, DISRUPTION, PER_MACHINE),
)
def portfolio(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1, found: Found = untold
) -> Outcome:
    """Run several programs, bounds and heuristics in turn, each where it pays; their best solution and best bound."""
    start = time.perf_counter()
    search = Portfolio(instance, start, UNLIMITED_S if time_limit_s is None else time_limit_s, threads, found)
    search.run()
    return Outcome(
        search.best,
        search.bound,
        search.status,
        solve_s=time.perf_counter() - start,
        trajectory=tuple(search.trajectory),
        details={"parts": ", ".join(search.parts), "solution_by": search.solver, "bound_by": search.prover},
    )


class Portfolio(Search):
    """One run: the best solution, the bound, who found them, and the clock."""

    def __init__(
        self, instance: ProvisioningInstance, start: float, limit_s: float, threads: int, found: Found = untold
    ) -> None:
        super().__init__(start, limit_s, found)
        self.instance, self.threads = instance, threads
        self.is_infeasible = False
        self.solver = self.prover = ""
        self.parts: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether there is time, and something left to find."""
        return super().is_open and not self.is_infeasible

    @property
    def status(self) -> Status:
        """What may be claimed."""
        return Status.INFEASIBLE if self.is_infeasible else claimed(self.instance, self.best, self.bound)

    def run(self) -> None:
        """Run the parts that suit the instance."""
        for name in (*BOUNDS, *[BINS_BOUND] * (self.instance.num_types == 1)):
            if self.is_open:
                self._take(name, self._ask(name, self.instance, BOUND_SHARE * self.limit_s))
        # A stock does not matter where machines without one are as good; renting knows of stocks, moves it does not.
        offered = None if self.instance.max_disruption is not None else without_dominated(self.instance)
        if offered is None or (offered.instance.stock is not None and can_pool(offered.instance) is not None):
            self._limited()
        else:
            self._plain(offered)
        if self.best is not None and self.best.keeps is None and self.instance.running is not None:
            self.best = keeping(self.instance, self.best)

    def _plain(self, offered: Offered) -> None:
        fewer = reduced(offered.instance)
        small = fewer.instance

        def restore(solution: Provisioning) -> Provisioning:
            return offered.restore(fewer.restore(solution))

        best: Provisioning | None = None

        def run(name: str, share: float, **parameters: int) -> None:
            nonlocal best
            if self.is_open:
                hear = self._hearing(name, restore)
                found = self._ask(name, small, min(self.left_s, share * self.limit_s), hear, **parameters)
                if found is not None:
                    self._take(name, found, None if found.solution is None else restore(found.solution))
                    best = found.solution if self.solver == name and found.solution is not None else best

        def rent(share: float) -> None:
            nonlocal best
            if self.is_open and can_pool(small) is None:
                before = time.perf_counter()
                hear = self._hearing("pooled", restore)
                search = Renting(small, before, min(self.left_s, share * self.limit_s), self.threads, hear)
                search.raise_bound(self.bound)
                if best is not None:
                    search.improve(*best.machines(small.num_classes))
                search.run()
                best = search.best
                self.parts.append(f"pooled {time.perf_counter() - before:.1f} s")
                self._take("pooled", Outcome(bound=search.bound), None if best is None else restore(best))

        has_stock = small.stock is not None
        if has_stock:
            self._ask_each(("consolidation-ilp", *LIMITED_HEURISTICS))
        run("patterns", 0.3, max_patterns=MAX_PATTERNS)
        if small.num_tasks <= MAX_ONE_BY_ONE:
            run("first-fit-decreasing", 0.2)
        is_many = self.is_open and can_pool(small) is None and _hold_many(small, self.left_s)
        # Its effort is bounded by counts, not by the clock.
        if not is_many or small.num_types * small.num_tasks <= QUICK or PATTERNS_SHARE * self.limit_s >= PATTERNS_S:
            run("pattern-rounding", PATTERNS_SHARE)
        if is_many or has_stock:
            rent(RENTING_SHARE if has_stock else 1.0)
        else:
            run("bound-pooled", 0.1)
            rent(0.1)
            if small.num_types == 1:
                run("branch-cut-and-price", BINS_SHARE)
        if can_price(small) is None and not has_stock and self.is_open:
            self._generate(small, best, restore)
        if has_stock:
            self._ask_each(("consolidation",))
        rent(1.0)

    def _generate(
        self,
        small: ProvisioningInstance,
        best: Provisioning | None,
        restore: Callable[[Provisioning], Provisioning],
    ) -> None:
        """Generate columns for a reduced instance, from its best solution, until that is no gain any more."""
        search = ColumnGeneration(small, self.left_s, self._hearing("column-generation", restore))
        search.raise_bound(self.bound)
        if best is not None:
            search.take(best)
        search.run(PATIENCE)
        found = search.outcome()
        self._take("column-generation", found, None if found.solution is None else restore(found.solution))

    def _limited(self) -> None:
        def hear(solution: Provisioning | None = None, bound: int | None = None) -> None:
            self._found(bound=bound)

        if self.instance.max_disruption is not None:
            self._ask_each(("consolidation-pooled",))
            if not self.is_open:
                return
        fewer = unlimited if self.instance.max_disruption is None else anew
        free = Portfolio(fewer(self.instance), time.perf_counter(), 0.2 * self.limit_s, self.threads, hear)
        free.run()
        self._raise(free.bound, f"{free.prover} without limits")
        if free.best is not None:
            cand = keeping(self.instance, free.best)
            try:
                self._keep(cand, f"{free.solver} without limits")
            except VerifyError:
                self.parts.append("its solution breaks the limits")
        self._ask_each(("consolidation-ilp", *LIMITED_HEURISTICS))
        if self.instance.max_disruption is None:
            self._exchange()
        self._ask_each(("consolidation",))

    def _exchange(self) -> None:
        """Bound by whole machines, and exchange machines of the best solution, where any number of tasks may move."""
        self._take("bound-pooled", self._ask("bound-pooled", self.instance, BOUNDING_SHARE * self.limit_s))
        if not self.is_open or self.best is None:
            return
        before, hear = time.perf_counter(), self._hearing("pooled", lambda solution: solution)
        search = Renting(anew(self.instance), before, self.left_s, self.threads, hear)
        search.raise_bound(self.bound)
        search.improve(*self.best.machines(self.instance.num_classes))
        left_s = self.left_s
        search.exchange(before + EXCHANGE_SHARE * left_s)
        search.join_fleets(before + FLEET_SHARE * left_s)
        search.exchange(before + LAST_SHARE * left_s)
        self.parts.append(f"pooled {time.perf_counter() - before:.1f} s")

    def _ask_each(self, names: Iterable[str]) -> None:
        """Run methods that know stocks and limits on disruption, on the instance as it is."""
        for name in names:
            if self.is_open:
                share = SHARES.get(name, 0.4)
                limit_s = min(self.left_s, share * self.limit_s)
                found = self._ask(name, self.instance, limit_s, self._hearing(name, lambda solution: solution))
                if found is not None:
                    self._take(name, found, found.solution)

    def _ask(
        self, name: str, instance: ProvisioningInstance, limit_s: float | None, hear: Found = untold, **parameters: int
    ) -> Outcome | None:
        """Run a method, if the process knows it and it takes the instance. hear : what it tells while it runs."""
        known = REGISTRY.get((FAMILY, name))
        if known is None or known.supports(instance) is not None:
            return None
        before = time.perf_counter()
        try:
            found = known.run(instance, time_limit_s=limit_s, threads=self.threads, parameters=parameters, found=hear)
        except BackendError as error:
            self.parts.append(f"{name}: {error}")
            return None
        self.parts.append(f"{name} {time.perf_counter() - before:.1f} s")
        return found

    def _hearing(self, name: str, restore: Callable[[Provisioning], Provisioning]) -> Found:
        """Return what takes what a part finds while it runs, in an instance whose solutions `restore` makes ours."""

        def hear(solution: Provisioning | None = None, bound: int | None = None) -> None:
            self._take(name, Outcome(bound=bound), None if solution is None else restore(solution))

        return hear

    def _take(self, name: str, found: Outcome | None, solution: Provisioning | None = None) -> None:
        if found is None:
            return
        if found.status is Status.INFEASIBLE:
            self.is_infeasible = True
        if found.bound is not None:
            self._raise(int(found.bound), name)
        if solution is not None:
            self._keep(solution, name)

    def _keep(self, solution: Provisioning, name: str) -> None:
        if self.keep(solution, verify(self.instance, solution)):
            self.solver = name

    def _raise(self, bound: int, name: str) -> None:
        if self.raise_bound(bound):
            self.prover = name


def _hold_many(instance: ProvisioningInstance, time_limit_s: float) -> bool:
    """Whether machines hold many tasks, if only their capacities together had to hold all."""
    relaxed = Pooled(instance, by_type=False).relax(time_limit_s)
    return relaxed is not None and instance.num_tasks >= MANY * float(relaxed.machines.sum())
