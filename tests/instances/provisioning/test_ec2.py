import numpy as np
import pytest

from schedgap.instances import InstanceError
from schedgap.instances.provisioning.ec2 import ec2_types, eva_interference, eva_workloads, fits_ec2


def test_21_types_with_both_cpu_capacities():
    physical, vcpu = ec2_types("physical"), ec2_types("vcpu")
    assert len(physical["type_names"]) == 21
    assert all(2 * p[1] == v[1] for p, v in zip(physical["capacity"], vcpu["capacity"], strict=True))
    # p3.2xlarge: 1 GPU, 4 cores, 61 GiB at $3.06; c7i.large at $0.08925.
    assert physical["capacity"][0] == [1000, 4000, 61 * 1024]
    assert physical["price"][0] == 3_060_000
    assert physical["price"][3] == 89_250
    with pytest.raises(InstanceError, match="not 'cores'"):
        ec2_types("cores")


def test_table_7_asks_less_cpu_off_p3():
    workloads = eva_workloads()
    gcn = workloads["names"].index("gcn")
    assert workloads["demand"][:, gcn].tolist() == [[0, 12_000, 40_960], [0, 6_000, 40_960], [0, 6_000, 40_960]]
    assert workloads["tasks_per_job"].tolist()[:2] == [2, 4]


def test_interference_of_figure_1():
    names, throughput = eva_interference()
    gpt2, cyclegan, a3c = (names.index(name) for name in ("gpt2", "cyclegan", "a3c"))
    assert throughput[gpt2, cyclegan] == 787
    assert throughput[cyclegan, gpt2] == 993
    assert throughput[a3c, a3c] == 671
    assert throughput[a3c, gpt2] == 950


def test_what_fits_some_type():
    """The largest types: p3.16xlarge with 8 GPUs, 64 vCPU and 488 GiB; c7i.48xlarge with 192 vCPU; r7i with 1,536 GiB."""
    demand = np.array([[8000, 64_000, 488 * 1024], [8000, 64_001, 0], [0, 192_000, 1536 * 1024], [0, 192_001, 0]])
    assert fits_ec2(demand, "vcpu").tolist() == [True, False, True, False]
    assert fits_ec2(demand, "physical").tolist() == [False] * 4
