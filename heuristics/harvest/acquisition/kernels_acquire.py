"""Rules that keep a pool of harvest VMs (SlackSched, section 3.2, Algorithm 2 and Appendix A), compiled.

At each epoch a rule gives every VM that takes tasks a score, the worst highest, and says how many of them to give back. The
scaling says how many VMs are then missing or too many. New VMs are requested first, so that none of them is on a server that
is just given back, and VMs given back drain. Should the provider give fewer than asked for, as many fewer are given back.

An epoch costs O(V) a VM that comes or goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.heuristics.harvest.acquisition.kernels_reservation import VmSearch, chance, learn, remember, reservation
from schedgap.instances.harvest.simulator.leases import decommission, request
from schedgap.instances.harvest.simulator.state import LEASED, NOBODY, WAITS, State
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import mixed

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray

KEEP, RECENT, RESERVATION = 0, 1, 2
UNSCALED, UTILISATION, DEMAND, CONSTANT = 0, 1, 2, 3


class AcquireRules(NamedTuple):
    """What keeps the pool.

    target : VMs to hold. fraction : of the pool, that is given back at most. low, high : bounds of the utilisation. The latter
    three in thousandths. cores : to hold, with CONSTANT. warm_up : whether VMs are given back before the first job arrives.
    immediately : whether evicted VMs are replaced at once rather than at the next epoch (if their number is held).
    """

    rule: int
    scaling: int
    target: int
    fraction: int
    low: int
    high: int
    warm_up: int
    immediately: int
    cores: int


class Acquire(NamedTuple):
    """A rule's parameters and memory. V VMs.

    seen : (1,) int64, entries of the log that `on_eviction` has seen. score : (V,) float64, how bad a VM is. given_back : (V,)
    int64, 1 if it is to be given back at this epoch. search : of the reservation rule.
    """

    rules: AcquireRules
    seen: IntArray
    score: FloatArray
    given_back: IntArray
    search: VmSearch


@lean_kernel
def on_epoch(s: State, a: Acquire) -> None:
    """Renew the pool, now. There must be room for `max_leases` leases more."""
    active, num_worst = _score(s, a)
    started = s.clock[0].next_job > 0
    if not (started or a.rules.warm_up):
        num_worst = 0
    for vm in range(a.given_back.shape[0]):
        a.given_back[vm] = 0
    for _ in range(num_worst):
        a.given_back[_worst(s, a)] = 1
    scaling = a.rules.scaling
    if scaling == CONSTANT or (started and scaling != UNSCALED):
        wanted = _scaled(s, a, active, num_worst)
    else:
        wanted = max(a.rules.target - (active - num_worst), 0)
    missing = wanted - request(s, wanted)
    for _ in range(min(missing, num_worst)):
        a.given_back[_best(s, a)] = 0
    for vm in range(a.given_back.shape[0]):
        if a.given_back[vm]:
            decommission(s, vm)
    if a.rules.rule == RESERVATION:
        remember(s, a.search)


@lean_kernel
def on_eviction(s: State, a: Acquire) -> None:
    """Replace VMs evicted since the last call, if the rule does so at once. O(1) unless a VM changed."""
    if a.seen[0] == s.clock[0].changes:
        return
    a.seen[0] = s.clock[0].changes
    if a.rules.immediately and a.rules.scaling == UNSCALED:
        active = 0
        for vm in range(s.vms.lease.shape[0]):
            active += s.vms.lease[vm] == LEASED
        request(s, max(a.rules.target - active, 0))


@inner_kernel
def _score(s: State, a: Acquire) -> tuple[int, int]:
    """Score the VMs that take tasks; return how many these are, and how many of them to give back."""
    rule = a.rules.rule
    limit = np.inf
    if rule == RESERVATION:
        learn(s, a.search)
        limit = reservation(a.search)
    active, worse = 0, 0
    for vm in range(s.vms.lease.shape[0]):
        if s.vms.lease[vm] != LEASED:
            continue
        active += 1
        if rule == RECENT:
            a.score[vm] = s.vms.changed[vm]
        elif rule == RESERVATION:
            a.score[vm] = chance(a.search, a.search.feature[vm])
            worse += a.score[vm] > limit
        else:
            a.score[vm] = mixed(mixed(np.uint64(s.clock[0].now)) ^ np.uint64(vm)) >> np.uint64(11)
    most = active * a.rules.fraction // 1000
    if rule == KEEP:
        return active, 0
    return active, most if rule == RECENT else min(worse, most)


@inner_kernel
def _worst(s: State, a: Acquire) -> int:
    """Return the worst VM that takes tasks and is not given back, of equals that of the latest lease; NOBODY without any."""
    worst = NOBODY
    for vm in range(s.vms.lease.shape[0]):
        if s.vms.lease[vm] == LEASED and not a.given_back[vm] and (worst == NOBODY or _is_worse(s, a, vm, worst)):
            worst = vm
    return worst


@inner_kernel
def _best(s: State, a: Acquire) -> int:
    """Return the best VM of those to be given back."""
    best = NOBODY
    for vm in range(s.vms.lease.shape[0]):
        if a.given_back[vm] and (best == NOBODY or _is_worse(s, a, best, vm)):
            best = vm
    return best


@inner_kernel
def _is_worse(s: State, a: Acquire, vm: int, other: int) -> bool:
    if a.score[vm] != a.score[other]:
        return bool(a.score[vm] > a.score[other])
    return bool(s.vms.current_lease[vm] > s.vms.current_lease[other])


@inner_kernel
def _scaled(s: State, a: Acquire, active: int, num_worst: int) -> int:
    """Return how many VMs to request for a utilisation between the bounds; if it is too low, mark VMs to give back.

    The load is what runs, on draining VMs too, since other tasks will take its place on those that stay; with DEMAND also what
    waits; with CONSTANT the cores to hold. The cores are those of the VMs that stay. At least one VM stays.
    """
    load, total, pool = 0, 0, 0
    for vm in range(s.vms.lease.shape[0]):
        load += s.vms.used[vm]
        if s.vms.lease[vm] == LEASED:
            pool += s.vms.size[vm]
            if not a.given_back[vm]:
                total += s.vms.size[vm]
    if a.rules.scaling == DEMAND:
        for task in range(s.jobs.first_task[s.clock[0].next_job]):
            if s.tasks.stage[task] == WAITS:
                load += s.jobs.cores[s.tasks.job[task]]
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
        if load * 1000 > low * (total - s.vms.size[vm]):
            break
        a.given_back[vm] = 1
        total -= s.vms.size[vm]
        stays -= 1
    return 0
