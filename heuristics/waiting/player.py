"""Playing an online policy over an instance, without showing it the future.

A policy is a function from what is visible to its actions. It is asked first how many machines it buys; then whenever a job
arrives, a machine frees room or a job has waited to its limit, if there are jobs that wait:

    @policy("small-jobs-rent")
    def small_jobs_rent(observation, machines=4, wait_limit_s=3600.0, small=1):
        if observation.num_machines is None:
            return Buy(machines, wait_limit_s)
        for i, job in enumerate(observation.job):
            machine = observation.first_fit(i)
            if machine >= 0:
                return Start(job, machine)
            if observation.cores[i] <= small:
                return Rent(job)

It answers with an action, several, or None to leave all as it is, and is asked again at the same moment while it acts and
jobs wait. A job that it leaves at its limit rents then; one larger than a fixed machine rents when it comes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import msgspec
import numpy as np

from schedgap.heuristics.player import Whole, policy_decorator
from schedgap.heuristics.waiting.compiled.kernels_machines import NO_LIMIT_US
from schedgap.heuristics.waiting.policies import limit_of
from schedgap.instances.arrays import IntArray, locked
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting.model import FAMILY, WaitingInstance
from schedgap.instances.waiting.simulator import Simulator
from schedgap.instances.waiting.verify import MAX_MACHINES


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Machines and prices, known from the start. Letter used for shapes: K on-demand machine types.

    machine_cores, machine_memory_mib, fixed_price : of one fixed machine, micro-dollars per hour, due whether it is used or
    not. rented_cores, rented_memory_mib, rented_price : (K,) int64. wait_price : micro-dollars for an hour of waiting.
    max_wait_us : no job may wait longer; None for no such limit.
    """

    machine_cores: int
    machine_memory_mib: int
    fixed_price: int
    rented_cores: IntArray
    rented_memory_mib: IntArray
    rented_price: IntArray
    wait_price: int
    max_wait_us: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The present, in copies: nothing in it leads to what comes.

    Letters used for shapes: N waiting jobs, s fixed machines.

    num_machines : None at the first decision, before any job: the answer is `Buy`. free_cores, free_memory_mib : (s,) int64.
    job : (N,) int64, ascending, at least one at every other decision. submit_us, waited_us, cores, memory_mib : (N,) int64.
    rent : (N,) int64, micro-dollars per hour, what the job pays if it rents. limit_us : the longest wait, what the policy
    asked for when it bought, cut to what the instance allows; None for none. runtime_us : (N,) int64; None unless the policy
    knows runtimes. memory : the policy's own, empty at first and kept from decision to decision.
    """

    now_us: int
    terms: Terms
    num_machines: int | None
    free_cores: IntArray
    free_memory_mib: IntArray
    job: IntArray
    submit_us: IntArray
    waited_us: IntArray
    cores: IntArray
    memory_mib: IntArray
    rent: IntArray
    limit_us: int | None
    runtime_us: IntArray | None
    memory: dict[str, Any]

    def first_fit(self, i: int) -> int:
        """Return the first machine with room for the waiting job `job[i]`, -1 for none."""
        roomy = np.flatnonzero((self.free_cores >= self.cores[i]) & (self.free_memory_mib >= self.memory_mib[i]))
        return int(roomy[0]) if roomy.size else -1


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
        """Return the actions. Raises `MethodError` if machines are bought together with anything else."""
        if self.buy is None:
            if self.wait_limit_s is not None:
                raise MethodError("the policy answers wait_limit_s without buy; give it at the first decision.")
            return [*(Start(job, machine) for job, machine in self.start), *(Rent(job) for job in self.rent)]
        if self.start or self.rent:
            raise MethodError("the policy buys, and starts or rents at once; no job has come when it buys.")
        return Buy(self.buy, math.inf if self.wait_limit_s is None else self.wait_limit_s)


def checked_purchase(answer: object) -> Buy:
    """Return what a policy answered before the first job.

    Raises `MethodError` for anything but a purchase of machines that can be.
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

    Raises `MethodError` for anything else, naming job, machine, both values and the way out.
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


class Player:
    """One policy on one instance. `runtimes` are known of the jobs that wait."""

    family: ClassVar[str] = FAMILY
    knowledge: ClassVar[tuple[str, ...]] = ("runtimes",)
    options: ClassVar[Mapping[str, tuple[str | None, ...]]] = {}
    document: ClassVar[Any] = ActionsDocument | None

    def __init__(self, instance: WaitingInstance, knows: frozenset[str] = frozenset()) -> None:
        """Begin before any machine is bought."""
        self.instance = instance
        self.knows_runtimes = "runtimes" in knows
        # Copies, as all that a policy gets: whoever unlocks them does not change the instance.
        self.terms = Terms(
            machine_cores=instance.machine_cores,
            machine_memory_mib=instance.machine_memory_mib,
            fixed_price=instance.fixed_price,
            rented_cores=locked(instance.rented_cores.copy()),
            rented_memory_mib=locked(instance.rented_memory_mib.copy()),
            rented_price=locked(instance.rented_price.copy()),
            wait_price=instance.wait_price,
            max_wait_us=instance.max_wait_us,
        )
        self.rent = instance.rent()
        self.memory: dict[str, Any] = {}
        self.simulator: Simulator | None = None
        self.settled = True

    def observe(self) -> Observation | None:
        """Return the present at the next decision, in copies that nobody can write; None after the last."""
        simulator = self.simulator
        if simulator is None:
            return self._seen(np.empty(0, np.int64), 0, None, None, np.empty((0, 2), np.int64))
        while self.settled:
            if not simulator.rent_overdue() and not simulator.advance():
                return None
            self.settled = not simulator.waiting.size
        free, limit_us = simulator.free.copy(), simulator.limit_us
        return self._seen(simulator.waiting, simulator.now_us, free.shape[0], limit_us, free)

    @staticmethod
    def read(document: Any) -> Any:
        """Return the actions that a document means."""
        return None if document is None else document.actions()

    def act(self, actions: object) -> None:
        """Buy machines, or carry out what the policy answered, one action after the other.

        Raises `MethodError` for an action that cannot be carried out.
        """
        if self.simulator is None:
            purchase = checked_purchase(actions)
            limit_us = limit_of(self.instance, purchase.wait_limit_s)
            self.simulator = Simulator(self.instance, purchase.machines, None if limit_us >= NO_LIMIT_US else limit_us)
            return
        given = checked_actions(actions)
        for answer in given:
            action = checked_action(answer, self.simulator)
            if isinstance(action, Start):
                self.simulator.start(action.job, action.machine)
            else:
                self.simulator.rent(action.job)
        self.settled = not given or not self.simulator.waiting.size

    def outcome(self) -> Outcome:
        """Return the schedule. Raises `MethodError` if jobs were left waiting for ever."""
        assert self.simulator is not None
        left, number = self.simulator.waiting, self.simulator.free.shape[0]
        if left.size:
            raise MethodError(
                f"job {left[0]} waits for ever: nothing runs on the {number} machines, and no job is to come. Start it, rent "
                "for it, or buy machines with a wait_limit_s."
            )
        return Outcome(self.simulator.schedule(), details={"machines": number})

    def _seen(
        self, jobs: np.ndarray, now_us: int, num_machines: int | None, limit_us: int | None, free: np.ndarray
    ) -> Observation:
        instance = self.instance
        submit_us = instance.submit_us[jobs]
        return Observation(
            now_us=now_us,
            terms=self.terms,
            num_machines=num_machines,
            free_cores=locked(free[:, 0].copy()),
            free_memory_mib=locked(free[:, 1].copy()),
            job=locked(jobs),
            submit_us=locked(submit_us),
            waited_us=locked(now_us - submit_us),
            cores=locked(instance.cores[jobs]),
            memory_mib=locked(instance.memory_mib[jobs]),
            rent=locked(self.rent[jobs]),
            limit_us=limit_us,
            runtime_us=locked(instance.runtime_us[jobs]) if self.knows_runtimes else None,
            memory=self.memory,
        )


policy = policy_decorator(Player)
