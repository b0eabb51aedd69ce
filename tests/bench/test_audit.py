"""Second opinions: which runs get one, and what counts as agreeing."""

import json

import pytest

from schedgap.bench.audit import Audit, audit_of
from schedgap.bench.catalogue import chosen_method
from schedgap.bench.plan import Plan, make_run, setting
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.records.runs import Limits
from schedgap.instances.provisioning import table7


@pytest.fixture
def plan():
    """A plan of methods on one instance with second opinions: `plan("patterns", ...)`."""
    load_methods(["provisioning"])
    instance = table7(6)

    def planned(*texts):
        made = Plan(setting("provisioning", (), 1))
        for text in texts:
            made.add(instance, make_run(instance, *chosen_method("provisioning", text), Limits()))
        made.add_second_opinions()
        return made

    return planned


def labels(plan):
    return [run.label for run in plan.runs.values()]


def test_each_run_with_a_choice_of_back_ends_gets_another_one(plan):
    """Not those without a back end, nor with one only; a second opinion gets no third."""
    made = plan("patterns", "column-generation", "arc-flow[backend=scip]", "no-packing")
    assert labels(made)[4:] == ["patterns[backend=cp-sat]", "arc-flow[backend=highs]"]
    pairs = [(made.runs[one].label, made.runs[other].label) for one, other in made.second_opinions.items()]
    assert pairs == [
        ("patterns", "patterns[backend=cp-sat]"),
        ("arc-flow[backend=scip]", "arc-flow[backend=highs]"),
    ]
    other = made.runs[made.second_opinions[next(iter(made.runs))]]
    assert (other.backend, other.parameters["backend"]) == ("cp-sat", "cp-sat")
    assert other.seed == next(iter(made.runs.values())).seed


def test_a_pair_is_a_pair_once(plan):
    """`patterns` runs on HiGHS, its second opinion is there already; `backend=highs` is the same run."""
    made = plan("patterns", "patterns[backend=cp-sat]", "patterns[backend=highs]")
    assert labels(made) == ["patterns", "patterns[backend=cp-sat]"]
    assert len(made.second_opinions) == 1


def test_a_twin_states_the_program_again(plan):
    """Another statement and another back end at once; the twin itself is asked by its own."""
    made = plan("assignment-pulp", "assignment")
    pairs = [(made.runs[one].label, made.runs[other].label) for one, other in made.second_opinions.items()]
    assert pairs == [
        ("assignment-pulp", "assignment[backend=cp-sat]"),
        ("assignment", "assignment[backend=cp-sat]"),
    ]
    assert [run.method for run in made.runs.values()] == ["assignment-pulp", "assignment", "assignment"]


def opinion(make_record, one, other):
    """Compare two runs that ended so."""
    first, second = make_record("m", **one), make_record("m[backend=b]", **other)
    return audit_of({"1": "2"}, {"1": first, "2": second})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"objective": 10, "bound": 10, "status": "optimal"}, {"objective": 10, "bound": 10, "status": "optimal"}),
        ({"objective": 12, "bound": 9}, {"objective": 10, "bound": 10, "status": "optimal"}),
        ({"objective": 10, "bound": 9}, {"bound": 8}),
        ({"status": "infeasible"}, {"bound": 8}),
    ],
)
def test_intervals_that_meet_agree(make_record, one, other):
    assert opinion(make_record, one, other) == Audit(1, 1, (), ())
    assert opinion(make_record, other, one) == Audit(1, 1, (), ())


@pytest.mark.parametrize(
    ("one", "other", "problem"),
    [
        ({"objective": 10}, {"objective": 12, "bound": 11}, "the bound 11 is above the objective 10"),
        ({"objective": 10}, {"status": "infeasible"}, "one says infeasible, the other has 10"),
        (
            {"objective": 10, "claimed_status": "optimal"},
            {"objective": 12, "claimed_status": "optimal"},
            "both claim to be optimal, with the objectives 10 and 12",
        ),
    ],
)
def test_what_cannot_both_be_true_is_told(make_record, one, other, problem):
    found = opinion(make_record, one, other)
    assert (found.agreed, found.not_compared) == (0, ())
    assert found.disagreements == (f"m and m[backend=b] on i disagree: {problem}",)
    assert found.line() == "audit: 1 run solved again by another back end; 0 agreed, 1 did not."


def test_failures_are_not_compared(make_record):
    found = opinion(make_record, {"objective": 10}, {"status": "timeout", "reason": "killed"})
    assert found.not_compared == ("m and m[backend=b] on i: m[backend=b] ended as timeout (killed)",)
    assert (found.audited, found.agreed, found.disagreements) == (1, 0, ())


@pytest.mark.parametrize("known", [{"objective": 10, "bound": 10, "status": "optimal"}, {"status": "infeasible"}, {}])
def test_to_find_nothing_is_no_opinion(make_record, known):
    nothing = "m and m[backend=b] on i: m[backend=b] gave neither solution nor bound"
    assert opinion(make_record, known, {}).agreed == 0
    assert opinion(make_record, {"bound": 3}, {}) == Audit(1, 0, (), (nothing,))


def test_the_command_tells_it(schedgap, write_suite, tmp_path):
    """A suite of one exact method: its rows are in the journal as any others, and done once."""
    suite, out = write_suite(["patterns", "no-packing"]), tmp_path / "out"
    code, printed, _ = schedgap("run", suite, "--out", out, "--audit", "--json")
    document = json.loads(printed)
    assert code == 0
    assert document["audit"] == {"audited": 1, "agreed": 1, "disagreements": [], "not_compared": []}
    assert (document["runs"], document["measured_now"]) == (3, 3)
    code, printed, _ = schedgap("run", suite, "--out", out, "--audit")
    assert code == 0
    assert "3 runs, 0 of them now" in printed
    assert "audit: 1 run solved again by another back end; 1 agreed." in printed


def test_a_disagreement_is_no_success(schedgap, monkeypatch, write_suite, tmp_path):
    found = Audit(1, 0, ("m and m[backend=b] on i disagree: so much",), ())
    monkeypatch.setattr("schedgap.bench.api.audit_of", lambda *_: found)
    code, _, err = schedgap("run", write_suite(["no-packing"]), "--out", tmp_path / "out", "--audit")
    assert code == 3
    assert "audit: m and m[backend=b] on i disagree: so much" in err
