"""Running machines, stocks and moves: what a solution may be, and how many tasks it moves."""

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances.errors import InstanceError, VerifyError
from schedgap.instances.provisioning import (
    NOT_ALLOWED,
    Provisioning,
    ProvisioningInstance,
    Running,
    consolidation,
    disruption,
    keeping,
    merge_equal_classes,
    moves,
    read_instance,
    read_solution,
    verify,
    write_instance,
    write_solution,
)
from schedgap.instances.provisioning.measures import measures
from schedgap.instances.provisioning.model import shrink
from schedgap.instances.provisioning.moves import features
from schedgap.instances.provisioning.running import ONE_TASK

SMALL, LARGE = 0, 1


def cluster(**changes):
    """Two types of 4 and 8 cores; three classes; two small machines and a large one run, one task is pending."""
    running = Running.from_contents(("a", "b", "c"), [SMALL, SMALL, LARGE], [[2, 0, 0], [0, 1, 0], [1, 1, 0]])
    instance = ProvisioningInstance(
        name="cluster",
        resources=("cpu",),
        families=("m",),
        type_names=("small", "large"),
        type2family=[0, 0],
        capacity=[[4000], [8000]],
        price=[100_000, 190_000],
        demand=[[[1000], [2000], [3000]]],
        counts=[3, 2, 1],
        class_names=("web", "api", "db"),
        running=running,
    )
    return instance.replace(**changes)


def solution(types, content, keeps):
    return replace(Provisioning.from_patterns(types, np.ones(len(types), np.int64), content), keeps=np.array(keeps))


def test_moves_are_the_tasks_that_leave_a_running_machine():
    instance = cluster()
    # a and c stay; b goes, its one task moves to c; the pending db joins a's place on a new machine.
    plan = solution([SMALL, LARGE, SMALL], [[2, 0, 0], [1, 2, 0], [0, 0, 1]], [0, 2, -1])
    assert verify(instance, plan) == 390_000
    assert moves(instance, plan) == 1
    assert moves(instance, replace(plan, keeps=None)) == 5
    assert verify(instance.replace(max_disruption=ONE_TASK), plan) == 390_000
    with pytest.raises(VerifyError, match="1 tasks leave their machines, at most 0 may"):
        verify(instance.replace(max_disruption=0), plan)


@pytest.mark.parametrize(
    ("keeps", "message"),
    [
        ([0, 3, -1], "keeps running machine 3; the instance has 3"),
        ([1, 2, 1], "b is kept 2 times"),
        ([2, 0, -1], "is a small and keeps c, a large"),
    ],
)
def test_a_running_machine_is_kept_once_and_as_what_it_is(keeps, message):
    plan = solution([SMALL, LARGE, SMALL], [[2, 0, 0], [1, 2, 0], [0, 0, 1]], keeps)
    with pytest.raises(VerifyError, match=message):
        verify(cluster(), plan)


def test_of_several_machines_kept_too_often_the_first_is_named_with_its_own_number():
    plan = solution([SMALL, LARGE], [[2, 0, 0], [0, 1, 1]], [0, 2])
    with pytest.raises(VerifyError, match="a is kept 2 times"):
        verify(cluster(counts=[4, 3, 3]), replace(plan, repeat=np.array([2, 3])))


def test_stock_limits_the_machines_of_a_type():
    plan = solution([SMALL, LARGE, SMALL], [[2, 0, 0], [1, 2, 0], [0, 0, 1]], [0, 2, -1])
    assert verify(cluster(stock=[2, 1]), plan) == 390_000
    assert verify(cluster(stock=[-1, 1]), plan) == 390_000
    with pytest.raises(VerifyError, match="2 machines of type small are used, 1 can be had"):
        verify(cluster(running=None, stock=[1, -1]), replace(plan, keeps=None))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stock": [1, -1]}, "2 machines of type small run, its count is 1"),
        ({"stock": [-2, 0]}, "small has count -2"),
        ({"fee": [200_000, 0]}, "small has a fee of 0.2 within a price of 0.1"),
        ({"max_disruption": -ONE_TASK}, "max_disruption is -1"),
        ({"running": None, "max_disruption": ONE_TASK}, "no machine runs"),
        ({"counts": [2, 2, 1]}, "3 tasks of web are on running machines, the instance has 2"),
    ],
)
def test_contradictions_are_refused(changes, message):
    with pytest.raises(InstanceError, match=message):
        cluster(**changes)


@pytest.mark.parametrize(
    ("names", "content", "message"),
    [(("a", "a"), [[1], [1]], "'a' is named 2 times"), (("a", "b"), [[-1], [1]], "a holds -1 tasks")],
)
def test_running_machines_are_checked(names, content, message):
    with pytest.raises(InstanceError, match=message):
        Running.from_contents(names, [0, 0], content)


def test_features_and_digest_tell_instances_apart():
    plain = cluster(running=None)
    assert features(plain) == frozenset()
    assert features(cluster()) == frozenset()
    assert features(cluster(stock=[-1, 5])) == {"stock"}
    assert features(cluster(max_disruption=3 * ONE_TASK, stock=[-1, -1])) == {"disruption"}
    kinds = (plain, cluster(), cluster(max_disruption=3 * ONE_TASK), cluster(stock=[-1, 5]), cluster(fee=[1, 1]))
    assert len({each.digest for each in kinds}) == len(kinds)
    assert plain.replace(notes=("read",)).digest == plain.digest


def test_equal_classes_merge_unless_moves_are_limited():
    twins = cluster(demand=[[[1000], [1000], [3000]]])
    assert merge_equal_classes(twins).instance.num_classes == 2
    assert merge_equal_classes(twins.replace(max_disruption=ONE_TASK)).instance.num_classes == 3


def test_shrinking_keeps_what_runs_consistent():
    running = Running.from_contents(("a",), [LARGE], [[5, 1, 0]])
    small = shrink(cluster(counts=[5, 2, 1], running=running, max_disruption=ONE_TASK))
    assert small.running.contents(3).tolist() == [[2, 1, 0]]


def test_classes_that_may_not_run_somewhere_stay_off():
    instance = cluster(
        families=("m", "g"),
        type2family=[0, 1],
        demand=[[[1000], [2000], [NOT_ALLOWED]], [[1000], [2000], [3000]]],
    )
    plan = solution([SMALL, LARGE, SMALL], [[2, 0, 0], [1, 2, 0], [0, 0, 1]], [0, 2, -1])
    with pytest.raises(VerifyError, match="db may not run on family m"):
        verify(instance, plan)


@settings(deadline=None)
@given(st.data())
def test_keeping_leaves_as_many_tasks_as_any_matching_would(data):
    size = data.draw(st.integers(1, 4))
    content = st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=size, max_size=size)
    before = np.array(data.draw(content))
    after = np.array(data.draw(content.filter(lambda rows: all(any(row) for row in rows))))
    counts = np.maximum(before.sum(axis=0), after.sum(axis=0))
    spare = counts - after.sum(axis=0)
    rows = [*after.tolist(), *([spare.tolist()] if spare.any() else [])]
    types = [0] * size + [1] * (len(rows) - size)
    instance = ProvisioningInstance(
        "match", ("cpu",), ("m",), ("a", "b"), [0, 0], [[8000], [99_000]], [10, 10], [[[1000], [1000]]], np.maximum(counts, 1),
        running=Running.from_contents(tuple("pqrs"[:size]), [0] * size, before),
    )  # fmt: skip
    plan = keeping(instance, Provisioning.from_patterns(types, [1] * len(rows), rows))
    least = min(int(np.maximum(before - after[list(order)], 0).sum()) for order in permutations(range(size)))
    assert moves(instance, plan) == least


def test_files_keep_stocks_fees_running_machines_and_what_is_kept(tmp_path):
    instance = cluster(stock=[4, -1], fee=[10_000, 0], max_disruption=2 * ONE_TASK, usual_tasks=(("small", 29),))
    write_instance(instance, tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    assert document["machine_types"][0] | {"price": 0.09, "fee": 0.01, "count": 4} == document["machine_types"][0]
    assert document["running"][0] == {"name": "a", "type": "small", "counts": {"web": 2}}
    again = read_instance(tmp_path / "i.json")
    assert (again.digest, again.usual_tasks) == (instance.digest, (("small", 29),))
    plan = solution([SMALL, LARGE, SMALL], [[2, 0, 0], [1, 2, 0], [0, 0, 1]], [0, 2, -1])
    for each in (plan, plan.with_tasks(instance)):
        write_solution(instance, each, tmp_path / "s.json")
        read = read_solution(instance, tmp_path / "s.json")
        assert verify(instance, read) == 390_000
        assert moves(instance, read) == 1


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ({"name": "a", "type": "huge", "counts": {}}, "running machine a names type 'huge', which the file has not"),
        ({"name": "a", "type": "small", "counts": {"db2": 1}}, "names task 'db2', which the file has not"),
    ],
)
def test_a_running_machine_of_a_file_names_what_is_there(tmp_path, machine, message):
    write_instance(cluster(), tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text()) | {"running": [machine]}
    (tmp_path / "i.json").write_text(json.dumps(document))
    with pytest.raises(InstanceError, match=message):
        read_instance(tmp_path / "i.json")


def test_memory_counts_in_the_unit_that_its_name_says(tmp_path):
    instance = ProvisioningInstance(
        *("bytes", ("ram_bytes", "ram_kib"), ("m",), ("a",), [0], [[2_000_000_000, 5]], [10]),
        *([[[1_907_348_633, 5]]], [1], ("one",)),
    )
    write_instance(instance, tmp_path / "i.json")
    assert json.loads((tmp_path / "i.json").read_text())["tasks"][0]["demand"] == {"any": [1_907_348_633, 5]}
    assert read_instance(tmp_path / "i.json").digest == instance.digest


def test_an_old_limit_on_moves_is_one_on_disruption(tmp_path):
    """Files from before there were weights keep their digest, and so does what generators make."""
    made = consolidation(150, kinds=6, max_disruption=15, seed=1)
    assert made.digest == "127277351bedc476d5ae7011ea58252df521af560ba7a18f3e13c80d38db5942"
    write_instance(made, tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    assert document.pop("max_disruption") == 15
    document["max_moves"] = 15
    (tmp_path / "old.json").write_text(json.dumps(document))
    old = read_instance(tmp_path / "old.json")
    assert (old.digest, old.max_disruption) == (made.digest, 15 * ONE_TASK)
    (tmp_path / "old.json").write_text(json.dumps(document | {"max_disruption": 3}))
    with pytest.raises(InstanceError, match="max_disruption and max_moves are both given"):
        read_instance(tmp_path / "old.json")


WEIGHTS = [ONE_TASK // 2, ONE_TASK + 1, 10 * ONE_TASK]


def weighted(**changes):
    running = replace(cluster().running, node_disruption=[ONE_TASK, 0, ONE_TASK // 4])
    return cluster(running=running, disruption=WEIGHTS, **changes)


def test_disruption_is_what_leaves_and_what_goes():
    """As above a and c stay and b goes with an api: 1 + 2^-27, b counts nothing; without a two web and a, too."""
    plan = solution([SMALL, LARGE, SMALL], [[2, 0, 0], [1, 2, 0], [0, 0, 1]], [0, 2, -1])
    assert disruption(weighted(), plan) == ONE_TASK + 1
    assert disruption(cluster(), plan) == ONE_TASK
    anew = replace(plan, keeps=np.array([-1, 2, -1]))
    assert disruption(weighted(), anew) == 3 * ONE_TASK + 1
    assert verify(weighted(max_disruption=3 * ONE_TASK + 1), anew) == 390_000
    with pytest.raises(VerifyError, match=r"the disruption is 3.00000000.*: 3 tasks leave.*; at most 3 may be"):
        verify(weighted(max_disruption=3 * ONE_TASK), anew)
    assert measures(weighted(), anew)["disruption"] == 3 + 2**-27
    assert "disruption" not in measures(cluster(), anew)


def test_files_keep_weights_exactly(tmp_path):
    instance = weighted(max_disruption=5 * ONE_TASK // 2)
    write_instance(instance, tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    assert [task.get("disruption") for task in document["tasks"]] == [0.5, 1 + 2**-27, 10]
    assert [machine.get("node_disruption") for machine in document["running"]] == [1, None, 0.25]
    assert document["max_disruption"] == 2.5
    again = read_instance(tmp_path / "i.json")
    assert again.digest == instance.digest
    digests = {instance.digest, cluster().digest, weighted().digest, cluster(disruption=WEIGHTS).digest}
    assert len(digests) == 4
    assert cluster(disruption=[ONE_TASK] * 3).digest == cluster().digest
    # Where moves are counted, part of one is none.
    assert cluster(max_disruption=5 * ONE_TASK // 2).max_disruption == 2 * ONE_TASK


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"disruption": [1, 2]}, "disruption has shape"),
        ({"disruption": [-1, 1, 1]}, "has disruption -1; it must be from 0 to"),
        ({"disruption": [1001 * ONE_TASK, 1, 1]}, "it must be from 0 to"),
    ],
)
def test_weights_that_are_none(changes, message):
    with pytest.raises(InstanceError, match=message):
        cluster(**changes)
    with pytest.raises(InstanceError, match="'node_disruption' of the running machines"):
        replace(cluster().running, node_disruption=[1, -2, 3])


def test_machines_are_matched_by_what_their_tasks_count():
    """A plan's one machine holds a web and an api: kept as b it saves the api, as a the web, which counts half."""
    plan = Provisioning.from_patterns([SMALL], [1], [[1, 1, 0]])
    small = Running.from_contents(("a", "b"), [SMALL, SMALL], [[2, 0, 0], [0, 1, 0]])
    instance = cluster(running=small, disruption=[ONE_TASK, 3 * ONE_TASK, ONE_TASK])
    assert keeping(instance, plan).keeps.tolist() == [1]
    assert keeping(instance.replace(disruption=[3 * ONE_TASK, ONE_TASK, ONE_TASK]), plan).keeps.tolist() == [0]
