from schedgap.instances.provisioning import Provisioning, table3
from schedgap.instances.provisioning.measures import measures


def test_figures_of_a_known_packing():
    """Table 3: t1 (2, 8, 24), t2 (1, 4, 10), t3 (0, 6, 20), t4 (0, 4, 12) on it1 (4, 16, 244) and it3 (0, 8, 32), twice.

    it1 has t1 and t2: 3 of 4 GPU, 12 of 16 CPU, 34 of 244 GiB; t3 and t4 are alone.
    """
    instance = table3()
    found = measures(instance, Provisioning.from_tasks(instance, [0, 2, 2], [0, 0, 1, 2]))
    demand, capacity = instance.demand[0].sum(axis=0), instance.capacity[[0, 2, 2]].sum(axis=0)
    assert found["machines"] == 3
    assert found["tasks_per_machine"] == 4 / 3
    assert found["allocation_gpu"] == 3 / 4
    assert found["allocation_cpu"] == demand[1] / capacity[1]
