"""The best schedule with hindsight, and the floors, against every schedule of tiny histories; and what its plans keep."""

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.clairvoyant_program import clairvoyant_program
from schedgap.formulations.reconfiguration.hindsight import hindsight
from schedgap.formulations.reconfiguration.work_bound import bound_presence, bound_progress
from schedgap.formulations.reconfiguration.work_prices import bound_work
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration.model import FAMILY
from schedgap.instances.reconfiguration.verify import verify
from tests.oracles.reconfiguration import cheapest


def history(plain, seed):
    """Two to four pods of one or two classes on two types of machines, some of them running at second 0."""
    rng = np.random.default_rng(seed)
    has_start = rng.random() < 0.3
    jobs, period = 2 if has_start else int(rng.integers(2, 5)), 100
    arrival_s = np.sort(rng.integers(0, 2, jobs)) * period
    arrival_s -= arrival_s[0]
    classes = tuple(np.concatenate(([0], rng.integers(0, 2, jobs - 1))).tolist())
    first = sorted(set(classes), key=classes.index)
    instance = plain(
        rng.integers(1, 3, jobs) * period,
        classes=tuple(first.index(c) for c in classes),
        arrival_s=arrival_s,
        setup_s=[int(rng.choice([0, 30, 60]))],
        upload_s=np.full(len(first), int(rng.choice([0, 10]))),
        period_s=period,
    )
    catalogue = instance.catalogue
    instance = instance.replace(
        catalogue=catalogue.replace(
            type_names=("large", "small"),
            type2family=[0, 0],
            capacity=[[3000], [1000]],
            price=[int(rng.integers(4, 10)) * 900, 3600],
            demand=rng.integers(1, 3, (1, catalogue.num_classes, 1)) * 500,
        ),
        acquire_s=[0, 0],
        setup_s=np.repeat(instance.setup_s, 2),
    )
    if has_start:
        there = np.flatnonzero(arrival_s == 0)[:2]
        content = np.zeros((1, jobs), np.int64)
        content[0, there] = 1
        instance = instance.replace(running=Running.from_contents(("node",), (0,), content))
    return instance


def least(instance, cost):
    """The least cost of all schedules; None where nothing proves it."""
    if instance.running is not None:
        return cheapest(instance, cost + 1)
    found = clairvoyant_program(instance, time_limit_s=2.0)
    return found.bound if found.status is Status.OPTIMAL else None


@pytest.mark.parametrize("seed", range(14))
def test_floors_and_the_schedule_against_the_optimum(plain, seed):
    instance = history(plain, seed)
    cost = verify(instance, hindsight(instance).solution)
    best = least(instance, cost)
    if best is None:
        pytest.skip("no optimum is proven in time")
    for bound in (bound_presence, bound_progress, bound_work):
        assert bound(instance).bound <= best
    assert best <= cost <= 2 * best


def test_pods_are_packed_onto_one_machine(plain):
    # Two of 1 CPU share a machine of 2 CPU, for 200 s and 100 s: a micro-dollar a second.
    instance = plain((200, 100))
    assert verify(instance, hindsight(instance).solution) == 200


def test_a_wasteful_start_is_repacked(plain):
    # Each on a machine of its own, for 1,000 s: 2,000. One moves at once, for 10 s more of its old machine and 50 s of the new.
    instance = plain((1000, 1000), upload_s=[10])
    content = np.eye(2, dtype=np.int64)
    instance = instance.replace(running=Running.from_contents(("a", "b"), (0, 0), content))
    assert verify(instance, hindsight(instance).solution) == 1060


def test_who_keeps_apart_stays_apart(plain):
    instance = plain((200, 200))
    catalogue = instance.catalogue.replace(per_machine=[1])
    schedule = hindsight(instance.replace(catalogue=catalogue)).solution
    assert np.unique(schedule.move_machine).size == 2


@pytest.mark.parametrize("change", [{"throughput": [[900]]}, {}])
def test_what_it_does_not_plan_for_is_unsupported(plain, change):
    instance = plain((100,), **change) if change else plain((100,), num_tasks=[2])
    assert find_method(FAMILY, "hindsight").run(instance).status is Status.UNSUPPORTED


def test_no_time_gives_no_schedule(plain):
    outcome = hindsight(plain((100,)), time_limit_s=0.0)
    assert (outcome.solution, outcome.status) == (None, Status.NO_SOLUTION)
