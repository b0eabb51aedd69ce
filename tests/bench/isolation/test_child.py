"""What a call leaves behind in the process that made it."""

import signal

import pytest

from schedgap.bench.discover import load_families
from schedgap.bench.isolation.child import warm_up
from schedgap.bench.isolation.request import Request
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


def test_a_warm_up_leaves_no_timer_that_would_end_a_later_run(timed):
    request = Request("provisioning", "x-timed", {}, 0, Limits(), "", None)
    warm_up(timed, table7(6), request)
    assert [signal.getitimer(timer)[0] for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF)] == [0, 0]
