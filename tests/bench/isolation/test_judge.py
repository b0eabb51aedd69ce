"""What may be believed of an answer: a family of numbers, whose solutions are what they cost."""

import signal
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from schedgap.bench.isolation.answer import Failure, Report, pack
from schedgap.bench.isolation.judge import judge
from schedgap.bench.isolation.messages import Cause, Ending
from schedgap.bench.records.runs import Limits
from schedgap.instances.errors import VerifyError
from schedgap.instances.provisioning import Provisioning

LIMITS = Limits(wall_s=9.0, memory_mib=77, cpu_s=3.0)


@dataclass(frozen=True)
class FakeFamily:
    cost: int = 10
    solution: type = Provisioning
    objective_scale: int = 1000
    objective_unit: str = "$"

    def verify(self, instance, solution):
        if self.cost == 0:
            raise ZeroDivisionError("oh")
        if self.cost < 0:
            raise VerifyError("machine 3 is over capacity")
        return self.cost


@pytest.fixture
def weigh():
    """Judge an answer: `weigh(status="feasible", solution=True, bound=3, seen={"called_s": 1})`."""

    def call(status="feasible", *, solution=True, cost=10, seen=None, **others):
        facts = {"mutated": False, "wall_s": 0.5, "cpu_s": 0.4, "compile_s": 0.0, "build_s": 0.1}
        report = Report(**{**facts, "status": status, **others})
        answer = pack(report, Provisioning([], [], [0], [], []) if solution else None)
        return judge(FakeFamily(cost), SimpleNamespace(), Ending(answer=answer, **seen or {}), LIMITS)

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
        ({"bound": "9.5"}, "invalid", None, None),
        ({"cost": -1}, "invalid", None, None),
        ({"cost": 0}, "invalid", None, None),
        ({"mutated": True}, "invalid", None, None),
        ({"solution": None, "foreign": "int"}, "invalid", None, None),
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
    said = (
        "its bound is 9.5; a bound is a whole number in the family's smallest unit (1,000 in 1 $), of at most 63 bits"
    )
    assert weigh(bound="9.5")[0].reason == said
    assert weigh(bound=11)[0].reason == "its bound 11 is above the objective 10 of its own verified solution"
    assert weigh("optimal", bound=9)[0].reason == "it claims to be optimal, its bound 9 does not prove that"
    assert weigh("unsupported", solution=None, details={"reason": "too odd"})[0].reason == "too odd"
    assert weigh("no_solution", solution=None, details={"reason": "too large"})[0].reason == "too large"


@pytest.mark.parametrize(
    ("said", "seen", "wall_s"),
    [
        ({"wall_s": 2.0}, {"called_s": 2.001, "elapsed_s": 3.0}, 2.0),
        ({"wall_s": 1e-9}, {"called_s": 2.0, "elapsed_s": 3.0}, 2.0),
        ({"wall_s": 0.0}, {"called_s": 0.09, "elapsed_s": 3.0}, 0.0),
        ({"wall_s": 0.0}, {"called_s": 0.12, "elapsed_s": 3.0}, 0.12),
    ],
    ids=["honest", "too-short", "as-good-as-nothing", "just-too-short"],
)
def test_a_call_took_no_less_than_its_supervisor_saw(weigh, said, seen, wall_s):
    """But for a tenth, and a tenth of a second."""
    end, _ = weigh(**said, seen=seen)
    assert (end.status, end.wall_s) == ("feasible", wall_s)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"wall_s": 1e99}, "it says wall_s = 1e+99, and its process was there for 3 s"),
        ({"solve_s": 4.0}, "it says solve_s = 4, and"),
        ({"warm_s": 4.0}, "it says warm_s = 4, and"),
        ({"compile_s": 4.0}, "it says compile_s = 4, and"),
        ({"cpu_s": 2.0}, "it says cpu_s = 2, and its processes used 1 s"),
    ],
    ids=repr,
)
def test_times_that_cannot_be(weigh, said, reason):
    end, solution = weigh(**said, seen={"called_s": 0.5, "elapsed_s": 3.0, "cpu_s": 1.0})
    assert (end.status, end.objective, end.bound, solution) == ("invalid", None, None, None)
    assert end.reason.startswith(reason)


def test_how_quick_the_machine_is_the_supervisor_says(weigh):
    assert weigh(seen={"reference_s": 0.0005})[0].reference_s == 0.0005
    assert judge(FakeFamily(), None, Ending(exit_code=1, reference_s=0.0005), LIMITS)[0].reference_s is None


def test_an_answer_without_a_call(weigh):
    assert weigh(seen={"elapsed_s": 3.0})[0].reason == "its answer came before its call was over"


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
        (Ending(exit_code=-40), "crashed", "its process was ended by signal 40"),
        (Ending(exit_code=7), "crashed", "its process exited with code 7 and without an answer"),
        (Ending(answer=b"garbage"), "invalid", "its answer cannot be read"),
        (Ending(answer=pack(Failure(status="error", reason="so"))), "error", "so"),
        (Ending(answer=pack(Failure(status="memory", reason="so"))), "memory", "so"),
        (
            Ending(answer=pack(Failure(status="optimal", reason="it says so itself"))),
            "invalid",
            "it says that it failed as 'optimal'; a run fails as memory or error",
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


def test_unknown_claims_are_told_the_known(weigh):
    assert weigh("great")[0].reason.startswith("it claims to be 'great'; a method claims optimal, feasible, ")


def test_without_a_limit_of_processor_time_none_was_passed():
    """A method may send itself the signal of that limit."""
    end, _ = judge(FakeFamily(), None, Ending(exit_code=-signal.SIGXCPU), Limits(wall_s=9.0, cpu_s=None))
    assert (end.status, end.reason) == ("crashed", "its process was ended by SIGXCPU")
