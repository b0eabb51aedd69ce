"""What a program's answer means, and that whatever is no answer is refused in one sentence."""

import json
from random import Random

import pytest

from schedgap.bench.programs import answers
from schedgap.bench.programs.answers import outcome_of
from schedgap.bench.programs.failure import ProgramFailure
from schedgap.instances.family import find_family
from schedgap.instances.method import Status
from schedgap.instances.provisioning import table3, verify

# Eva, Table 3: each task on the cheapest type that fits it.
ALONE = {
    "schema": "schedgap/provisioning-solution/1",
    "machines": [{"type": f"it{k}", "counts": {f"tau{k}": 1}} for k in (1, 2, 3, 4)],
}


@pytest.fixture
def told():
    family, instance = find_family("provisioning"), table3()

    def read(answer):
        return outcome_of(answer if isinstance(answer, bytes) else json.dumps(answer).encode(), family, instance)

    return read


def answer(**more):
    return {"schema": "schedgap/answer/1", **more}


def test_a_solution_is_one_of_the_familys_files(told):
    outcome = told(ALONE)
    assert verify(table3(), outcome.solution) == 16_200_000
    assert (outcome.bound, outcome.claimed_status, outcome.details) == (None, Status.FEASIBLE, {})


def test_an_object_may_say_more(told):
    outcome = told(answer(solution=ALONE, bound=12.8, status="optimal", reason="so it is"))
    assert verify(table3(), outcome.solution) == 16_200_000
    assert (outcome.bound, outcome.claimed_status) == (12_800_000, Status.OPTIMAL)
    assert outcome.details == {"reason": "so it is"}


@pytest.mark.parametrize(
    ("said", "status", "bound"),
    [
        ({}, "no_solution", None),
        ({"solution": None, "bound": 3}, "no_solution", 3_000_000),
        ({"status": "infeasible"}, "infeasible", None),
        ({"status": "unsupported", "reason": "only on Sundays"}, "unsupported", None),
    ],
)
def test_an_answer_without_a_solution(told, said, status, bound):
    outcome = told(answer(**said))
    assert (outcome.solution, outcome.claimed_status, outcome.bound) == (None, status, bound)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("12.8000009999", 12_800_000),
        ("-0.0000001", -1),
        ("0", 0),
        ("0e999999999", 0),
        ("1e-999999999", 0),
        ("-1e-999999999", -1),
        # All of its digits count: rounded to 28 of them, it would be 13.
        ("12.99999999999999999999999999999999999999", 12_999_999),
        ("1e20", 10**26),
    ],
)
def test_a_bound_is_rounded_down(told, text, bound):
    """What was proven stays proven; dollars become micro-dollars."""
    assert told(b'{"schema": "schedgap/answer/1", "bound": %b}' % text.encode()).bound == bound


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty; print a solution, as docs/programs.md has it"),
        (b" \n", "it is empty"),
        (b"{", "Input data was truncated"),
        (
            b"solved!",
            "what it printed begins with 'solved!'; print nothing else on stdout but on stderr, or write the sol",
        ),
        (b"\nloading 3 tasks\n{}", "what it printed begins with 'loading 3 tasks'; print nothing else"),
        (b"[]", "Expected `object`, got `array`"),
        (b"\xff\xfe", "what it printed begins with '\ufffd\ufffd'; print nothing else"),
        (b'{"schema": "\xff"}', "utf-8"),
        (b'{"schema": 7}', "Expected `str`, got `int` - at `$.schema`"),
        (b"[" * 100_000, "Expected `object`, got `array`"),
        (b'{"x":' * 100_000, "recursion"),
        (b"{}", "schema: field required"),
        (b'{"schema": "schedgap/waiting-solution/1", "machines": []}', "schema: "),
        (b'{"schema": "schedgap/answer/2"}', "schema: "),
        (b'{"schema": "schedgap/answer/1", "cost": 3}', "unknown field `cost`"),
        (b'{"schema": "schedgap/answer/1", "status": "great"}', "Invalid enum value 'great' - at `$.status`"),
        (b'{"schema": "schedgap/answer/1", "bound": NaN}', "JSON is malformed"),
        (b'{"schema": "schedgap/answer/1", "bound": Infinity}', "JSON is malformed"),
        (b'{"schema": "schedgap/answer/1", "bound": "NaN"}', 'its bound is "NaN"; give a number'),
        (b'{"schema": "schedgap/answer/1", "bound": "1"}', 'its bound is "1"; give a number'),
        (b'{"schema": "schedgap/answer/1", "bound": "\\u0661"}', 'its bound is "\\u0661"; give a number'),
        (b'{"schema": "schedgap/answer/1", "bound": [1]}', "its bound is [1]; give a number"),
        (
            b'{"schema": "schedgap/answer/1", "bound": 1e%b}' % (b"9" * 30),
            "its bound is 1e999999999999999999999999999999; give a number",
        ),
        (b'{"schema": "schedgap/answer/1", "bound": "-Infinity"}', 'its bound is "-Infinity"; give a number'),
        (b'{"schema": "schedgap/answer/1", "bound": true}', "its bound is true; give a number"),
        (b'{"schema": "schedgap/answer/1", "bound": 1e400}', "its bound is 1e+400; give one that an objective can"),
        (b'{"schema": "schedgap/answer/1", "bound": 1e999999999}', "its bound is 1e+999999999; give one"),
        (b'{"schema": "schedgap/answer/1", "bound": 1%b}' % (b"0" * 400), "its bound is 1.00e+400; give one"),
        (b'{"schema": "schedgap/answer/1", "solution": 7}', "the document: "),
        (b'{"schema": "schedgap/answer/1", "solution": {"schema": "schedgap/answer/1"}}', "schema: "),
        (
            json.dumps({**ALONE, "machines": [{"type": "none", "counts": {"tau1": 1}}]}).encode(),
            "machines.0 has type 'none'; the instance has it1, it2, it3, it4.",
        ),
        (
            json.dumps({**ALONE, "machines": [{"type": "it1", "counts": {"tau9": 1}}]}).encode(),
            "machines.0 holds task class 'tau9', which the instance has not.",
        ),
        (
            json.dumps({**ALONE, "machines": [{"type": "it1", "counts": {"tau1": -1}}]}).encode(),
            "machines.0.counts.tau1: ",
        ),
        (json.dumps({**ALONE, "instance": "0" * 64}).encode(), "solves instance 000000000000..., not table3"),
    ],
)
def test_no_answer(told, content, message):
    with pytest.raises(ProgramFailure) as caught:
        told(content)
    assert caught.value.status == Status.INVALID
    said = str(caught.value)
    assert said.startswith("its answer is no solution: ")
    assert message in said
    assert len(said) < 400
    assert not any(part in said for part in ("\n", "/tmp", "solution.json"))


@pytest.mark.parametrize("damage", ["damaged_json", "damaged_bytes"])
def test_damaged_answers_are_refused_or_read(told, mutation, damage):
    """Whatever is damaged, there is an outcome or one sentence, and no other error."""
    whole = json.dumps(answer(solution=ALONE, bound=12.8, status="feasible", reason="r")).encode()
    for seed in range(300):
        try:
            told(getattr(mutation, damage)(whole, Random(seed)))
        except ProgramFailure as failure:
            assert failure.status == Status.INVALID


def test_without_a_folder_for_temporary_files(told, monkeypatch, tmp_path):
    """A program can take it away."""
    monkeypatch.setattr(answers.tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(ProgramFailure, match=r"it cannot be kept \(No such file or directory\); leave the folder"):
        told(ALONE)
