import numpy as np
import pytest

from schedgap.instances import VerifyError
from schedgap.instances.provisioning import Provisioning, verify

# two_families: a a b c c; types x-small, x-large, y-small.
GOOD = {"types": [2, 0, 0], "patterns": [[2, 0, 0], [0, 0, 1], [0, 1, 0]], "repeat": [1, 2, 1]}


def solution(types, patterns, repeat):
    return Provisioning.from_patterns(types, repeat, patterns)


def test_cost_of_a_feasible_solution(two_families):
    # 0.7 for both a on y-small, 2 x 1.0 for c, 1.0 for b on x-small.
    assert verify(two_families, solution(**GOOD)) == 3_700_000


def test_named_tasks_are_checked_too(two_families):
    placed = Provisioning.from_tasks(two_families, [2, 0, 0, 0], [0, 0, 3, 1, 2])
    assert verify(two_families, placed) == 3_700_000
    lie = Provisioning(
        placed.machine_type, placed.repeat, placed.indptr, placed.task_class, placed.count, [0, 3, 0, 1, 2]
    )
    with pytest.raises(VerifyError, match="not those counted per class"):
        verify(two_families, lie)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"patterns": [[2, 0, 0], [0, 0, 1], [0, 2, 0]]}, r"is over capacity: its tasks need 8 cpu, it has 4 cpu"),
        ({"repeat": [1, 1, 1]}, "1 tasks of c are placed, the instance has 2"),
        ({"repeat": [1, 3, 1]}, "3 tasks of c are placed, the instance has 2"),
        ({"types": [2, 2, 0]}, "task c may not run on family y"),
        ({"types": [2, 7, 0]}, r"machine type 7 is outside 0..2"),
    ],
)
def test_names_the_first_violation(two_families, change, message):
    with pytest.raises(VerifyError, match=message):
        verify(two_families, solution(**{**GOOD, **change}))


def test_refuses_negative_counts_and_duplicate_entries(two_families):
    good = solution(**GOOD)
    with pytest.raises(VerifyError, match="number of tasks -1"):
        verify(two_families, Provisioning(good.machine_type, good.repeat, good.indptr, good.task_class, [-1, 1, 1]))
    twice = Provisioning([2, 0, 0], [1, 2, 1], [0, 2, 3, 4], [0, 0, 2, 1], [1, 1, 1, 1])
    with pytest.raises(VerifyError, match="same task class twice"):
        verify(two_families, twice)


def test_needs_no_more_than_the_integers_say(two_families):
    """One milli-CPU over capacity is infeasible; exactly at capacity is feasible."""
    demand = two_families.demand.copy()
    demand[1, 0, 0] = 2001
    with pytest.raises(VerifyError, match=r"4.002 cpu, it has 4 cpu"):
        verify(two_families.replace(demand=demand), solution(**GOOD))


def test_empty_solution_places_nothing(two_families):
    empty = solution([], np.empty((0, 3)), [])
    with pytest.raises(VerifyError, match="0 tasks of a are placed"):
        verify(two_families, empty)
