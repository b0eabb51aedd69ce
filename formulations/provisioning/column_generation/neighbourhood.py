"""Large neighbourhood search: empty a few machines, solve for their tasks by column generation, keep what is cheaper.

The sub-problem is an instance of its own, so its relaxation prunes it at once where its bound shows that nothing can
be gained; otherwise a dive and an integer program over the generated columns look for the gain.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.column_generation.relaxation import Relaxation
from schedgap.instances.provisioning.classes import part_of
from schedgap.instances.provisioning.dual_bound import NANO
from schedgap.instances.provisioning.objective import cost
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

MIP_SHARE_S = 1.0
SUB_LIMIT_S = 3.0
MIN_MACHINES, MAX_MACHINES = 3, 30


class Neighbourhood:
    """The incumbent, machine by machine, and the search around it.

    machine_type : (M,) int64. content : (M, C) int64. waste : (M,) float64, price less the duals' worth of the content.
    """

    def __init__(self, instance: ProvisioningInstance, solution: Provisioning, duals: IntArray) -> None:
        self.instance = instance
        self.duals = duals
        self.rng = np.random.default_rng(0)
        self.size = 6.0
        self.tries = 0
        self.take(solution)

    def take(self, solution: Provisioning) -> None:
        """Take another incumbent."""
        self.machine_type, self.content = solution.machines(self.instance.num_classes)

    @property
    def waste(self) -> FloatArray:
        """(M,) float64, micro-dollars: how much each machine costs more than its tasks are worth at the duals."""
        return self.instance.price[self.machine_type] - self.content @ self.duals / NANO

    def solution(self) -> Provisioning:
        """Return the incumbent, equal machines grouped."""
        return Provisioning.from_machines(self.machine_type, self.content)

    def step(self, deadline: float) -> bool:
        """Try one neighbourhood; returns whether the incumbent became cheaper."""
        self.tries += 1
        chosen = self._choose()
        started = time.perf_counter()
        better = _resolve(self.instance, self.machine_type[chosen], self.content[chosen], deadline)
        # Aim at sub-problems of a fraction of a second: larger ones find more, but there are fewer of them.
        self.size *= 1.05 if time.perf_counter() - started < 0.4 else 0.9
        self.size = min(max(self.size, MIN_MACHINES), MAX_MACHINES)
        if better is None:
            return False
        types, content = better
        kept = np.setdiff1d(np.arange(self.machine_type.shape[0]), chosen)
        self.machine_type = np.concatenate((self.machine_type[kept], types))
        self.content = np.vstack((self.content[kept], content))
        return True

    def _choose(self) -> IntArray:
        """Draw machines without repetition, wasteful ones more often."""
        waste = np.maximum(self.waste, 0.0)
        weight = waste / max(float(waste.sum()), 1.0) + 1.0 / waste.shape[0]
        number = min(waste.shape[0], int(self.rng.integers(MIN_MACHINES, int(self.size) + 2)))
        drawn: IntArray = self.rng.choice(waste.shape[0], number, replace=False, p=weight / weight.sum())
        return drawn


def _resolve(
    instance: ProvisioningInstance, machine_type: IntArray, content: IntArray, deadline: float
) -> tuple[IntArray, IntArray] | None:
    """Return cheaper machines for the same tasks, as types (M,) and content (M, C), or None if none were found."""
    counts = content.sum(axis=0)
    classes = np.flatnonzero(counts)
    sub = part_of(instance, classes, counts[classes])
    paid = int(instance.price[machine_type].sum())
    deadline = min(deadline, time.perf_counter() + SUB_LIMIT_S)
    relaxation = Relaxation(sub)
    relaxation.start()
    relaxation.master.add(machine_type, content[:, classes])
    relaxation.solve(deadline, cutoff=paid)
    if relaxation.bound >= paid:
        return None
    found = relaxation.dive(deadline, paid)
    best = paid if found is None else cost(sub, found)
    left = min(deadline - time.perf_counter(), MIP_SHARE_S)
    if best > relaxation.bound and left > 0:
        found = relaxation.master.best_solution(left, best) or found
    if found is None:
        return None
    types, part = found.machines(sub.num_classes)
    expanded = np.zeros((types.shape[0], instance.num_classes), np.int64)
    expanded[:, classes] = part
    return types, expanded
