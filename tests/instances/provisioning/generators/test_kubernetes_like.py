"""Deployments and machines of generated clusters: what is left for pods, who may run where, and clusters after rush hours."""

import numpy as np
import pytest

from schedgap.instances import InstanceError
from schedgap.instances.provisioning import consolidation, kubernetes_like, read_instance, write_instance
from schedgap.instances.provisioning.generators.kubernetes_like import FAMILIES
from schedgap.instances.provisioning.running import ONE_TASK


@pytest.mark.parametrize("make", [kubernetes_like, consolidation])
def test_same_seed_same_instance(make, tmp_path):
    first = make(120, kinds=12, seed=3)
    assert first.digest == make(120, kinds=12, seed=3).digest != make(120, kinds=12, seed=4).digest
    write_instance(first, tmp_path / "i.json")
    assert read_instance(tmp_path / "i.json").digest == first.digest


def test_what_is_left_for_pods():
    """c0.16: 16 cores less 60 + 10 + 2 x 5 + 12 x 2.5 and 250; 32 GiB less 255 + 11 x 110 + 100 and 392; 107 pods."""
    instance = kubernetes_like(100, kinds=10, types=6)
    assert instance.type_names == tuple(f"c0.16-{family}" for family in FAMILIES)
    assert np.unique(instance.capacity, axis=0).tolist() == [[16_000 - 110 - 250, 32 * 1024 - 1565 - 392, 107_000]]
    assert instance.price[:3].tolist() == [16 * 42_500] * 3
    share = instance.price[3:] / instance.price[:3]
    assert ((share >= 0.3) & (share <= 0.6)).all()


def test_zones_and_spot():
    """A deployment has a zone or has all, may use spot or may not; parameters of one do not move the other's draws."""
    free = kubernetes_like(500, kinds=100, zone_bound=0.0, on_demand_only=0.0)
    bound = kubernetes_like(500, kinds=100, zone_bound=1.0, on_demand_only=1.0)
    part = kubernetes_like(500, kinds=100)
    number = [(instance.demand[:, :, 0] >= 0).sum(axis=0) for instance in (free, bound, part)]
    assert set(number[0]) == {6}
    assert set(number[1]) == {1}
    assert set(number[2]) == {1, 2, 3, 6}
    assert (bound.demand[3:] == -1).all()
    for instance in (bound, part):
        assert np.array_equal(instance.demand.max(axis=0), free.demand[0])
        assert np.array_equal(instance.price, free.price)


def test_many_small_and_few_large():
    instance = kubernetes_like(10_000, kinds=300, types=800)
    assert (instance.num_tasks, instance.num_classes, instance.num_types) == (10_000, 300, 800)
    cpu, mib, pods = instance.demand.max(axis=0).T
    assert set(pods) == {1000}
    # Medians 250m and 500 MiB of the log-normal draws; the largest of 300 is some ten times that.
    assert 100 <= np.median(cpu) <= 400
    assert cpu.max() > 2000
    assert np.percentile(mib, 75) / np.percentile(mib, 25) > 2.5
    # Zipf's law: of 300 deployments the largest has 1 / (1 + 1/2 + ... + 1/300) = 15.9% of the pods but one each.
    assert instance.counts.max() == 1 + round(9700 / sum(1 / rank for rank in range(1, 301)))


def test_as_many_types_as_are_asked_for():
    names = kubernetes_like(10, kinds=3, types=1000).type_names
    assert len(set(names)) == 1000
    assert kubernetes_like(100_000, kinds=2000, types=800).num_tasks == 100_000


def test_a_cluster_after_the_rush_hours():
    """Nothing is pending or over capacity; what first fit placed would have fit a machine bought before the last."""
    instance = consolidation(600, kinds=30, seed=5)
    running = instance.running
    content = running.contents(instance.num_classes)
    assert np.array_equal(content.sum(axis=0), instance.counts)
    load = content @ instance.demand[0]
    assert (load <= instance.capacity[running.machine_type]).all()
    assert {instance.type_names[k] for k in running.machine_type} <= {"c0.16", "m0.16", "r0.16"}
    assert instance.max_disruption is None
    paid = instance.price[running.machine_type].sum() / 1e6
    assert instance.notes == (
        f"{running.size} machines run, {(content.sum(axis=1) == 0).sum()} of them empty, for {paid:.6f} $/h, with "
        f"{instance.num_tasks} of 600 pods left.",
    )


def test_what_is_removed():
    """Nothing, or all but one pod of each deployment; the machines are the same, and where a pod stays it was."""
    whole, part, last = (consolidation(600, kinds=30, removed=removed, max_disruption=7) for removed in (0.0, 0.4, 1.0))
    assert whole.num_tasks == 600
    assert (last.counts == 1).all()
    assert 0.2 * 600 < 600 - part.num_tasks < 0.6 * 600
    assert part.max_disruption == 7 * ONE_TASK
    before, after = (instance.running.contents(30) for instance in (whole, part))
    assert np.array_equal(whole.running.machine_type, part.running.machine_type)
    assert (after <= before).all()


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (kubernetes_like, {"tasks": 0}, "tasks is 0 and kinds is 50; give at least one kind, and a task of each"),
        (kubernetes_like, {"kinds": 0}, "tasks is 1000 and kinds is 0"),
        (kubernetes_like, {"types": 5}, "types is 5; give at least 6"),
        (kubernetes_like, {"zone_bound": 1.5}, "zone_bound is 1.5; give a share from 0 to 1"),
        (kubernetes_like, {"on_demand_only": float("nan")}, "on_demand_only is nan"),
        (consolidation, {"tasks": 39}, "tasks is 39 and kinds is 40"),
        (consolidation, {"types": 2}, "types is 2; give at least 3"),
        (consolidation, {"removed": -0.1}, "removed is -0.1; give a share"),
        (consolidation, {"max_disruption": -2}, "max_disruption is -2; give -1 for any number, or 0 or more"),
    ],
)
def test_parameters_out_of_range(make, parameters, message):
    with pytest.raises(InstanceError, match=message):
        make(**parameters)
