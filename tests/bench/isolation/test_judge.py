"""What may be believed of an answer: a family of numbers, whose solutions are what they cost."""

import pickle
import signal
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from schedgap.bench.isolation.judge import judge
from schedgap.bench.isolation.supervise import Cause, Ending
from schedgap.bench.records.runs import Limits
from schedgap.instances.errors import VerifyError
from schedgap.instances.provisioning import Provisioning

LIMITS = Limits(wall_s=9.0, memory_mib=77, cpu_s=3.0)


@dataclass(frozen=True)
class FakeFamily:
    cost: int = 10

    def verify(self, instance, solution):
        if not isinstance(solution, Provisioning):
            raise TypeError("no solution")
        if self.cost < 0:
            raise VerifyError("machine 3 is over capacity")
        return self.cost


@pytest.fixture
def weigh():
    """Judge an answer: `weigh(status="feasible", solution=True, bound=3)`."""

    def call(status="feasible", *, solution=True, bound=None, cost=10, mutated=False, details=None, **others):
        empty = Provisioning([], [], [0], [], [])
        facts = {
            "status": status,
            "solution": empty if solution is True else solution,
            "bound": bound,
            "mutated": mutated,
            "details": details or {},
            "solver": None,
            "trajectory": (),
            "wall_s": 0.5,
            "build_s": 0.1,
            "solve_s": None,
            "extract_s": None,
            **others,
        }
        return judge(FakeFamily(cost), SimpleNamespace(), Ending(answer=pickle.dumps(facts)), LIMITS)

    return call


@pytest.mark.parametrize(
    ("answer", "status", "objective", "bound"),
    [
        ({}, "feasible", 10, None),
        ({"bound": 9}, "feasible", 10, 9),
        ({"bound": 10}, "optimal", 10, 10),
        ({"status": "optimal", "bound": 10}, "optimal", 10, 10),
        ({"status": "optimal", "bound": 9}, "feasible", 10, 9),
        ({"status": "optimal"}, "feasible", 10, None),
        ({"bound": 11}, "invalid", None, None),
        ({"bound": 9.5}, "invalid", None, None),
        ({"bound": True}, "invalid", None, None),
        ({"cost": -1}, "invalid", None, None),
        ({"mutated": True}, "invalid", None, None),
        ({"solution": 10}, "invalid", None, None),
        ({"status": "timeout"}, "invalid", None, None),
        ({"status": "no_solution"}, "invalid", None, None),
        ({"status": "infeasible"}, "invalid", None, None),
        ({"solution": None}, "invalid", None, None),
        ({"status": "optimal", "solution": None, "bound": 3}, "invalid", None, None),
        ({"status": "no_solution", "solution": None, "bound": 3}, "no_solution", None, 3),
        ({"status": "infeasible", "solution": None}, "infeasible", None, None),
    ],
    ids=str,
)
def test_claims_and_figures(weigh, answer, status, objective, bound):
    end, solution = weigh(**answer)
    assert (str(end.status), end.objective, end.bound) == (status, objective, bound)
    assert (solution is not None) == (objective is not None)
    assert (end.wall_s, end.build_s) == (0.5, 0.1)


def test_reasons(weigh):
    assert weigh(cost=-1)[0].reason == "machine 3 is over capacity"
    assert weigh(bound=11)[0].reason == "its bound 11 is above the objective 10 of its own verified solution"
    assert weigh("optimal", bound=9)[0].reason == "it claims to be optimal, its bound 9 does not prove that"
    assert weigh("unsupported", solution=None, details={"reason": "too odd"})[0].reason == "too odd"


def test_smuggled_fields_are_checked_by_the_constructor(weigh):
    """Pickling passes by the constructor; the judge does not."""
    crooked = Provisioning([], [], [0], [], [])
    object.__setattr__(crooked, "repeat", [1, 2])
    end, solution = weigh(solution=crooked)
    assert str(end.status) == "invalid"
    assert "do not fit together" in end.reason
    assert solution is None


@pytest.mark.parametrize(
    ("ending", "status", "reason"),
    [
        (Ending(cause=Cause.WALL, killed=True), "timeout", "killed after 9 s of wall-clock time"),
        (Ending(cause=Cause.CPU, killed=True), "timeout", "killed after 3.0 s of processor time"),
        (Ending(cause=Cause.CPU, answer=b"late"), "timeout", "used more than 3.0 s of processor time"),
        (Ending(cause=Cause.MEMORY, killed=True), "memory", "killed over 77 MiB of memory"),
        (Ending(cause=Cause.MEMORY, peak_bytes=99 << 20), "memory", "used 99 MiB of memory for a moment, over 77 MiB"),
        (Ending(cause=Cause.PROCESSES, killed=True), "crashed", "killed for starting processes without end"),
        (
            Ending(cause=Cause.MESSAGES, killed=True),
            "invalid",
            "what it wrote into the pipe of its answer is no answer",
        ),
        (Ending(cause=Cause.WALL, answer=b"late"), "timeout", "killed after 9 s of wall-clock time"),
        (Ending(exit_code=-signal.SIGXCPU), "timeout", "killed after 3.0 s of processor time"),
        (Ending(exit_code=-signal.SIGSEGV), "crashed", "its process was ended by SIGSEGV"),
        (Ending(exit_code=-signal.SIGABRT, output=b"std::bad_alloc"), "memory", "an allocation failed (SIGABRT)"),
        (Ending(exit_code=7), "crashed", "its process exited with code 7 and without an answer"),
        (Ending(answer=b"garbage"), "invalid", "its answer cannot be read"),
        (
            Ending(answer=pickle.dumps(Ending())),
            "invalid",
            "its answer holds a schedgap.bench.isolation.supervise.Ending",
        ),
    ],
    ids=str,
)
def test_ends_without_an_answer(ending, status, reason):
    end, solution = judge(FakeFamily(), None, ending, LIMITS)
    assert str(end.status) == status
    assert end.reason.startswith(reason)
    assert solution is None


def test_output_is_kept_of_failures_only(weigh):
    loud = Ending(exit_code=1, output=b"why \xff")
    assert judge(FakeFamily(), None, loud, LIMITS)[0].output == "why \ufffd"
    assert weigh()[0].output == ""


def test_numbers_that_no_record_can_hold(weigh):
    """Python refuses to print whole numbers of more than 4,300 digits, and JSON has no NaN."""
    huge = 10**5000
    end, _ = weigh(bound=huge)
    assert (end.status, end.bound) == ("invalid", None)
    assert end.reason == f"its bound is a number of {huge.bit_length()} bits; the family's units need at most 63"
    end, _ = weigh(
        details={"nodes": huge, "depth": 3},
        solve_s=float("nan"),
        trajectory=((float("nan"), 1, 1), (1.0, "x", None), (2.0, huge, None), (3.0, 11, None)),
    )
    assert end.details == {"nodes": f"a number of {huge.bit_length()} bits", "depth": 3}
    assert (end.status, end.solve_s, end.trajectory) == ("feasible", None, ((3.0, 11, None),))


def test_unknown_claims_are_told_the_known(weigh):
    assert weigh("great")[0].reason.startswith("it claims to be 'great'; a method claims optimal, feasible, ")
