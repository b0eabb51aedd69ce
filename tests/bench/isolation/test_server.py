"""What a server does by itself: warming up."""

import gc
import socket

import pytest

from schedgap.bench.isolation.messages import Request, WarmUp, in_memory, pickled
from schedgap.bench.isolation.spawner import WARM_UP_S, Server
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.runs import Limits
from schedgap.instances.method import REGISTRY, method
from schedgap.instances.provisioning import table7


@pytest.fixture
def told():
    """The time limits that a method is told which may search for as long as that."""
    load_families()
    limits = []

    @method("x-searches", family="provisioning")
    def searches(instance, *, time_limit_s=None):
        limits.append(time_limit_s)

    yield limits
    del REGISTRY["provisioning", "x-searches"]
    gc.unfreeze()


@pytest.mark.parametrize(("given", "brief"), [(0.5, 0.5), (3600.0, WARM_UP_S)])
def test_warming_up_is_brief_however_long_a_run_may_take(told, given, brief):
    instance = table7(6)
    request = Request("provisioning", "x-searches", {}, 0, Limits(given), instance.digest, pickled(instance))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        warmed = Server(theirs).answer(WarmUp(request), in_memory(request.instance))
    assert told == [brief, brief]
    assert warmed.threads >= 1
