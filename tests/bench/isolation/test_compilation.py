"""Compilation inside a timed call is noticed."""

import numba

from schedgap.bench.isolation.compilation import CompileClock


def test_first_call_compiles_second_does_not():
    @numba.njit
    def twice(x):
        return 2 * x

    with CompileClock() as first:
        assert twice(4) == 8
    with CompileClock() as second:
        assert twice(4) == 8
    with CompileClock() as other_type:
        assert twice(4.5) == 9.0
    assert first.seconds > 0
    assert second.seconds == 0
    assert other_type.seconds > 0


def test_numba_is_left_as_it_was():
    before = numba.core.dispatcher.Dispatcher.compile
    with CompileClock():
        assert numba.core.dispatcher.Dispatcher.compile is not before
    assert numba.core.dispatcher.Dispatcher.compile is before
