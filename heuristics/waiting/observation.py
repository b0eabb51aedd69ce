"""What a policy is shown when it may start waiting jobs, or rent for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.instances.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Machines and prices, known from the start. Letter used for shapes: K on-demand machine types.

    machine_cores, machine_memory_mib, fixed_price : of one fixed machine, micro-dollars per hour, due whether it is used or
    not. rented_cores, rented_memory_mib, rented_price : (K,) int64. wait_price : micro-dollars for an hour of waiting.
    max_wait_us : no job may wait longer; None for no such limit.
    """

    machine_cores: int
    machine_memory_mib: int
    fixed_price: int
    rented_cores: IntArray
    rented_memory_mib: IntArray
    rented_price: IntArray
    wait_price: int
    max_wait_us: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The present, in copies: nothing in it leads to what comes.

    Letters used for shapes: N waiting jobs, s fixed machines.

    num_machines : None at the first decision, before any job: the answer is `Buy`. free_cores, free_memory_mib : (s,) int64.
    job : (N,) int64, ascending, at least one at every other decision. submit_us, waited_us, cores, memory_mib : (N,) int64.
    rent : (N,) int64, micro-dollars per hour, what the job pays if it rents. limit_us : the longest wait, what the policy
    asked for when it bought, cut to what the instance allows; None for none. runtime_us : (N,) int64; None unless the policy
    knows runtimes. memory : the policy's own, empty at first and kept from decision to decision.
    """

    now_us: int
    terms: Terms
    num_machines: int | None
    free_cores: IntArray
    free_memory_mib: IntArray
    job: IntArray
    submit_us: IntArray
    waited_us: IntArray
    cores: IntArray
    memory_mib: IntArray
    rent: IntArray
    limit_us: int | None
    runtime_us: IntArray | None
    memory: dict[str, Any]

    def first_fit(self, i: int) -> int:
        """Return the first machine with room for the waiting job `job[i]`, -1 for none."""
        roomy = np.flatnonzero((self.free_cores >= self.cores[i]) & (self.free_memory_mib >= self.memory_mib[i]))
        return int(roomy[0]) if roomy.size else -1
