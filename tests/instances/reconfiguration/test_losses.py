"""Where a cluster lost money, on pasts that are computed by hand."""

from dataclasses import replace

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.work_bound import bound_presence
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration import cluster_week
from schedgap.instances.reconfiguration.losses import DAEMONS, EMPTY, SPOT, SPREAD, TYPE, losses, paid, paid_hourly
from schedgap.instances.reconfiguration.model import Past, ReconfigurationInstance, ReconfigurationSchedule

SMALL, LARGE, SPARE = range(3)
# Dollars an hour of a small machine are $0.10: nano-dollars.
TENTH = 100_000_000


def instance(jobs, nodes, end_s=7200):
    """Machines of 2, 8 and 8 cores at $0.10, $0.30 and $0.12. jobs : cores, arrival, work, node. nodes : type, from, until."""
    cores = list(dict.fromkeys(job[0] for job in jobs))
    catalogue = ProvisioningInstance(
        name="cluster",
        resources=("cpu",),
        families=("m",),
        type_names=("small", "large", "large (spot, eu-west-1a)"),
        type2family=[0, 0, 0],
        capacity=[[2000], [8000], [8000]],
        price=[100_000, 300_000, 120_000],
        demand=[[[1000 * each] for each in cores]],
        counts=[1] * len(cores),
        class_names=tuple(f"c{each}" for each in cores),
        workloads=("pod",),
        class2workload=[0] * len(cores),
    )
    past = Past(
        tuple(f"n{e}" for e in range(len(nodes))),
        *([node[k] for node in nodes] for k in range(3)),
        start=1_000_000_000,
        end_s=end_s,
        job_node=[job[3] for job in jobs],
    )
    nothing = {key: [0] for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")}
    return ReconfigurationInstance(
        "cluster",
        catalogue,
        acquire_s=[0, 0, 0],
        setup_s=[0, 0, 0],
        **nothing,
        arrival_s=[job[1] for job in jobs],
        work_s=[job[2] for job in jobs],
        job2class=[cores.index(job[0]) for job in jobs],
        num_tasks=[1] * len(jobs),
        terminate_s=0,
        past=past,
    )


def proof(*spells):
    """Spells of from, until and the price of each class."""
    return {
        "window_s": 300,
        "spells": [
            {"from_s": a, "until_s": b, "classes": list(range(len(prices))), "prices": list(prices)}
            for a, b, *prices in spells
        ],
    }


def lost(found):
    return {reason: each.round(9).tolist() for reason, each in found.lost.items() if each.round(9).any()}


def test_empty_nodes_and_types_that_are_too_large():
    """A pod of 1 core is alone on a large machine for two hours, and a small one stands empty in the first."""
    made = instance([(1, 0, 7200, 0)], [(LARGE, 0, 7200), (SMALL, 0, 3600)])
    found = losses(made, proof((0, 7200, TENTH)))
    assert paid(made) == 700_000
    assert found.paid.tolist() == pytest.approx([0.4, 0.3])
    assert found.floor.tolist() == pytest.approx([0.1, 0.1])
    assert found.tasks.tolist() == [1, 1]
    assert lost(found) == {EMPTY: [0.1, 0.0], TYPE: [0.2, 0.2]}


def test_room_that_is_left_free():
    """Two pods of 1 core, each on a small machine: one would do."""
    made = instance([(1, 0, 3600, 0), (1, 0, 3600, 1)], [(SMALL, 0, 3600), (SMALL, 0, 3600)], 3600)
    assert lost(losses(made, proof((0, 3600, TENTH // 2)))) == {SPREAD: [0.1]}


def test_an_hour_in_whose_middle_nothing_runs():
    """The pod is there for the first 300 s of the hour; the node counts as one that holds pods."""
    made = instance([(1, 0, 300, 0)], [(SMALL, 0, 3600)], 3600)
    found = losses(made, proof((0, 300, TENTH)))
    assert found.tasks.tolist() == [0]
    assert lost(found) == {SPREAD: [pytest.approx(0.1 - 0.1 / 12)]}


def test_daemon_sets_that_take_more_of_small_nodes():
    """Two nodes at $0.10 with tasks that are worth half of it. No more than the other half is DaemonSets' on either."""
    made = instance([(1, 0, 3600, 0), (1, 0, 3600, 1)], [(SMALL, 0, 3600), (SMALL, 0, 3600)], end_s=3600)
    shares = {0: [50_000, 50_000], 0.02: [250_000, 50_000], 0.05: [950_000, 50_000]}
    for part, daemons in shares.items():
        found = losses(made.replace(past=replace(made.past, daemons=daemons)), proof((0, 3600, TENTH // 2)))
        expected = {SPREAD: [pytest.approx(0.1 - part)]} | ({DAEMONS: [pytest.approx(part)]} if part else {})
        assert lost(found) == expected


def test_spare_capacity_would_hold_them():
    """A pod of 8 cores on a large machine at $0.30: as spot it costs $0.12."""
    made = instance([(8, 0, 3600, 0)], [(LARGE, 0, 3600)], 3600)
    assert lost(losses(made, proof((0, 3600, 120_000_000)))) == {SPOT: [0.18]}
    spare = instance([(8, 0, 3600, 0)], [(SPARE, 0, 3600)], 3600)
    assert lost(losses(spare, proof((0, 3600, 120_000_000)))) == {}


def test_reasons_add_up_and_prices_may_change_within_an_hour():
    """From 1800 s on the second pod is there; the last hour is half as long."""
    jobs = [(1, 0, 5400, 0), (2, 1800, 3600, 1)]
    made = instance(jobs, [(LARGE, 0, 5400), (LARGE, 900, 5400)], 5400)
    found = losses(made, proof((0, 1800, TENTH, 0), (1800, 5400, TENTH // 2, TENTH)))
    assert found.paid.tolist() == pytest.approx([0.3 + 0.3 * 0.75, 0.3])
    assert found.floor.tolist() == pytest.approx([0.05 + 0.025 + 0.05, 0.025 + 0.05])
    assert sum(found.lost.values()) == pytest.approx(found.paid - found.floor)
    assert found.tasks.tolist() == [2, 2]


@pytest.mark.parametrize("kind", ["steady", "daily", "nightly"])
def test_no_node_of_a_cluster_loses_less_than_nothing(kind):
    """What the proof says of contents holds of those that there were, in each hour; and all adds up."""
    made = cluster_week(kind, nodes=8, pods=60, days=0.3)
    found = losses(made, bound_presence(made).certificate["proof"])
    assert min(each.min() for each in found.lost.values()) >= -1e-9
    assert sum(found.lost.values()) == pytest.approx(found.paid - found.floor)
    assert 0 < found.floor.sum() <= paid(made) / 1e6 == pytest.approx(found.paid.sum(), abs=1e-5)


def test_a_bound_that_counts_a_part_of_each_period():
    """With a window of 100 of 300 s, presence is worth a third."""
    made = instance([(1, 0, 3600, 0)], [(SMALL, 0, 3600)], 3600)
    found = losses(made, proof((0, 3600, TENTH)) | {"window_s": 100})
    assert found.floor.tolist() == pytest.approx([0.1 / 3])


def test_without_prices_all_is_lost():
    made = instance([(1, 0, 3600, 0)], [(SMALL, 0, 3600)], 3600)
    found = losses(made, {"window_s": 300, "spells": []})
    assert (found.floor.tolist(), sum(found.lost.values()).tolist()) == ([0.0], pytest.approx([0.1]))


def test_what_a_schedule_pays_in_each_hour():
    """A large machine from second 0 for one hour, a small one for the second: the pod moves at 3600 s."""
    made = instance([(1, 0, 7200, 0)], [(LARGE, 0, 7200)])
    schedule = ReconfigurationSchedule([LARGE, SMALL], [0, 3600], [3600, 7200], [0, 3600], [0, 0], [0, 1])
    assert paid_hourly(made, schedule).tolist() == pytest.approx([0.3, 0.1])
    assert paid_hourly(made).tolist() == pytest.approx([0.3, 0.3])
    assert np.isclose(paid_hourly(made, schedule).sum(), 0.4)
