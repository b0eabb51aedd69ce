"""What looks at a cluster show: from when until when each pod and node is known to have been there."""

import json

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.past import files_of, kubernetes
from schedgap.instances.reconfiguration.past.snapshots import snapshots


def seen(past):
    """Lives as (name, from, until), seconds since the start, and the history."""
    history = snapshots(files_of([past.folder / "looks"]))
    pods = sorted((life.name, life.node, life.first_s - past.start, life.last_s - past.start) for life in history.pods)
    return pods, {life.name: (life.first_s - past.start, life.last_s - past.start) for life in history.nodes}, history


def test_a_pod_is_there_from_its_start_until_the_last_look_that_shows_it(past):
    for at in (0, 300, 600, 900):
        pods = [past.pod("a", "n1", start=-50)]
        pods += [past.pod("b", "n1", start=200)] * (300 <= at <= 600)
        # Without a start that it says itself: from the first look that shows it on a node.
        pods += [past.pod("c", "n1" if at > 300 else None)] * (at >= 300)
        past.look(at, *pods, past.node("n1", beat=at))
    pods, nodes, history = seen(past)
    assert pods == [("shop/a", "n1", -50, 900), ("shop/b", "n1", 200, 600), ("shop/c", "n1", 600, 900)]
    assert nodes == {"n1": (-3600, 900)}
    assert history.looks == tuple(past.start + at for at in (0, 300, 600, 900))


def test_a_pod_that_ended_was_there_until_its_containers_finished(past):
    """a is seen to run and then to have ended; b only ended; c ended without saying when; d ended unseen and says nothing."""
    past.look(0, past.pod("a", "n1", start=-10), past.pod("c", "n1", start=0), past.node("n1"))
    after = [
        past.pod("a", "n1", start=-10, phase="Succeeded", ended=420),
        past.pod("b", "n1", start=310, phase="Failed", ended=400),
        past.pod("c", "n1", start=0, phase="Failed"),
        past.pod("d", "n1", start=320, phase="Failed"),
    ]
    past.look(600, *after, past.node("n1"))
    past.look(900, *after, past.node("n1"))
    pods, _, history = seen(past)
    assert pods == [("shop/a", "n1", -10, 420), ("shop/b", "n1", 310, 400), ("shop/c", "n1", 0, 0)]
    assert any(
        "1 pods were seen only after they had ended, without the times of it: shop/d" in s for s in history.sentences
    )


def test_a_pod_that_never_came_to_a_node_is_said(past):
    for at in (0, 300):
        past.look(at, past.pod("a", "n1", start=0), past.pod("w", phase="Pending"), past.node("n1"))
    pods, _, history = seen(past)
    assert [name for name, *_ in pods] == ["shop/a"]
    assert "Left out: 1 pods were never seen on a node: shop/w." in history.sentences


def test_a_name_that_comes_again_is_another_pod_and_another_node(past):
    past.look(0, past.pod("a", "n1", start=-5, uid="1"), past.node("n1", uid="x"))
    past.look(300, past.pod("a", "n1", start=-5, uid="1"), past.node("n1", uid="x"))
    past.look(600, past.pod("a", "n1", start=500, uid="2"), past.node("n1", "l", uid="y", born=450))
    past.look(900, past.pod("a", "n1", start=500, uid="2"), past.node("n1", "l", uid="y", born=450))
    pods, nodes, _ = seen(past)
    assert pods == [("shop/a", "n1", -5, 300), ("shop/a", "n1@2", 500, 900)]
    assert nodes == {"n1": (-3600, 300), "n1@2": (450, 900)}
    instance = past.read()
    assert [instance.catalogue.type_names[k] for k in instance.past.machine_type] == ["m", "l"]
    assert (instance.past.from_s.tolist(), instance.past.until_s.tolist()) == ([0, 450], [300, 900])


def test_a_pod_that_a_look_does_not_show_and_a_later_one_does_was_there(past):
    for at in (0, 300, 600):
        past.look(at, *[past.pod("a", "n1", start=-10)] * (at != 300), past.pod("b", "n1", start=-9), past.node("n1"))
    assert seen(past)[0] == [("shop/a", "n1", -10, 600), ("shop/b", "n1", -9, 600)]


def test_what_counts_of_a_pod_is_its_last_sight_on_a_node(past):
    """It grows from one core to two, then is being deleted, then has ended with what nobody asks."""
    meta = {"deletionTimestamp": past.stamp(700)}
    past.look(0, past.pod("a", "n1", "1", start=-10), past.node("n1"))
    past.look(300, past.pod("a", "n1", "2", start=-10), past.node("n1"))
    past.look(600, past.pod("a", "n1", "2", start=-10, meta=meta), past.node("n1"))
    past.look(900, past.pod("a", "n1", "3", start=-10, phase="Failed", ended=650, meta=meta), past.node("n1"))
    instance = past.read()
    assert instance.catalogue.demand[0, 0, 0] == 2000
    assert (instance.arrival_s.tolist(), instance.work_s.tolist()) == ([0], [600])


def test_when_a_node_was_ready(past):
    for at in (0, 300, 600):
        old = past.node("n1", beat=at)
        past.look(at, past.pod("a", "n1", start=0), old, *[past.node("n2", born=100, ready=190, beat=at)] * (at >= 300))
    _, _, history = seen(past)
    assert [life.ready_s for life in history.nodes] == [None, past.start + 190]
    assert past.read().setup_s.tolist() == [90, 90]


LOOKS = [
    (0, (("a", "n1", 1), ("b", "n2", 2))),
    (300, (("a", "n1", 1), ("c", "n1", 1), ("b", "n2", 2))),
    (600, (("d", "n2", 1), ("c", "n1", 1))),
    (900, (("d", "n2", 1), ("e", "n1", 1), ("f", "n1", 1))),
]


def written(past, folder, form):
    """Four looks in one form: as they come, backwards, in other files, indented, deflated."""
    for at, pods in LOOKS:
        objects = [past.pod(name, node, str(cpu), start=at - 30 if at else -60) for name, node, cpu in pods]
        objects += [past.node(name, beat=at) for name in ("n1", "n2")]
        for each in objects:
            # A start says the same at all looks.
            each["status"].pop("startTime", None)
        if form == "backwards":
            objects = objects[::-1]
        if form in ("two files", "raw lists"):
            stamp = past.stamp(at).replace(":", "-")
            for kind, some in (("Pod", objects[:-2]), ("Node", objects[-2:])):
                path = past.look(at, *some, folder=folder, name=f"{kind}s-{stamp}.json") / f"{kind}s-{stamp}.json"
                if form == "raw lists":
                    # As `kubectl get --raw /api/v1/pods` has it: the list says the kind, and has a version.
                    items = [
                        {key: value for key, value in each.items() if key not in ("kind", "apiVersion")}
                        for each in some
                    ]
                    head = {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {"resourceVersion": str(7 * at)}}
                    path.write_text(json.dumps(head | {"items": items}))
        else:
            past.look(at, *objects, folder=folder, gz=form == "gz", indent=4 if form == "indented" else None)
    return folder


@pytest.mark.parametrize("form", ["backwards", "two files", "raw lists", "indented", "gz"])
def test_the_form_of_the_files_makes_no_difference(past, form):
    plain = past.read(written(past, past.folder / "plain", ""))
    other = past.read(written(past, past.folder / "other", form))
    assert other.digest == plain.digest
    assert (other.past.names, other.past.job_node.tolist()) == (plain.past.names, plain.past.job_node.tolist())
    # a and b from 0 to 300 s, c from 300 to 600, d from 600 to 900; e and f were seen once.
    assert plain.num_jobs == 4


def test_a_look_that_cannot_be_read_is_left_out_by_name(past):
    for at in (0, 300, 600, 900):
        past.look(at, past.pod("a", "n1", start=-10), past.node("n1", beat=at), gz=at == 600)
    whole = past.read()
    files = sorted((past.folder / "looks").iterdir())
    files[1].write_bytes(files[1].read_bytes()[:-40])
    files[2].write_bytes(files[2].read_bytes()[:-9])
    instance = past.read()
    assert instance.past.until_s.tolist() == whole.past.until_s.tolist() == [900]
    said = next(note for note in instance.notes if note.startswith("Left out: 2 of 4 looks, which cannot be read"))
    assert all(path.name in said for path in files[1:3])
    for path in files:
        path.write_text("{")
    with pytest.raises(InstanceError, match=r"none of 4 looks can be read: look-2026-11-21T10-00-00Z.json"):
        past.read()


@pytest.mark.parametrize(
    ("items", "message"),
    [([], "it shows no Node and no Pod"), ([{"kind": "Node", "metadata": {"name": "n"}}], "it shows no Pod")],
)
def test_a_look_without_pods_or_nodes_is_none(past, items, message):
    past.look(0, past.pod("a", "n1", start=-10), past.node("n1"))
    past.look(300, *items)
    past.look(600, past.pod("a", "n1", start=-10), past.node("n1"))
    _, _, history = seen(past)
    assert history.looks == (past.start, past.start + 600)
    assert any(message in said for said in history.sentences)


def test_two_looks_of_one_time_are_refused(past):
    past.look(0, past.pod("a", "n1"), past.node("n1"))
    past.look(0, past.pod("a", "n1"), past.node("n1"), gz=True)
    with pytest.raises(InstanceError, match=r"are two looks of one time, 2026-11-21T10:00:00"):
        past.read()


def test_without_a_time_in_its_name_a_look_is_of_the_newest_time_inside(past):
    for at, name in ((0, "one.json"), (300, "two.json")):
        past.look(at, past.pod("a", "n1", start=-10), past.node("n1", beat=at), name=name)
    _, _, history = seen(past)
    assert history.looks == (past.start, past.start + 300)
    assert "The names of 2 files say no time, which is the newest that is in them." in history.sentences
    past.look(0, {"kind": "Pod", "metadata": {"name": "x"}}, name="three.json")
    with pytest.raises(InstanceError, match=r"three.json: neither its name nor an object in it says a time"):
        past.read()


def test_a_clock_of_another_zone_is_refused(past):
    past.look(0, past.pod("a", "n1"), past.node("n1", beat=0), name="2026-11-21T09-00.json")
    with pytest.raises(
        InstanceError, match=r"its name says 2026-11-21T09:00:00.00:00, an object in it 2026-11-21T10:00:00"
    ):
        past.read()


def test_gaps_between_looks_are_said(past):
    for at in (0, 300, 600, 900, 4500):
        past.look(at, past.pod("a", "n1", start=-10), past.node("n1"))
    said = "1 gaps between looks are longer than 900 s, 1.0 h in all, the longest 1.0 h from 2026-11-21 10:15 UTC on"
    assert any(sentence.startswith(said) for sentence in seen(past)[2].sentences)


def test_malformed_objects_are_left_out_by_name(past):
    broken = past.pod("x", "n1", start=-10)
    broken["spec"]["containers"] = []
    for at in (0, 300):
        past.look(at, past.pod("a", "n1", start=-10), broken, past.node("n1"))
    instance = past.read()
    assert instance.num_jobs == 1
    assert any("Left out, as Kubernetes has no such object: 1 objects: Pod shop/x" in note for note in instance.notes)


def test_pools_and_volumes_are_looked_at_too(past):
    wanted = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m"]}
    pool = {
        "kind": "NodePool",
        "metadata": {"name": "p"},
        "spec": {"template": {"spec": {"requirements": [wanted]}}},
    }
    pool["metadata"]["creationTimestamp"] = past.stamp(-9999)
    for beside in (True, False):
        for at in (0, 300):
            objects = [past.pod("a", "n1", start=-10), past.node("n1", labels={"karpenter.sh/nodepool": "p"})]
            past.look(at, *objects, *[pool] * (not beside))
        if beside:
            # Without it, machines like the node and new groups can be had.
            assert past.read(node_groups="kept").catalogue.type_names == ("m", "l")
            path = past.look(0, pool, name="nodepools.json") / "nodepools.json"
        assert past.read(node_groups="kept").catalogue.type_names == ("m",)
        path.unlink(missing_ok=True)


def test_files_that_are_none(past, tmp_path_factory):
    with pytest.raises(InstanceError, match=r"no file in this folder ends in .json"):
        past.read(tmp_path_factory.mktemp("empty"))
    with pytest.raises(InstanceError, match=r"no price list is given"):
        kubernetes(past.folder)


def test_json_that_is_no_list(past):
    (past.folder / "looks").mkdir()
    (past.folder / "looks" / "2026-11-21T10-00Z.json").write_text(
        json.dumps({"kind": "Pod", "metadata": {"name": "a"}})
    )
    with pytest.raises(InstanceError, match=r"its kind is 'Pod', not a List"):
        past.read()
