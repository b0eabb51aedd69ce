from schedgap.instances.arrays import record
from schedgap.instances.jit import kernel


class Clock:
    now: int
    speed: float


@kernel
def tick(clock):
    clock[0].now += 2
    clock[0].speed *= 0.5
    return clock[0].now


def test_fields_are_read_and_changed_by_name():
    clock = record(Clock, speed=3.0)
    assert (clock[0].now, clock[0].speed) == (0, 3.0)
    assert tick(clock) == 2
    clock[0].now += 1
    assert tick(clock) == 5
    assert (int(clock[0].now), float(clock[0].speed)) == (5, 0.75)
