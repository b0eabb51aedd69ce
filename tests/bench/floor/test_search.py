"""The floor below a cluster's price: the front, its plans, and what stands where nothing runs or a run failed."""

from dataclasses import replace

import pytest
from msgspec import structs

from schedgap.bench.api import gap
from schedgap.bench.floor import Point, floor
from schedgap.bench.floor.search import _shared
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.statistics.summary import Best, best_of
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import Status
from schedgap.instances.provisioning import PROVISIONING, ProvisioningInstance, Running, bpplib, moves, verify
from schedgap.instances.provisioning.running import ONE_TASK

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
    assert [found.in_tasks(point.max_disruption) for point in found.front] == [0, 1, 2, 5, None]
    assert [point.price for point in found.front] == [1_100_000, 1_000_000, 900_000, 600_000, 300_000]
    assert [point.floor for point in found.front] == [point.price for point in found.front]
    assert (found.price_now, found.pending, found.problems) == (1_000_000, 1, ())
    assert found.chosen is found.front[-1]


def test_plans_verify_under_their_limits(found):
    for point in found.front:
        limited = cluster(max_disruption=point.max_disruption)
        assert verify(limited, point.plan) == point.price
        assert moves(limited, point.plan) == point.moves
        assert point.max_disruption is None or point.disruption <= point.max_disruption


def test_json(found):
    content = found.to_json()
    assert {
        key: content[key] for key in ("price_now", "price", "floor", "gap", "unit", "pending", "max_disruption")
    } == {
        "price_now": 1.0,
        "price": 0.3,
        "floor": 0.3,
        "gap": 0.0,
        "unit": "$/h",
        "pending": 1,
        "max_disruption": None,
    }
    assert (content["machines_now"], content["machines"]) == ({"small": 10}, {"large": 2})
    assert content["front"][2] == {
        "max_disruption": 2,
        "price": 0.9,
        "floor": 0.9,
        "gap": 0.0,
        "disruption": 2,
        "moves": 2,
        "why": None,
    }
    assert content["by_type"] == [{"type": "large", "now": 0, "plan": 2}, {"type": "small", "now": 10, "plan": 0}]
    assert (content["saves"], content["saves_at_most"], content["hours_a_month"]) == (0.7, 0.7, 730)
    assert content["shortage"] is None
    assert (content["notes"], content["problems"]) == (["A note."], [])


def test_a_limit_on_moves_is_asked_for_or_the_instances_own():
    """What is found is of the instance with that limit, so that its files verify."""
    asked = floor(cluster(max_disruption=7 * ONE_TASK), max_disruption=3 * ONE_TASK, front=False, time_limit_s=10)
    own = floor(cluster(max_disruption=3 * ONE_TASK), front=False, time_limit_s=10)
    for result in (asked, own):
        assert [point.max_disruption for point in result.front] == [3 * ONE_TASK]
        assert result.chosen.price == verify(result.instance, result.chosen.plan) == 800_000
        assert result.instance.max_disruption == 3 * ONE_TASK


def test_nothing_runs():
    result = floor(cluster(running=None), time_limit_s=10)
    assert (result.price_now, result.pending) == (None, 11)
    assert result.front == (result.chosen,)
    assert (result.chosen.price, result.chosen.floor, result.chosen.moves) == (300_000, 300_000, None)
    with pytest.raises(InstanceError, match="no machine runs, so no task can move; leave the limit on disruption out"):
        floor(cluster(running=None), max_disruption=ONE_TASK)


def test_machines_that_run_without_tasks():
    empty = Running.from_contents(["n0"], [LARGE], [[0, 0]])
    result = floor(cluster(running=empty), time_limit_s=10)
    assert (result.price_now, len(result.front), result.chosen.moves) == (150_000, 1, 0)


def test_failed_runs_are_told():
    """Each point of the front says why it has no plan; what failed twice in the same way is not tried again."""
    result = floor(cluster(), time_limit_s=10, memory_mib=1)
    *told, last = result.problems
    # "killed over 1 MiB" and "MemoryError" are two ways, between which chance decides.
    assert len(told) in (2, 3)
    assert told[0].startswith("with any number of moves: memory, ")
    assert told[1].startswith("with at most 0 moves: memory, ")
    assert last == "portfolio is not tried on further points: it failed 2 times in the same way (memory)."
    # What a run had found before it was killed stands, so that a point may have a plan all the same.
    assert all((point.plan is None) == (point.why is not None) for point in result.front)
    assert all("karpenter: " in point.why for point in result.front if point.plan is None)


def test_what_a_failed_run_had_found_stands(monkeypatch):
    """A run of the method of floors that is killed has told a plan and a floor, which are better than the first ones."""

    def killed(instance, methods, **how):
        result = gap(instance, methods, **how)
        if methods[0] != "portfolio":
            return replace(result, records=(), best=Best(None, None))
        record, *_ = result.records
        changed = structs.replace(record.measurement, status=Status.TIMEOUT, reason="killed after 9 s", bound=800_000)
        records = (structs.replace(record, measurement=changed),)
        return replace(result, records=records, best=best_of(records)[result.digest])

    monkeypatch.setattr("schedgap.bench.floor.search.gap", killed)
    result = floor(cluster(), max_disruption=2 * ONE_TASK, front=False, time_limit_s=10)
    assert result.problems == ("with at most 2 moves: timeout, killed after 9 s",)
    assert (result.chosen.price, result.chosen.floor, result.chosen.moves) == (900_000, 800_000, 2)
    assert verify(cluster(max_disruption=2 * ONE_TASK), result.chosen.plan) == 900_000


def test_the_first_answer_stays_where_the_method_of_floors_fails(monkeypatch):
    """A method of floors that always ends without an answer leaves the plans and floors that were there within a second."""
    failing = replace(PROVISIONING, floor_method="fails-always")
    monkeypatch.setattr("schedgap.bench.floor.search.find_family", lambda _: failing)
    real, asked = gap, []

    def told(instance, methods, **how):
        fails = methods[0] == "fails-always"
        result = real(instance, ["bound-resource"] if fails else methods, **how)
        if not fails:
            return result
        asked.append(instance.max_disruption)
        (record,) = result.records
        lost = structs.replace(record.measurement, status=Status.MEMORY, reason=f"killed over {len(asked)} MiB")
        return replace(result, best=Best(None, None), records=(structs.replace(record, measurement=lost),))

    monkeypatch.setattr("schedgap.bench.floor.search.gap", told)
    result = floor(cluster(), time_limit_s=10)
    assert asked == [None, 0]
    assert all(point.price is not None and point.floor is not None for point in result.front)
    assert len(result.problems) == 3


@pytest.mark.parametrize(("jobs", "beside"), [(1, ()), (2, ("bound-pooled",))])
def test_the_floor_is_bettered_beside_the_plan_where_two_runs_may_go_at_once(monkeypatch, jobs, beside):
    """The two bounds of a point are one floor; the one beside only takes time from the plan where runs go in turn."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    asked = []

    def told(instance, methods, **how):
        asked.append(tuple(methods))
        result = gap(instance, methods, **how)
        return replace(result, best=replace(result.best, bound=0)) if methods[0] == "karpenter" else result

    monkeypatch.setattr("schedgap.bench.floor.search.gap", told)
    result = floor(cluster(), front=False, time_limit_s=10, jobs=jobs)
    assert asked[-1] == ("portfolio", *beside)
    assert result.chosen.price == result.chosen.floor


def test_limits_that_are_too_low_are_told():
    """No machine but the ten that run: the pending task needs one for itself, so that one task has to leave it."""
    result = floor(cluster(stock=[10, 0]), max_disruption=0, front=False, time_limit_s=10)
    assert result.remarks == ("with at most 0 moves no plan holds all tasks, by the word of portfolio.",)
    assert (result.chosen.price, result.problems, result.is_infeasible, result.shortage) == (None, (), True, None)
    found = floor(cluster(stock=[10, 0]), max_disruption=ONE_TASK, front=False, time_limit_s=10)
    assert (found.remarks, found.is_infeasible) == ((), False)


def test_what_cannot_be_had_is_an_answer_without_a_run(monkeypatch):
    """Three small machines have 12 cores; ten tasks of 1 and one of 4 ask for 14. The large task is enough to leave out."""
    running = Running.from_contents([f"n{e}" for e in range(3)], [SMALL] * 3, [[3, 0]] * 3)
    monkeypatch.setattr("schedgap.bench.floor.search.gap", None)
    result = floor(cluster(stock=[3, 0], running=running))
    assert (result.shortage.tasks, result.chosen.floor, result.chosen.plan, result.remarks) == (1, None, None, ())
    content = result.to_json()
    assert (content["floor"], content["price"], content["price_now"]) == (None, None, 0.3)
    assert content["shortage"]["lacks"][0]["short"] == 2
    assert content["why"] == content["shortage"]["said"][0]


def test_the_point_asked_for_is_told_first_and_then_progress_over_all():
    """Price now, floor and plan are the first note; then a point after another ends."""
    seen = []
    floor(cluster(), max_disruption=2 * ONE_TASK, time_limit_s=10, on_progress=seen.append)
    assert seen[0].notes[0].startswith("now 1.0000 $/h, floor ")
    assert ", plan " in seen[0].notes[0]
    dones = [progress.done for progress in seen]
    assert (dones[-1], seen[-1].total, seen[-1].left_s) == (5, 5, 0)
    assert dones == sorted(dones)
    # The point asked for has 10 s, the others 5 s.
    assert (seen[0].left_s, next(progress for progress in seen if progress.done == 1).left_s) == (30, 20)


def test_bins_are_no_dollars(tmp_path):
    """Two bins of 10 hold 6, 4 and 9."""
    path = tmp_path / "small.txt"
    path.write_text("3\n10\n6\n4\n9\n")
    result = floor(bpplib(path), time_limit_s=10)
    content = result.to_json()
    assert (content["unit"], content["price"], content["hours_a_month"]) == ("bins", 2.0, None)
    assert result.line() == "floor 2.0000 bins, plan 2.0000 bins, gap 0.00%"


def test_other_families_have_no_clusters():
    with pytest.raises(InstanceError, match="family fairness are no running clusters"):
        floor(None, family="fairness")


def test_points_take_over_what_others_have_found():
    """The plan for 9 moves 2 tasks and is cheaper than that for 3; the floor for 9 is above that for 3; one has no plan."""
    points = [
        Point(0, why="none fits"),
        Point(3, 90, 40, 3, 3, "a"),
        Point(9, 80, 50, 2, 2, "b"),
        Point(None, 85, 45, 30, 30, "c"),
    ]
    shared = _shared(points)
    assert shared == [
        Point(0, None, 50, why="none fits"),
        Point(3, 80, 50, 2, 2, "b"),
        Point(9, 80, 50, 2, 2, "b"),
        Point(None, 80, 45, 2, 2, "b"),
    ]
    assert [point.gap for point in shared] == [None, 0.375, 0.375, 0.4375]
