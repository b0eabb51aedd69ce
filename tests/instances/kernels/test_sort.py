import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances.kernels.sort import sort


@settings(deadline=None)
@given(st.lists(st.integers(-50, 50), max_size=200), st.integers(0, 200))
def test_the_first_are_sorted_and_the_others_left(values, size):
    size = min(size, len(values))
    array = np.array(values, np.int64)
    sort(array, np.zeros(array.size, np.int64), size)
    assert array.tolist() == sorted(values[:size]) + values[size:]
