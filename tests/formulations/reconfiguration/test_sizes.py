"""The largest prices, sizes and times that an instance may have: no claim is false, and nothing raises.

One or two jobs of a task each, on one type. The least cost is that of a few schedules, which the verifier plays.
"""

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.formulations.reconfiguration.kernels_items import FAR, rents
from schedgap.instances.errors import VerifyError
from schedgap.instances.method import REGISTRY, Status
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.model import ReconfigurationInstance, ReconfigurationSchedule
from schedgap.instances.reconfiguration.verify import verify

load_methods(["reconfiguration"])
METHODS = {name: each for (family, name), each in sorted(REGISTRY.items()) if family == "reconfiguration"}


def made(price=1_000_000, size=4000, room=4000, jobs=1, beside=1000, **changes):
    """Jobs at 0 of 90 s, plans every 60 s, machines that run after 5 s. beside : throughput of two, thousandths."""
    catalogue = ProvisioningInstance(
        name="made",
        resources=("cpu",),
        families=("x",),
        type_names=("t",),
        type2family=[0],
        capacity=[[room]],
        price=[price],
        demand=[[[size]]],
        counts=[1],
        workloads=("a",),
        class2workload=[0],
        throughput=[[beside]],
    )
    nothing = {key: [0] for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")}
    times = {"acquire_s": [5], "setup_s": [0], "arrival_s": [0] * jobs, "work_s": [90] * jobs, "period_s": 60}
    fixed = {"name": "made", "catalogue": catalogue, "job2class": [0] * jobs, "num_tasks": [1] * jobs}
    return ReconfigurationInstance(**{**fixed, **nothing, **times, **changes})


def nasty(seed):
    """Prices and sizes up to the format's end, times of a second to decades."""
    rng = np.random.default_rng(seed)
    size = (0, 1, 2**20 + 7, 10**15, 2**53)[rng.integers(5)]
    period = (1, 60, 10**6, 2**30)[rng.integers(4)]
    jobs = int(rng.integers(1, 3))
    return made(
        price=(1, 10**6, 4_611_000_000, 10**15, 2**53)[rng.integers(5)],
        size=size,
        room=max(1, size * int(rng.integers(1, 3)), 2**53 * int(rng.integers(2))),
        jobs=jobs,
        beside=(1000, 999, 500)[rng.integers(3)],
        period_s=period,
        work_s=rng.integers(1, 2 * period + 1, jobs),
        acquire_s=[int(rng.integers(0, period // 4 + 1))],
        setup_s=[int(rng.integers(0, period // 4 + 1))],
    )


def cheapest_known(instance):
    """The least cost of schedules in which nobody moves, everybody alone or all on one machine, rented at once."""
    period, jobs, found = instance.period_s, instance.num_jobs, []
    last = [-(-3 * int(instance.work_s.sum() + instance.acquire_s[0] + instance.setup_s[0]) // period) + 1] * jobs
    for machine in ([0] * jobs, list(range(jobs))):
        number = machine[-1] + 1

        def cost(released, machine=machine, number=number):
            plans = [plan * period for plan in released[:number]]
            rented = [0] * number
            try:
                return verify(
                    instance, ReconfigurationSchedule(rented, rented, plans, [0] * jobs, range(jobs), machine)
                )
            except VerifyError:
                return None

        if last[0] * period > 2**32 or cost(last) is None:
            continue
        released = list(last)
        for m in range(number):
            low, high = 1, released[m]
            while low < high:
                released[m] = (low + high) // 2
                low, high = (low, released[m]) if cost(released) is not None else (released[m] + 1, high)
            released[m] = high
        found.append(cost(released))
    return min(found, default=None)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_at_every_size(name):
    """No bound above a known cost, every claim of an optimum at most that; reasons where nothing can be said."""
    for seed in range(30):
        instance = nasty(seed)
        found = METHODS[name].run(instance, seed=1, time_limit_s=5.0)
        best = cheapest_known(instance)
        objective = None if found.solution is None else verify(instance, found.solution)
        known = [cost for cost in (best, objective) if cost is not None]
        assert found.bound is None or not known or found.bound <= min(known)
        assert found.status is not Status.OPTIMAL or objective == min(known)
        assert found.status is not Status.INFEASIBLE
        assert found.status is not Status.UNSUPPORTED or found.details["reason"]


def test_resource_prices_of_a_machine_beyond_62_bits_are_none():
    """2^62 units at a price of 4 each: as whole numbers their product would be 0."""
    base = np.array([2**62], np.int64)
    rent, whole = rents(base, np.zeros(1, np.int64), np.array([[1]]), np.array([2**62]), np.array([2**40]))
    assert (np.abs(whole) <= FAR).all()
    assert (whole >= 0).all()
    assert (rent >= 0).all()


def test_a_job_that_ends_after_the_last_plan_has_no_schedule():
    """From the plan at 10^9 s it ends at 4.1 x 10^9 s; the next plan, at 5 x 10^9 s, is after the last one."""
    instance = made(period_s=10**9, work_s=[3_100_000_000], arrival_s=[1])
    for name, method in METHODS.items():
        found = method.run(instance, time_limit_s=5.0)
        assert found.solution is None, name
        assert found.bound is not None or "after" in found.details["reason"]
