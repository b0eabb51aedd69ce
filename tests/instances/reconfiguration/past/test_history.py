"""What a past means as an instance: times rounded inward, what was paid, who was where; all by hand."""

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.work_bound import bound_presence
from schedgap.instances.errors import InstanceError


def test_times_are_rounded_inward_and_what_was_paid_is_exact(past):
    """One pod from 310 to 2000 s is there from 600 to 1800; its node is paid from 200 to 3600 s, at 3.6 $/h."""
    pods = [past.ran(past.pod("a", "n1"), 310, 2000)]
    instance = past.instance(pods, [past.there(past.node("n1"), 200, 3600)])
    assert (instance.period_s, instance.arrival_s.tolist(), instance.work_s.tolist()) == (300, [600], [1200])
    assert (instance.past.from_s.tolist(), instance.past.until_s.tolist()) == ([200], [3600])
    assert (instance.past.start, instance.past.end_s) == (past.start, 3600)
    assert instance.past.paid_micro(instance.catalogue.price) == 3_400_000
    assert instance.running is None
    assert (instance.acquire_s.tolist(), instance.upload_s.tolist(), instance.terminate_s) == ([0, 0], [30], 0)


def test_a_pod_without_a_whole_period_is_left_out_and_counted(past):
    """From 310 to 590 no period of 300 s is whole: 280 of 280 + 3600 s are lost."""
    pods = [past.ran(past.pod("a", "n1"), 0, 3600), past.ran(past.pod("b", "n1"), 310, 590)]
    instance = past.instance(pods, [past.there(past.node("n1"), -60, 3600)])
    assert instance.num_jobs == 1
    said = (
        "7.2% of all pod-hours are not in the instance; 1 of 2 pods, which were there for no whole one, are left out."
    )
    assert any(note.endswith(said) for note in instance.notes)
    # By the minute it counts: from 360 to 540.
    assert past.instance(pods, [past.there(past.node("n1"), -60, 3600)], period_s=60).work_s.tolist() == [3600, 180]
    with pytest.raises(
        InstanceError, match="of 1 pods none that is to be packed was on a node for a whole period of 300 s"
    ):
        past.instance(pods[1:], [past.there(past.node("n1"), -60, 3600)])


@pytest.mark.parametrize(("looks", "period_s"), [(60, 60), (20, 60), (900, 900), (0, 300)])
def test_the_grid_is_the_median_time_between_looks(past, looks, period_s):
    pods, nodes = [past.ran(past.pod("a", "n1"), 0, 3600)], [past.there(past.node("n1"), -60, 3600)]
    assert past.instance(pods, nodes, looks=looks).period_s == period_s


def test_what_runs_at_the_first_look_is_there_at_second_0(past):
    """n1 is older than the first look; n2 is born after it; b comes at 600 s, c began long before."""
    pods = [
        past.ran(past.pod(*each), *times)
        for each, times in (
            (("a", "n1"), (-500, 3600)),
            (("b", "n1"), (600, 3600)),
            (("c", "n1"), (-9000, 900)),
            (("d", "n2"), (900, 1500)),
        )
    ]
    instance = past.instance(pods, [past.there(past.node("n1"), -9000, 3600), past.there(past.node("n2"), 700, 2000)])
    assert instance.running.names == ("n1",)
    assert instance.running.task_class.tolist() == [0, 1]
    assert instance.arrival_s.tolist() == [0, 0, 600, 900]
    assert [instance.past.names[e] for e in instance.past.job_node] == ["n1", "n1", "n1", "n2"]


def test_a_node_is_paid_while_a_pod_on_it_is_known_to_run(past):
    """The node's last look is at 600 s; its pod's end says 1500."""
    pods = [past.ran(past.pod("a", "n1"), 0, 1500)]
    instance = past.instance(pods, [past.there(past.node("n1"), -60, 600)])
    assert instance.past.until_s.tolist() == [1500]


def test_pods_one_after_the_other_do_not_fill_a_node(past):
    """Four pods of 3 cores on a node of 4, each in its own hour: its type stays m, and no other type is made."""
    pods = [past.ran(past.pod(f"a-{n}", "n1", "3"), 3600 * n, 3600 * n + 3600) for n in range(4)]
    instance = past.instance(pods, [past.there(past.node("n1"), -60, 14400)], end=14400)
    assert instance.catalogue.type_names == ("m", "l")
    # Of 4000 thousandths, pods of 3000 cannot tell what is above 3000.
    assert instance.catalogue.capacity[0].tolist()[0] == 3000
    assert not any("ask for more than is left there" in note for note in instance.notes)


def test_an_overfull_node_has_room_for_what_was_on_it_at_a_time(past):
    """Two pods of 3 cores at a time on a node of 4: a type of its own has 6; all that ran can run."""
    pods = [past.ran(past.pod(name, "n1", "3"), 0, 3600) for name in "ab"]
    pods.append(past.ran(past.pod("c", "n1", "3"), 3600, 7200))
    instance = past.instance(pods, [past.there(past.node("n1"), -60, 7200)], end=7200)
    place = instance.past.machine_type[0]
    assert instance.catalogue.capacity[place].tolist()[0] == 6000
    assert instance.running.task_class.tolist() == [0, 1]


def test_names_that_come_twice_are_other_pods_and_nodes(past):
    """A StatefulSet's pod comes again under its name, on another node that has the first one's name."""
    a = past.pod("a-0", "n1", owner=("StatefulSet", "a"))
    pods = [past.ran(a, 0, 900), past.ran(a, 1200, 3600, on="n1@2")]
    nodes = [past.there(past.node("n1"), -60, 1000), past.there(past.node("n1", "l"), 1100, 3600, name="n1@2")]
    instance = past.instance(pods, nodes)
    assert (instance.num_jobs, instance.past.names) == (2, ("n1", "n1@2"))
    assert [instance.catalogue.type_names[k] for k in instance.past.machine_type] == ["m", "l"]
    # 1000 s at 3.6 $/h, 2500 s at 7.2.
    assert instance.past.paid_micro(instance.catalogue.price) == 1_000_000 + 5_000_000


def test_what_comes_with_nodes_is_no_job(past):
    """DaemonSets and static pods take a core each of both nodes: three are left, of new machines too."""
    pods = []
    for place in ("n1", "n2"):
        pods.append(past.ran(past.pod(f"agent-{place}", place, owner=("DaemonSet", "agent")), -50, 3600))
        mirror = {"annotations": {"kubernetes.io/config.mirror": "x"}}
        pods.append(past.ran(past.pod(f"proxy-{place}", place, meta=mirror), -50, 3600))
    pods.append(past.ran(past.pod("a", "n1"), 0, 3600))
    nodes = [past.there(past.node(name), -60, 3600) for name in ("n1", "n2")]
    instance = past.instance(pods, nodes)
    assert instance.num_jobs == 1
    assert instance.catalogue.capacity[:, 0].tolist() == [2000, 6000]
    assert instance.past.paid_micro(instance.catalogue.price) == 7_200_000
    (took,) = [note for note in instance.notes if note.startswith("DaemonSets and static pods took ")]
    assert took.startswith("DaemonSets and static pods took 3.60 $ of what was paid, 50.0%: ")


def test_a_node_that_nothing_came_to_does_not_tell_that_daemons_are_missing(past):
    """n2 was seen once, before its DaemonSet's pod and its static one: new machines of both types have two cores less."""
    mirror = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    pods = [
        past.ran(past.pod("agent-1", "n1", owner=("DaemonSet", "agent")), -50, 3600),
        past.ran(past.pod("proxy-n1", "n1", meta=mirror), -50, 3600),
        past.ran(past.pod("a", "n1"), 0, 3600),
    ]
    nodes = [past.there(past.node("n1"), -60, 3600), past.there(past.node("n2"), 890, 900)]
    instance = past.instance(pods, nodes)
    assert instance.catalogue.type_names == ("m", "l")
    assert instance.catalogue.capacity[:, 0].tolist() == [2000, 6000]
    assert instance.past.paid_micro(instance.catalogue.price) == 3_610_000


def test_start_up_delays_are_the_medians_of_nodes_that_began(past):
    """m: 90, 100 and 200 s; l: its first pod came 400 s after it; n0 was there before."""
    times = (("n0", "m", -900, -890), ("n1", "m", 300, 390), ("n2", "m", 300, 400), ("n3", "m", 600, 800))
    nodes = [past.there(past.node(name, kind), born, 3600, ready) for name, kind, born, ready in times]
    nodes.append(past.there(past.node("n4", "l"), 600, 3600))
    pods = [past.ran(past.pod("a", "n4"), 1000, 3600), past.ran(past.pod("b", "n4"), 1300, 3600)]
    assert past.instance(pods, nodes).setup_s.tolist() == [100, 400]
    assert (
        past.instance(pods, nodes[:4] + nodes[4:])
        .notes[2]
        .startswith(
            "From its order until it runs pods a new machine takes the median of 4 nodes that began: l 400 s, m 100 s"
        )
    )
    assert past.instance(pods, nodes, boot_s=7).setup_s.tolist() == [7, 7]
    old = [past.there(past.node("n4", "l"), -60, 3600)]
    assert past.instance(pods, old).setup_s.tolist() == [60, 60]


def test_pods_kept_apart_are_relaxed_and_said(past):
    term = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    made = [
        past.pod(f"a-{n}", f"n{n}", owner=("StatefulSet", "a"), meta={"labels": {"app": "a"}}, affinity=apart)
        for n in (1, 2)
    ]
    nodes = [past.there(past.node(name), -60, 3600) for name in ("n1", "n2")]
    instance = past.instance([past.ran(each, 0, 3600) for each in made], nodes)
    assert instance.catalogue.per_machine is None
    assert "Relaxed: at most one a machine of 2 pods of shop/a." in instance.notes


def test_a_pod_on_a_node_that_was_never_seen_is_left_out(past):
    pods = [past.ran(past.pod("a", "n1"), 0, 3600), past.ran(past.pod("b", "gone"), 0, 3600)]
    instance = past.instance(pods, [past.there(past.node("n1"), -60, 3600)])
    assert instance.num_jobs == 1
    assert any("on a node that is not there" in note and "shop/b" in note for note in instance.notes)


def test_parameters_that_are_none(past):
    pods, nodes = [past.ran(past.pod("a", "n1"), 0, 3600)], [past.there(past.node("n1"), -60, 3600)]
    for key, value in (("period_s", -1), ("boot_s", -2), ("restart_s", -1)):
        with pytest.raises(InstanceError, match=f"{key}( is)? {value}"):
            past.instance(pods, nodes, **{key: value})


def random_past(past, rng):
    """Up to five pods on up to three nodes; each pod within the time of its node, and no node overfull on purpose."""
    nodes, pods = [], []
    for n in range(int(rng.integers(1, 4))):
        first = int(rng.integers(-600, 1800))
        last = int(rng.integers(first + 60, 3601)) if first < 3500 else 3600
        nodes.append(past.there(past.node(f"n{n}", str(rng.choice(["m", "l"]))), first, max(last, 1)))
        for p in range(int(rng.integers(0, 3))):
            since = int(rng.integers(first, nodes[-1].last_s - past.start + 1))
            until = int(rng.integers(since, nodes[-1].last_s - past.start + 1))
            pods.append(past.ran(past.pod(f"p{n}-{p}", f"n{n}", str(rng.integers(1, 4))), since, until))
    return pods, nodes


def test_no_floor_is_above_what_was_paid_and_less_seen_is_no_higher_a_floor(past):
    """Cutting known times, as leaving a look out does, and a node on which nothing depends: the bound can only fall."""
    rng, tried = np.random.default_rng(5), 0
    for _ in range(40):
        pods, nodes = random_past(past, rng)
        if not any(
            (life.last_s - past.start) // 300 * 300 >= -(-max(life.first_s - past.start, 0) // 300) * 300 + 300
            for life in pods
        ):
            continue
        instance = past.instance(pods, nodes)
        floor = bound_presence(instance).bound
        assert floor <= instance.past.paid_micro(instance.catalogue.price)
        more = [*nodes, past.there(past.node("idle", "l"), -60, 3600)]
        assert bound_presence(past.instance(pods, more)).bound <= floor
        for life in pods:
            life.first_s = min(life.first_s + int(rng.integers(0, 120)), life.last_s)
            life.last_s = max(life.last_s - int(rng.integers(0, 120)), life.first_s)
        try:
            less = past.instance(pods, nodes)
        except InstanceError:
            continue
        assert bound_presence(less).bound <= floor
        tried += 1
    assert tried > 10
