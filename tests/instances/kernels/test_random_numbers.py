"""Each stream against the same in Python's whole numbers."""

import numpy as np
import pytest

from schedgap.instances.jit import kernel
from schedgap.instances.kernels.random_numbers import (
    below,
    congruential_below,
    mixed,
    uniform,
    xorshift_below,
    xorshift_uniform,
)

WORD = 2**64 - 1
SEEDS = (1, 7, 2**63 + 11, 0x9E3779B97F4A7C15)


@kernel
def draw_below(random, bounds, out):
    for i in range(bounds.shape[0]):
        out[i] = below(random, bounds[i])


@kernel
def hashed(x):
    return mixed(x)


def plain_mixed(x):
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def splitmix(seed):
    while True:
        yield plain_mixed(seed)
        seed = (seed + 0x9E3779B97F4A7C15) & WORD


def xorshift(x, *shifts):
    while True:
        for by in shifts:
            x ^= (x << by) & WORD if by > 0 else x >> -by
        yield x


def test_splitmix64_is_the_published_one():
    """The first numbers of the reference implementation for the seed 1234567."""
    words = splitmix(1234567)
    assert [next(words) for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("seed", SEEDS)
def test_splitmix64(seed):
    assert hashed(np.uint64(seed)) == plain_mixed(seed)
    bounds, out, state = np.arange(1, 200), np.zeros(199, np.int64), np.array([seed], np.uint64)
    draw_below(state, bounds, out)
    words = splitmix(seed)
    assert out.tolist() == [next(words) % bound for bound in bounds.tolist()]
    assert [uniform(state) for _ in range(100)] == [(next(words) >> 11) / 2**53 for _ in range(100)]


@pytest.mark.parametrize("seed", SEEDS)
def test_xorshift64(seed):
    state, words = np.array([seed], np.uint64), xorshift(seed, 13, -7, 17)
    for bound in range(1, 100):
        assert xorshift_below(state, bound) == (next(words) >> 11) % bound
    state, words = np.array([seed], np.uint64), xorshift(seed, -12, 25, -27)
    for _ in range(100):
        assert xorshift_uniform(state) == (((next(words) * 2685821657736338717) & WORD) >> 11) / 2**53


def test_the_congruential_generator():
    """It draws from the whole range, and as it says."""
    state, x, drawn = np.array([1], np.int64), 1, []
    for _ in range(500):
        x = (x * 1103515245 + 12345) % 2**47
        drawn.append(congruential_below(state, 7))
        assert drawn[-1] == (x >> 16) % 7
    assert set(drawn) == set(range(7))
