"""Shrunk instances are small, and of the same kind."""

import numpy as np
import pytest

from schedgap.instances.reconfiguration.generators import alibaba_like, eva_synthetic
from schedgap.instances.reconfiguration.model import Past, shrink


@pytest.mark.parametrize(
    "instance",
    [
        eva_synthetic(),
        eva_synthetic(2),
        eva_synthetic(interference="none"),
        alibaba_like(300, multi_task=1.0),
    ],
    ids=lambda instance: instance.name,
)
def test_a_few_jobs_of_the_same_kind(instance):
    small = shrink(instance)
    assert small.name == f"{instance.name}-shrunk"
    assert small.num_jobs == min(instance.num_jobs, 6)
    assert small.num_tasks.max() == min(instance.num_tasks[: small.num_jobs].max(), 2)
    assert small.work_s.max() <= 7200
    assert small.arrival_s.tolist() == [300 * j for j in range(small.num_jobs)]
    assert small.catalogue.type_names == instance.catalogue.type_names
    assert (small.catalogue.throughput is None) == (instance.catalogue.throughput is None)
    kept = [instance.catalogue.class_names[c] for c in instance.job2class[: small.num_jobs]]
    assert [small.catalogue.class_names[c] for c in small.job2class] == kept
    names = [small.catalogue.workloads[w] for w in small.class2workload]
    assert names == [name.split("[")[0] for name in small.catalogue.class_names]
    for i, beside in enumerate(small.catalogue.workloads):
        w = instance.catalogue.workloads.index(beside)
        assert small.init_s[i] == instance.init_s[w]
        for j, other in enumerate(small.catalogue.workloads):
            assert small.throughput[i, j] == instance.throughput[w, instance.catalogue.workloads.index(other)]


def test_shrinking_twice_is_shrinking_once():
    once = shrink(eva_synthetic())
    assert shrink(once).digest == once.digest


def test_running_machines_stay_with_the_first_job(begun):
    for seed in range(6):
        instance = begun(eva_synthetic(tasks_per_job=3), seed)
        small = shrink(instance)
        assert small.running.names == instance.running.names
        assert small.is_running().tolist() == [bool(instance.is_running()[0])] + [False] * (small.num_jobs - 1)
        assert shrink(small).digest == small.digest


def test_a_past_is_kept_by_copies_and_not_by_shrunk_ones():
    instance = eva_synthetic()
    nowhere = np.full(instance.num_jobs, -1)
    instance = instance.replace(past=Past((), [], [], [], start=0, end_s=0, job_node=nowhere))
    assert instance.replace(name="again").past is instance.past
    assert shrink(instance).past is None
