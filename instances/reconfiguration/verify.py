"""Whether a schedule keeps the rules, and what it costs, exactly."""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance, ReconfigurationSchedule
from schedgap.instances.reconfiguration.simulator.simulator import Simulator
from schedgap.instances.units import HOUR_S


def verify(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> int:
    """Play the schedule and return its total price in micro-dollars.

    A machine is paid by the second from its acquisition until `terminate_s` after its last task has left. No machine is
    over its capacity, in any plan and at any second; every plan holds every task that has arrived and not ended; every
    job does all of its work.

    Of a type with a stock there are never more machines than that. A machine counts from the plan that orders it until
    it is paid no more, so also while it is acquired, or while it is held by what has not left it yet; one that is given
    back before it is acquired counts until then. What leaves a machine at the very second of a plan leaves it after.

    The machines that run at second 0 are the schedule's first, may be released then, and are paid from then on.

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    return total_price(instance, played(instance, schedule))


def played(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> Simulator:
    """Return the simulator after a schedule.

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    # Here, since it brings Numba, which nobody needs who only lists or reads instances.
    from schedgap.instances.reconfiguration.simulator.simulator import replay

    _check_shapes(schedule)
    _check_machines(instance, schedule)
    _check_moves(instance, schedule)
    simulator = replay(instance, schedule)
    # After the play, which says what a missing machine means for a plan; only moves that nobody follows are left.
    if (n := first_true(~_within(schedule.move_machine, schedule.num_machines))) is not None:
        raise VerifyError(
            f"move {n} is to machine {schedule.move_machine[n]}; machines are 0..{schedule.num_machines - 1}."
        )
    return simulator


def total_price(instance: ReconfigurationInstance, simulator: Simulator) -> int:
    """Return the price of all machines in micro-dollars, rounded up once."""
    prices = instance.catalogue.price[simulator.leases["type"]].tolist()
    seconds = paid_s(simulator).tolist()
    total: int = sum(price * paid for price, paid in zip(prices, seconds, strict=True))
    return -(-total // HOUR_S)


def paid_s(simulator: Simulator) -> IntArray:
    """(M,) int64: for how many seconds each machine is paid."""
    seconds: IntArray = simulator.leases["paid_until"] - simulator.leases["paid_from"]
    return seconds


def _check_shapes(schedule: ReconfigurationSchedule) -> None:
    for fields in (("machine_type", "rented_s", "released_s"), ("move_s", "move_task", "move_machine")):
        shapes = {key: getattr(schedule, key).shape for key in fields}
        if len(set(shapes.values())) != 1 or len(next(iter(shapes.values()))) != 1:
            found = ", ".join(f"{key} {shape}" for key, shape in shapes.items())
            raise VerifyError(f"these must have one length: {found}.")


def _check_machines(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> None:
    num_types = instance.catalogue.num_types
    size = 0 if instance.running is None else instance.running.size
    checks = (
        (
            "is of type",
            schedule.machine_type,
            ~_within(schedule.machine_type, num_types),
            f"types are 0..{num_types - 1}",
        ),
        ("is rented at second", schedule.rented_s, _no_plan(instance, schedule.rented_s), _plans(instance)),
        ("is released at second", schedule.released_s, _no_plan(instance, schedule.released_s), _plans(instance)),
        (
            "is released at second",
            schedule.released_s,
            schedule.released_s < schedule.rented_s + (np.arange(schedule.num_machines) >= size),
            "it must be after it was rented",
        ),
    )
    for what, values, bad, rule in checks:
        if (m := first_true(bad)) is not None:
            raise VerifyError(f"machine {m} {what} {values[m]}; {rule}.")
    if (m := first_true(np.diff(schedule.rented_s) < 0)) is not None:
        raise VerifyError(f"machine {m + 1} is rented before machine {m}; number machines in the order of renting.")
    if instance.running is not None:
        _check_running(instance, instance.running, schedule)


def _check_running(instance: ReconfigurationInstance, running: Running, schedule: ReconfigurationSchedule) -> None:
    names = instance.catalogue.type_names
    for e, (name, kind) in enumerate(zip(running.names, running.machine_type.tolist(), strict=True)):
        if e >= schedule.num_machines:
            raise VerifyError(
                f"the schedule has {schedule.num_machines} machines, the {running.size} that run at second 0 come first; "
                f"{name} is missing."
            )
        if schedule.machine_type[e] != kind or schedule.rented_s[e] != 0:
            raise VerifyError(
                f"machine {e} is a {names[schedule.machine_type[e]]} rented at {schedule.rented_s[e]} s, but running machine "
                f"{name} comes there, a {names[kind]} from second 0."
            )


def _check_moves(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> None:
    num_tasks = int(instance.num_tasks.sum())
    checks = (
        ("at second", schedule.move_s, _no_plan(instance, schedule.move_s), _plans(instance)),
        ("of task", schedule.move_task, ~_within(schedule.move_task, num_tasks), f"tasks are 0..{num_tasks - 1}"),
    )
    for what, values, bad, rule in checks:
        if (n := first_true(bad)) is not None:
            raise VerifyError(f"move {n} is {what} {values[n]}; {rule}.")
    later = np.diff(schedule.move_s)
    if (n := first_true((later < 0) | ((later == 0) & (np.diff(schedule.move_task) <= 0)))) is not None:
        raise VerifyError(
            f"move {n + 1} (task {schedule.move_task[n + 1]} at {schedule.move_s[n + 1]} s) comes after task "
            f"{schedule.move_task[n]} at {schedule.move_s[n]} s; order moves by time, then by task, once each."
        )


def _within(values: IntArray, stop: int) -> BoolArray:
    return (values >= 0) & (values < stop)


def _no_plan(instance: ReconfigurationInstance, seconds: IntArray) -> BoolArray:
    outside: BoolArray = (seconds < 0) | (seconds > MAX_TIME_S) | (seconds % instance.period_s != 0)
    return outside


def _plans(instance: ReconfigurationInstance) -> str:
    return f"plans are made every {instance.period_s} s, up to {MAX_TIME_S} s"
