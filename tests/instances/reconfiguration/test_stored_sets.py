"""Stored sets: what they refuse, and how an instance holds them."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.delays import StoredSets, in_order
from schedgap.instances.reconfiguration.generators.jobs import eva_synthetic
from schedgap.instances.reconfiguration.model import shrink


def stored(**changes):
    fields = {
        "throughput": [[901, 902, 903], [911, 912, 913], [921, 922, 923]],
        "sorted_rank": [0, 1, 2],
        "listed_rank": [1, 0, 2],
        "long_rank": [-1, 1, 0],
        "most": 4,
        "most_long": 6,
    }
    return StoredSets(**{**fields, **changes})


def test_ranks_are_numbered_from_zero_on():
    made = stored(sorted_rank=[7, 2, 90], long_rank=[-1, 8, 5])
    assert made.sorted_rank.tolist() == [1, 0, 2]
    assert made.long_rank.tolist() == [-1, 1, 0]
    assert in_order(made.sorted_rank).tolist() == [1, 0, 2]
    assert in_order(made.long_rank).tolist() == [2, 1]


def test_those_of_some_workloads():
    few = stored().of_workloads(np.array([2, 0]))
    assert few.throughput.tolist() == [[923, 921], [903, 901]]
    assert few.sorted_rank.tolist() == [1, 0]
    assert few.listed_rank.tolist() == [1, 0]
    assert few.long_rank.tolist() == [0, -1]
    assert (few.most, few.most_long) == (4, 6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"throughput": [[900, 900]]}, r"throughput has shape \(1, 2\); give a row and column for each workload"),
        ({"throughput": np.full((3, 3), 1001)}, r"a throughput is 1001; give thousandths in 0\.\.1000"),
        ({"throughput": np.full((3, 3), -1)}, r"a throughput is -1"),
        ({"sorted_rank": [0, 1]}, r"sorted_rank has shape \(2,\) for 3 workloads"),
        ({"sorted_rank": [0, 1, 1]}, r"sorted_rank is \[0, 1, 1\]; give each workload a rank of its own, not negative"),
        ({"listed_rank": [0, 1, -1]}, r"listed_rank is \[0, 1, -1\]; give each"),
        ({"long_rank": [0, -2, -1]}, r"long_rank is \[0, -2, -1\]; give each"),
        ({"long_rank": [0, 0, -1]}, r"long_rank is \[0, 0, -1\]; give each"),
        ({"most": 2}, r"most is 2 and most_long 6; give at least 3"),
        ({"most_long": 3}, r"most is 4 and most_long 3; .* the second not below the first"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(InstanceError, match=f"stored sets: {message}"):
        stored(**changes)


def test_an_instance_without_them_has_the_digest_that_it_always_had():
    assert eva_synthetic(5).digest == "aa6b7e738262d662a8b79997b3156b78fe5c0534170bd475f318fcd9dc222e5d"


def test_they_are_content(two_jobs, swapped):
    base = two_jobs()
    made = base.replace(stored_sets=swapped)
    assert made.replace(name="other", notes=("said",)).digest == made.digest
    changes = {
        "throughput": [[701, 900], [600, 500]],
        "sorted_rank": [0, 1],
        "listed_rank": [1, 0],
        "long_rank": [-1, -1],
        "most": 4,
        "most_long": 5,
    }
    fields = {key: getattr(swapped, key) for key in changes}
    others = [made.replace(stored_sets=StoredSets(**{**fields, key: value})) for key, value in changes.items()]
    assert len({each.digest for each in [base, made, *others]}) == 8
    assert made.replace(stored_sets=None).digest == base.digest
    assert np.array_equal(made.replace(period_s=61).stored_sets.throughput, swapped.throughput)


def test_they_are_renumbered_with_the_workloads(two_jobs, swapped):
    """The same jobs with workload b as the first in the catalogue."""
    base = two_jobs(stored_sets=swapped)
    turned = np.array([1, 0])
    other = two_jobs(
        catalogue=base.catalogue.replace(
            workloads=("b", "a"), class2workload=turned, throughput=base.throughput[np.ix_(turned, turned)]
        ),
        stored_sets=swapped.of_workloads(turned),
        **{key: getattr(base, key)[turned] for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")},
    )
    assert other.digest == base.digest
    assert other.stored_sets.throughput.tolist() == [[700, 900], [600, 500]]


def test_they_have_the_workloads_of_the_catalogue(two_jobs):
    with pytest.raises(
        InstanceError, match=r"two-jobs: stored_sets has 3 workloads, the catalogue 2; give the same ones"
    ):
        two_jobs(stored_sets=stored())


def test_shrinking_keeps_them():
    instance = eva_synthetic(40, interference="artifact-sets")
    small = shrink(instance)
    assert small.stored_sets.num_workloads == len(small.catalogue.workloads) < len(instance.catalogue.workloads)
    kept = np.arange(small.stored_sets.num_workloads)
    assert np.array_equal(small.stored_sets.throughput, instance.stored_sets.throughput[np.ix_(kept, kept)])
