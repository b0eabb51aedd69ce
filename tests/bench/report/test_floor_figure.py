"""The figure of a cluster's floor: its words, and what it does without a front, a plan or a floor."""

from xml.etree import ElementTree

import pytest

from schedgap.bench.floor import Floor, Point
from schedgap.bench.report.floor_figure import MAX_TYPES, floor_svg
from schedgap.instances.family import find_family
from schedgap.instances.provisioning import Provisioning, Running

SVG = "{http://www.w3.org/2000/svg}"
LONG = "m6i.2xlarge (gke-production-cluster-1-default-pool-3f2a9c1b-x7zq, $a$)"


@pytest.fixture
def instance(two_families):
    running = Running.from_contents(("n1", "n2"), [1, 1], [[2, 0, 1], [0, 1, 1]])
    return two_families.replace(type_names=("x-small", LONG, "y-small"), running=running)


def words(found):
    """The texts of the figure, which also says that it is drawn without a warning."""
    return [text.text for text in ElementTree.fromstring(floor_svg(found)).iter(f"{SVG}text")]


def floor_of(instance, *front, **changes):
    fields = {"price_now": 3_800_000, "pending": 0, "chosen": front[-1], "front": front}
    return Floor(instance, find_family("provisioning"), **(fields | changes))


def test_front_and_machines(instance):
    plan = Provisioning.from_patterns([1, 2], [1, 1], [[0, 1, 2], [2, 0, 0]])
    found = floor_of(instance, Point(0, 3_800_000, 3_800_000, 0, plan), Point(None, 2_600_000, 2_500_000, 3, plan))
    shown = words(found)
    assert {
        "disruption: tasks that may move",
        "price ($/h)",
        "best plan",
        "floor (proven)",
        "now",
        "plan",
        "machines",
    } <= set(shown)
    assert {LONG, "y-small"} <= set(shown)
    assert "x-small" not in shown
    assert floor_svg(found) == floor_svg(found)


def test_without_a_front_only_machines(two_families):
    plan = Provisioning.from_patterns([0], [5], [[1, 0, 0]])
    shown = words(floor_of(two_families, Point(None, 5_000_000, None, None, plan), price_now=None))
    assert {"x-small", "plan", "machines"} <= set(shown)
    assert not {"price ($/h)", "now"} & set(shown)


def test_neither_plan_nor_floor(instance):
    shown = words(floor_of(instance, Point(0, None, None, None, None), Point(None, None, None, None, None)))
    assert {"now", LONG} <= set(shown)
    assert not {"best plan", "floor (proven)", "plan"} & set(shown)


def test_more_types_than_are_shown(two_families):
    """Twice as many as there is room for, one machine each."""
    number = 2 * MAX_TYPES
    kinds = two_families.replace(
        type_names=tuple(f"type-{k}" for k in range(number)),
        type2family=[0] * number,
        families=("x",),
        capacity=[[8000, 16384]] * number,
        price=[1_000_000] * number,
        demand=two_families.demand[:1],
    )
    plan = Provisioning.from_patterns(range(number), [1] * number, [[1, 0, 0]] * number)
    shown = words(floor_of(kinds, Point(None, 1, 1, None, plan), price_now=None))
    assert sum(text.startswith("type-") for text in shown) == MAX_TYPES
    assert f"machines; {MAX_TYPES} types are not shown" in shown
