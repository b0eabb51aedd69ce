import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances.kernels.sort import argsort, sort, sort_places


@settings(deadline=None)
@given(st.lists(st.integers(-50, 50), max_size=200), st.integers(0, 200))
def test_the_first_are_sorted_and_the_others_left(values, size):
    size = min(size, len(values))
    array = np.array(values, np.int64)
    sort(array, np.zeros(array.size, np.int64), size)
    assert array.tolist() == sorted(values[:size]) + values[size:]


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9), max_size=200), st.integers(0, 200))
def test_places_of_equal_keys_stay_in_order(values, size):
    for keys in (np.array(values, np.int64), np.array(values, np.float64)):
        expected = np.argsort(keys, kind="stable")
        assert argsort(keys).tolist() == expected.tolist()
        places, few = np.arange(keys.size)[::-1].copy(), min(size, len(values))
        sort_places(keys, places, np.zeros_like(places), few)
        reverse = np.arange(keys.size)[::-1]
        assert places.tolist() == [*sorted(reverse[:few].tolist(), key=lambda p: keys[p]), *reverse[few:].tolist()]
