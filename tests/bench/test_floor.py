"""The floor below a cluster's price: the front, its plans, and what stands where nothing runs or a run failed."""

from dataclasses import replace

import pytest

from schedgap.bench.api import gap
from schedgap.bench.floor import Point, _shared, floor
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.statistics.summary import best_of
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import Status
from schedgap.instances.provisioning import ProvisioningInstance, Running, moves, verify

SMALL, LARGE = 0, 1


def cluster(**changes):
    """Ten small machines of 4 cores at $0.10 run, on each a task of 1 core; a large one has 8 cores at $0.15."""
    running = Running.from_contents([f"n{e}" for e in range(10)], [SMALL] * 10, [[1, 0]] * 10)
    instance = ProvisioningInstance(
        name="ten machines",
        resources=("cpu",),
        families=("m",),
        type_names=("small", "large"),
        type2family=[0, 0],
        capacity=[[4000], [8000]],
        price=[100_000, 150_000],
        demand=[[[1000], [4000]]],
        counts=[10, 1],
        class_names=("web", "db"),
        running=running,
        notes=("A note.",),
    )
    return instance.replace(**changes)


@pytest.fixture(scope="module", autouse=True)
def families():
    load_families()


@pytest.fixture(scope="module")
def found():
    return floor(cluster(), time_limit_s=10)


def test_the_front_falls_from_the_price_now_to_that_of_any_number_of_moves(found):
    """0, 1, 2 and 5 of ten tasks are 0, 5, 10, 25 and 50%. Without moves the pending task needs a machine of its own."""
    assert [point.max_moves for point in found.front] == [0, 1, 2, 5, None]
    assert [point.price for point in found.front] == [1_100_000, 1_000_000, 900_000, 600_000, 300_000]
    assert [point.floor for point in found.front] == [point.price for point in found.front]
    assert (found.price_now, found.pending, found.problems) == (1_000_000, 1, ())
    assert found.chosen is found.front[-1]


def test_plans_verify_under_their_limits(found):
    for point in found.front:
        limited = cluster(max_moves=point.max_moves)
        assert verify(limited, point.plan) == point.price
        assert moves(limited, point.plan) == point.moves
        assert point.max_moves is None or point.moves <= point.max_moves


def test_json(found):
    content = found.to_json()
    assert {key: content[key] for key in ("price_now", "price", "floor", "gap", "unit", "pending", "max_moves")} == {
        "price_now": 1.0,
        "price": 0.3,
        "floor": 0.3,
        "gap": 0.0,
        "unit": "$/h",
        "pending": 1,
        "max_moves": None,
    }
    assert (content["machines_now"], content["machines"]) == ({"small": 10}, {"large": 2})
    assert content["front"][2] == {"max_moves": 2, "price": 0.9, "floor": 0.9, "gap": 0.0, "moves": 2}
    assert (content["notes"], content["problems"]) == (["A note."], [])


def test_a_limit_on_moves_is_asked_for_or_the_instances_own():
    """What is found is of the instance with that limit, so that its files verify."""
    asked = floor(cluster(max_moves=7), max_moves=3, front=False, time_limit_s=10)
    own = floor(cluster(max_moves=3), front=False, time_limit_s=10)
    for result in (asked, own):
        assert [point.max_moves for point in result.front] == [3]
        assert result.chosen.price == verify(result.instance, result.chosen.plan) == 800_000
        assert result.instance.max_moves == 3


def test_nothing_runs():
    result = floor(cluster(running=None), time_limit_s=10)
    assert (result.price_now, result.pending) == (None, 11)
    assert result.front == (result.chosen,)
    assert (result.chosen.price, result.chosen.floor, result.chosen.moves) == (300_000, 300_000, None)
    with pytest.raises(InstanceError, match="no machine runs, so no task can move; leave the limit on moves out"):
        floor(cluster(running=None), max_moves=1)


def test_machines_that_run_without_tasks():
    empty = Running.from_contents(["n0"], [LARGE], [[0, 0]])
    result = floor(cluster(running=empty), time_limit_s=10)
    assert (result.price_now, len(result.front), result.chosen.moves) == (150_000, 1, 0)


@pytest.fixture
def failing(monkeypatch):
    """Let every run fail after it has found what it finds, or nothing: `failing(objective=None)`."""

    def fail(**changes):
        def failed(*given, **how):
            result = gap(*given, **how)
            (record,) = result.records
            changed = replace(record.measurement, status=Status.TIMEOUT, reason="killed after 9 s", **changes)
            records = (replace(record, measurement=changed),)
            return replace(result, records=records, best=best_of(records)[result.digest])

        monkeypatch.setattr("schedgap.bench.floor.gap", failed)

    return fail


def test_failed_runs_are_told(failing):
    failing(objective=None, bound=None)
    result = floor(cluster(), max_moves=2, front=False, time_limit_s=10)
    assert result.problems == ("with at most 2 moves: timeout, killed after 9 s",)
    assert (result.chosen.price, result.chosen.floor, result.chosen.gap) == (None,) * 3


def test_what_a_failed_run_had_found_stands(failing):
    failing(bound=800_000)
    result = floor(cluster(), max_moves=2, front=False, time_limit_s=10)
    assert result.problems == ("with at most 2 moves: timeout, killed after 9 s",)
    assert (result.chosen.price, result.chosen.floor, result.chosen.moves) == (900_000, 800_000, 2)
    assert verify(cluster(max_moves=2), result.chosen.plan) == 900_000


def test_a_run_out_of_memory_has_what_it_told():
    """The first bound comes before anything else, and may be all that there is."""
    result = floor(cluster(), max_moves=2, front=False, time_limit_s=10, memory_mib=1)
    (problem,) = result.problems
    assert problem.startswith("with at most 2 moves: ")
    assert 300_000 <= result.chosen.floor <= 900_000


def test_limits_that_are_too_low_are_told():
    """No machine but the ten that run: the pending task needs one for itself, so that one task has to leave it."""
    result = floor(cluster(stock=[10, 0]), max_moves=0, front=False, time_limit_s=10)
    assert result.remarks == ("with at most 0 moves no plan holds all tasks, proven.",)
    assert (result.chosen.price, result.problems) == (None, ())
    assert floor(cluster(stock=[10, 0]), max_moves=1, front=False, time_limit_s=10).remarks == ()


def test_other_families_have_no_clusters():
    with pytest.raises(InstanceError, match="family fairness are no running clusters"):
        floor(None, family="fairness")


def test_points_take_over_what_others_have_found():
    """The plan for 9 moves 2 tasks and is cheaper than that for 3; the floor for 9 is above that for 3; one has no plan."""
    points = [
        Point(0, None, None, None, None),
        Point(3, 90, 40, 3, "a"),
        Point(9, 80, 50, 2, "b"),
        Point(None, 85, 45, 30, "c"),
    ]
    shared = _shared(points)
    assert shared == [
        Point(0, None, 50, None, None),
        Point(3, 80, 50, 2, "b"),
        Point(9, 80, 50, 2, "b"),
        Point(None, 80, 45, 2, "b"),
    ]
    assert [point.gap for point in shared] == [None, 0.375, 0.375, 0.4375]
