"""Prices of presence from prices of resources, and whole machines of a moment, on clusters that are computed by hand."""

import itertools

import numpy as np
import pytest

from schedgap.formulations.reconfiguration import fluid_prices as module
from schedgap.formulations.reconfiguration.fluid_prices import fluid_prices, whole_worths
from schedgap.formulations.reconfiguration.presence import spells
from schedgap.formulations.reconfiguration.spell_prices import offers
from schedgap.formulations.reconfiguration.work_bound import bound_presence
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.model import ReconfigurationInstance

# Nano-dollars of a dollar.
DOLLAR = 10**9


def instance(jobs, types=((2, 8, 100_000), (8, 16, 300_000)), acquire_s=0):
    """jobs : cores, GiB, arrival, work. types : cores, GiB, micro-dollars an hour."""
    sizes = list(dict.fromkeys(job[:2] for job in jobs))
    catalogue = ProvisioningInstance(
        name="cluster",
        resources=("cpu", "ram_gib"),
        families=("m",),
        type_names=tuple(f"t{k}" for k in range(len(types))),
        type2family=[0] * len(types),
        capacity=[[1000 * cores, 1024 * gib] for cores, gib, _ in types],
        price=[price for *_, price in types],
        demand=[[[1000 * cores, 1024 * gib] for cores, gib in sizes]],
        counts=[1] * len(sizes),
        class_names=tuple(f"c{n}" for n in range(len(sizes))),
        workloads=("pod",),
        class2workload=[0] * len(sizes),
    )
    nothing = {key: [0] for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")}
    return ReconfigurationInstance(
        "cluster",
        catalogue,
        acquire_s=[acquire_s] * len(types),
        setup_s=[60] * len(types),
        **nothing,
        arrival_s=[job[2] for job in jobs],
        work_s=[job[3] for job in jobs],
        job2class=[sizes.index(job[:2]) for job in jobs],
        num_tasks=[1] * len(jobs),
        terminate_s=0,
    )


def priced(made, number=100, deadline=None):
    nothing = np.zeros(made.catalogue.num_classes, np.int64)
    cut = spells(made, number)
    return cut, fluid_prices(made, offers(made, nothing), cut, deadline)


def test_a_core_costs_what_it_does_on_the_cheapest_machine():
    """$0.0375 on the large one, of whose memory there is enough."""
    _, prices = priced(instance([(1, 1, 0, 3600), (1, 1, 0, 3600)]))
    assert prices[0, 0] == pytest.approx(0.0375 * DOLLAR, rel=1e-6)


def test_what_is_short_is_what_costs():
    """At first memory alone decides, $0.0125 a GiB on the small machine; then cores alone."""
    made = instance([(1, 8, 0, 3600), (2, 1, 3600, 3600)])
    cut, prices = priced(made)
    assert (cut.number, cut.first.tolist(), cut.until.tolist()) == (2, [0, 12], [12, 24])
    assert prices[0, 0] == pytest.approx(0.1 * DOLLAR, rel=1e-3)
    assert prices[1, 1] == pytest.approx(0.075 * DOLLAR, rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_no_content_is_worth_more_than_its_machine(seed):
    """All contents of up to eight tasks, at the prices of every spell."""
    rng = np.random.default_rng(seed)
    jobs = sorted(
        ((int(rng.integers(1, 4)), int(rng.integers(1, 9)), int(rng.integers(0, 9)) * 300, 600) for _ in range(12)),
        key=lambda job: job[2],
    )
    made = instance(jobs)
    _, prices = priced(made)
    demand, capacity = made.catalogue.demand[0], made.catalogue.capacity
    for content in itertools.product(range(4), repeat=min(4, demand.shape[0])):
        if sum(content) > 8:
            continue
        held = np.array(content) @ demand[: len(content)]
        for k in np.flatnonzero((held <= capacity).all(axis=1)):
            worth = (prices[:, : len(content)] @ np.array(content)).max()
            assert worth <= made.catalogue.price[k] * 1000


def test_without_time_prices_are_0():
    _, prices = priced(instance([(1, 1, 0, 3600)]), deadline=0.0)
    assert prices.tolist() == [[0]]


def test_demands_whose_sums_leave_62_bits_have_prices_of_0(monkeypatch):
    monkeypatch.setattr(module, "PRESENT", 2**60)
    assert priced(instance([(1, 1, 0, 3600)]))[1].tolist() == [[0]]


def test_whole_machines_of_a_moment():
    """Three cores are worth $0.15 on small machines, and two of these cost $0.20; where only one is there, $0.10."""
    made = instance([(1, 1, 0, 3600)] * 2 + [(1, 1, 0, 1800)], types=((2, 8, 100_000),))
    cut, prices = priced(made)
    fluid = [int(worth) for worth in (prices * cut.presence).sum(axis=1)]
    assert fluid == pytest.approx([0.15 * DOLLAR * 6, 0.1 * DOLLAR * 6], rel=1e-6)
    whole = whole_worths(made, cut, fluid, None)
    assert whole == pytest.approx([0.2 * DOLLAR * 6, 0.1 * DOLLAR * 6])
    assert whole_worths(made, cut, fluid, 0.0) == fluid
    # Of a spell of two moments those count who are there at both.
    both, _ = priced(made, number=1)
    assert whole_worths(made, both, [0], None) == pytest.approx([0.1 * DOLLAR * 12])


def test_a_bound_counts_whole_machines_only_where_all_time_is_paid():
    """$0.20 for half an hour and $0.10 for the other; machines that are paid 100 s late cost less at first."""
    jobs = [(1, 1, 0, 3600)] * 2 + [(1, 1, 0, 1800)]
    assert bound_presence(instance(jobs, types=((2, 8, 100_000),))).bound == 150_000
    late = bound_presence(instance(jobs, types=((2, 8, 100_000),), acquire_s=100))
    assert 0 < late.bound < 125_000
    assert late.certificate is None
