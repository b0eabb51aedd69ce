"""Throughputs are 1, 1/2, 1/4 and 0 and prices small, so that float64 sums are exact and ties are real ties."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration import (
    full_reconfiguration,
    full_reconfiguration_tnrp,
)
from schedgap.instances.provisioning.generators import table7
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.verify import verify


def pair(example: ProvisioningInstance, first: int, second: int) -> ProvisioningInstance:
    """tau1 and tau2 of Table 3, which slow each other down to the throughputs given, in thousandths."""
    return example.replace(
        demand=example.demand[:, :2],
        counts=[1, 1],
        class_names=("tau1", "tau2"),
        class2workload=[0, 1],
        class2job=None,
        tasks_per_job=None,
        task2class=None,
        task_names=None,
        workloads=("one", "two"),
        throughput=[[1000, first], [second, 1000]],
    )


def test_section_4_3_accepts_what_is_worth_more_than_the_machine(paper_example: ProvisioningInstance) -> None:
    # 12 x 0.8 + 3 x 0.9 = 12.3 > 12; the objective counts 12 and the lost 2.4 + 0.3.
    instance = pair(paper_example, 800, 900)
    found = full_reconfiguration_tnrp(instance)
    assert found.task2machine.tolist() == [0, 0]
    assert found.machine_type.tolist() == [0]
    assert verify(instance, found) == 14_700_000


def test_section_4_3_rejects_what_is_worth_less(paper_example: ProvisioningInstance) -> None:
    # 12 x 0.7 + 3 x 0.8 = 10.8 < 12: tau2 gets its own it2.
    instance = pair(paper_example, 700, 800)
    found = full_reconfiguration_tnrp(instance)
    assert found.task2machine.tolist() == [0, 1]
    assert found.machine_type.tolist() == [0, 1]
    assert verify(instance, found) == 15_000_000


def test_section_4_4_counts_the_whole_job(paper_example: ProvisioningInstance) -> None:
    # Two tasks in tau1's job lose 24 x 0.2 = 4.8: 7.2 + 2.7 < 12.
    instance = pair(paper_example, 800, 900).replace(tasks_per_job=[2, 1])
    assert full_reconfiguration_tnrp(instance).task2machine.tolist() == [0, 1]


def test_section_4_4_to_the_text_knows_no_cut_at_0(paper_example: ProvisioningInstance) -> None:
    """Two jobs of two tasks, worth 6 and 4 a task: beside each other they are worth less than nothing by the text."""
    instance = paper_example.replace(
        resources=("cpu",),
        families=("f",),
        type_names=("k0", "k1"),
        type2family=[0, 0],
        capacity=[[2000], [5000]],
        price=[6_000_000, 4_000_000],
        demand=[[[2000], [3000]]],
        counts=[2, 2],
        class_names=("t0", "t1"),
        class2workload=[0, 1],
        class2job=None,
        tasks_per_job=[2, 2],
        task2class=None,
        task_names=None,
        workloads=("w1", "w2"),
        throughput=[[300, 300], [1000, 600]],
    )
    # A task of t0 loses 8 x 0.7 beside one of t1, more than its 4. By the text each has a machine, 4 x $4. Cut at 0, two
    # share one: 2 x $4 and what is lost, 2 x (8 x 0.7).
    costs = [verify(instance, full_reconfiguration_tnrp(instance, cut=cut)) for cut in (True, False)]
    assert costs == [19_200_000, 16_000_000]


@pytest.mark.parametrize("tie_break", ["alignment", "paper"])
def test_without_interference_it_is_full_reconfiguration(tie_break: str) -> None:
    instance = table7(300, seed=2)
    expected = full_reconfiguration(instance, tie_break=tie_break)
    found = full_reconfiguration_tnrp(instance, tie_break=tie_break)
    assert np.array_equal(found.task2machine, expected.task2machine)
    assert np.array_equal(
        np.repeat(found.machine_type, found.repeat), np.repeat(expected.machine_type, expected.repeat)
    )


def test_looking_at_interference_pays_on_table_7() -> None:
    for seed in range(3):
        instance = table7(200, seed=seed, interference=True)
        assert verify(instance, full_reconfiguration_tnrp(instance)) < verify(instance, full_reconfiguration(instance))
