"""Schedules that break a rule are refused in a sentence."""

import numpy as np
import pytest

from schedgap.instances.errors import VerifyError
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration.verify import played, verify

ALONE = ([(0, 0, 180), (0, 60, 180)], [(0, 0, 0), (60, 1, 1)])


def test_prices_are_summed_exactly_and_rounded_up_once(two_jobs, schedule_of):
    assert verify(two_jobs(), schedule_of(*ALONE)) == (178 + 118) * 1000
    cheap = two_jobs()
    cheap = cheap.replace(catalogue=cheap.catalogue.replace(price=[1]))
    # 296 s at a micro-dollar an hour.
    assert verify(cheap, schedule_of(*ALONE)) == 1


@pytest.mark.parametrize(
    ("machines", "moves", "sentence"),
    [
        ([(1, 0, 180)], [], "machine 0 is of type 1; types are 0..0."),
        ([(0, 30, 180)], [], "machine 0 is rented at second 30; plans are made every 60 s, up to 4294967296 s."),
        ([(0, -60, 180)], [], "machine 0 is rented at second -60; plans are made every 60 s, up to 4294967296 s."),
        ([(0, 60, 60)], [], "machine 0 is released at second 60; it must be after it was rented."),
        (
            [(0, 60, 180), (0, 0, 60)],
            [],
            "machine 1 is rented before machine 0; number machines in the order of renting.",
        ),
        (
            [(0, 0, 180)],
            [(1, 0, 0)],
            "move 0 is at second 1; plans are made every 60 s, up to 4294967296 s.",
        ),
        ([(0, 0, 180)], [(0, 2, 0)], "move 0 is of task 2; tasks are 0..1."),
        (ALONE[0], [*ALONE[1], (120, 0, -1)], "move 2 is to machine -1; machines are 0..1."),
        (ALONE[0], [*ALONE[1], (180, 0, 2)], "move 2 is to machine 2; machines are 0..1."),
        (
            [(0, 0, 180)],
            [(60, 0, 0), (0, 1, 0)],
            "move 1 (task 1 at 0 s) comes after task 0 at 60 s; order moves by time, then by task, once each.",
        ),
        (
            [(0, 0, 180)],
            [(0, 0, 0), (0, 0, 0)],
            "move 1 (task 0 at 0 s) comes after task 0 at 0 s; order moves by time, then by task, once each.",
        ),
        (
            [(0, 0, 180)],
            [],
            "plan at 0 s: task 0 of job 0 is on no machine; a plan holds every task that has arrived and not ended.",
        ),
        (
            [(0, 0, 180)],
            [(0, 0, 0)],
            "plan at 60 s: task 0 of job 1 is on no machine; a plan holds every task that has arrived and not ended.",
        ),
        (
            [(0, 0, 180)],
            [(0, 0, 1)],
            "plan at 0 s: task 0 of job 0 is on no machine; a plan holds every task that has arrived and not ended.",
        ),
        (
            [(0, 0, 60), (0, 60, 180)],
            [(0, 0, 0), (60, 1, 1)],
            "plan at 60 s: task 0 of job 0 is on machine 0 (four), which was released at 60 s.",
        ),
    ],
)
def test_names_the_first_violation(machines, moves, sentence, two_jobs, schedule_of):
    with pytest.raises(VerifyError) as caught:
        verify(two_jobs(), schedule_of(machines, moves))
    assert str(caught.value) == sentence


def test_refuses_columns_of_different_lengths(two_jobs, schedule_of):
    schedule = schedule_of(*ALONE)
    object.__setattr__(schedule, "move_task", schedule.move_task[:1])
    with pytest.raises(VerifyError, match=r"these must have one length: move_s \(2,\), move_task \(1,\)"):
        verify(two_jobs(), schedule)


def test_refuses_more_than_a_machine_holds(two_jobs, schedule_of):
    instance = two_jobs(num_tasks=[2, 1])
    with pytest.raises(VerifyError) as caught:
        verify(instance, schedule_of([(0, 0, 180)], [(0, 0, 0), (0, 1, 0), (60, 2, 0)]))
    assert str(caught.value) == "plan at 60 s: task 0 of job 1 overfills machine 0 (four): 5 cpu planned, it has 4 cpu."


def test_refuses_to_move_a_job_that_migrates(two_jobs, schedule_of):
    # With 200 s of setup job 0 still waits for its machine at 60.
    machines, moves = [(0, 0, 60), (0, 60, 600), (0, 60, 600)], [(0, 0, 0), (60, 0, 1), (60, 1, 2)]
    with pytest.raises(VerifyError) as caught:
        verify(two_jobs(setup_s=[200]), schedule_of(machines, moves))
    assert str(caught.value) == (
        "plan at 60 s: task 0 of job 0 is sent to machine 1 (four) while its job still migrates; wait until all of its "
        "tasks run."
    )


def test_refuses_a_family_that_the_class_may_not_run_on(two_jobs, schedule_of):
    instance = two_jobs()
    wider = instance.catalogue.replace(
        families=("x", "y"),
        type_names=("four", "other"),
        type2family=[0, 1],
        capacity=[[4000], [4000]],
        price=[3_600_000, 1],
        demand=[[[2000], [1000]], [[-1], [1000]]],
    )
    instance = instance.replace(catalogue=wider, acquire_s=[3, 3], setup_s=[7, 7])
    with pytest.raises(VerifyError) as caught:
        verify(instance, schedule_of([(1, 0, 180)], [(0, 0, 0)]))
    assert str(caught.value) == (
        "plan at 0 s: task 0 of job 0 is on machine 0 (other), but class task-0 may not run on family y."
    )


def test_a_job_that_ends_at_the_second_of_a_plan_is_not_moved(two_jobs, schedule_of):
    # Job 0 ends at 120; what the plan of 120 decides for it has no effect.
    machines = [(0, 0, 180), (0, 60, 180), (0, 120, 180)]
    plain = verify(two_jobs(), schedule_of(*ALONE))
    moved = verify(two_jobs(), schedule_of(machines, [(0, 0, 0), (60, 1, 1), (120, 0, 2)]))
    assert moved == plain + (60 + 1 - 3) * 1000


TURNS = [(0, 0, 0), (120, 1, 1)]


def with_stock(two_jobs, stock, **changes):
    """Job 0 of a second ends soon; job 1 is there from the plan of 120 s on."""
    instance = two_jobs(work_s=[1, 50], arrival_s=[0, 61], **changes)
    return instance.replace(catalogue=instance.catalogue.replace(stock=[stock]))


@pytest.mark.parametrize(
    ("released_s", "terminate_s", "acquire_s", "is_refused"),
    [
        # One machine is ordered when the other has been paid for long, or is given back and paid no more at once.
        (60, 1, 3, False),
        (120, 0, 3, False),
        # It is in the plan still, or its last second is paid for.
        (180, 1, 3, True),
        (120, 1, 3, True),
        (60, 60, 3, False),
        (60, 61, 3, True),
    ],
)
def test_a_machine_counts_from_its_order_until_it_is_paid_no_more(
    two_jobs, schedule_of, released_s, terminate_s, acquire_s, is_refused
):
    schedule = schedule_of([(0, 0, released_s), (0, 120, 240)], TURNS)
    fields = {"terminate_s": terminate_s, "acquire_s": [acquire_s]}
    for stock in (-1, 2):
        verify(with_stock(two_jobs, stock, **fields), schedule)
    if not is_refused:
        verify(with_stock(two_jobs, 1, **fields), schedule)
        return
    with pytest.raises(VerifyError) as caught:
        verify(with_stock(two_jobs, 1, **fields), schedule)
    assert str(caught.value) == (
        "plan at 120 s: 2 machines of type four are ordered or paid for, there are 1; order one when another is paid no "
        "more, or another type."
    )


def test_an_order_that_is_given_back_counts_until_it_is_acquired(two_jobs, schedule_of):
    # Machine 1 is ordered at 0 and given back at 60; it would have been paid from 130 on.
    schedule = schedule_of([(0, 0, 240), (0, 0, 60), (0, 120, 480)], [(0, 0, 0), (120, 1, 2)])
    instance = with_stock(two_jobs, 2, acquire_s=[130])
    with pytest.raises(
        VerifyError, match="plan at 120 s: 3 machines of type four are ordered or paid for, there are 2"
    ):
        verify(instance, schedule)
    assert verify(instance.replace(acquire_s=[120]), schedule) > 0


def test_a_fee_is_part_of_the_price(two_jobs, schedule_of):
    instance = two_jobs()
    instance = instance.replace(catalogue=instance.catalogue.replace(fee=[600_000]))
    assert verify(instance, schedule_of(*ALONE)) == (178 + 118) * 1000


def running_on(two_jobs, **changes):
    """Job 0 runs at second 0 on machine a, b is empty; job 1 comes at 0 too."""
    running = Running.from_contents(("a", "b"), [0, 0], np.array([[1, 0], [0, 0]]))
    return two_jobs(arrival_s=[0, 0], running=running, **changes)


def test_machines_that_run_are_paid_from_second_0(two_jobs, schedule_of):
    # Job 0 ends at 100, so a is released at 120 and paid until 121. b is given back at once, and paid for a second; job 1 goes
    # to a new machine, which is paid from 3 on and ends 2 + 50 s after its boot, at 62.
    schedule = schedule_of([(0, 0, 120), (0, 0, 0), (0, 0, 120)], [(0, 1, 2)])
    assert verify(running_on(two_jobs), schedule) == (121 + 1 + 118) * 1000
    # On a, job 0 goes at half its rate while job 1 is there: both from 2 on. Job 1, at 0.8, ends at 65 (62.5 s, rounded up).
    # Job 0 has done 2 + 31.5 by then, and ends at 132 (66.5 s, rounded up).
    assert verify(running_on(two_jobs), schedule_of([(0, 0, 180), (0, 0, 0)], [(0, 1, 0)])) == (181 + 1) * 1000


def test_who_leaves_a_machine_that_runs_pays_for_the_move(two_jobs, schedule_of):
    # Sent to b at 0, job 0 works on until 1, is saved until 3, then 1 fetch, 4 build, 5 init: 99 s are left at 13.
    schedule = schedule_of([(0, 0, 0), (0, 0, 120), (0, 0, 120)], [(0, 0, 1), (0, 1, 2)])
    simulator = played(running_on(two_jobs), schedule)
    assert simulator.jobs["finish"].tolist() == [112, 62]
    assert simulator.jobs["moves"].tolist() == [1, 0]
    # a is paid until the state is saved, and a second more.
    assert verify(running_on(two_jobs), schedule) == (4 + 121 + 118) * 1000


@pytest.mark.parametrize(
    ("machines", "moves", "sentence"),
    [
        (
            [(0, 0, 180)],
            [(0, 1, 0)],
            "the schedule has 1 machines, the 2 that run at second 0 come first; b is missing.",
        ),
        (
            [(0, 0, 180), (0, 60, 180)],
            [(0, 1, 0)],
            "machine 1 is a four rented at 60 s, but running machine b comes there, a four from second 0.",
        ),
        (
            [(0, 0, 180), (0, 0, 0), (0, 60, 60)],
            [(0, 1, 0)],
            "machine 2 is released at second 60; it must be after it was rented.",
        ),
        (
            [(0, 0, 180), (0, 0, 180)],
            [(60, 1, 1)],
            "plan at 0 s: task 0 of job 1 is on no machine; a plan holds every task that has arrived and not ended.",
        ),
        (
            [(0, 0, 0), (0, 0, 180)],
            [(0, 1, 1)],
            "plan at 0 s: task 0 of job 0 is on machine 0 (four), which was released at 0 s.",
        ),
    ],
)
def test_what_a_start_does_not_allow(machines, moves, sentence, two_jobs, schedule_of):
    with pytest.raises(VerifyError) as caught:
        verify(running_on(two_jobs), schedule_of(machines, moves))
    assert str(caught.value) == sentence


def test_machines_that_run_count_against_the_stock(two_jobs, schedule_of):
    instance = running_on(two_jobs, terminate_s=0)
    limited = instance.replace(catalogue=instance.catalogue.replace(stock=[2]))
    schedule = schedule_of([(0, 0, 120), (0, 0, 0), (0, 0, 120)], [(0, 1, 2)])
    # b is paid no more at the plan that gives it back, so that another can be had; not if it is paid for a second.
    assert verify(limited, schedule) == verify(instance, schedule)
    with pytest.raises(VerifyError, match="3 machines of type four are ordered or paid for, there are 2"):
        verify(limited.replace(terminate_s=1), schedule)
