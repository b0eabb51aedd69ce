"""A run's own process: what it is warmed up on, and what compiling takes of its time."""

import os
import signal
import time

import numba
import numpy as np
import pytest

from schedgap.bench.isolation.child import CompileClock, caller, warm_up
from schedgap.bench.isolation.messages import Request
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.runs import Limits
from schedgap.instances.method import REGISTRY, find_method, method
from schedgap.instances.provisioning import table7


@pytest.fixture
def timed():
    """A method that limits its own time and does not take that back."""
    load_families()

    @method("x-timed", family="provisioning")
    def limits_itself(instance):
        signal.setitimer(signal.ITIMER_REAL, 1000)
        signal.setitimer(signal.ITIMER_PROF, 1000)

    yield find_method("provisioning", "x-timed")
    del REGISTRY["provisioning", "x-timed"]
    for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF):
        signal.setitimer(timer, 0)


def test_a_warm_up_without_end_ends_its_process():
    pid = os.fork()
    if pid == 0:
        warm_up(lambda _: time.sleep(60), None, wall_s=0.05)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGALRM


def test_compiling_does_not_count_where_a_warm_up_ends():
    @numba.njit
    def kernel(x):
        return np.sort(x)

    # Compiling takes a second and more, all else a few milliseconds.
    pid = os.fork()
    if pid == 0:
        warm_up(kernel, np.zeros(3), wall_s=0.5)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_warm_up_leaves_no_timer_that_would_end_a_later_run(timed):
    request = Request("provisioning", "x-timed", {}, 0, Limits(), "", None)
    warm_up(caller(timed, request), table7(6))
    assert [signal.getitimer(timer)[0] for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF)] == [0, 0]


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
