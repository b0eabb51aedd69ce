"""From a trace to an instance: classes, their names, and what the name says."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.delays import workload_names
from schedgap.instances.reconfiguration.trace import Trace, arrivals, on_ec2

GCN, VIT = workload_names().index("gcn"), workload_names().index("vit")


def made(demand, workload, **parameters):
    jobs = len(demand)
    trace = Trace(
        arrival_s=np.arange(jobs),
        work_s=np.full(jobs, 60),
        demand=np.repeat(np.array(demand)[:, None], 3, axis=1),
        workload=np.array(workload),
        num_tasks=np.full(jobs, 2),
    )
    return on_ec2(("given",), trace, **{"interference": "figure1", "migration_delay": 1.0, "cpu": "vcpu", **parameters})


def test_a_class_is_a_demand_and_a_workload():
    small, large = [0, 1000, 1024], [0, 2000, 1024]
    instance = made([large, small, large, large], [GCN, GCN, VIT, GCN])
    assert instance.catalogue.class_names == ("gcn[0]", "gcn[1]", "vit[0]")
    assert instance.job2class.tolist() == [0, 1, 2, 0]
    assert instance.catalogue.demand[2].tolist() == [large, small, large]
    assert instance.catalogue.counts.tolist() == [4, 2, 2]
    # GCN beside ViT runs at 0.915, ViT beside GCN at 0.835.
    assert instance.throughput.tolist() == [[904, 915], [835, 928]]
    assert instance.init_s.tolist() == [28, 143]


def test_names_tell_the_parameters():
    cpu = [[0, 1000, 1024]]
    assert made(cpu, [GCN]).name == "given-figure1-vcpu"
    other = made(cpu, [GCN], interference="0.90", migration_delay=2.0, cpu="physical")
    assert other.name == "given-0.9-delay2-physical"
    assert other.init_s.tolist() == [56]


def test_a_job_that_fits_no_type_is_named():
    with pytest.raises(
        InstanceError, match=r"task gcn\[0\] needs 9 gpu on family p3, the largest type there has 8 gpu"
    ):
        made([[9000, 1000, 1024]], [GCN])


def test_arrivals_are_whole_seconds_after_sums_of_gaps():
    """0.5 + 0.25 + 1.3 means of 10 s: 5, 7.5 and 20.5 s."""
    assert arrivals(np.array([0.5, 0.25, 1.3]), 10.0).tolist() == [5, 7, 20]


@pytest.mark.parametrize("mean_gap_s", [0.0, -1.0, 2.0**32, float("nan"), float("inf")])
def test_means_that_are_none(mean_gap_s):
    with pytest.raises(InstanceError, match=r"mean_gap_s is .*; give a positive number of seconds, below 4294967296"):
        arrivals(np.ones(3), mean_gap_s)
