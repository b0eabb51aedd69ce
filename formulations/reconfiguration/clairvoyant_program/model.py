"""The integer program behind `clairvoyant-program`: physics no worse than the simulator's, so its optimum bounds every schedule.

Sets        i tasks, of jobs j; t plans 0..K-1, P seconds apart; m slots: copies of the machine types that are worth it
Variables   y[m,t] a machine of the slot holds tasks; s[m,t] it is rented there and then; w[m,t] it was rented before and
            held nothing at t - 1; x[i,m,t] task i is on m; z[j,t] job j is in the plan;
            f[j,t] it could end while it is stopped (all binary);
            g[j,t] its progress in the period, l[j,t] seconds of the period lost to start-up or a move;
            e[m,t] seconds for which tasks that leave hold a machine that is given up, d[m,t] such seconds that are
            paid already since the machine is kept for w; r[j] work left after the horizon
Minimise    sum price (P y - a s + (P - max(a, 0)) w + e - d) + sum work_price r        a: acquisition less termination
Rows        sum_m x[i,m,t] = z[j,t] <= z[j,t-1]; z[j,t] >= 1 - sum_{t'<t} g[j,t'] / work; x <= y <= sum_i x; capacity
            y[m,t] - y[m,t-1] <= s + w <= y;  sum_{m of a type} y[m,t] and, unless machines go at once,
            sum_{m of a type} y[m,t-1] + s + w <= its stock
            g <= P z - l;  l >= seconds of [kill, launched) where x[i,m] begins, or where m is new (s, w) under i, with the
            build where m is rented and no other job of i's workload is there until i is launched
            e >= (kill + upload) (x[i,m,t-1] + z[j,t] - f[j,t] - 1 - y[m,t] + s + w);  d <= h w, h the longest kill and upload;
            sum_{t'<t} g[j,t'] >= (work - kill) f[j,t];  sum_{m of a type, t'<=t} d[m,t'] <= sum_{m of the type, t'<t} e[m,t']

Why it bounds. A machine of a schedule is cut where it holds nothing, each piece is put into the lowest free slot. The
first piece of a machine begins with s if the machine is rented in that plan; any other follows a plan for which a machine
was paid and held nothing but tasks that leave: w. So all pieces hold tasks, and there are never more than tasks. A job
progresses no faster than time, not before all of its tasks are launched, and is frozen while it is moved; delays may reach
into later periods, where they bound g apart, since a second is lost only once. What is left after the horizon costs at
least its work prices: those seconds are paid after it.

The plans, slots and variables of `clairvoyant-program`.

Which machines could be of use to `clairvoyant-program`: types that no other type replaces, and how many of each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.linear_model import LinearModel, Rows
from schedgap.formulations.reconfiguration.contents import NANO
from schedgap.formulations.reconfiguration.presence import must_plans, num_plans, start_up_s
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.reconfiguration.model import ReconfigurationInstance
from schedgap.instances.units import HOUR_S


def slots(instance: ReconfigurationInstance) -> tuple[IntArray, IntArray]:
    """Return the type of each slot and which one of its type it is: as many as could be of use at a time.

    No type takes longer than a period and the termination to acquire. A type is left out if another, no dearer and no
    slower, that never runs out, holds whatever it holds.
    """
    fits = allowed(instance)
    ample = _ample(instance, fits)
    kept = np.flatnonzero(fits.any(axis=1)).tolist()
    # One after the other, so that of types that replace each other one stays.
    for k in reversed(list(kept)):
        if any(_replaces(instance, fits, ample, other, k) for other in kept if other != k):
            kept.remove(k)
    # Two machines at a time that each could hold everything would not be dearer as one. No machine is ever empty.
    copies = [1 if ample[k].all() else int(instance.num_tasks @ fits[k]) for k in kept]
    if (stock := instance.catalogue.stock) is not None:
        # One at least, so that there are variables; the program's rows know better.
        copies = [
            n if stock[k] == ANY_NUMBER else max(min(n, int(stock[k])), 1) for k, n in zip(kept, copies, strict=True)
        ]
    return np.repeat(np.array(kept, np.int64), copies), np.concatenate([np.arange(number) for number in copies])


def allowed(instance: ReconfigurationInstance) -> BoolArray:
    """(K, J): whether a task of the job fits a machine of the type."""
    demand = _demand(instance)
    fits: BoolArray = (demand >= 0) & (demand <= instance.catalogue.capacity[:, None])
    everywhere: BoolArray = np.all(fits, axis=2)
    return everywhere


def _demand(instance: ReconfigurationInstance) -> IntArray:
    """(K, J, R): of a task of the job on a machine of the type."""
    catalogue = instance.catalogue
    return catalogue.demand[catalogue.type2family][:, instance.job2class]


def _ample(instance: ReconfigurationInstance, fits: BoolArray) -> BoolArray:
    """(K, R): whether the type has enough of the resource for all tasks that fit it, together."""
    total = (_demand(instance) * (fits * instance.num_tasks)[:, :, None]).sum(axis=1)
    found: BoolArray = np.less_equal(total, instance.catalogue.capacity)
    return found


def _replaces(instance: ReconfigurationInstance, fits: BoolArray, ample: BoolArray, other: int, k: int) -> bool:
    """Whether each machine of type k could be one of the other type, for all that matters."""
    capacity, price = instance.catalogue.capacity, instance.catalogue.price
    slower = instance.acquire_s[other] != instance.acquire_s[k] or instance.setup_s[other] > instance.setup_s[k]
    runs_out = instance.catalogue.stock is not None and instance.catalogue.stock[other] != ANY_NUMBER
    if slower or runs_out or price[other] > price[k] or (fits[k] & ~fits[other]).any():
        return False
    demand = _demand(instance)[:, fits[k]]
    roomier: BoolArray = (demand[other] <= demand[k]).all(axis=0) & (capacity[other] >= capacity[k])
    return bool((ample[other] | roomier).all())


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Sizes and the numbers of the variables; I tasks, J jobs, K plans, M slots.

    kind, copy : (M,) type of each slot, and which one of its type. job : (I,) of each task. first : (J,) first plan.
    y, s, w, e, d : (M, K). x : (I, M, K). z, f, g, loss : (J, K). rest : (J,).
    """

    kind: IntArray
    copy: IntArray
    job: IntArray
    first: IntArray
    y: IntArray
    s: IntArray
    w: IntArray
    e: IntArray
    d: IntArray
    x: IntArray
    z: IntArray
    f: IntArray
    g: IntArray
    loss: IntArray
    rest: IntArray

    @property
    def num_variables(self) -> int:
        """Number of columns of the program."""
        return int(self.rest[-1]) + 1


def layout(instance: ReconfigurationInstance) -> Layout:
    """Return the variables, numbered one kind after the other."""
    kind, copy = slots(instance)
    job = np.repeat(np.arange(instance.num_jobs), instance.num_tasks)
    plans = num_plans(instance)
    on_slot, of_job = (kind.shape[0], plans), (instance.num_jobs, plans)
    shapes: dict[str, tuple[int, ...]] = {key: on_slot for key in ("y", "s", "w", "e", "d")}
    shapes |= {"x": (job.shape[0], *on_slot), "z": of_job, "f": of_job, "g": of_job, "loss": of_job, "rest": of_job[:1]}
    numbers: dict[str, IntArray] = {}
    used = 0
    for key, shape in shapes.items():
        size = math.prod(shape)
        numbers[key] = used + np.arange(size).reshape(shape)
        used += size
    return Layout(kind, copy, job, instance.first_plan_s() // instance.period_s, **numbers)


def program(instance: ReconfigurationInstance, at: Layout, work_price: IntArray) -> LinearModel:
    """Build the program, in micro-dollars.

    work_price : (C,) nano-dollars for an hour of a task's work, as of `work_prices`.
    """
    rows = Rows(at.num_variables)
    _add_machines(rows, instance, at)
    _add_presence(rows, instance, at)
    _add_losses(rows, instance, at)
    _add_leaving(rows, instance, at)
    _add_stock(rows, instance, at)
    period = instance.period_s
    price = instance.catalogue.price[at.kind][:, None] / HOUR_S
    unpaid = (instance.acquire_s - instance.terminate_s)[at.kind][:, None]
    cost = np.zeros(at.num_variables)
    cost[at.y] = price * period
    cost[at.s] = -price * unpaid
    cost[at.w] = price * (period - np.maximum(unpaid, 0))
    cost[at.e] = price
    cost[at.d] = -price
    cost[at.rest] = work_price[instance.job2class] * instance.num_tasks / (HOUR_S * NANO)
    lower, upper = np.zeros(at.num_variables), np.ones(at.num_variables)
    plans = at.z.shape[1]
    _, must_end = must_plans(instance)
    times = np.arange(plans)
    lower[at.z] = (times >= at.first[:, None]) & (times < must_end[:, None])
    upper[at.z] = times >= at.first[:, None]
    upper[at.w[:, 0]] = 0
    upper[at.x] = (times >= at.first[at.job, None])[:, None, :] & allowed(instance)[at.kind][:, at.job].T[:, :, None]
    latest = (times - at.first[:, None]) * period - _launched_s(instance)[:, None]
    upper[at.f] = (times > at.first[:, None]) & (latest >= (instance.work_s - _delays(instance)[:, 2])[:, None])
    upper[at.g] = period * upper[at.z]
    upper[at.loss] = period
    upper[at.e] = upper[at.d] = period
    upper[at.rest] = instance.work_s
    _set_first_launch(instance, at, lower, upper)
    integral = np.zeros(at.num_variables, np.bool_)
    for key in (at.y, at.s, at.w, at.x, at.z, at.f):
        integral[key] = True
    return rows.model(f"clairvoyant-program-{instance.name}", cost, upper, 1, lower=lower, integral=integral)


def _add(
    rows: Rows,
    name: str,
    terms: Sequence[tuple[float | IntArray, IntArray]],
    lower: float = -np.inf,
    upper: float | IntArray = np.inf,
) -> None:
    """Add a row for each entry of the terms' arrays: a factor, or one each, and the variable. upper : one each, or of all."""
    shape = np.broadcast_shapes(*(variable.shape for _, variable in terms))
    number = np.arange(int(np.prod(shape)))
    if not number.size:
        return
    rows.add(
        name,
        *((number, np.broadcast_to(v, shape).ravel(), np.broadcast_to(f, shape).ravel()) for f, v in terms),
        lower=np.full(number.size, lower),
        upper=upper,
    )


def _sums(
    rows: Rows, name: str, factor: float | IntArray, variables: IntArray, last: IntArray, minus: float | IntArray
) -> None:
    """Add rows: the sum over the first axis of factor x variables is at most `minus` times the last ones."""
    shape = variables.shape[1:]
    number = np.arange(int(np.prod(shape)))
    row = np.broadcast_to(number.reshape(shape), variables.shape)
    rows.add(
        name,
        (row.ravel(), variables.ravel(), np.broadcast_to(factor, variables.shape).ravel()),
        (number, np.broadcast_to(last, shape).ravel(), np.broadcast_to(minus, shape).ravel()),
        upper=np.zeros(number.size),
    )


def _add_machines(rows: Rows, instance: ReconfigurationInstance, at: Layout) -> None:
    """Add what slots hold, and when their machines begin."""
    catalogue = instance.catalogue
    begin = [(1.0, at.s), (1.0, at.w)]
    _add(rows, "open", [(1.0, at.x), (-1.0, at.y[None])], upper=0.0)
    _sums(rows, "holds", -1.0, at.x, at.y, 1.0)
    demand = catalogue.demand[catalogue.type2family[at.kind]][:, instance.job2class[at.job]].clip(0)
    for r, name in enumerate(catalogue.resources):
        capacity = catalogue.capacity[at.kind, r][:, None]
        _sums(rows, f"room-{name}", demand[:, :, r].T[:, :, None], at.x, at.y, -capacity)
    _add(rows, "begins", [(1.0, at.s[:, 1:]), (1.0, at.w[:, 1:]), (-1.0, at.y[:, 1:]), (1.0, at.y[:, :-1])], lower=0.0)
    _add(rows, "begins-first", [(1.0, at.s[:, 0]), (1.0, at.w[:, 0]), (-1.0, at.y[:, 0])], lower=0.0)
    _add(rows, "begins-open", [*begin, (-1.0, at.y)], upper=0.0)
    # A machine takes the lowest slot of its type that is free.
    next_one = np.flatnonzero(at.copy)
    _add(rows, "order", [(1.0, at.s[next_one]), (1.0, at.w[next_one]), (-1.0, at.y[next_one - 1])], upper=0.0)


def _add_stock(rows: Rows, instance: ReconfigurationInstance, at: Layout) -> None:
    """Add that no more machines of a type hold tasks, or are paid for what they held before, than there are."""
    stock = instance.catalogue.stock
    if stock is None:
        return
    for k in np.unique(at.kind[stock[at.kind] != ANY_NUMBER]).tolist():
        of_type, most = at.kind == k, float(stock[k])
        _add(rows, f"stock-{k}", [(1.0, y) for y in at.y[of_type]], upper=most)
        if instance.terminate_s > 0:
            # Whoever holds tasks at a plan is given back at the next one at the earliest, and paid a little longer.
            before, begins = at.y[of_type, :-1], np.concatenate((at.s[of_type, 1:], at.w[of_type, 1:]))
            _add(rows, f"stock-changes-{k}", [(1.0, v) for v in (*before, *begins)], upper=most)


def _add_presence(rows: Rows, instance: ReconfigurationInstance, at: Layout) -> None:
    """Add that jobs are in the plans until their work is done, and how fast it is done."""
    period = instance.period_s
    by_slot = np.moveaxis(at.x, 1, 0)
    _sums(rows, "placed-once", 1.0, by_slot, at.z[at.job], -1.0)
    _sums(rows, "placed", -1.0, by_slot, at.z[at.job], 1.0)
    # Tasks of one job are alike: at first they are in the order of their slots.
    for i in np.flatnonzero(at.job[1:] == at.job[:-1]).tolist():
        where = at.x[i : i + 2, :, at.first[at.job[i]]]
        terms = [
            (sign * float(m), where[n, m][None]) for n, sign in ((0, 1.0), (1, -1.0)) for m in range(where.shape[1])
        ]
        _add(rows, f"alike-{i}", terms, upper=0.0)
    for j, first in enumerate(at.first.tolist()):
        _add(rows, f"leaves-{j}", [(1.0, at.z[j, first + 1 :]), (-1.0, at.z[j, first:-1])], upper=0.0)
        work = float(instance.work_s[j])
        for t in range(first + 1, at.z.shape[1] + 1):
            left = at.rest[j : j + 1] if t == at.z.shape[1] else at.z[j, t : t + 1]
            done = [(1.0, at.g[j, u : u + 1]) for u in range(first, t)]
            if t < at.z.shape[1]:
                least = max(work - float(instance.kill_s[instance.class2workload[instance.job2class[j]]]), 0.0)
                _add(rows, f"ending-{j}-{t}", [(-least, at.f[j, t : t + 1]), *done], lower=0.0)
            _add(rows, f"done-{j}-{t}", [(1.0 if t == at.z.shape[1] else work, left), *done], lower=work)
    _add(rows, "speed", [(1.0, at.g), (-float(period), at.z), (1.0, at.loss)], upper=0.0)


def _add_losses(rows: Rows, instance: ReconfigurationInstance, at: Layout) -> None:
    """Add the seconds lost to moves and to new machines, in the period of the plan and in later ones.

    Of a workload, who is launched first on a new machine builds its image. That is one of the job for certain where no
    other job is sent there until then: each that is makes up for the build.
    """
    plans, period = at.z.shape[1], instance.period_s
    boot, delays = (instance.acquire_s + instance.setup_s)[at.kind], _delays(instance)
    workload = instance.class2workload[instance.job2class]
    for i, j in enumerate(at.job.tolist()):
        fetch, build, kill, upload, init = delays[j].tolist()
        others = at.x[(workload[at.job] == workload[j]) & (at.job != j)]
        for t in range(int(at.first[j]), plans):
            is_first = t == at.first[j]
            stopped = 0 if is_first else kill
            launch = np.full(boot.shape, 0 if is_first else kill + upload)
            on_new = launch.clip(boot)
            sent = others[:, :, t : t + max(-(-int(on_new.max()) // period), 1)]
            new = (1.0, at.x[i, :, t]), (1.0, at.s[:, t])
            begins = [("built", on_new + fetch + build + init, new, 1.0)]
            if build and sent.size:
                begins.append(("new", on_new + fetch + init, new, 1.0))
            if not is_first:
                again = launch + fetch + init
                begins.append(("moved", again, (new[0], (-1.0, at.x[i, :, t - 1])), 0.0))
                begins.append(("ready", again, (new[0], (1.0, at.w[:, t])), 1.0))
            for name, until, terms, beyond in begins:
                for u in range(t, plans):
                    start, end = max(stopped, (u - t) * period), (u - t + 1) * period
                    lost = (until.clip(max=end) - start).clip(0)
                    some = np.flatnonzero(lost)
                    if not some.size:
                        break
                    where = np.full(some.shape, at.loss[j, u] if u == t else at.g[j, u])
                    # l >= lost (.. - beyond), or in later periods g <= P - lost (.. - beyond): a row is scaled to l.
                    sign = -1.0 if u == t else 1.0
                    factor = lost[some]
                    entries = [(sign, where), *((f * factor, variable[some]) for f, variable in terms)]
                    if name == "built":
                        built = factor - ((until - build).clip(max=end) - start).clip(0)[some]
                        entries += [(-built, x[some]) for x in np.moveaxis(sent, 1, 2).reshape(-1, boot.size)]
                    most = beyond * factor + (0 if u == t else period)
                    _add(rows, f"{name}-{i}-{t}-{u}", entries, upper=most)


def _set_first_launch(instance: ReconfigurationInstance, at: Layout, lower: FloatArray, upper: FloatArray) -> None:
    """Bound what jobs lose when they are launched for the first time, on whatever machine."""
    period, least = instance.period_s, _launched_s(instance)
    for j, first in enumerate(at.first.tolist()):
        launched = int(least[j])
        lower[at.loss[j, first]] = min(launched, period)
        for t in range(first + 1, at.z.shape[1]):
            upper[at.g[j, t]] = period - min(max(launched - (t - first) * period, 0), period)


def _add_leaving(rows: Rows, instance: ReconfigurationInstance, at: Layout) -> None:
    """Add the seconds for which tasks that are stopped and saved hold a machine that is given up."""
    delays = _delays(instance)
    leave = np.minimum(delays[:, 2] + delays[:, 3], instance.period_s)
    for i, j in enumerate(at.job.tolist()):
        seconds = float(leave[j])
        terms = [
            (seconds, at.x[i, :, :-1]),
            (seconds, np.broadcast_to(at.z[j, 1:], at.y[:, 1:].shape)),
            (-seconds, np.broadcast_to(at.f[j, 1:], at.y[:, 1:].shape)),
            (-seconds, at.y[:, 1:]),
            (seconds, at.s[:, 1:]),
            (seconds, at.w[:, 1:]),
            (-1.0, at.e[:, 1:]),
        ]
        if seconds:
            _add(rows, f"leave-{i}", terms, upper=seconds)
    _add(rows, "paid", [(1.0, at.d), (-float(leave.max()), at.w)], upper=0.0)
    for k in np.unique(at.kind).tolist():
        for t in range(at.z.shape[1]):
            paid, held = at.d[at.kind == k, : t + 1].reshape(-1, 1), at.e[at.kind == k, :t].reshape(-1, 1)
            terms = [*((1.0, paid[n]) for n in range(len(paid))), *((-1.0, held[n]) for n in range(len(held)))]
            _add(rows, f"paid-{k}-{t}", terms, upper=0.0)


def _delays(instance: ReconfigurationInstance) -> IntArray:
    """(J, 5): fetch, build, kill, upload and init of each job."""
    by_workload = (instance.fetch_s, instance.build_s, instance.kill_s, instance.upload_s, instance.init_s)
    return np.stack(by_workload, axis=1)[instance.class2workload[instance.job2class]]


def _launched_s(instance: ReconfigurationInstance) -> IntArray:
    """(J,): seconds from a plan until a job that it launches progresses, at least."""
    return start_up_s(instance)[instance.job2class]
