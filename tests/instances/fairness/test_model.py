"""Instances refuse what makes no sense, in one sentence, and are their content."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness import UNLIMITED, alice_bob


def test_the_digest_is_of_the_content():
    instance = alice_bob()
    assert instance.replace(name="other", notes=("said",)).digest == instance.digest
    for change in (
        {"notion": "tsf"},
        {"weight": [1000, 2000]},
        {"tasks": [5, UNLIMITED]},
        {"allowed": np.ones((2, 3), bool)},
        {"performance": np.full((2, 3), 1000)},
        {"user_names": None},
    ):
        assert instance.replace(**change).digest != instance.digest


def test_arrays_are_locked():
    instance = alice_bob()
    for key in ("capacity", "demand", "weight", "performance", "allowed", "tasks", "machine_count"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(instance, key)[0] = 0


def test_how_many_tasks_fit(make):
    """Of 4 and 6: min(4/2, 6/3) = 2; 6/4 where only the second resource is demanded; none where it is lacking."""
    instance = make([1, 3], [[4, 6], [4, 0]], [[2, 3], [0, 4], [2, 0]])
    assert instance.fitting().tolist() == [[2.0, 0.0], [1.5, 0.0], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": [1, 0]}, r"weight of user user-1 is 0; give 1 to"),
        ({"weight": [-1, 1]}, r"weight of user user-0 is -1000"),
        ({"demand": [[0], [1]]}, "user user-0 demands nothing of any resource; give its tasks a positive demand"),
        ({"demand": [[-1], [1]]}, "demand of user user-0 is -1000"),
        ({"allowed": [[True, True], [False, False]]}, "user user-1 is allowed on no machine class; allow one"),
        (
            {"capacity": [[4], [0]], "allowed": [[True, True], [False, True]]},
            "user user-1 demands more than any machine has that it is allowed on; lower its demand, allow",
        ),
        (
            {"performance": [[0, 1], [1, 1]], "allowed": [[True, False], [True, True]]},
            "user user-0 has zero performance wherever its tasks may run; give a positive one or drop it",
        ),
        ({"performance": [[1, 1], [1, -1]]}, "performance of user user-1 is -1000"),
        ({"tasks": [0, 3]}, "user user-0 has 0 tasks; give at least one, or none at all for an unlimited number"),
        ({"count": [1, 0]}, "machine_count of machine class m1 is 0; give 1 to"),
        ({"notion": "fair"}, "notion is 'fair'; choose one of eunomia, tsf, cmmf, drf"),
        ({"resources": ("a", "b")}, r"capacity has shape \(2, 1\), expected \(2, 2\)"),
        ({"machine_names": ("m", "m")}, "machine class 'm' is given twice; rename one"),
        ({"user_names": ("u", "u")}, "user 'u' is given twice; rename one"),
        ({"user_names": ("u",)}, "1 names for 2 users; give one each"),
        ({"capacity": [[4], [10**9]]}, "1000000000 tasks of user user-0 fit on machine class m1, more than 9000000"),
        ({"count": [1, 2**40], "demand": [[2**22]] * 2, "capacity": [[4], [2**22]]}, "all machines together have"),
    ],
)
def test_what_makes_no_sense(make, changes, message):
    fields = {"count": [1, 1], "capacity": [[4], [4]], "demand": [[1], [1]]} | changes
    with pytest.raises(InstanceError, match=f"made: .*{message}"):
        make(**fields)


def test_many_tasks_are_exact_if_the_user_has_few(make):
    assert make([1], [[10**9]], [[1]], tasks=[9_000_000]).num_users == 1


def test_nobody_and_nothing(make):
    with pytest.raises(InstanceError, match="there is no user; give at least one"):
        make([1], [[4]], np.zeros((0, 1), int), user_names=())
    with pytest.raises(InstanceError, match="there is no machine class; give at least one"):
        make(np.zeros(0, int), np.zeros((0, 1), int), [[1]])


def test_shares_of_the_first_resource_need_a_demand_for_it(make):
    with pytest.raises(InstanceError, match="user user-1 demands no r0, in which cmmf measures shares; name another"):
        make([1], [[4, 4]], [[1, 1], [0, 1]], notion="cmmf")
