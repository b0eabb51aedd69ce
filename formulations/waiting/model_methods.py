"""The analytical models as methods: what they predict for an instance, beside what schedules of it come to.

A model's server is a machine's share that runs one job at a time. Jobs of several cores are counted as the paper
does: a machine is as many servers as it holds mean jobs, by the cores and memory that jobs use over time.

Predictions in floats, which prove nothing at any size and claim nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from schedgap.formulations.waiting import models
from schedgap.formulations.waiting.models import Prediction
from schedgap.instances.arrays import FloatArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import DOLLAR, HOUR_US, SECOND_US
from schedgap.instances.waiting.model import FAMILY, WaitingInstance
from schedgap.instances.waiting.verify import SPOT_PRICE, rent_of

Model: TypeAlias = Callable[[FloatArray, float, float, float], Prediction]

OPTIMAL = -1
MINUTE_US = 60 * SECOND_US
# The models' formulas go server by server: some seconds for so many.
MAX_SERVERS = 200_000


@dataclass(frozen=True, slots=True)
class Workload:
    """What a model sees of an instance.

    arrival_rate, service_rate : jobs a second. discount : a fixed server's price over a mean job's rent.
    servers_per_machine : mean jobs that a machine holds. rent : of a mean job, micro-dollars per hour.
    horizon_h : for how long fixed machines are paid.
    """

    arrival_rate: float
    service_rate: float
    discount: float
    servers_per_machine: float
    rent: float
    horizon_h: float

    @property
    def load(self) -> float:
        """Mean number of jobs that run at a time."""
        return self.arrival_rate / self.service_rate

    def servers(self, machines: FloatArray) -> FloatArray:
        """Return how many jobs the machines run at a time."""
        return np.floor(machines * self.servers_per_machine + 1e-9)


@dataclass(frozen=True, slots=True)
class Spot:
    """Jobs that can run on spot machines, which all of them do at once; the policy is for the others (section IV-D).

    share : of the jobs, whatever their runtimes. price : of a spot machine, in on-demand prices.
    """

    share: float
    price: float

    def __post_init__(self) -> None:
        """Refuse what is no share or price."""
        if not 0 <= self.share < 1 or not self.price > 0:
            raise MethodError(
                f"spot_share is {self.share:g} and spot_price is {self.price:g}; give a share from 0 to less than 1 and a "
                "positive price."
            )

    def mixed(self, others: float, spot: float) -> float:
        """Return the mean over all jobs of what holds for those on spot machines and for the others."""
        return (1 - self.share) * others + self.share * spot


def estimate(instance: WaitingInstance, arrival_rate: float = 0.0, service_rate: float = 0.0) -> Workload:
    """Return the workload of an instance; rates that are 0 are estimated from its jobs.

    Arrivals: one less than jobs, over the time between the first and the last submission; where that is 0, jobs over
    the horizon. Service: jobs over the sum of their runtimes. Raises `MethodError` for negative rates.
    """
    if arrival_rate < 0 or service_rate < 0:
        raise MethodError(f"rates are {arrival_rate:g} and {service_rate:g}; give positive ones, or 0 to estimate.")
    run = instance.runtime_us.astype(np.float64)
    span_us = float(instance.submit_us[-1] - instance.submit_us[0])
    jobs = instance.num_jobs
    estimated = (jobs - 1) / span_us if span_us > 0 else jobs / instance.horizon_us
    # Of a machine's cores and of its memory, the scarcer decides how many jobs it holds.
    shares = (
        float(instance.cores @ run) / instance.machine_cores,
        float(instance.memory_mib @ run) / instance.machine_memory_mib,
    )
    held = float(run.sum()) / max(shares)
    rent = rent_of(instance.rent(), instance.runtime_us) / float(run.sum())
    return Workload(
        arrival_rate or estimated * SECOND_US,
        service_rate or jobs * SECOND_US / float(run.sum()),
        instance.fixed_price / held / rent,
        held,
        rent,
        instance.horizon_us / HOUR_US,
    )


def optimal_machines(model: Model, workload: Workload) -> int | str:
    """Return the number of machines with the least predicted price; the smallest one of equals. Or why there is none.

    By looking at every number up to a / d, where fixed machines alone cost as much as renting for all jobs, and a few
    more: policies that always wait need more machines than their load to have a price at all.
    """
    most = max(workload.load / workload.discount, workload.load) / workload.servers_per_machine
    if max(most, 1) * workload.servers_per_machine > MAX_SERVERS or most > MAX_SERVERS:
        return f"may have up to {most:.3g} machines of {workload.servers_per_machine:.3g} jobs; give machines"
    machines = np.arange(int(most) + 3, dtype=np.float64)
    price = model(
        workload.servers(machines), workload.arrival_rate, workload.service_rate, workload.discount
    ).normalised_price
    # A machine is paid whole: rounding to servers loses what it may have too much.
    price = price + workload.discount * _unused(workload, machines) / workload.load
    if np.isnan(price).all():
        return f"has no finite wait on up to {machines.shape[0] - 1} machines; give machines"
    return int(machines[np.nanargmin(price)])


def predicted(
    instance: WaitingInstance, model: Model, machines: int, arrival: float, service: float, spot: Spot
) -> Outcome:
    """Return a model's prediction as the details of an outcome without a solution.

    Raises `MethodError` for a number of machines with which the queue grows without end.
    """
    if machines < OPTIMAL:
        raise MethodError(f"machines is {machines}; give a number of fixed machines, or {OPTIMAL} for the cheapest.")
    whole = estimate(instance, arrival, service)
    workload = replace(whole, arrival_rate=whole.arrival_rate * (1 - spot.share))
    count = optimal_machines(model, workload) if machines == OPTIMAL else machines
    if isinstance(count, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": count})
    if count * max(1.0, workload.servers_per_machine) > MAX_SERVERS:
        reason = f"has {count} machines of {workload.servers_per_machine:.3g} jobs, more than {MAX_SERVERS} in all"
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    many = np.asarray(count, np.float64)
    found = model(workload.servers(many), workload.arrival_rate, workload.service_rate, workload.discount)
    if not np.isfinite(found.mean_wait_s):
        raise MethodError(
            f"{instance.name}: {count} machines run {workload.servers(many):g} jobs at a time, and jobs that may not "
            f"rent are {workload.load * (1 - float(found.on_demand_work_share)):.6g} on average: waits grow without "
            "end; give more machines."
        )
    own = float(found.normalised_price + workload.discount * _unused(workload, many) / workload.load)
    paid, wait_s = spot.mixed(own, spot.price), spot.mixed(float(found.mean_wait_s), 0.0)
    price = paid / spot.mixed(1.0, spot.price)
    return Outcome(
        status=Status.NO_SOLUTION,
        details={
            "machines": count,
            "mean_wait_s": wait_s,
            "on_demand_share": spot.mixed(float(found.on_demand_share), 1.0),
            "on_demand_work_share": spot.mixed(float(found.on_demand_work_share), 1.0),
            "normalised_price": price,
            "opportunity_cost": price * wait_s,
            # C = P x load x rent x T in dollars (Equation 5).
            "cost": paid * whole.load * whole.rent / DOLLAR * whole.horizon_h,
            "arrival_rate": whole.arrival_rate,
            "service_rate": whole.service_rate,
        },
    )


@method("workload", family=FAMILY)
def workload_of(instance: WaitingInstance, short_s: float = 180.0) -> Outcome:
    """Look at the jobs and schedule none: how often they come, how long they run, and who is short.

    arrival_rate : jobs a second. mean_runtime_s, longest_gap_h. gaps_* and runtimes_* : shares of the gaps between jobs, and
    of the jobs, within bounds. short_share, short_work_share : of the jobs and of the core-hours, in jobs that run for
    `short_s` or less.

    Raises `MethodError` for a negative threshold.
    """
    if short_s < 0:
        raise MethodError(f"short_s is {short_s:g}; give seconds, 0 or more.")
    rates = estimate(instance)
    runtime_us = instance.runtime_us
    gap_us = np.diff(instance.submit_us) if instance.num_jobs > 1 else np.zeros(1, np.int64)
    work = np.multiply(instance.cores, runtime_us, dtype=np.float64)
    short = runtime_us <= short_s * SECOND_US
    return Outcome(
        status=Status.NO_SOLUTION,
        details={
            "arrival_rate": rates.arrival_rate,
            "mean_runtime_s": 1 / rates.service_rate,
            "gaps_to_1_second": _within(gap_us, -1, SECOND_US),
            "gaps_of_1_to_15_seconds": _within(gap_us, SECOND_US, 15 * SECOND_US),
            "gaps_over_3_minutes": _within(gap_us, 3 * MINUTE_US, None),
            "longest_gap_h": float(gap_us.max()) / HOUR_US,
            "runtimes_to_3_minutes": _within(runtime_us, -1, 3 * MINUTE_US),
            "runtimes_of_3_minutes_to_6_hours": _within(runtime_us, 3 * MINUTE_US, 6 * HOUR_US),
            "runtimes_over_6_hours": _within(runtime_us, 6 * HOUR_US, None),
            "runtimes_over_24_hours": _within(runtime_us, 24 * HOUR_US, None),
            "short_share": float(short.mean()),
            "short_work_share": float(work[short].sum() / work.sum()),
        },
    )


def _within(values: np.ndarray, above: int, most: int | None) -> float:
    """Return the share of values above one bound and not above another."""
    inside = values > above
    if most is not None:
        inside &= values <= most
    return float(inside.mean())


def _unused(workload: Workload, machines: FloatArray) -> FloatArray:
    """Return the servers that are paid beyond the whole ones."""
    extra: FloatArray = machines * workload.servers_per_machine - workload.servers(machines)
    return extra


def _register(name: str, model: Callable[..., Prediction], summary: str, **limits: float) -> None:
    """Register a model as a method. limits : its policy's own parameters, in the order in which the model takes them."""

    def predict(
        instance: WaitingInstance,
        *,
        machines: int = OPTIMAL,
        arrival_rate: float = 0.0,
        service_rate: float = 0.0,
        spot_share: float = 0.0,
        spot_price: float = SPOT_PRICE,
        **chosen: float,
    ) -> Outcome:
        values = {**limits, **chosen}.values()
        spot = Spot(spot_share, spot_price)
        return predicted(instance, lambda *rates: model(*rates, *values), machines, arrival_rate, service_rate, spot)

    own = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value) for key, value in limits.items()]
    first, count, *rates, _ = inspect.signature(predict).parameters.values()
    predict.__signature__ = inspect.Signature([first, count, *own, *rates])  # type: ignore[attr-defined]
    predict.__doc__ = summary
    method(name, family=FAMILY)(predict)


_register("model-ajw", models.ajw, "All Jobs Wait, predicted by M/M/s.")
_register("model-njw", models.njw, "No Jobs Wait, predicted by Erlang's loss formula.")
_register(
    "model-ajw-t", models.ajw_t, "All Jobs Wait - Threshold, predicted by M/M/s with reneging.", wait_limit_s=900.0
)
_register("model-sww", models.sww, "Short Waits Wait, predicted by M/M/s with balking.", wait_limit_s=900.0)
_register("model-ljw", models.ljw, "Long Jobs Wait, predicted by an approximate M/G/s.", short_s=180.0)
_register(
    "model-compound",
    models.compound,
    "Compound waiting policy, predicted by an approximate M/G/s with balking.",
    wait_limit_s=900.0,
    short_s=180.0,
)
