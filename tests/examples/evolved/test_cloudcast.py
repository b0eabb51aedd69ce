"""The family of cloudcast: costs by hand, the cheapest tree against all choices of links, and answers that lie."""

import json
import os
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from outside import Outside

from schedgap.bench import gap
from schedgap.instances.errors import InstanceError, VerifyError
from schedgap.instances.family import Scored

ROOT = Path(__file__).resolve().parents[3]
OWN = Outside(ROOT / "examples" / "evolved" / "cloudcast.py")
FACTS = Path(os.environ.get("SCHEDGAP_FACTS", ROOT.parent / "shared" / "facts")) / "evolved"


@pytest.fixture(autouse=True)
def task():
    with OWN.known() as module:
        yield module


def small(task, **changes):
    """A source s, a hub h, and destinations a and b: s to each for $0.10 a GB, s to h for $0.08, h to each for $0.01.

    Two partitions of 30 GB. A machine sends 5 Gbit/s from s and h, 2 from a and b; all receive 10.
    """
    instance = task.CloudcastInstance(
        "small",
        ("s", "h", "a", "b"),
        [5, 5, 2, 2],
        [10, 10, 10, 10],
        [0, 0, 0, 1, 1, 2],
        [2, 3, 1, 2, 3, 3],
        [100_000, 100_000, 80_000, 10_000, 10_000, 5_000],
        0,
        [2, 3],
        2,
        30,
    )
    return instance.replace(**changes) if changes else instance


def paths(task, *given):
    """Paths as `partition destination: region region ...`, without the source."""
    hops = []
    for text in given:
        pair, _, route = text.partition(":")
        regions = [0, *map(int, route.split())]
        hops += [(*map(int, pair.split()), *hop) for hop in pairwise(regions)]
    return task.Paths(*np.array(hops, np.int64).reshape(-1, 4).T)


def run(name, instance, **keywords):
    return OWN.methods[name].run(instance, **keywords)


DIRECT = ("0 0: 2", "0 1: 3", "1 0: 2", "1 1: 3")
HUB = ("0 0: 1 2", "0 1: 1 3", "1 0: 1 2", "1 1: 1 3")
# 30 GB at 5 Gbit/s, at $0.54 an hour: 900,000 nano-dollars a region; at 2 Gbit/s 2,250,000.
FAST, SLOW = 900_000, 2_250_000


def test_costs_by_hand(task):
    """A partition that branches at the hub is sent there once; the regions in use and the slowest link make up the rest."""
    instance = small(task)
    assert task.verify(instance, paths(task, *DIRECT)) == 4 * 30 * 100_000_000 + 3 * FAST
    assert task.verify(instance, paths(task, *HUB)) == 2 * 30 * 100_000_000 + 4 * FAST
    mixed = (*DIRECT[:2], *HUB[2:])
    assert task.verify(instance, paths(task, *mixed)) == 30 * (200 + 100) * 10**6 + 4 * FAST
    chain = ("0 0: 1 2", "0 1: 1 2 3", "1 0: 1 2", "1 1: 1 2 3")
    assert task.verify(instance, paths(task, *chain)) == 2 * 30 * 95_000_000 + 4 * SLOW
    assert task.measures(instance, paths(task, *HUB)) == {"regions": 4, "links": 3}


def test_methods_by_hand(task):
    """The chain over a slow link saves $0.30 of egress and costs $0.0054 more for machines; dear machines turn that round."""
    instance = small(task)
    costs = {
        name: task.verify(instance, run(name, instance).solution) for name in ("direct", "shortest-paths", "steiner")
    }
    chain = 2 * 30 * 95_000_000 + 4 * SLOW
    assert costs == {"direct": 12_000_000_000 + 3 * FAST, "shortest-paths": 6_000_000_000 + 4 * FAST, "steiner": chain}
    dear = instance.replace(machine_price=540_000 * 100)
    assert task.verify(dear, run("steiner", dear).solution) == run("steiner", dear).bound == 6_000_000_000 + 400 * FAST


def best_of_all(task, instance):
    """The least cost over all sets of links in which each region that is entered is entered once: all trees, one for all."""
    best, count = None, instance.tail.size
    for number in range(1, len(instance.regions)):
        for links in combinations(range(count), number):
            before = {int(instance.head[link]): int(instance.tail[link]) for link in links}
            if len(before) < number or instance.source in before:
                continue
            try:
                routes = [route(before, int(end), instance.source) for end in instance.destinations]
            except (KeyError, RecursionError):
                continue
            given = [
                f"{p} {d}: {' '.join(map(str, each))}"
                for p in range(instance.partitions)
                for d, each in enumerate(routes)
            ]
            cost = task.verify(instance, paths(task, *given))
            best = cost if best is None else min(best, cost)
    return best


def route(before, end, source, most=9):
    if most == 0:
        raise RecursionError
    return [] if end == source else [*route(before, before[end], source, most - 1), end]


@pytest.mark.parametrize("seed", range(4))
def test_against_all_trees(task, seed):
    """Five regions, of which two or three are destinations; machines cheap, and so dear that slow links are avoided."""
    given = task.random_regions(5, 2 + seed % 2, 2, seed=seed)
    for price in (540_000, 900_000_000):
        instance = given.replace(machine_price=price)
        found = run("steiner", instance)
        assert task.verify(instance, found.solution) == found.bound == best_of_all(task, instance)
        flow = run("bound-flow", instance).bound
        assert 0 < flow <= found.bound


@pytest.mark.parametrize("seed", range(5))
def test_two_proofs_agree(task, seed):
    """The linear program's duals prove the tree's cost to within the last digits where its optimum is whole; never more."""
    instance = task.random_regions(14, 5, 3, seed=seed)
    found, flow = run("steiner", instance), run("bound-flow", instance).bound
    assert task.verify(instance, found.solution) == found.bound
    assert 0.9 * found.bound < flow <= found.bound
    for name in ("direct", "shortest-paths"):
        assert task.verify(instance, run(name, instance).solution) >= found.bound


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "partition 0 ends at s, not at its destination a"),
        (DIRECT[:3], "partition 1 ends at s, not at its destination b"),
        (("0 0: 1", *DIRECT[1:]), "partition 0 ends at h, not at its destination a"),
        (("0 0: 3", *DIRECT[1:]), "partition 0 ends at b, not at its destination a"),
        (("0 0: 2 1", *DIRECT[1:]), "a link from region 2 to 1, which is not there"),
        (("0 0: 0 2", *DIRECT[1:]), "a link from region 0 to 0, which is not there"),
        (("0 0: 7", *DIRECT[1:]), "a link from region 0 to 7, which is not there"),
        (("0 0: 2", *DIRECT), "partition 0 goes on from s; it is at a"),
        ((*DIRECT, "2 0: 2"), "a hop is of partition 2 to destination 0; their numbers go up to 1 and 1"),
        ((*DIRECT, "0 2: 2"), "a hop is of partition 0 to destination 2"),
        ((*DIRECT, "-1 0: 2"), "a hop is of partition -1 to destination 0"),
        ((*DIRECT, "0 -1: 2"), "a hop is of partition 0 to destination -1"),
    ],
    ids=str,
)
def test_what_delivers_not_all(task, given, message):
    with pytest.raises(VerifyError, match=message):
        task.verify(small(task), paths(task, *given))


def test_paths_that_begin_elsewhere_or_go_round(task):
    instance = small(task, tail=[0, 0, 2, 3, 3], head=[2, 3, 3, 2, 0], price=[1000] * 5, destinations=[2, 3])
    with pytest.raises(VerifyError, match="partition 0 goes on from b; it is at s"):
        task.verify(instance, task.Paths([0, 0, 1, 1], [0, 1, 0, 1], [3, 0, 0, 0], [2, 3, 2, 3]))
    for round_trip in ("0 0: 2 3 2", "0 0: 3 0 2"):
        with pytest.raises(VerifyError, match="twice on one path"):
            task.verify(instance, paths(task, round_trip, *DIRECT[1:]))


def test_columns_of_one_length(task):
    for columns in (([0], [0], [0], [2, 3]), ([[0]], [[0]], [[0]], [[2]])):
        with pytest.raises(VerifyError, match="the columns of hops differ in length"):
            task.verify(small(task), task.Paths(*map(np.array, columns)))


CHEATS = """
import numpy as np
from schedgap.instances import Outcome, method
from cloudcast import CloudcastInstance, Paths, direct

@method("prices-of-its-own", family="cloudcast")
def prices(instance):
    instance.price.setflags(write=True)
    instance.price[:] = 0
    return direct(instance)

@method("a-price-list-of-its-own", family="cloudcast")
def price_list(instance):
    object.__setattr__(instance, "price", np.zeros_like(instance.price))
    return direct(instance)

@method("another-instance", family="cloudcast")
def another(instance):
    return direct(instance.replace(price=np.zeros_like(instance.price), destinations=instance.destinations[:1]))

@method("edge-data", family="cloudcast")
def edge_data(instance):
    return {"paths": [["s", "a", {"cost": 0.0, "throughput": 100}]]}

@method("fewer-partitions", family="cloudcast")
def fewer(instance):
    paths = direct(instance)
    kept = paths.partition == 0
    return Paths(paths.partition[kept], paths.destination[kept], paths.tail[kept], paths.head[kept])

@method("a-bound-of-its-own", family="cloudcast")
def bound(instance):
    return Outcome(direct(instance), bound=10**15)

@method("an-optimum-of-its-own", family="cloudcast")
def optimum(instance):
    return Outcome(direct(instance), status="optimal", details={"cost": 0})
"""
SAID = {
    "prices-of-its-own": ("error", "WRITEABLE"),
    "a-price-list-of-its-own": ("invalid", "changed"),
    "another-instance": ("invalid", "not at its destination b"),
    "edge-data": ("invalid", "dict"),
    "fewer-partitions": ("invalid", "partition 1 ends at s"),
    "a-bound-of-its-own": ("invalid", "bound"),
    "an-optimum-of-its-own": ("feasible", ""),
}


def test_answers_that_lie(task, tmp_path):
    """Through the harness: prices are the instance's, whatever an answer says; honest paths have their honest cost."""
    (tmp_path / "cheats.py").write_text(CHEATS)
    found = gap(small(task), list(SAID), plugins=[tmp_path / "cheats.py"], bound="steiner")
    for record in found.records[: len(SAID)]:
        status, reason = SAID[record.run.method]
        assert (str(record.measurement.status), reason in (record.measurement.reason or "")) == (status, True), record
        honest = 12_000_000_000 + 3 * FAST
        assert record.measurement.objective == (honest if status == "feasible" else None)


def test_the_score_of_others(task):
    """Over the sum of all; one failed run makes it 0, however cheap the others are."""
    runs = [Scored(name, 120 * 10**9, {}) for name in "abcde"]
    nothing = {"sky": 0, "lb": 0}
    assert task.native_score(runs) == {"sky": 1 / 601, "lb": 100}
    assert task.native_score([*runs[:4], Scored("e", 719 * 10**9, {})]) == {"sky": 1 / 1200, "lb": 0}
    assert task.native_score([*runs[:4], Scored("e", None, {})]) == nothing
    assert task.native_score([]) == nothing


def test_files(task, tmp_path):
    instance, family = small(task), task.CLOUDCAST
    family.write_instance(instance, tmp_path / "a.json")
    assert family.read_instance(tmp_path / "a.json").digest == instance.digest
    family.write_solution(instance, paths(task, *HUB), tmp_path / "b.json")
    assert task.verify(instance, family.read_solution(instance, tmp_path / "b.json")) == 6_000_000_000 + 4 * FAST


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"destinations": []}, "give different destinations"),
        ({"destinations": [2, 2]}, "give different destinations"),
        ({"destinations": [0, 2]}, "not the source"),
        ({"destinations": [4]}, "between 0 and 3"),
        ({"head": [2, 3, 1, 2, 3, 2]}, "links join two regions"),
        ({"tail": [0, 0, 0, 1, 1, 1]}, "a link is given twice"),
        ({"source": 3, "destinations": [2]}, "no path leads to a"),
        ({"price": [-1, 0, 0, 0, 0, 0]}, "prices are from 0"),
        ({"price": [2**50, 0, 0, 0, 0, 0]}, "prices are from 0"),
        ({"egress": [5, 5, 0, 2]}, "rates are at least 1"),
        ({"partitions": 0}, "at least 1"),
        ({"regions": ("s", "s", "a", "b")}, "region 's' is given twice"),
        ({"price": [1]}, r"price has shape \(1,\)"),
    ],
    ids=str,
)
def test_what_is_no_instance(task, changes, message):
    with pytest.raises(InstanceError, match=message):
        small(task, **changes)


CONFIGURATION = {
    "name": "two",
    "source": "x:s",
    "destinations": ["y:a"],
    "gb": 60,
    "partitions": 2,
    "ingress": {"x": 10, "y": 16},
    "egress": {"x": 5, "y": 7},
}


def folder(tmp_path, *, prices=(",0.02,0.1", "0.01,,0.03", "0.2,0.3,"), columns="x:s,x:h,y:a", **changes):
    (tmp_path / "cost_matrix.csv").write_text(
        f"dollars_a_GB_from_row_to_column,{columns}\n"
        + "".join(f"{name},{row}\n" for name, row in zip(("x:s", "x:h", "y:a"), prices, strict=True))
    )
    (tmp_path / "configurations.json").write_text(json.dumps([CONFIGURATION | changes]))
    return tmp_path


def test_a_configuration(task, tmp_path):
    """60 GB: $0.05 over the hub against $0.1; 3 regions of 30 GB at 5 Gbit/s."""
    instance = task.configurations(folder(tmp_path), "two")
    assert (instance.regions, instance.gigabytes, instance.tail.size) == (("x:s", "x:h", "y:a"), 30, 6)
    assert run("steiner", instance).bound == 3_000_000_000 + 3 * FAST


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "three"}, "there is no configuration 'two'; it has three"),
        ({"gb": 61}, "61 GB are no whole number in each of 2 partitions"),
        ({"source": "x:gone"}, "there is no row of region 'x:gone'"),
        ({"prices": (",0.02,0.0000001", "0.01,,0.03", "0.2,0.3,")}, "not a whole number of 1/1000000"),
        ({"prices": (",0.02,", "0.01,,", "0.2,0.3,")}, "no path leads to y:a"),
        ({"prices": (",0.02,cheap", "0.01,,0.03", "0.2,0.3,")}, "a price is no number .*'cheap'"),
        ({"partitions": 0}, "partitions"),
        ({"columns": "x:s,x:h,y:b"}, "rows and columns name different regions"),
        ({"egress": {"x": 5}}, "limits no egress or ingress of 'y'"),
        ({"destinations": "y:a"}, "destinations"),
    ],
    ids=str,
)
def test_what_is_no_configuration(task, tmp_path, changes, message):
    with pytest.raises(InstanceError, match=message):
        task.configurations(folder(tmp_path, **changes), "two")


def test_a_folder_without_the_files(task, tmp_path):
    with pytest.raises(InstanceError, match=r"give a folder with one \*configurations.json and one \*cost_matrix.csv"):
        task.configurations(tmp_path)


def test_the_published_configurations(task):
    """Egress is 57, 99, 141, 160.5 and 160.5 dollars: $618.00. With what machines cost at least it is $618.031411606."""
    if not (FACTS / "cloudcast-cost_matrix.csv").exists():
        pytest.skip(f"the cost matrix is not there (SCHEDGAP_FACTS={FACTS.parent})")
    given = [
        task.configurations(FACTS, name)
        for name in ("intra_aws", "intra_azure", "intra_gcp", "inter_agz", "inter_gaz2")
    ]
    free = [each.replace(machine_price=0) for each in given]
    assert [run("steiner", each).bound / 10**9 for each in free] == [57, 99, 141, 160.5, 160.5]
    bounds = [run("steiner", each).bound for each in given]
    assert sum(bounds) == 618_031_411_606
    assert [task.verify(each, run("steiner", each).solution) for each in given] == bounds
    assert bounds[0] - 2 <= run("bound-flow", given[0]).bound <= bounds[0]


def test_what_the_generator_refuses(task):
    with pytest.raises(InstanceError, match="generator random-regions: 5 destinations of 5 regions"):
        task.random_regions(5, 5)
