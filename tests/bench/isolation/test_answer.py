"""What a run's process may send, and what is made of anything else."""

import json
import struct

import numpy as np
import pytest

from schedgap.bench.isolation.answer import (
    AnswerError,
    Failure,
    Report,
    pack,
    pack_bound,
    pack_solution,
    plain_number,
    plain_text,
    unpack,
    unpack_bound,
    unpack_solution,
)
from schedgap.instances.errors import SolutionError
from schedgap.instances.provisioning import Provisioning

TIMES = {"wall_s": 0.5, "cpu_s": 0.4, "compile_s": 0.0}
SAID = {"kind": "report", "status": "feasible", "mutated": False, **TIMES}
PLAN = Provisioning([0, 1], [1, 2], [0, 1, 2], [0, 1], [3, 4])


def sent(said=None, solution=None, arrays=b"", **changes):
    """Bytes as a run's process would send them, or as a forger would."""
    header = json.dumps({"said": {**SAID, **changes} if said is None else said, "solution": solution}).encode()
    return struct.pack("<Q", len(header)) + header + arrays


def test_a_report_with_a_solution():
    report = Report(**TIMES, status="optimal", mutated=False, bound=7, trajectory=[(0.1, 9, None)], details={"n": 3})
    said, solution = unpack(pack(report, PLAN), Provisioning)
    assert (said.status, said.bound, said.trajectory, said.details) == ("optimal", 7, [(0.1, 9, None)], {"n": 3})
    assert [solution.repeat.tolist(), solution.count.tolist()] == [[1, 2], [3, 4]]
    assert solution.task2machine is None
    assert not solution.repeat.flags.writeable


def test_a_failure():
    said, solution = unpack(pack(Failure(status="error", reason="why")), Provisioning)
    assert (said.status, said.reason, solution) == ("error", "why", None)


def test_what_is_told_before_the_answer():
    assert unpack_solution(pack_solution(PLAN), Provisioning).count.tolist() == [3, 4]
    assert [unpack_bound(pack_bound(bound)) for bound in (-(2**63), 0, 2**63 - 1)] == [-(2**63), 0, 2**63 - 1]
    assert unpack_bound(b"1234567") is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pack(Failure(status="error", reason="why"), PLAN), "unknown field `said`"),
        (struct.pack("<Q", 2) + b"{}", "missing required field `solution`"),
        (struct.pack("<Q", 17) + b'{"solution":null}', "Expected `object`, got `null`"),
        (pack_solution(PLAN) + b"!", "1 bytes follow it"),
        (pack_solution(PLAN)[:-1], "longer than"),
        (b"garbage, or so it seems", "cut off"),
    ],
)
def test_what_is_no_solution(data, message):
    with pytest.raises(AnswerError, match=message):
        unpack_solution(data, Provisioning)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wall_s": float("nan")}, "JSON is malformed"),
        ({"wall_s": float("inf")}, "JSON is malformed"),
        ({"wall_s": -100}, r"Expected `float` >= 0.0 - at `\$.said.wall_s`"),
        ({"wall_s": "1"}, r"`\$.said.wall_s`"),
        ({"wall_s": None}, r"`\$.said.wall_s`"),
        ({"wall_s": [1]}, r"`\$.said.wall_s`"),
        ({"cpu_s": -1e-9}, r"`\$.said.cpu_s`"),
        ({"compile_s": {}}, r"`\$.said.compile_s`"),
        ({"reference_s": 5e-324}, "unknown field `reference_s`"),
        ({"warm_s": "soon"}, r"`\$.said.warm_s`"),
        ({"build_s": -1}, r"`\$.said.build_s`"),
        ({"solve_s": [0.1]}, r"`\$.said.solve_s`"),
        ({"extract_s": "nan"}, r"`\$.said.extract_s`"),
        ({"warm": 7}, r"`\$.said.warm`"),
        ({"status": None}, r"`\$.said.status`"),
        ({"status": ["optimal"]}, r"`\$.said.status`"),
        ({"bound": 1.5}, r"`\$.said.bound`"),
        ({"bound": 2**64}, r"`\$.said.bound`"),
        ({"bound": True}, r"`\$.said.bound`"),
        ({"mutated": 0}, r"`\$.said.mutated`"),
        ({"solver": 7}, r"`\$.said.solver`"),
        ({"solver": "\ud800"}, "JSON is malformed"),
        ({"solver": "x" * 10_001}, r"`\$.said.solver`"),
        ({"details": None}, r"`\$.said.details`"),
        ({"details": [1]}, r"`\$.said.details`"),
        ({"details": {"a": {"b": 1}}}, r"`\$.said.details"),
        ({"details": {"a": [1]}}, r"`\$.said.details"),
        ({"details": {"a": 2**70}}, r"`\$.said.details"),
        ({"details": {"a": float("nan")}}, "JSON is malformed"),
        ({"details": {str(n): n for n in range(1001)}}, r"`\$.said.details`"),
        ({"trajectory": [[1, 2]]}, r"`\$.said.trajectory"),
        ({"trajectory": [["a", 2, 3]]}, r"`\$.said.trajectory"),
        ({"trajectory": [[-1, 2, 3]]}, r"`\$.said.trajectory"),
        ({"trajectory": [[1, 2.5, 3]]}, r"`\$.said.trajectory"),
        ({"trajectory": [[1, 2, 3]] * 1001}, r"`\$.said.trajectory`"),
        ({"unheard_of": 1}, "unheard_of"),
        ({"kind": "confession"}, r"`\$.said.kind`"),
    ],
    ids=repr,
)
def test_reports_that_are_none(change, message):
    with pytest.raises(AnswerError, match=message):
        unpack(sent(**change), Provisioning)


ARRAY = {"array": "i8", "shape": [1]}
FIELDS = {"machine_type": ARRAY, "repeat": ARRAY, "indptr": {"array": "i8", "shape": [2]}, "task_class": ARRAY}
WHOLE = {**FIELDS, "count": ARRAY, "task2machine": None, "keeps": None}
BYTES = struct.pack("<6q", 0, 1, 0, 1, 0, 2)


def test_what_a_forger_must_send_to_be_believed():
    """Arrays in the order of the header."""
    _, solution = unpack(sent(solution=WHOLE, arrays=BYTES), Provisioning)
    assert solution.count.tolist() == [2]


@pytest.mark.parametrize(
    ("solution", "arrays", "message"),
    [
        (WHOLE, BYTES[:-1], "longer than the 7 that were sent"),
        (WHOLE, BYTES + b"x", "1 bytes follow it"),
        ({**WHOLE, "count": {"array": "O8", "shape": [1]}}, BYTES, "describes no array"),
        ({**WHOLE, "count": {"array": ["i8"], "shape": [1]}}, BYTES, "describes no array"),
        ({**WHOLE, "count": {"array": "i8", "shape": [-1]}}, BYTES, "an array of shape"),
        ({**WHOLE, "count": {"array": "i8", "shape": [2**62, 2**62]}}, BYTES, "an array of shape"),
        ({**WHOLE, "count": {"array": "i8", "shape": [1, 1, 1, 1, 1]}}, BYTES, "describes no array"),
        ({**WHOLE, "count": {"array": "i8", "shape": "1"}}, BYTES, "describes no array"),
        ({**WHOLE, "count": {"array": "i8", "shape": [True]}}, BYTES, "an array of shape"),
        ({**WHOLE, "count": "a lot"}, BYTES, "field 'count' of its solution is 'a lot'"),
        ({**WHOLE, "count": True}, BYTES[:-8], "field 'count' of its solution is True"),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_arrays_that_are_none(solution, arrays, message):
    with pytest.raises(AnswerError, match=message):
        unpack(sent(solution=solution, arrays=arrays), Provisioning)


@pytest.mark.parametrize(
    ("solution", "arrays"),
    [
        (FIELDS, BYTES[:-8]),
        ({**WHOLE, "__class__": 3}, BYTES),
        ({**WHOLE, "count": 7}, BYTES[:-8]),
        ({**WHOLE, "indptr": {"array": "i8", "shape": [2, 1]}}, BYTES),
        ({**WHOLE, "repeat": {"array": "f8", "shape": [1]}}, BYTES),
    ],
    ids=["missing", "unknown", "number", "shape", "dtype"],
)
def test_solutions_that_are_none(solution, arrays):
    with pytest.raises(SolutionError):
        unpack(sent(solution=solution, arrays=arrays), Provisioning)


@pytest.mark.parametrize("data", [b"", b"abc", struct.pack("<Q", 10**18), struct.pack("<Q", 2) + b"{"], ids=repr)
def test_cut_off(data):
    with pytest.raises(AnswerError, match="it is cut off"):
        unpack(data, Provisioning)


def test_nested_without_end():
    deep = b"[" * 100_000
    with pytest.raises(AnswerError):
        unpack(struct.pack("<Q", len(deep)) + deep, Provisioning)


def test_numbers_and_texts_that_no_header_holds():
    assert plain_number(np.float64(0.5)) == 0.5
    assert plain_number(np.int64(3)) == 3
    assert plain_number(2**63 - 1) == 2**63 - 1
    assert plain_number(10**5000) == "a number of 16610 bits"
    assert plain_number(float("nan")) == "nan"
    assert plain_number(b"x") == "b'x'"
    assert plain_text("\ud800 and \U0001f600") == "\\ud800 and \U0001f600"
    assert len(plain_text("x" * 20_000)) == 10_000
