import numpy as np

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
