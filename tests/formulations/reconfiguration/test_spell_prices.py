import numpy as np

from schedgap.formulations.reconfiguration import spell_prices
from schedgap.formulations.reconfiguration.contents import Found
from schedgap.formulations.reconfiguration.spell_prices import SpellPricer, offers, window_s


def test_equal_stopping_times_leave_no_gap(plain):
    # Presence counts from 2 s after a plan until 2 s after the next.
    instance = plain((100,), kill_s=[2], fetch_s=[1], init_s=[1], terminate_s=3)
    assert window_s(instance) == (2, 2)
    # A machine may be given up 1 s after a plan; a gap of 1 s.
    assert window_s(instance.replace(terminate_s=1)) == (2, 1)


def test_a_first_period_is_paid_less_and_progresses_less(plain):
    # Of 50 s, 10 are not paid, and nobody progresses for 10 + 5 + 2 + 3.
    instance = plain((100,), acquire_s=[10], setup_s=[5], fetch_s=[2], init_s=[3])
    later, first = offers(instance, np.array([1000]))
    assert (later.price, later.speed_price.tolist()) == (3_600_000, [1000])
    assert (first.price, first.speed_price.tolist()) == (2_880_000, [600])


def test_a_first_period_that_is_paid_whole_is_nothing_special(plain):
    assert len(offers(plain((100,), acquire_s=[2], kill_s=[2], terminate_s=2, init_s=[9]), np.array([0]))) == 1


def test_two_that_must_share_pay_half_each(plain):
    instance = plain((100, 100))
    pricer = SpellPricer(instance, np.array([0]), 1000)
    # One machine for two: 3,600,000 for one plan; for three tasks one and a half.
    assert abs(pricer.worth(np.array([2]), np.array([2]), np.array([0])) - 3_600_000) <= 200
    assert abs(pricer.worth(np.array([3]), np.array([3]), np.array([0])) - 5_400_000) <= 300


def test_a_search_that_would_outlast_the_deadline_is_not_begun(plain, monkeypatch):
    """A node takes a tenth of a millisecond: 2,000 take 0.2 s, and 20,000 would take 2 s."""
    now = [0.0]
    monkeypatch.setattr(spell_prices.time, "perf_counter", lambda: now[0])
    pricer = SpellPricer(plain(), np.zeros(1, np.int64), 1_000_000, deadline=1.0)

    def best(machine_type, items, target, nodes):
        now[0] += nodes * 1e-4
        return Found(np.zeros(3, np.int64), target + 1, nodes)

    monkeypatch.setattr(pricer.pricer, "best", best)
    assert pricer._search(0, None, 5).upper == 6
    assert now[0] < 1.0
