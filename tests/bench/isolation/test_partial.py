"""What may be believed of what a failed run had told: a family of numbers, whose solutions are what they cost."""

from types import SimpleNamespace

import pytest

from schedgap.bench.isolation.answer import pack_solution
from schedgap.bench.isolation.judge import with_told
from schedgap.bench.isolation.messages import Ending
from schedgap.bench.records.runs import Measurement
from schedgap.instances.errors import VerifyError
from schedgap.instances.method import Status
from schedgap.instances.provisioning import Provisioning

SOLUTION = pack_solution(Provisioning([], [], [0], [], []))
TIMEOUT = Measurement(Status.TIMEOUT, reason="killed after 2 s", peak_memory_mib=7.0)


def verify(instance, solution):
    if instance is None:
        raise VerifyError("machine 3 is over capacity")
    return 10 // instance


def told(instance=1, failed=TIMEOUT, **said):
    family = SimpleNamespace(solution=Provisioning, verify=verify)
    found, solution = with_told(failed, family, instance, Ending(**said))
    assert (solution is None) == (found.objective is None) == (found.solution_hash is None)
    return found.status, found.objective, found.bound, found.reason


@pytest.mark.parametrize(
    ("said", "objective", "bound"),
    [
        ({}, None, None),
        ({"bound": 11}, None, 11),
        ({"solution": SOLUTION}, 10, None),
        ({"solution": SOLUTION, "bound": 10}, 10, 10),
    ],
)
def test_figures(said, objective, bound):
    assert told(**said) == ("timeout", objective, bound, "killed after 2 s")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"solution": SOLUTION, "bound": 11}, "its bound 11 is above the objective 10 of its own verified solution"),
        ({"solution": SOLUTION, "bound": 1, "instance": None}, "machine 3 is over capacity"),
        ({"solution": SOLUTION, "instance": 0}, "its solution cannot be verified: ZeroDivisionError"),
        ({"solution": SOLUTION[:-1] + b"!!"}, "its solution cannot be read"),
    ],
)
def test_lies(said, reason):
    status, objective, bound, found = told(**said)
    assert (status, objective, bound) == ("invalid", None, None)
    assert found.startswith("what it told before it failed (killed after 2 s) is false: ")
    assert reason in found


def test_an_invalid_run_keeps_nothing():
    assert told(failed=Measurement(Status.INVALID, reason="no"), solution=SOLUTION, bound=3) == (
        "invalid",
        None,
        None,
        "no",
    )
