"""Invented pasts: as large as asked for, never over capacity, with nodes that come late and stay a while too long."""

import numpy as np
import pytest

from schedgap.instances import InstanceError
from schedgap.instances.provisioning.readers.quantities import fine_amounts
from schedgap.instances.reconfiguration.weeks import KINDS, simulate
from schedgap.instances.reconfiguration.weeks.simulation import PROVIDER, vector


@pytest.fixture(scope="module")
def weeks():
    return {kind: simulate(kind, 12, 120, 1.0, 300, 3) for kind in KINDS}


def there(week, now):
    """Pods by node that run at a moment."""
    found = {}
    for life in week.pods:
        if life.start_s <= now < life.stops_s:
            found.setdefault(life.node, []).append(life)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_no_node_is_over_capacity_and_no_pod_outlives_its_node(weeks, kind):
    week = weeks[kind]
    daemons = np.sum([vector(fine_amounts(each.requests)) for each in PROVIDER.daemons], axis=0)
    daemons[3] = len(PROVIDER.daemons) * 1000
    for now in week.looks[::12]:
        for node, lives in there(week, now).items():
            assert node.ready_s <= now < node.gone_s
            whole = vector(fine_amounts(node.made.document["status"]["allocatable"]))
            assert (np.sum([life.template.asked for life in lives], axis=0) + daemons <= whole).all()


def test_how_many(weeks):
    """Steady pods are as many as asked for; a wave has its top in the afternoon; jobs run at night, some on spot nodes."""
    hour = 3600
    count = {
        kind: [sum(map(len, there(week, week.looks[0] + h * hour).values())) for h in range(24)]
        for kind, week in weeks.items()
    }
    assert min(count["steady"]) >= 115 and max(count["steady"]) <= 135
    assert np.argmin(count["daily"]) in range(0, 5) and np.argmax(count["daily"]) in range(12, 17)
    assert max(count["daily"]) > 2 * min(count["daily"])
    night, day = max(count["nightly"][2:5]), max(count["nightly"][8:])
    assert night > 1.4 * day and night <= 140
    assert any(node.made.group.spot for node in weeks["nightly"].nodes)


@pytest.mark.parametrize("kind", ["daily", "nightly"])
def test_nodes_come_and_go(weeks, kind):
    week = weeks[kind]
    came = [each for each in week.nodes if each.created_s > week.looks[0]]
    went = [each for each in week.nodes if each.gone_s < week.looks[-1]]
    assert len(came) > 2 and len(went) > 2
    assert all(15 <= each.ready_s - each.created_s <= 60 for each in came)
    waited = [life for life in week.pods if life.start_s - life.created_s > 60]
    assert any(life.node in came for life in waited)


def test_same_seed_same_past(weeks):
    again, other = (simulate("daily", 12, 120, 1.0, 300, seed) for seed in (3, 4))
    first = [(life.name, life.start_s, life.gone_s) for life in weeks["daily"].pods]
    assert first == [(life.name, life.start_s, life.gone_s) for life in again.pods]
    assert first != [(life.name, life.start_s, life.gone_s) for life in other.pods]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "weekly"}, "kind is one of steady, daily, nightly, not 'weekly'"),
        ({"nodes": 3}, "nodes is 3; it must be at least 4"),
        ({"pods": 20}, "pods is 20; it must be at least 24"),
        ({"look_s": 30}, "look_s is 30; it must be at least 60"),
        ({"days": 0.001}, "days is 0.001; give at least two looks, at most 60 days"),
        ({"days": float("nan")}, "days is nan; give at least two looks"),
    ],
)
def test_parameters_out_of_range(changes, message):
    given = {"kind": "steady", "nodes": 12, "pods": 120, "days": 1.0, "look_s": 300, "seed": 0} | changes
    with pytest.raises(InstanceError, match=message):
        simulate(**given)
