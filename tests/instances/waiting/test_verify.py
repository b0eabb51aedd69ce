"""Feasibility and cost, each by hand on a few jobs; and against a slow check of every moment."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances.errors import SolutionError, VerifyError
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import RENTED, WaitingInstance, WaitingSchedule, costs, verify


def hours(*values):
    return np.array(values) * HOUR_US


def test_the_parts_of_the_cost(make):
    """One machine for 10 h: $4. Job 1 rents 1 core for 2 h: $2. Job 2 waits 3 h at $0.5: $1.5."""
    instance = make([0, 0, 1], [4, 2, 1], cores=[2, 1, 2], wait_price=500_000)
    schedule = WaitingSchedule(1, [0, RENTED, 0], hours(0, 0, 4))
    parts = costs(instance, schedule)
    assert (parts.fixed, parts.rented, parts.waiting) == (4_000_000 * HOUR_US, 2_000_000 * HOUR_US, 1_500_000 * HOUR_US)
    assert verify(instance, schedule) == 7_500_000


def test_machines_are_paid_until_the_last_job_on_them_ends(make):
    """The job ends at 12 h on one of two machines: 2 x 12 x $0.4. Rented for as long, it costs $1 an hour alone."""
    instance = make([9], [3])
    assert verify(instance, WaitingSchedule(2, [0], hours(9))) == 9_600_000
    assert verify(instance, WaitingSchedule(2, [RENTED], hours(9))) == 8_000_000 + 3_000_000


def test_the_sum_is_rounded_up_once(make):
    """Two microseconds at $1 an hour are 2 / 3,600 of a micro-dollar."""
    instance = make([0, 0], [1, 1]).replace(runtime_us=[1, 1])
    assert verify(instance, WaitingSchedule(0, [RENTED, RENTED], [0, 0])) == 1


def test_rents_beyond_64_bits_are_exact(make):
    """9 jobs of 10^12 us at $1,000,000 an hour."""
    instance = make([0] * 9, [1] * 9, rented_price=np.array([10**12, 10**12])).replace(runtime_us=[10**12] * 9)
    assert costs(instance, WaitingSchedule(0, [RENTED] * 9, [0] * 9)).rented == 9 * 10**24


def test_waits_beyond_64_bits_are_exact(make):
    """Eight jobs that wait 2^61 us each: the sum has 65 bits."""
    instance = make([0] * 8, [1] * 8, wait_price=1)
    schedule = WaitingSchedule(0, [RENTED] * 8, [2**61] * 8)
    assert costs(instance, schedule).waiting == 2**64
    assert verify(instance, schedule) == costs(instance, schedule).objective > 2**64 // HOUR_US


def test_a_start_beyond_all_time(make):
    with pytest.raises(VerifyError, match="job 1 starts at 9223372036854775807 us"):
        verify(make([0, 0], [1, 1]), WaitingSchedule(0, [RENTED] * 2, [0, 2**63 - 1]))


def test_what_ends_makes_room_for_what_starts(make):
    instance = make([0, 0], [1, 1], cores=[2, 2])
    assert verify(instance, WaitingSchedule(1, [0, 0], hours(0, 1))) == 4_000_000


@pytest.mark.parametrize(
    ("machines", "machine", "start", "message"),
    [
        (1, [0, 0], (0, 0), "machine 0 is over its 2 cores or 100 MiB when job 1 starts, at 0 s"),
        (1, [0, 1], (0, 0), "job 1 runs on machine 1; there are 1"),
        (1, [0, -2], (0, 0), "job 1 runs on machine -2"),
        (-1, [RENTED, RENTED], (0, 0), "-1 fixed machines are bought"),
        (2, [0, 1], (-1, 0), "job 0 starts 3600 s before it is submitted, at 0 s"),
        (1, [0, 0], (0, 6), "job 1 waits 21600 s; no job may wait longer than 18000 s"),
    ],
)
def test_what_is_infeasible_is_said(make, machines, machine, start, message):
    instance = make([0, 0], [1, 1], cores=[2, 1], max_wait_us=5 * HOUR_US)
    with pytest.raises(VerifyError, match=message):
        verify(instance, WaitingSchedule(machines, machine, hours(*start)))


def test_a_microsecond_too_much_is_shown(make):
    instance = make([0, 0], [1, 1], cores=[2, 1], max_wait_us=5 * HOUR_US)
    for machine, start_us, message in (
        ([0, 1], 5 * HOUR_US + 1, "waits 18000.000001 s; no job may wait longer than 18000 s"),
        ([0, 0], 59_999_999, "when job 1 starts, at 59.999999 s"),
        ([0, 1], -3_600_000_001, "starts 3600.000001 s before it is submitted, at 0 s"),
    ):
        with pytest.raises(VerifyError, match=message):
            verify(instance, WaitingSchedule(2, machine, [0, start_us]))


def test_memory_counts_like_cores(make):
    instance = make([0, 0], [1, 1], memory_mib=[60, 60])
    with pytest.raises(VerifyError, match="over its 2 cores or 100 MiB when job 1"):
        verify(instance, WaitingSchedule(1, [0, 0], hours(0, 0)))


def test_jobs_that_are_not_placed(make):
    with pytest.raises(VerifyError, match="1 jobs are placed, the instance has 2"):
        verify(make([0, 0], [1, 1]), WaitingSchedule(0, [RENTED], [0]))
    with pytest.raises(SolutionError, match="one entry a job"):
        WaitingSchedule(0, [RENTED], [0, 1])


def test_jobs_large_in_different_resources_share_a_machine(make):
    """2 of 3 cores with 10 of 100 MiB, beside 1 core with 90 MiB."""
    instance = make([0, 0], [1, 1], cores=[2, 1], memory_mib=[10, 90], machine_cores=3)
    assert verify(instance, WaitingSchedule(1, [0, 0], hours(0, 0))) == 4_000_000


def test_a_job_larger_than_a_machine(make):
    with pytest.raises(VerifyError, match="over its 2 cores or 100 MiB when job 1 starts"):
        verify(make([0, 3], [1, 1], cores=[2, 3]), WaitingSchedule(1, [0, 0], hours(0, 3)))


jobs = st.tuples(st.integers(0, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 3), st.integers(-1, 1))


@settings(deadline=None)
@given(st.lists(jobs, min_size=1, max_size=8))
def test_agrees_with_looking_at_every_moment(drawn):
    """Two machines of 3 cores and 3 MiB; times are microseconds, so every moment can be looked at."""
    drawn.sort()
    submit, runtime, cores, memory, machine = map(np.array, zip(*drawn, strict=True))
    instance = WaitingInstance("drawn", submit, runtime, cores, memory, 3, 3, 1, [9], [9], [1], 100)
    schedule = WaitingSchedule(2, machine, submit)
    fits = all(
        sum(amount[(machine == m) & (submit <= t) & (t < submit + runtime)]) <= 3
        for amount in (cores, memory)
        for m in (0, 1)
        for t in range(8)
    )
    if fits:
        verify(instance, schedule)
    else:
        with pytest.raises(VerifyError, match="is over its"):
            verify(instance, schedule)


def test_machines_as_a_numpy_integer_cost_what_they_cost(make):
    """200 machines at 2^50 us, $2^20 an hour: 200 x 2^50 x 2^20 x 10^6 has 98 bits; in NumPy's integers it wrapped."""
    instance = make([0], [1], fixed_price=2**20 * 10**6, horizon_us=2**50)
    for number in (200, np.int64(200), np.uint8(200)):
        schedule = WaitingSchedule(number, [0], hours(0))
        assert type(schedule.num_machines) is int
        assert verify(instance, schedule) == -(-200 * 2**70 * 10**6 // HOUR_US)


@pytest.mark.parametrize("number", [2.0, "2", None, np.array([1, 2])])
def test_machines_that_are_no_whole_number(number):
    with pytest.raises(SolutionError, match="num_machines: expected a whole number, got "):
        WaitingSchedule(number, [0], [0])


def test_largest_sizes_do_not_wrap(make):
    """Two jobs of 2^61 cores or MiB beside each other: 2^62 of 2^61; one after the other they fit."""
    large = {key: [2**61, 2**61] for key in ("cores", "memory_mib", "rented_cores", "rented_memory_mib")}
    instance = make([0, 0], [1, 1], machine_cores=2**61, machine_memory_mib=2**61, **large)
    with pytest.raises(VerifyError, match="is over its"):
        verify(instance, WaitingSchedule(1, [0, 0], hours(0, 0)))
    assert verify(instance, WaitingSchedule(1, [0, 0], hours(0, 1))) == 4_000_000


@pytest.mark.parametrize("start", [-(2**63), 2**63 - 1])
def test_starts_at_the_end_of_64_bits(make, start):
    with pytest.raises(VerifyError, match=r"job 0 starts"):
        verify(make([1], [1]), WaitingSchedule(1, [0], [start]))


@pytest.mark.parametrize("where", [np.array([2**64 - 1], np.uint64), np.array([1e300]), [2**64]])
def test_machines_beyond_64_bits_are_no_others(where):
    """As 64-bit integers these would be -1, for a rented machine, and -2^63."""
    with pytest.raises(SolutionError, match="machine: expected whole numbers of 64 bits"):
        WaitingSchedule(1, where, [0])
