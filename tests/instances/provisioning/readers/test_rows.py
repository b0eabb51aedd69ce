"""Instances in dollars an hour, cores and GiB: the same as in units, or refused."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import build_provisioning, table3

SMALL = {"name": "small", "price": 0.17, "cores": 4, "gib": 8}
TASK = {"cores": 1, "gib": 2}


def test_the_example_of_eva_table_3():
    """The same instance as in thousandths, MiB and micro-dollars, down to its digest."""
    types = [("it1", 12, 4, 16, 244), ("it2", 3, 1, 4, 61), ("it3", "0.8", 0, 8, 32), ("it4", 0.4, 0, 4, 16)]
    tasks = [("tau1", 2, 8, 24), ("tau2", 1, 4, 10), ("tau3", 0, 6, 20), ("tau4", 0, 4, 12)]
    built = build_provisioning(
        [dict(zip(("name", "price", "gpus", "cores", "gib"), row, strict=True)) for row in types],
        [dict(zip(("name", "gpus", "cores", "gib"), row, strict=True)) for row in tasks],
    )
    assert built.digest == table3().digest


def test_units():
    """0.1 core is 100 thousandths and 1.5 GiB are 1536 MiB, however they are written; without GPUs there is no resource."""
    types = [{**SMALL, "count": 3}, {**SMALL, "name": "other", "price": "0.000001", "family": "arm"}]
    ways = (0.1, "0.1", "1e-1", Decimal("0.1"), Fraction(1, 10), np.float64(0.1))
    tasks = [{"cores": cores, "gib": 1.5, "count": np.int64(2)} for cores in ways]
    built = build_provisioning(types, [*tasks, {**TASK, "name": "db"}], name="mine")
    assert built.name == "mine"
    assert built.resources == ("cpu", "ram_gib")
    assert built.families == ("any", "arm")
    assert built.price.tolist() == [170_000, 1]
    assert built.capacity.tolist() == [[4000, 8192]] * 2
    assert built.stock.tolist() == [3, -1]
    assert built.demand.tolist() == [[[100, 1536]] * len(ways) + [[1000, 2048]]] * 2
    assert built.counts.tolist() == [2] * len(ways) + [1]
    assert built.class_names == (*(f"task-{i}" for i in range(len(ways))), "db")


def test_without_names_and_stock():
    built = build_provisioning([SMALL], [TASK, {**TASK, "gpus": 0}])
    assert (built.class_names, built.stock) == (None, None)


@pytest.mark.parametrize(
    ("types", "tasks", "problem"),
    [
        (
            [{**SMALL, "price": 0.1234567}],
            [TASK],
            r"built: types\[0\] \(small\): price is 0.1234567, no whole number of 1/1000000 dollars an hour; "
            r"give 0.123456 or 0.123457\.",
        ),
        (
            [SMALL],
            [{"cores": 1, "gib": "3.8"}],
            r"built: tasks\[0\]: gib is 3.8, no whole number of 1/1024 GiB; give 3.7998046875 or 3.80078125\.",
        ),
        ([SMALL], [{**TASK, "cores": 0.1 + 0.2}], r"cores is 0.30000000000000004, no .*; give 0.3 or 0.301\."),
        ([SMALL], [{**TASK, "count": 1.5}], r"count is 1.5, no whole number; give 1 or 2\."),
        ([SMALL], [{**TASK, "cores": -1}], r"tasks\[0\]: cores is -1; give a number of cores from 0 to 1\d+\."),
        ([SMALL], [{**TASK, "cores": float("nan")}], "cores is nan; give a number"),
        ([SMALL], [{**TASK, "cores": True}], "cores is True; give a number"),
        ([SMALL], [{**TASK, "gib": "2GiB"}], "gib is '2GiB'; give a number of GiB"),
        ([SMALL], [{**TASK, "gib": 2**60}], "gib is 1152921504606846976; give a number"),
        ([SMALL], [{"cores": 1}], r"built: tasks\[0\] has no gib; give it one\."),
        (
            [SMALL],
            [{**TASK, "gpu": 1}],
            r"has 'gpu', which is not known; did you mean gpus\? known are cores, gib, gpus",
        ),
        ([SMALL], ["db"], r"built: tasks\[0\] is 'db'; give a mapping with cores, gib\."),
        ([], [TASK], "built: no machine types"),
        ([SMALL], [], "built: no tasks"),
        ([SMALL], [{**TASK, "count": 0}], "task task-0 has count 0"),
        ([{**SMALL, "price": 0}], [TASK], "machine type small has price 0"),
        ([SMALL], [{**TASK, "cores": 5}], "task task-0 .*5 cpu"),
    ],
)
def test_refused(types, tasks, problem):
    with pytest.raises(InstanceError, match=problem):
        build_provisioning(types, tasks)
