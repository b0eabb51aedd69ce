import numpy as np

from schedgap.formulations.reconfiguration.work_prices import micro_dollars, work_prices, work_s


def test_work_is_summed_over_tasks(plain):
    assert work_s(plain((10, 20, 30), classes=(0, 1, 0), num_tasks=[1, 2, 3])).tolist() == [100, 40]


def test_prices_share_a_machine(plain):
    # Both classes halve a machine of 3,600 micro-dollars an hour.
    found = work_prices(plain((100, 100), classes=(0, 1)))
    assert found.bound == 100
    assert found.price.sum() <= 3_600_000


def test_disturbing_neighbours_are_left_alone(plain):
    # Together they do 0.8 of what each does alone.
    found = work_prices(plain((100, 100), throughput=[[1000, 400], [400, 1000]], classes=(0, 1)))
    assert found.bound == 200
    assert (found.price <= 3_600_000).all()
    assert np.all(found.price > 3_599_000)


def test_bounds_are_rounded_up():
    assert micro_dollars(3_600_000) == 1
    assert micro_dollars(3_600_001) == 2
