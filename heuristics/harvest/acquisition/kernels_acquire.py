"""Rules that keep a pool of harvest VMs (SlackSched, section 3.2, Algorithm 2 and Appendix A), compiled.

At each epoch a rule gives every VM that takes tasks a score, the worst highest, and says how many of them to give back. The
scaling says how many VMs are then missing or too many. New VMs are requested first, so that none of them is on a server that
is just given back, and VMs given back drain. Should the provider give fewer than asked for, as many fewer are given back.

An epoch costs O(V) a VM that comes or goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.heuristics.harvest.acquisition.kernels_reservation import VmSearch, chance, learn, reservation
from schedgap.instances.harvest.simulator.leases import decommission, request
from schedgap.instances.harvest.simulator.state import LEASED, NOBODY, WAITS, State
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import mixed

if TYPE_CHECKING:
    from schedgap.instances.arrays import Records

KEEP, RECENT, RESERVATION = 0, 1, 2
UNSCALED, UTILISATION, DEMAND, CONSTANT = 0, 1, 2, 3


class AcquireRules(NamedTuple):
    """What keeps the pool.

    target : VMs to hold. fraction : of the pool, that is given back at most. low, high : bounds of the utilisation. The latter
    three in thousandths. cores : to hold, with CONSTANT. warm_up : whether VMs are given back before the first job arrives.
    """

    rule: int
    scaling: int
    target: int
    fraction: int
    low: int
    high: int
    warm_up: int
    cores: int


class Judged:
    """How bad a VM is, and whether it is to be given back at this epoch."""

    score: float
    given_back: int


class Acquire(NamedTuple):
    """A rule's parameters and work space. vms : (V,)."""

    rules: AcquireRules
    vms: Records[Judged]


@lean_kernel
def renew(s: State, a: Acquire, worse: int) -> None:
    """Renew the pool, now. There must be room for `max_leases` leases more.

    worse : with RESERVATION how many VMs are worse than the search for others, as `judge` says; their scores are set then.
    """
    active, num_worst = _score(s, a, worse)
    started = s.clock[0].next_job > 0
    if not (started or a.rules.warm_up):
        num_worst = 0
    for vm in range(a.vms.shape[0]):
        a.vms[vm].given_back = 0
    for _ in range(num_worst):
        a.vms[_worst(s, a)].given_back = 1
    scaling = a.rules.scaling
    if scaling == CONSTANT or (started and scaling != UNSCALED):
        wanted = _scaled(s, a, active, num_worst)
    else:
        wanted = max(a.rules.target - (active - num_worst), 0)
    missing = wanted - request(s, wanted)
    for _ in range(min(missing, num_worst)):
        a.vms[_best(s, a)].given_back = 0
    for vm in range(a.vms.shape[0]):
        if a.vms[vm].given_back:
            decommission(s, vm)


@lean_kernel
def judge(s: State, a: Acquire, search: VmSearch) -> int:
    """Learn what is to be learned of the VMs, score those that take tasks, and return how many are worse than the search."""
    learn(s, search)
    limit, worse = reservation(search), 0
    for vm in range(s.vms.shape[0]):
        if s.vms[vm].lease == LEASED:
            a.vms[vm].score = chance(search, search.feature[vm])
            worse += a.vms[vm].score > limit
    return worse


@inner_kernel
def _score(s: State, a: Acquire, worse: int) -> tuple[int, int]:
    """Score the VMs that take tasks; return how many these are, and how many of them to give back."""
    rule, active = a.rules.rule, 0
    for vm in range(s.vms.shape[0]):
        if s.vms[vm].lease != LEASED:
            continue
        active += 1
        if rule == RECENT:
            a.vms[vm].score = s.vms[vm].changed
        elif rule == KEEP:
            a.vms[vm].score = mixed(mixed(np.uint64(s.clock[0].now)) ^ np.uint64(vm)) >> np.uint64(11)
    most = active * a.rules.fraction // 1000
    if rule == KEEP:
        return active, 0
    return active, most if rule == RECENT else min(worse, most)


@inner_kernel
def _worst(s: State, a: Acquire) -> int:
    """Return the worst VM that takes tasks and is not given back, of equals that of the latest lease; NOBODY without any."""
    worst = NOBODY
    for vm in range(s.vms.shape[0]):
        if s.vms[vm].lease == LEASED and not a.vms[vm].given_back and (worst == NOBODY or _is_worse(s, a, vm, worst)):
            worst = vm
    return worst


@inner_kernel
def _best(s: State, a: Acquire) -> int:
    """Return the best VM of those to be given back."""
    best = NOBODY
    for vm in range(s.vms.shape[0]):
        if a.vms[vm].given_back and (best == NOBODY or _is_worse(s, a, best, vm)):
            best = vm
    return best


@inner_kernel
def _is_worse(s: State, a: Acquire, vm: int, other: int) -> bool:
    if a.vms[vm].score != a.vms[other].score:
        return bool(a.vms[vm].score > a.vms[other].score)
    return bool(s.vms[vm].current_lease > s.vms[other].current_lease)


@inner_kernel
def _scaled(s: State, a: Acquire, active: int, num_worst: int) -> int:
    """Return how many VMs to request for a utilisation between the bounds; if it is too low, mark VMs to give back.

    The load is what runs, on draining VMs too, since other tasks will take its place on those that stay; with DEMAND also what
    waits; with CONSTANT the cores to hold. The cores are those of the VMs that stay. At least one VM stays.
    """
    load, total, pool = 0, 0, 0
    for vm in range(s.vms.shape[0]):
        load += s.vms[vm].used
        if s.vms[vm].lease == LEASED:
            pool += s.vms[vm].cores
            if not a.vms[vm].given_back:
                total += s.vms[vm].cores
    if a.rules.scaling == DEMAND:
        for task in range(s.jobs[s.clock[0].next_job].first_task):
            if s.tasks[task].stage == WAITS:
                load += s.jobs[s.tasks[task].job].cores
    if a.rules.scaling == CONSTANT:
        load = a.rules.cores
    if active == 0:
        return int(a.rules.target)
    low, high = a.rules.low, a.rules.high
    if load * 1000 > high * total:
        # ceil((load / high - total) / mean size), in integers.
        return int(-(-((load * 1000 - high * total) * active) // (high * pool)))
    stays = active - num_worst
    while stays > 1:
        vm = _worst(s, a)
        if load * 1000 > low * (total - s.vms[vm].cores):
            break
        a.vms[vm].given_back = 1
        total -= s.vms[vm].cores
        stays -= 1
    return 0
