"""What a policy may answer: how many machines it buys, whom it starts where, and for whom it rents."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from schedgap.heuristics.player import Whole
from schedgap.instances.errors import MethodError
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting.verify import MAX_MACHINES

if TYPE_CHECKING:
    from schedgap.instances.waiting.simulator.simulator import Simulator


@dataclass(frozen=True, slots=True)
class Buy:
    """The first action, and no later one: so many fixed machines; a job that has waited for `wait_limit_s` rents."""

    machines: int
    wait_limit_s: float = math.inf


@dataclass(frozen=True, slots=True)
class Start:
    """Start a waiting job on a fixed machine now."""

    job: int
    machine: int


@dataclass(frozen=True, slots=True)
class Rent:
    """Rent a machine for a waiting job now."""

    job: int


Action: TypeAlias = Start | Rent


class ActionsDocument(msgspec.Struct, forbid_unknown_fields=True):
    """Actions as a program answers them: at the first decision `buy`, and `wait_limit_s` if there is one; later the others.

    start : (job, machine) each. rent : jobs, after those that start.
    """

    buy: Whole | None = None
    wait_limit_s: float | None = None
    start: list[tuple[Whole, Whole]] = []
    rent: list[Whole] = []

    def actions(self) -> Buy | list[Action]:
        """Return the actions.

        Raises
        ------
        MethodError
            if machines are bought together with anything else.
        """
        if self.buy is None:
            if self.wait_limit_s is not None:
                raise MethodError("the policy answers wait_limit_s without buy; give it at the first decision.")
            return [*(Start(job, machine) for job, machine in self.start), *(Rent(job) for job in self.rent)]
        if self.start or self.rent:
            raise MethodError("the policy buys, and starts or rents at once; no job has come when it buys.")
        return Buy(self.buy, math.inf if self.wait_limit_s is None else self.wait_limit_s)


def checked_purchase(answer: object) -> Buy:
    """Return what a policy answered before the first job.

    Raises
    ------
    MethodError
        for anything but a purchase of machines that can be.
    """
    if not isinstance(answer, Buy):
        raise MethodError(
            f"first decision: the policy returned {type(answer).__name__}; where observation.num_machines is None, return "
            "Buy(machines)."
        )
    number = _whole("first decision", "machines", answer.machines)
    if not 0 <= number <= MAX_MACHINES:
        raise MethodError(f"first decision: the policy buys {number} machines; buy 0 to {MAX_MACHINES}.")
    return Buy(number, answer.wait_limit_s)


def checked_actions(answer: object) -> list[object]:
    """Return the actions of an answer: None for none, one, or a list of them."""
    if answer is None:
        return []
    return list(answer) if isinstance(answer, list | tuple) else [answer]


def checked_action(action: object, simulator: Simulator) -> Action:
    """Return an action that can be carried out now, its numbers as Python's.

    Raises
    ------
    MethodError
        for anything else, naming job, machine, both values and the way out.
    """
    where = f"decision at {simulator.now_us / SECOND_US:.12g} s"
    if isinstance(action, Buy):
        raise MethodError(
            f"{where}: the policy buys {action.machines} machines; it bought {simulator.free.shape[0]} before the first job, "
            "and buys once. Return Start, Rent or None."
        )
    if not isinstance(action, Start | Rent):
        raise MethodError(f"{where}: the policy returned {type(action).__name__}; return Start, Rent, a list or None.")
    job = _whole(where, "job", action.job)
    if not simulator.waits(job):
        raise MethodError(f"{where}: job {job} does not wait; choose one of observation.job.")
    if isinstance(action, Rent):
        return Rent(job)
    machine, number = _whole(where, "machine", action.machine), simulator.free.shape[0]
    if not 0 <= machine < number:
        raise MethodError(
            f"{where}: the policy starts job {job} on machine {machine}; there are {number}, the first is 0. Rent for the job "
            "or leave it."
        )
    instance = simulator.instance
    needs = (int(instance.cores[job]), int(instance.memory_mib[job]))
    for what, needed, free in zip(("cores", "MiB"), needs, simulator.free[machine].tolist(), strict=True):
        if needed > free:
            raise MethodError(
                f"{where}: the policy starts job {job}, which needs {needed} {what}, on machine {machine}, where {free} are "
                "free; choose another machine, rent for the job or leave it."
            )
    return Start(job, machine)


def _whole(where: str, what: str, value: object) -> int:
    try:
        # To Python a bool is a whole number, but it names nothing.
        return operator.index(None if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except TypeError:
        raise MethodError(f"{where}: {what} is {value!r:.60}; give a whole number.") from None
