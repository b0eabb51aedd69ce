"""Erlang's formulas against their definitions in fractions."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from schedgap.formulations.waiting.models import erlang_b, erlang_c
from schedgap.instances.errors import MethodError


def loss(servers, load):
    terms = [Fraction(load) ** i / factorial(i) for i in range(servers + 1)]
    return terms[-1] / sum(terms)


def delay(servers, load):
    a = Fraction(load)
    top = servers * a**servers / (factorial(servers) * (servers - a))
    return top / (sum(a**i / factorial(i) for i in range(servers)) + top)


@pytest.mark.parametrize(("servers", "load"), [(0, 3), (1, 1), (5, 3), (40, 50), (120, 100)])
def test_loss_is_erlangs(servers, load):
    assert float(erlang_b(servers, load)) == pytest.approx(float(loss(servers, load)), rel=1e-13)


@pytest.mark.parametrize(("servers", "load"), [(1, Fraction(1, 2)), (4, 3), (120, 100)])
def test_delay_is_erlangs(servers, load):
    assert float(erlang_c(servers, float(load))) == pytest.approx(float(delay(servers, load)), rel=1e-12)


def test_unstable_queues_delay_everybody():
    assert erlang_c([3, 2, 1], 3.0).tolist() == [1.0, 1.0, 1.0]


def test_no_overflow_at_ten_thousand_servers():
    """B(s, s) falls like sqrt(2 / (pi s)): 0.0079788 at 10,000, less half its square or so."""
    assert float(erlang_b(10_000, 10_000.0)) == pytest.approx((2 / (np.pi * 10_000)) ** 0.5, rel=0.01)
    assert float(erlang_b(10_000, 1.0)) == 0.0


def test_broadcasts_and_repeats():
    servers, loads = np.arange(0, 30)[:, None], np.array([0.0, 1.5, 20.0])
    table = erlang_b(servers, loads)
    assert table.shape == (30, 3)
    assert all(table[s, i] == erlang_b(s, a) for s in range(30) for i, a in enumerate(loads))


@pytest.mark.parametrize(("servers", "load"), [(-1, 1.0), (1.5, 1.0), (1, -1.0), (1, np.inf)])
def test_refuses_nonsense(servers, load):
    with pytest.raises(MethodError, match="not negative"):
        erlang_b(servers, load)
