import numpy as np
import pytest

from schedgap.instances.provisioning import Provisioning, cost, lost_value, objective, price_step, table7


def with_throughput(instance, t12, t21):
    """Table 3 with interference between tau1 and tau2 alone."""
    table = np.full((4, 4), 1000)
    table[0, 1], table[1, 0] = t12, t21
    return instance.replace(workloads=("w1", "w2", "w3", "w4"), class2workload=[0, 1, 2, 3], throughput=table)


@pytest.mark.parametrize(
    ("t12", "t21", "tnrp"),
    # Section 4.3: $12 x 0.8 + $3 x 0.9 = $12.3 > $12; $12 x 0.7 + $3 x 0.8 = $10.8 < $12.
    [(800, 900, 12_300_000), (700, 800, 10_800_000)],
)
def test_tnrp_examples_of_section_4_3(paper_example, t12, t21, tnrp):
    instance = with_throughput(paper_example, t12, t21)
    reservation = 15_000_000
    assert reservation - lost_value(instance, [0, 1], [1, 1]) == tnrp


def test_objective_is_price_plus_lost_value(paper_example):
    # tau1, tau2, tau4 on it1, tau3 on it3: $12.8, and 15 - 12.3 = $2.7 lost.
    instance = with_throughput(paper_example, 800, 900)
    solution = Provisioning.from_tasks(instance, [0, 2], [0, 0, 1, 0])
    assert cost(instance, solution) == 12_800_000
    assert objective(instance, solution) == 15_500_000
    assert objective(paper_example, solution) == 12_800_000


def test_a_task_of_a_job_of_four_counts_four_times(paper_example):
    """Section 4.4: the loss of one task is suffered by all tasks of its job."""
    instance = with_throughput(paper_example, 800, 1000).replace(tasks_per_job=[4, 1, 1, 1])
    assert lost_value(instance, [0, 1], [1, 1]) == 4 * 2_400_000


def test_pairwise_products_for_three_tasks(two_families):
    # Two a and one b, all of one workload: each has f = 0.9 x 0.9 = 0.81; 3 x 0.7 x 0.19 = 0.399.
    instance = two_families.replace(workloads=("w",), class2workload=[0, 0, 0], throughput=[[900]])
    assert lost_value(instance, [0, 1], [2, 1]) == 399_000


def test_losses_are_rounded_up_to_whole_micro_dollars(two_families):
    instance = two_families.replace(
        price=np.array([1_000_001, 1_900_000, 700_001]), workloads=("w",), class2workload=[0, 0, 0], throughput=[[999]]
    )
    # 2 x 700,001 x 0.001 = 1400.002
    assert lost_value(instance, [0], [2]) == 1401


def test_a_task_without_workload_neither_suffers_nor_disturbs(two_families):
    instance = two_families.replace(workloads=("w",), class2workload=[0, -1, 0], throughput=[[500]])
    assert lost_value(instance, [0, 1], [1, 1]) == 0


def test_the_step_of_prices():
    """$0.00015, by which alone costs differ; with interference they differ by less."""
    assert price_step(table7(20)) == 150
    assert price_step(table7(20, interference=True)) == 1
