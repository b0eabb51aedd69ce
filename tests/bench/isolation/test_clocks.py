"""The wall clock of a run, and how long its call took, by a clock that moves when told."""

from schedgap.bench.isolation.clocks import (
    MAX_COMPILE_S,
    PACKED_BYTES_PER_S,
    Allowance,
    CallClock,
    WallClock,
    reference_s,
)


def test_wall_stands_still_while_compiling(now):
    """3 s of 10 s pass, then 40 s of compiling: 7 s are left."""
    clock = WallClock(10.0, Allowance())
    now[0] += 3
    clock.pause()
    assert clock.deadline == now[0] + MAX_COMPILE_S
    now[0] += 40
    clock.resume()
    assert clock.deadline == now[0] + 7


def test_warm_means_the_whole_limit_again(now):
    clock = WallClock(10.0, Allowance())
    now[0] += 9
    clock.restart()
    assert clock.deadline == now[0] + 10


def test_starting_an_interpreter_takes_its_time(now):
    clock = WallClock(10.0, Allowance(start_s=100.0))
    assert clock.deadline == now[0] + 110
    clock.restart()
    assert clock.deadline == now[0] + 10


def test_nobody_gets_more_than_so_many_limits(now):
    """Twice the whole limit again, then what is left of it; 300 s of compiling in all."""
    clock = WallClock(10.0, Allowance(restarts=2))
    for _ in range(2):
        clock.restart()
    now[0] += 4
    clock.restart()
    assert clock.deadline == now[0] + 6
    clock.pause()
    clock.pause()
    now[0] += 200
    clock.resume()
    clock.pause()
    assert clock.deadline == now[0] + MAX_COMPILE_S - 200


def test_a_call_takes_what_passes_between_its_messages(now):
    """5 s, then a repetition of 3 s, which counts; of code of ours, packing does not."""
    clock = CallClock()
    assert clock.took(0)[0] is None
    for seconds in (5, 3):
        assert clock.called()
        assert clock.took(0)[0] is None
        now[0] += seconds
        assert clock.returned()
    now[0] += 2
    assert clock.took(0)[0] == 3
    assert not clock.called()


def test_of_foreign_code_all_counts_from_its_instance_to_its_answer(now):
    """0.5 s before the call, 3 s, and 1 s after it; some of it is what reading and packing take."""
    clock = CallClock(is_foreign=True)
    clock.given(int(1.5 * PACKED_BYTES_PER_S))
    now[0] += 0.5
    assert clock.called()
    now[0] += 3
    assert clock.returned()
    now[0] += 1
    assert clock.took(0)[0] == 3
    assert clock.took(int(0.5 * PACKED_BYTES_PER_S))[0] == 3
    now[0] += 1
    assert clock.took(int(0.5 * PACKED_BYTES_PER_S))[0] == 3.5
    assert not clock.called()


def test_processor_seconds_count_as_those_of_the_clock_do(now):
    """Two processors: 2 s before the call, 6 s in it, 2 s after it; of these 2 are what reading and packing take."""
    for is_foreign, cpu_s in ((True, 8), (False, 6)):
        clock = CallClock(lambda: 2 * now[0], is_foreign=is_foreign)
        clock.given(int(PACKED_BYTES_PER_S))
        now[0] += 1
        clock.called()
        now[0] += 3
        clock.returned()
        now[0] += 1
        assert clock.took(int(PACKED_BYTES_PER_S)) == (3, cpu_s)


def test_a_fixed_piece_of_work_takes_some_time():
    assert reference_s() > 0
