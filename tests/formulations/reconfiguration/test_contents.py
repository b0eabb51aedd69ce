import numpy as np

from schedgap.formulations.reconfiguration.contents import ContentPricer, Items, merged_workloads


def test_workloads_that_disturb_alike_are_one():
    throughput = np.array([[900, 900, 800, 1000], [900, 900, 800, 1000], [700, 700, 900, 1000], [1000] * 4])
    merged, kept = merged_workloads(throughput)
    assert merged.tolist() == [0, 0, 1, -1]
    assert kept.tolist() == [[900, 800], [700, 900]]


def test_workloads_that_disturb_each_other_otherwise_than_themselves_are_two():
    merged, _ = merged_workloads(np.array([[900, 800], [800, 900]]))
    assert merged.tolist() == [0, 1]


def test_rates_are_products_over_the_others(plain):
    pricer = ContentPricer(
        plain((1, 1, 1), throughput=[[900, 800, 1000], [700, 500, 1000], [1000] * 3], classes=(0, 1, 2))
    )
    rates = pricer.rates(np.arange(3), np.array([2, 1, 5]))
    assert np.allclose(rates, [0.9 * 0.8, 0.7 * 0.7, 1.0])


def test_a_pair_is_worth_what_it_does_together(plain):
    pricer = ContentPricer(plain((1, 1), throughput=[[600]], classes=(0, 0)))
    one = np.ones(1, np.int64)
    items = Items(0 * one, one, 0 * one, 2 * one, 0 * one, 1000 * one)
    assert pricer.best(0, items, 0, 1000).upper == 1200
    assert pricer.best(0, items, 0, 1000).content.tolist() == [2]
    assert pricer.best(0, items, 1200, 1000).content.tolist() == [0]
