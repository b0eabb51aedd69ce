"""What a cluster cost over days: the floor, what others would have paid, and where the difference went."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from schedgap.bench.floor import floor_over, over_lines
from schedgap.bench.floor.over import ABOVE
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.report.floor_figure import over_svg
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration import RECONFIGURATION, verify
from schedgap.instances.reconfiguration.model import Past, ReconfigurationInstance

SMALL, LARGE = 0, 1


def week(**changes):
    """Three hours of two pods of 1 core, each alone on a large machine at $0.30; a small one at $0.10 holds both."""
    catalogue = ProvisioningInstance(
        name="cluster",
        resources=("cpu",),
        families=("m",),
        type_names=("small", "large"),
        type2family=[0, 0],
        capacity=[[2000], [8000]],
        price=[100_000, 300_000],
        demand=[[[1000]]],
        counts=[1],
        class_names=("web",),
        workloads=("pod",),
        class2workload=[0],
    )
    nothing = {key: [0] for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")}
    fields = {
        "acquire_s": [0, 0],
        "setup_s": [60, 60],
        **nothing,
        "arrival_s": [0, 0],
        "work_s": [10_800, 10_800],
        "job2class": [0, 0],
        "num_tasks": [1, 1],
        "terminate_s": 0,
        "past": Past(("a", "b"), [LARGE] * 2, [0, 0], [10_800] * 2, 1_764_000_000, 10_800, [0, 1]),
        "notes": ("A note.",),
    }
    return ReconfigurationInstance("three hours", catalogue, **{**fields, **changes})


@pytest.fixture(scope="module", autouse=True)
def families():
    load_families()


@pytest.fixture(scope="module")
def found():
    return floor_over(week(), family="reconfiguration", time_limit_s=60)


def test_paid_floor_and_plan(found):
    """$0.60 an hour were paid; the floor is a small machine for three hours. A plan pays 60 s of setup and a period."""
    assert (found.paid, found.floor) == (1_800_000, 300_000)
    assert found.plan.price == verify(found.instance, found.solution) == 308_334
    assert found.gap == pytest.approx(8_334 / 308_334)
    assert (found.begins.isoformat(), found.seconds) == ("2025-11-24T16:00:00+00:00", 10_800)
    assert found.a_month(found.paid) == pytest.approx(0.6 * 730)
    assert {rival.method for rival in found.rivals} == {
        "hindsight",
        "karpenter",
        "cluster-autoscaler",
        "eva",
        "lookahead",
    }
    assert all(rival.price >= found.floor for rival in found.rivals)
    assert found.problems == ()


def test_where_it_went(found):
    """Each pod would fit on a small machine, for $0.20 less; and both on one, for another $0.10."""
    lost = {reason: float(each.sum()) for reason, each in found.losses.lost.items() if each.any()}
    assert lost == pytest.approx({"a cheaper type holds the same pods": 1.2, "room left free": 0.3}, rel=1e-3)
    assert [hour.reason for hour in found.dear_hours()] == ["a cheaper type holds the same pods"] * 3


def test_text_fits_a_terminal(found, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = over_lines(found)
    assert lines[:5] == [
        "three hours: 0.1 days from 2025-11-24 16:00 UTC, 2 pods on 2 nodes",
        "paid            1.80 $, 438 $ a month",
        "floor (proven)  0.30 $, 73 $ a month",
        f"best plan       0.31 $, 75 $ a month, {found.plan.method}, gap 2.70%",
        "saves at most   1.50 $, 365 $ a month, proven",
    ]
    assert all(len(line) <= 80 for line in lines)
    assert "A note." in lines


def test_json_and_picture(found):
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert content["paid"] == {"price": 1.8, "a_month": 438.0, "above_floor": pytest.approx(5)}
    assert content["hourly"]["tasks"] == [2, 2, 2]
    assert sum(content["hourly"]["floor"]) == pytest.approx(0.3, rel=1e-3)
    assert ElementTree.fromstring(over_svg(found)).tag.endswith("svg")


def test_without_a_past_there_is_a_floor_and_a_plan():
    found = floor_over(week(past=None), family="reconfiguration", time_limit_s=60)
    assert (found.paid, found.floor, found.losses) == (None, 300_000, None)
    assert "paid" not in "\n".join(over_lines(found))
    assert ElementTree.fromstring(over_svg(found)).tag.endswith("svg")


def test_what_fails_is_told():
    """What a run over its memory limit had found before it was killed stands."""
    found = floor_over(week(), family="reconfiguration", time_limit_s=60, memory_mib=1)
    assert {problem.partition(":")[0] for problem in found.problems} >= {"eva", "lookahead"}
    assert all((rival.price is None) == bool(rival.why) for rival in found.rivals)
    assert any(line.startswith("eva: memory: ") for line in over_lines(found))


def test_a_floor_above_what_was_paid_is_said():
    """Nodes that were there for an hour only cannot have held pods for three: such a past is wrong."""
    past = Past(("a", "b"), [LARGE] * 2, [0, 0], [900] * 2, 1_764_000_000, 10_800, [0, 1])
    found = floor_over(week(past=past), family="reconfiguration", time_limit_s=60)
    assert (found.paid, found.floor) == (150_000, 300_000)
    assert found.problems == (ABOVE,)
    assert ABOVE.split(":")[0] in " ".join(over_lines(found))
    # The losses add up all the same.
    assert sum(float(each.sum()) for each in found.losses.lost.values()) == pytest.approx(0.15 - 0.3, rel=1e-3)


def test_a_family_without_a_past(monkeypatch):
    other = replace(RECONFIGURATION, over=None)
    monkeypatch.setattr("schedgap.bench.floor.over.find_family", lambda _: other)
    with pytest.raises(
        InstanceError, match="instances of family reconfiguration have no past; give a folder of snapshots"
    ):
        floor_over(week(), family="reconfiguration")
