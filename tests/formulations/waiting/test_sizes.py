"""The largest numbers that an instance may have: what is claimed holds, and what cannot be proven is not claimed.

The optimum of one or two jobs is the least of a few costs, in Python's integers.
"""

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.formulations.waiting.models import scale
from schedgap.formulations.waiting.no_wait import largest_amount
from schedgap.formulations.waiting.time_indexed import slots_per_machine, windows
from schedgap.instances.method import REGISTRY, Status
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import WaitingInstance, verify

load_methods(["waiting"])
METHODS = {name: each for (family, name), each in sorted(REGISTRY.items()) if family == "waiting"}
SIZES = (1, 3, 2**20, 2**31 + 1, 10**15, 2**52 + 1, 2**53 - 1, 2**53)
PRICES = (1, 10**6, 2**31, 10**15, 2**53 - 1)


def nasty(seed):
    """One or two jobs at the same time or one after the other, with sizes, prices and times of any size."""
    rng = np.random.default_rng(seed)
    count, unit = int(rng.integers(1, 3)), (1, HOUR_US, 10**13, 2**47)[rng.integers(4)]
    size, memory = (SIZES[rng.integers(len(SIZES))] for _ in range(2))
    cores = [max(1, size // int(rng.integers(1, 4)) - int(rng.integers(2))) for _ in range(count)]
    return WaitingInstance(
        name=f"nasty-{seed}",
        submit_us=np.sort(rng.integers(0, 3, count)) * unit,
        runtime_us=rng.integers(1, 4, count) * unit,
        cores=cores,
        memory_mib=[memory // int(rng.integers(1, 4)) for _ in range(count)],
        machine_cores=size,
        machine_memory_mib=memory,
        fixed_price=PRICES[rng.integers(5)],
        rented_cores=[max(cores)],
        rented_memory_mib=[memory],
        rented_price=[PRICES[rng.integers(5)]],
        horizon_us=int(rng.integers(1, 9)) * unit,
        wait_price=(0, 0, 1, *PRICES)[rng.integers(8)],
        max_wait_us=(None, 0, unit, 2**53)[rng.integers(4)],
    )


def optimum(instance):
    """The least cost: each job rents, or runs on a machine alone, or both on one, in either order or together."""
    submit, runtime = instance.submit_us.tolist(), instance.runtime_us.tolist()
    rents = [int(r) * t for r, t in zip(instance.rent(), runtime, strict=True)]
    ends = [s + t for s, t in zip(submit, runtime, strict=True)]
    jobs = range(instance.num_jobs)

    def cost(machines, rented, last, wait):
        paid = max([instance.horizon_us, *last])
        return machines * instance.fixed_price * paid + sum(rents[j] for j in rented) + instance.wait_price * wait

    found = [
        cost(0, jobs, [], 0),
        cost(len(jobs), [], ends, 0),
        *(cost(1, [k for k in jobs if k != j], [ends[j]], 0) for j in jobs),
    ]
    if len(jobs) == 2:
        beside = sum(instance.cores.tolist()) <= instance.machine_cores
        if (beside and sum(instance.memory_mib.tolist()) <= instance.machine_memory_mib) or ends[0] <= submit[1]:
            found.append(cost(1, [], ends, 0))
        for first, second in ((0, 1), (1, 0)):
            wait = max(0, ends[first] - submit[second])
            if instance.max_wait_us is None or wait <= instance.max_wait_us:
                found.append(cost(1, [], [ends[first], submit[second] + wait + runtime[second]], wait))
    return -(-min(found) // HOUR_US)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_at_every_size(name):
    """No bound above the optimum, none below it, every claim of one right; nothing raises."""
    few = name == "time-indexed" or name.startswith("model-")
    for seed in range(12 if few else 60):
        instance = nasty(seed)
        found = METHODS[name].run(instance, seed=1, time_limit_s=5.0)
        best = optimum(instance)
        objective = None if found.solution is None else verify(instance, found.solution)
        assert objective is None or objective >= best
        assert found.bound is None or found.bound <= best
        assert found.status is not Status.INFEASIBLE
        assert found.status is not Status.OPTIMAL or objective == best
        assert found.status is not Status.UNSUPPORTED or found.details["reason"]


def made(**changes):
    """Two jobs of an hour at 0 and 1 h, $0.4 and $1 an hour."""
    fields = {
        "name": "made",
        "submit_us": [0, HOUR_US],
        "runtime_us": [HOUR_US, HOUR_US],
        "cores": [1, 1],
        "memory_mib": [0, 0],
        "machine_cores": 1,
        "machine_memory_mib": 1,
        "fixed_price": 400_000,
        "rented_cores": [1],
        "rented_memory_mib": [1],
        "rented_price": [1_000_000],
        "horizon_us": 2 * HOUR_US,
    }
    return WaitingInstance(**{**fields, **changes})


def test_waits_that_pay_are_exact():
    """2^40 x 2^40 us at a price of 2^41 for waiting: 2^39 us, whose product has 80 bits. In 64 bits it wrapped to 0."""
    instance = made(
        submit_us=[0],
        runtime_us=[2**40],
        cores=[1],
        memory_mib=[0],
        rented_price=[2**40],
        wait_price=2**41,
        horizon_us=1,
    )
    assert scale(instance).longest.tolist() == [2**39]
    assert scale(instance.replace(wait_price=2**41 + 1)).longest.tolist() == [-(-(2**80) // (2**41 + 1))]


def test_no_wait_is_longer_than_any_schedule():
    """Ends stay below 2^62, so that sums of times do not wrap."""
    scaled = scale(made(wait_price=1, rented_price=[2**53], max_wait_us=2**61))
    assert (scaled.submit + scaled.longest + scaled.runtime).max() * scaled.unit_us <= 2**62


def test_slots_of_the_largest_sizes():
    """Two of 2^61 cores do not fit 2^61; their sum in 64 bits would be 2^62, four of them would wrap."""
    large = made(cores=[2**61] * 2, machine_cores=2**61, rented_cores=[2**61])
    assert slots_per_machine(large) == 1
    four = {"submit_us": [0] * 4, "runtime_us": [1] * 4, "memory_mib": [0] * 4}
    assert slots_per_machine(large.replace(cores=[2**61] * 4, **four)) == 1
    assert slots_per_machine(large.replace(cores=[2**60 - 1, 2**60 - 1, 2**60, 2**60], **four)) == 2


def test_amounts_beyond_floats_have_no_windows():
    assert "amounts up to" in windows(made(fixed_price=2**53 - 1, rented_price=[2**53]))
    assert largest_amount(scale(made()), 1) == 2 * (400_000 * 2 + 2 * 1_000_000) // 200_000
