"""Whether lies about constraints pay."""

import pytest

from schedgap.formulations.fairness.false_constraints import false_constraints
from schedgap.instances.errors import MethodError
from schedgap.instances.fairness import FAIR, micro, verify
from schedgap.instances.method import Status


def test_the_papers_lie_pays_under_tsf():
    """Who claims to need type-4 nodes has its 20 tasks there, 60 / 150 of all progress.

    Without lies all have 20 tasks each, on nodes that the fair point leaves open: one has no more than a quarter.
    """
    outcome = false_constraints(micro(lie=False, notion="tsf"), user=-1, measure="eunomia")
    assert outcome.details["reports"] == 4 * (2**4 - 2)
    assert outcome.details["lie"] == "type-4"
    assert outcome.details["liar"].startswith("job-")
    assert outcome.details["paid"] > 0
    assert outcome.details["best_gain"] >= 0.4 / 0.25 - 1 - 1e-9
    in_tasks = false_constraints(micro(lie=False, notion="tsf"), user=3)
    assert (in_tasks.details["paid"], in_tasks.details["best_gain"], in_tasks.details["lie"]) == (0, 0.0, "")


def test_it_does_not_under_eunomia():
    outcome = false_constraints(micro(lie=False), user=-1)
    assert outcome.details == {
        "reports": 4 * 14, "paid": 0, "best_gain": 0.0, "liar": "", "lie": "", "users_not_finished": 0,
        "reports_not_proven": 0,
    }  # fmt: skip
    assert outcome.status is Status.OPTIMAL
    assert verify(micro(lie=False), outcome.solution) == outcome.bound == FAIR


@pytest.mark.parametrize("notion", ["eunomia", "tsf", "cmmf", "drf"])
def test_no_lie_pays_in_the_notions_own_measure(small_instance, notion):
    """On random instances, with user-specific speeds: evidence, not a proof."""
    reports = 0
    for seed in range(6):
        instance = small_instance(seed, users=4, classes=4, notion=notion, limited=False)
        found = false_constraints(instance, user=-1).details
        assert found["paid"] == 0
        reports += found["reports"]
    assert reports > 50


def test_lies_are_tried_up_to_a_number():
    """One class first: the fourth of these pays."""
    instance = micro(lie=False, notion="tsf")
    outcome = false_constraints(instance, user=3, measure="eunomia", max_reports=3)
    assert (outcome.details["reports"], outcome.details["users_not_finished"]) == (3, 1)
    assert outcome.details["lie"] != "type-4"


def test_who_uses_one_class_has_nothing_to_hide(two_levels):
    assert false_constraints(two_levels, user=0).details["reports"] == 0


@pytest.mark.parametrize("user", [-2, 4])
def test_unknown_user(user):
    with pytest.raises(MethodError, match=f"there is no user {user} to lie; give 0 to 3, or -1"):
        false_constraints(micro(), user=user)


def test_no_time():
    assert false_constraints(micro(), time_limit_s=0.0).claimed_status is Status.NO_SOLUTION
