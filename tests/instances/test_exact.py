import numpy as np

from schedgap.instances import exact

LARGE = 2**62


def ints(*values):
    return np.array(values, np.int64)


def test_products_and_sums_beyond_64_bits_are_python_integers():
    assert exact.product(ints(LARGE, 3), ints(4, 5)).tolist() == [2**64, 15]
    # 2^62 4 + 2^62 4 = 2^65, which 64 bits would call 0.
    assert exact.dot(ints(LARGE, LARGE), ints(4, 4)) == 2**65
    assert exact.dot(ints(LARGE, LARGE), np.array([[4, 1], [4, 1]])).tolist() == [2**65, 2**63]
    assert exact.sums(ints(1, 0, 1), ints(LARGE, 7, LARGE), 3).tolist() == [7, 2**63, 0]
    assert exact.sums(ints(0, 0), np.array([[LARGE, 1], [LARGE, 2]]), 1).tolist() == [[2**63, 3]]
    assert exact.product(ints(-(2**63)), ints(-1)).tolist() == [2**63]


def test_what_fits_stays_in_64_bits():
    assert exact.product(ints(2**31), ints(2**31)).dtype == np.int64
    assert exact.dot(ints(2**30), ints(2**32)) == 2**62
    assert exact.sums(ints(0, 0), ints(1, 2), 1).dtype == np.int64
    assert exact.dot(ints(), ints()) == 0
    assert exact.sums(ints(), np.empty((0, 2), np.int64), 2).tolist() == [[0, 0], [0, 0]]
