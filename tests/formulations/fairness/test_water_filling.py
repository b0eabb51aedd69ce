import numpy as np
import pytest

from schedgap.formulations.fairness import fair_point as module
from schedgap.formulations.fairness.fair_point import find_fair_point, water_filling
from schedgap.formulations.fairness.level_program import fluid_of
from schedgap.formulations.fairness.levels import Levels
from schedgap.instances.errors import BackendError
from schedgap.instances.fairness import (
    FAIR,
    NOTIONS,
    UNLIMITED,
    FairnessInstance,
    alice_bob,
    micro,
    random_users,
    shares_of,
    verify,
)
from schedgap.instances.method import Status, find_method

INF = float("inf")


def drawn(seed, *, notion, limited, ties):
    """A few users, classes and resources; with ties, all numbers are small and many are equal."""
    rng = np.random.default_rng(seed)
    n, k, r = (int(rng.integers(1, top)) for top in (10, 7, 4))
    demand = rng.integers(0, 4 if ties else 50, (n, r)) * 100
    demand[:, 0] = np.maximum(demand[:, 0], 100)
    performance = rng.integers(0, 3, (n, k)) * 1000 if ties else rng.integers(300, 4000, (n, k))
    allowed = rng.random((n, k)) < 0.6
    some = rng.integers(0, k, n)
    allowed[np.arange(n), some] = True
    performance[np.arange(n), some] = np.maximum(performance[np.arange(n), some], 1000)
    return FairnessInstance(
        name=f"drawn-{seed}",
        notion=notion,
        resources=("cpu", "memory_gib", "disk")[:r],
        machine_names=tuple(f"m{j}" for j in range(k)),
        machine_count=rng.integers(1, 4, k),
        capacity=rng.integers(1, 5 if ties else 100, (k, r)) * 1000,
        demand=demand,
        weight=rng.integers(1, 4, n) * 1000,
        performance=performance,
        allowed=allowed,
        tasks=np.where(rng.random(n) < limited, rng.integers(1, 20, n), UNLIMITED),
    )


def shares_with(instance, **options):
    fluid = fluid_of(instance, merge=options.pop("merge", True))
    levels = Levels(fluid, **options)
    assert levels.run(INF)
    return (levels.share * fluid.scale)[fluid.user2group]


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("limited", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("ties", [False, True])
def test_is_proven_and_the_same_in_all_ways(notion, limited, ties):
    for seed in range(12):
        instance = drawn(seed, notion=notion, limited=limited, ties=ties)
        outcome = water_filling(instance)
        assert (outcome.status, outcome.bound) == (Status.OPTIMAL, FAIR)
        assert verify(instance, outcome.solution) == FAIR
        shares = shares_of(instance, outcome.solution)
        for options in ({"merge": False}, {"reduce": False}, {"merge": False, "reduce": False}):
            assert shares == pytest.approx(shares_with(instance, **options), rel=1e-9)


@pytest.mark.parametrize(
    ("notion", "shares"), [("eunomia", [1 / 2, 1 / 2]), ("tsf", [3 / 6, 3 / 6]), ("cmmf", [1 / 2, 1 / 2])]
)
def test_alice_and_bob(notion, shares):
    """Figure 1: 4 of 8 each; in task shares and in shares of the CPUs three tasks of six each."""
    instance = alice_bob(notion=notion)
    outcome = water_filling(instance)
    assert verify(instance, outcome.solution) == FAIR
    assert shares_of(instance, outcome.solution) == pytest.approx(shares, rel=1e-12)


def test_alice_and_bob_have_three_and_five_eighths_of_the_progress_if_task_shares_are_equal():
    instance = alice_bob()
    outcome = water_filling(instance, notion="tsf")
    assert (outcome.status, outcome.bound, outcome.solution.certificate) == (Status.FEASIBLE, None, None)
    assert shares_of(instance, outcome.solution) == pytest.approx([3 / 8, 5 / 8], rel=1e-12)
    # Alice would have 4/3 of what she gets.
    assert verify(instance, outcome.solution) == 1_333_333


@pytest.mark.parametrize("notion", ["eunomia", "tsf"])
def test_tables_3_and_4(notion):
    """All jobs have a quarter; by task shares job 4 has all fast slots, 60 / 150 of the progress."""
    instance = micro(notion=notion)
    outcome = water_filling(instance)
    assert verify(instance, outcome.solution) == FAIR
    assert shares_of(instance, outcome.solution) == pytest.approx([0.25] * 4, rel=1e-12)
    assert shares_of(micro(), outcome.solution)[3] == pytest.approx(0.25 if notion == "eunomia" else 0.4, rel=1e-12)


@pytest.mark.parametrize("kind", ["mixed", "interval"])
@pytest.mark.parametrize("limited", [False, True])
def test_larger_ones_are_proven_too(kind, limited):
    instance = random_users(60, classes=8, machines=60, kind=kind, limited=limited, weights="random")
    outcome = water_filling(instance)
    assert verify(instance, outcome.solution) == FAIR
    assert outcome.details["programs"] < 3 * 60


def test_the_time_limit():
    for limit in (0, -1.0):
        outcome = water_filling(alice_bob(), time_limit_s=limit)
        assert (outcome.status, outcome.solution, outcome.bound) == (Status.NO_SOLUTION, None, None)
        assert outcome.details["reason"] == "the time limit"
    assert water_filling(alice_bob(), time_limit_s=60).status is Status.OPTIMAL


def test_the_method():
    found = find_method("fairness", "water-filling")
    assert (found.exact, found.bounds, found.choices["notion"]) == (True, True, ("", *NOTIONS))
    outcome = found.run(alice_bob(), parameters={"notion": "drf"})
    assert outcome.claimed_status is Status.FEASIBLE


@pytest.fixture
def lost_accuracy(monkeypatch):
    def fails(self, deadline):
        raise BackendError("accuracy was lost.")

    monkeypatch.setattr(Levels, "run", fails)


@pytest.mark.usefixtures("lost_accuracy")
def test_where_accuracy_is_lost_the_point_is_found_in_whole_numbers():
    outcome = water_filling(alice_bob())
    assert (outcome.status, outcome.bound, outcome.details) == (Status.OPTIMAL, FAIR, {"cuts": 2, "exact": True})
    assert outcome.solution.certificate is None
    assert shares_of(alice_bob(), outcome.solution).tolist() == [0.5, 0.5]
    assert verify(alice_bob(), outcome.solution) == FAIR
    assert water_filling(alice_bob(), time_limit_s=1e-9).details["reason"] == "the time limit"


@pytest.mark.usefixtures("lost_accuracy")
def test_lost_accuracy_on_a_large_instance_is_no_solution(monkeypatch):
    monkeypatch.setattr(module, "is_too_large", lambda instance: "it is large")
    outcome = water_filling(alice_bob())
    assert (outcome.status, outcome.solution, outcome.bound) == (Status.NO_SOLUTION, None, None)
    assert outcome.details == {"reason": "accuracy was lost. it is large."}
    with pytest.raises(BackendError, match=r"alice-bob: the fair point is not proven: accuracy was lost. it is large."):
        find_fair_point(alice_bob())
