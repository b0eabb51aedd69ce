"""Running machines in files, with what controllers look at; files without it mean what they meant."""

import json

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import ProvisioningInstance, read_instance, write_instance
from schedgap.instances.provisioning.running import (
    GOING,
    HELD,
    REASONS,
    UNDERUTILIZED,
    Budget,
    Disruption,
    Pool,
    Running,
)
from schedgap.instances.provisioning.windows import Window


def made(**more):
    return ProvisioningInstance(
        name="made",
        resources=("cpu", "ram_gib"),
        families=("any",),
        type_names=("small", "spot"),
        type2family=[0, 0],
        capacity=[[4000, 8192], [4000, 8192]],
        price=[10, 4],
        demand=[[[1000, 1024]]],
        counts=[4],
        class_names=("web",),
        running=Running.from_contents(["a", "b"], [0, 1], [[2], [1]], **more),
    )


MORE = {
    "whole": [[4000, 9216], [4000, 9216]],
    "reserved": [[0, 512], [0, 1024]],
    "disruption": Disruption(
        (Pool("default", (Budget(10, True), Budget(2, False, (UNDERUTILIZED,))), only_empty=True), Pool("other")),
        np.array([0, -1]),
        np.array([HELD + GOING, 0]),
        np.array([1]),
    ),
}


def test_files_keep_what_controllers_look_at(tmp_path):
    instance = made(**MORE)
    write_instance(instance, tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    assert document["running"][0] == {
        "name": "a",
        "type": "small",
        "counts": {"web": 2},
        "whole": [4, 9],
        "reserved": [0, 0.5],
        "pool": "default",
        "marks": ["do-not-disrupt", "going"],
    }
    assert document["disruption"] == {
        "pools": [
            {
                "name": "default",
                "budgets": [{"nodes": "10%"}, {"nodes": "2", "reasons": ["underutilized"]}],
                "only_empty": True,
            },
            {"name": "other"},
        ],
        "spot": ["spot"],
    }
    again = read_instance(tmp_path / "i.json")
    assert again.digest == instance.digest
    assert again.running.disruption.pools == instance.running.disruption.pools
    assert again.running.disruption.pools[0].budgets[0].reasons == REASONS
    assert again.running.reserved.tolist() == [[0, 512], [0, 1024]]


def test_files_keep_what_time_matters_for(tmp_path):
    night = Budget(0, False, window=Window("0 9 * * mon-fri", 28800))
    pools = (Pool("default", (night,), balanced=True, consolidate_after_s=30), Pool("fixed", consolidate_after_s=-1))
    given = Disruption(pools, [0, 1], [0, 0], [], [7, 40], 1_700_000_000)
    instance = made(disruption=given)
    write_instance(instance, tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    assert [machine["quiet_s"] for machine in document["running"]] == [7, 40]
    assert document["disruption"] == {
        "pools": [
            {
                "name": "default",
                "budgets": [{"nodes": "0", "schedule": {"cron": "0 9 * * mon-fri", "duration_s": 28800}}],
                "balanced": True,
                "consolidate_after_s": 30,
            },
            {"name": "fixed", "consolidate_after_s": -1},
        ],
        "at_s": 1_700_000_000,
    }
    again = read_instance(tmp_path / "i.json")
    assert (again.digest, again.running.disruption.pools) == (instance.digest, pools)
    digests = {
        made(disruption=Disruption(p, [0, 0], [0, 0], [], quiet_s, at_s)).digest
        for p, quiet_s, at_s in (
            *(
                (pools, [7, 40], None),
                (pools, None, 9),
                (pools[:1], [7, 40], 9),
                (pools, [7, 41], 9),
                (pools, [7, 40], 9),
            ),
        )
    }
    assert len(digests) == 5
    del document["running"][1]["quiet_s"]
    (tmp_path / "i.json").write_text(json.dumps(document))
    with pytest.raises(InstanceError, match=r"running machine b has no quiet_s, others have"):
        read_instance(tmp_path / "i.json")


def test_each_part_is_in_the_digest_and_none_where_it_is_not_given():
    parts = [made(), made(**MORE), *(made(**{key: value}) for key, value in MORE.items())]
    assert len({instance.digest for instance in parts}) == len(parts)


def test_fewer_tasks_leave_machines_as_they_are():
    left = made(**MORE).running.without(np.array([1]))
    assert left.count.tolist() == [1]
    assert left.reserved.tolist() == [[0, 512], [0, 1024]]
    assert left.disruption.marks.tolist() == [HELD + GOING, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["running"][0].pop("whole"), r"running machine a has 0 amounts in 'whole' for 2 resources"),
        (lambda d: d["running"][1].update(pool="none"), "'none' is not in disruption.pools"),
        (lambda d: d["disruption"].update(spot=["large"]), "'large' is not in machine_types"),
        (lambda d: d.pop("running"), "disruption is given, but no machine runs"),
        (lambda d: d["disruption"]["pools"][0]["budgets"][0].update(nodes="-3"), "nodes"),
        (lambda d: d["running"][0].update(marks=["cordoned"]), "marks"),
    ],
)
def test_files_that_contradict_themselves_are_refused(tmp_path, change, message):
    write_instance(made(**MORE), tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    change(document)
    (tmp_path / "i.json").write_text(json.dumps(document))
    with pytest.raises(InstanceError, match=message):
        read_instance(tmp_path / "i.json")


@pytest.mark.parametrize("more", [{"whole": [[1], [1]]}, {"disruption": Disruption.of(2, spot=[5])}])
def test_instances_refuse_other_resources_and_types(more):
    with pytest.raises(InstanceError, match=r"of 1 resources; there are 2|machine type 5 is spare capacity"):
        made(**more)
