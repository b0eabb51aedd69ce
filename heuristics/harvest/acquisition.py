"""Acquisition: which harvest VMs a pool keeps, gives back and asks for; what every method with a pool can be told.

Rules that keep a pool of harvest VMs (SlackSched, section 3.2, Algorithm 2 and Appendix A), compiled.

At each epoch a rule gives every VM that takes tasks a score, the worst highest, and says how many of them to give back. The
scaling says how many VMs are then missing or too many. New VMs are requested first, so that none of them is on a server that
is just given back, and VMs given back drain. Should the provider give fewer than asked for, as many fewer are given back.

An epoch costs O(V) a VM that comes or goes.

When a leased VM is worse than the search for another one: a reservation rule of our own, compiled.

An hour of a VM (the time between two epochs) is bad if the VM shrinks in it. The chance q of that is learned, as a logistic
function of what is seen of a leased VM: its size, the time since its last change, its age, the share of bad hours of this lease.
VMs with many cores are on empty servers, where little happens, and a record says more than the last change alone, by which
Algorithm 2 goes.

What the provider gives is learned too: the `OFFERS` last VMs that came, as they looked an hour later. Asking for one is a search
at a price (McCall, Economics of Information and Job Search, 1970): it costs an hour of a VM as bad as a new one, and COST bad
hours for the change; after it the VM is held for HORIZON hours, or given back for one of quality r again. So

    m - r + COST = HORIZON E[max(r - q, 0)]

has the r from which on a VM is worse than the search, with m the share of bad first hours and E the mean over what came. If VMs
that come are bad or all alike, nothing is given back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import FloatArray, Records, record, records
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import HarvestInstance
from schedgap.instances.harvest.simulator.leases import decommission, request
from schedgap.instances.harvest.simulator.state import LEASED, NOBODY, SHRANK, WAITS, State
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import mixed

FEATURES = 6
# Of the logistic function before anything is seen, and the precision of that; the last SAMPLES hours are learned from.
FIRST_WEIGHTS = (0.3, -0.5, -1.0, -0.4, 0.0, 1.0)
PRECISION = 2.0
SAMPLES, OFFERS = 1024, 128
STEPS = 3


class Counter:
    """Entries of the log read, samples and offers ever, the largest size."""

    log: int
    sample: int
    offer: int
    largest: int


class Record:
    """Of a VM. lease : that it is of, NOBODY for none. is_bad, bad_hours, hours : whether this hour is bad, and both so far."""

    lease: int
    is_bad: float
    bad_hours: float
    hours: float


class VmSearch(NamedTuple):
    """Constants and memory of the rule. V VMs, F features, S samples, O offers; float64 unless it says otherwise.

    horizon, cost : HORIZON and COST. counter : (1,). vms : (V,). feature : (V, F), at the last epoch. sample : (S, F), features,
    and sample_bad : (S,), whether the hour was bad. offer : (O, F), features an hour after it came, all 0 if it did not last
    that long, and offer_bad : (O,), whether that hour was bad. weight : (F,). system : (F, F), step : (F,), quality : (O,), work.
    """

    horizon: float
    cost: float
    counter: Records[Counter]
    vms: Records[Record]
    feature: FloatArray
    sample: FloatArray
    sample_bad: FloatArray
    offer: FloatArray
    offer_bad: FloatArray
    weight: FloatArray
    system: FloatArray
    step: FloatArray
    quality: FloatArray


@inner_kernel
def learn(s: State, r: VmSearch) -> None:
    """Learn from what was logged since the last epoch. O(V + changes + S F^2)."""
    for entry in range(r.counter[0].log, s.clock[0].changes):
        if s.log[entry].after == SHRANK:
            r.vms[s.log[entry].vm].is_bad = 1.0
    r.counter[0].log = s.clock[0].changes
    # Of a large pool some VMs' hours are learned from, so that the samples are of a few hours.
    stride = 1 + 4 * s.vms.shape[0] // r.sample.shape[0]
    phase = s.clock[0].now // s.rules.epoch_ms
    for vm in range(s.vms.shape[0]):
        if r.vms[vm].lease == NOBODY:
            continue
        bad = r.vms[vm].is_bad
        r.vms[vm].is_bad = 0.0
        r.vms[vm].bad_hours += bad
        r.vms[vm].hours += 1.0
        # Nobody has looked at the VMs that are leased from the start.
        if r.feature[vm, 0] > 0.0 and (vm + phase) % stride == 0:
            _remember(r.sample, r.sample_bad, r.counter[0].sample, r.feature[vm], bad)
            r.counter[0].sample += 1
        came = r.vms[vm].hours == 1.0
        r.counter[0].largest = max(r.counter[0].largest, s.vms[vm].cores)
        look(s, r, vm)
        if came:
            if s.vms[vm].current_lease != r.vms[vm].lease:
                r.feature[vm, :] = 0.0
            _remember(r.offer, r.offer_bad, r.counter[0].offer, r.feature[vm], bad)
            r.counter[0].offer += 1
    _fit(r)


@lean_kernel
def remember(s: State, r: VmSearch) -> None:
    """Remember which VMs are leased from this epoch on, and what they look like. O(V)."""
    for vm in range(s.vms.shape[0]):
        if s.vms[vm].current_lease != r.vms[vm].lease:
            r.vms[vm].lease = s.vms[vm].current_lease
            r.vms[vm].is_bad, r.vms[vm].bad_hours, r.vms[vm].hours = 0.0, 0.0, 0.0
            r.counter[0].largest = max(r.counter[0].largest, s.vms[vm].cores)
        if r.vms[vm].lease != NOBODY:
            look(s, r, vm)


@inner_kernel
def look(s: State, r: VmSearch, vm: int) -> None:
    """Write what a leased VM looks like."""
    size = s.vms[vm].cores / max(r.counter[0].largest, 1)
    since = (s.clock[0].now - s.vms[vm].changed) / s.rules.epoch_ms
    f = r.feature[vm]
    f[0], f[1], f[2], f[3] = 1.0, size, size * size, np.log1p(since)
    f[4], f[5] = np.log1p(r.vms[vm].hours), (r.vms[vm].bad_hours + 0.25) / (r.vms[vm].hours + 1.0)


@inner_kernel
def chance(r: VmSearch, f: FloatArray) -> float:
    """Return the chance of a bad hour of a VM that looks like that. O(F)."""
    total = 0.0
    for i in range(f.shape[0]):
        total += r.weight[i] * f[i]
    return float(1.0 / (1.0 + np.exp(-total)))


@inner_kernel
def reservation(r: VmSearch) -> float:
    """Return the chance of a bad hour from which on a VM is worse than the search for another. O(O log O)."""
    number = min(r.counter[0].offer, r.offer.shape[0])
    if number == 0:
        return np.inf
    bad_first = 0.0
    for o in range(number):
        bad_first += r.offer_bad[o] / number
        r.quality[o] = chance(r, r.offer[o]) if r.offer[o, 0] > 0.0 else 1.0
    # The left side falls and the right side grows with the answer.
    low, high = 0.0, 1.0 + r.cost
    for _ in range(40):
        middle = 0.5 * (low + high)
        gain = 0.0
        for o in range(number):
            gain += max(middle - r.quality[o], 0.0) / number
        if bad_first - middle + r.cost > r.horizon * gain:
            low = middle
        else:
            high = middle
    return float(high)


@inner_kernel
def _remember(rows: FloatArray, rows_bad: FloatArray, at: int, f: FloatArray, bad: float) -> None:
    """Write a row over the oldest one."""
    oldest = at % rows.shape[0]
    row = rows[oldest]
    for i in range(f.shape[0]):
        row[i] = f[i]
    rows_bad[oldest] = bad


@inner_kernel
def _fit(r: VmSearch) -> None:
    """Renew the weights: a few Newton steps of ridge logistic regression."""
    a, b = r.system, r.step
    for _ in range(STEPS):
        a[:, :] = 0.0
        for i in range(FEATURES):
            a[i, i] = PRECISION
            b[i] = PRECISION * (FIRST_WEIGHTS[i] - r.weight[i])
        for k in range(min(r.counter[0].sample, r.sample.shape[0])):
            f = r.sample[k]
            q = chance(r, f)
            for i in range(FEATURES):
                b[i] += (r.sample_bad[k] - q) * f[i]
                for j in range(FEATURES):
                    a[i, j] += q * (1.0 - q) * f[i] * f[j]
        # The matrix is positive definite: elimination needs no pivots.
        for i in range(FEATURES):
            for k in range(i + 1, FEATURES):
                factor = a[k, i] / a[i, i]
                for j in range(i, FEATURES):
                    a[k, j] -= factor * a[i, j]
                b[k] -= factor * b[i]
        for i in range(FEATURES - 1, -1, -1):
            for j in range(i + 1, FEATURES):
                b[i] -= a[i, j] * b[j]
            b[i] /= a[i, i]
        for i in range(FEATURES):
            r.weight[i] += b[i]


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


# `keep`: nothing is given back, evicted VMs are replaced (the paper's baseline). `recent`: the tenth of the pool that changed
# last is given back each hour (Algorithm 2). `reservation`: of our own, see above.
ACQUIRERS = {"keep": KEEP, "recent": RECENT, "reservation": RESERVATION}
# `none`: as many VMs are held as at the start. `cores`: as many cores (the fixed budget of Appendix B.4). `utilisation`: 60 to
# 80% of the cores are used (section 3.2). `demand`: the same, with the cores that waiting tasks need counted as used.
# No more cores than there are can be used: with `utilisation` a pool that shrank in a lull grows by a quarter an hour at most,
# however many tasks wait.
SCALINGS = {
    "none": UNSCALED,
    "cores": CONSTANT,
    "utilisation": UTILISATION,
    "demand": DEMAND,
}
GIVEN_BACK = {"keep": 0.0, "recent": 0.1, "reservation": 0.25}
# The utilisation to hold, lowest and highest.
UTILISATION_BOUNDS = (0.6, 0.8)

# Of the reservation rule: hours for which a VM is held, and bad hours that a change of VMs costs.
HORIZON_H, CHANGE_COST = 8.0, 0.25


def acquisition(
    instance: HarvestInstance,
    acquirer: str = "keep",
    scaling: str = "none",
    *,
    fraction: float | None = None,
    warm_up: bool = True,
) -> Acquisition:
    """Return what keeps the pool of an instance.

    Parameters
    ----------
    acquirer : one of `ACQUIRERS`. scaling : one of `SCALINGS`; until the first job arrives a pool does not follow the load.
    fraction : of the pool, the most that is given back at an epoch, at most a half; None for the rule's own `GIVEN_BACK`.
    warm_up : whether VMs are given back before the first job arrives.

    Raises
    ------
    MethodError
        for an unknown rule, or a fraction out of range.
    """
    for what, given, known in (("acquirer", acquirer, ACQUIRERS), ("scaling", scaling, SCALINGS)):
        if given not in known:
            raise MethodError(f"{what} '{given}' is unknown; choose one of {', '.join(known)}.")
    fraction = GIVEN_BACK[acquirer] if fraction is None else fraction
    if not 0 <= fraction <= 0.5:
        raise MethodError(f"the acquirer is to give back a fraction of {fraction} of the pool; give 0 to 0.5.")
    low, high = (1.0, 1.0) if scaling == "cores" else UTILISATION_BOUNDS
    rules = AcquireRules(
        rule=ACQUIRERS[acquirer],
        scaling=SCALINGS[scaling],
        target=int(instance.leased.sum()),
        fraction=round(fraction * 1000),
        low=round(low * 1000),
        high=round(high * 1000),
        warm_up=int(warm_up),
        cores=int(instance.event_cores[instance.first_event[:-1]][instance.leased].sum()),
    )
    search = _search(instance) if acquirer == "reservation" else None
    return Acquisition(Acquire(rules, records(Judged, instance.num_vms)), search)


@dataclass(frozen=True, slots=True)
class Acquisition:
    """What keeps a pool. search : of the reservation rule."""

    acquire: Acquire
    search: VmSearch | None

    def look_after(self, state: State) -> None:
        """Renew the pool, at an epoch. There must be room for `max_leases` leases more."""
        worse = 0 if self.search is None else judge(state, self.acquire, self.search)
        renew(state, self.acquire, worse)
        if self.search is not None:
            remember(state, self.search)


def _search(instance: HarvestInstance) -> VmSearch:
    """Return the memory of the reservation rule before anything is seen."""
    num_vms, features = instance.num_vms, FEATURES
    return VmSearch(
        horizon=HORIZON_H,
        cost=CHANGE_COST,
        counter=record(Counter),
        vms=records(Record, num_vms, lease=np.where(instance.leased, np.cumsum(instance.leased) - 1, NOBODY)),
        feature=np.zeros((num_vms, features)),
        sample=np.zeros((SAMPLES, features)),
        sample_bad=np.zeros(SAMPLES),
        offer=np.zeros((OFFERS, features)),
        offer_bad=np.zeros(OFFERS),
        weight=np.array(FIRST_WEIGHTS),
        system=np.zeros((features, features)),
        step=np.zeros(features),
        quality=np.zeros(OFFERS),
    )
