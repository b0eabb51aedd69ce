import numpy as np

from schedgap.heuristics.provisioning.fit_decreasing import no_packing, synergy
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.verify import verify


def test_table_3_in_list_order(paper_example: ProvisioningInstance) -> None:
    # tau1 opens it1 ($12); tau2: 15 / 12 there; tau3 needs 6 CPU, 4 are left: it3; tau4 on it1 15.4 / 12 or on it3
    # (2 CPU left, needs 4): it1.
    found = synergy(paper_example)
    assert found.task2machine.tolist() == [0, 0, 1, 0]
    assert found.machine_type.tolist() == [0, 2]
    assert verify(paper_example, found) == 12_800_000


def test_worth_must_reach_the_price(paper_example: ProvisioningInstance) -> None:
    # Each halves the other: (12 + 3) / 2 = 7.5 < 12, so tau2 opens it2.
    instance = paper_example.replace(
        demand=paper_example.demand[:, :2],
        counts=[1, 1],
        class_names=None,
        class2workload=[0, 0],
        class2job=None,
        tasks_per_job=None,
        task2class=None,
        task_names=None,
        workloads=("w",),
        throughput=[[500]],
    )
    assert synergy(instance).machine_type.tolist() == [0, 1]
    # At 0.9 and 0.9 the two are worth 13.5.
    assert synergy(instance.replace(throughput=[[900]])).machine_type.tolist() == [0]


def test_three_tasks_share_the_product_of_throughputs() -> None:
    # Price 8, reservation prices 8 and then 4 each; 8 f + 4 f with f = 3/4: 9 >= 8; a third makes f = 9/16:
    # (8 + 4 + 4) x 9 / 16 = 9 >= 8; a fourth f = 27/64: 20 x 27 / 64 = 8.4375; a fifth 24 x 81 / 256 = 7.59 < 8.
    instance = ProvisioningInstance(
        name="products",
        resources=("cpu",),
        families=("any",),
        type_names=("large", "small"),
        type2family=[0, 0],
        capacity=[[100], [1]],
        price=[8, 4],
        demand=[[[2], [1]]],
        counts=[1, 4],
        workloads=("w",),
        class2workload=[0, 0],
        throughput=[[750]],
    )
    assert synergy(instance).task2machine.tolist() == [0, 0, 0, 0, 1]


def test_solutions_verify_and_pay() -> None:
    for instance in (table7(200), distinct(200)):
        found = synergy(instance)
        assert verify(instance, found) < verify(instance, no_packing(instance))
        assert np.array_equal(found.task2machine, synergy(instance).task2machine)
    # With interference every machine is still worth its price, so the plain cost is no higher than without packing.
    verify(table7(200, interference=True), synergy(table7(200, interference=True)))
