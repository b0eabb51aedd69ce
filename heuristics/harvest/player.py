"""Playing an online policy over an instance, moment by moment, without showing it the future.

A policy is a function from what is visible at a moment to the tasks that it starts then, each with its VM, or None for none:

    @policy("longest-unchanged")
    def longest_unchanged(observation):
        needed = observation.job_cores[observation.task_job].max(initial=0)
        vms = np.argsort(observation.changed_ms, kind="stable")
        fits = vms[observation.free[vms] >= needed]
        return [(task, observation.vm[i]) for task, i in zip(observation.task, fits)]

It is asked once at each moment at which something happens, if a task waits that fits on some VM or the pool's epoch is due, and
again if VMs come that it requests.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import numpy as np

from schedgap.heuristics.harvest.acquisition import ACQUIRERS, SCALINGS, acquisition
from schedgap.heuristics.harvest.rules import fixed_pool_reason
from schedgap.heuristics.player import Whole, policy_decorator
from schedgap.instances.arrays import BoolArray, IntArray, locked
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, MAX_TOTAL_MS, NO_CHECKPOINTS, HarvestInstance
from schedgap.instances.harvest.simulator.leases import decommission, request
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import DRAINING, GREW, LEASED, NOBODY, NOT_LEASED, RUNS_NOW, WAITS
from schedgap.instances.method import Outcome, Status
from schedgap.instances.units import MINUTE_MS, SECOND_MS


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The present and what was seen, in copies: nothing in it leads to the future.

    Times are milliseconds, memory MiB. Letters used for shapes: N VMs that are there (of a pool that is not fixed: that are
    leased), R runs that go on, W tasks that wait, A jobs that have arrived, C changes of VMs that were seen.

    is_epoch : whether the pool is not fixed, and its epoch is due. vm : (N,) int64, ascending. cores, free, memory,
    free_memory, min_cores : (N,) int64; nothing is free on a VM that drains. changed_ms : (N,) int64, when it came to be or
    changed last. grew : (N,) bool, whether it grew then, as one that comes to be has. drains : (N,) bool, whether it was given
    back and gets no new tasks. run_task, run_vm, run_start_ms, run_every_ms : (R,) int64, in order of their start. run_end_ms :
    (R,) int64, when each would complete if the estimate were true. task : (W,) int64, ascending. task_job : (W,) int64. left_ms
    : (W,) int64, the work that is left by the estimate, at least 1. saved_ms, kills : (W,) int64, work that need not be done
    again, and runs that VMs killed. true_left_ms : (W,) int64, the work that is left; None unless the policy knows runtimes.
    job_arrival_ms, job_cores, job_memory, job_tasks, job_checkpoint_ms, job_restore_ms : (A,) int64, of the jobs 0 to A - 1; of
    job_tasks tasks, each needs job_cores and job_memory. Checkpoints as in `HarvestInstance`. log_ms, log_vm, log_gap_ms,
    log_cores : (C,) int64, in order of time: when, which VM, how long after it came to be or changed before, by how many cores.
    log_grew_before, log_grew : (C,) bool, whether it grew then and now. An eviction is a shrink. memory_of_policy : its own,
    empty at first and kept from moment to moment.
    """

    now_ms: int
    is_epoch: bool
    vm: IntArray
    cores: IntArray
    free: IntArray
    memory: IntArray
    free_memory: IntArray
    min_cores: IntArray
    changed_ms: IntArray
    grew: BoolArray
    drains: BoolArray
    run_task: IntArray
    run_vm: IntArray
    run_start_ms: IntArray
    run_end_ms: IntArray
    run_every_ms: IntArray
    task: IntArray
    task_job: IntArray
    left_ms: IntArray
    saved_ms: IntArray
    kills: IntArray
    true_left_ms: IntArray | None
    job_arrival_ms: IntArray
    job_cores: IntArray
    job_memory: IntArray
    job_tasks: IntArray
    job_checkpoint_ms: IntArray
    job_restore_ms: IntArray
    log_ms: IntArray
    log_vm: IntArray
    log_gap_ms: IntArray
    log_cores: IntArray
    log_grew_before: BoolArray
    log_grew: BoolArray
    memory_of_policy: dict[str, Any]


class Observer:
    """Shows a policy the present of a simulation. knows : as `Player.knowledge`."""

    def __init__(self, simulator: Simulator, knows: frozenset[str]) -> None:
        self.simulator = simulator
        self.knows = knows
        self.memory: dict[str, Any] = {}
        self.num_tasks = np.diff(simulator.instance.first_task)
        self.epoch_seen = NOBODY

    def has_question(self) -> bool:
        """Return whether there is something to decide now. O(A V) for A different demands of tasks that wait."""
        state = self.simulator.state
        if state.clock[0].epoch == state.clock[0].now and self.epoch_seen != state.clock[0].now:
            return True
        if not state.clock[0].waiting:
            return False
        jobs = np.unique(state.tasks.job[self._waiting()])
        takes = (state.vms.lease == LEASED) & (state.vms.cores > 0)
        free, free_memory = (state.vms.cores - state.vms.used)[takes], (state.vms.memory - state.vms.used_memory)[takes]
        needs = np.unique(np.column_stack((state.jobs.cores[jobs], state.jobs.memory[jobs])), axis=0)
        return any(((free >= cores) & (free_memory >= memory)).any() for cores, memory in needs.tolist())

    def observe(self) -> Observation:
        """Return the present. O(V + C + R + T) for C changes seen, R runs so far and T tasks of jobs that have arrived."""
        state, clock = self.simulator.state, self.simulator.state.clock[0]
        now = int(clock.now)
        is_epoch = bool(clock.epoch == now) and self.epoch_seen != now
        if is_epoch:
            self.epoch_seen = now
        vm = np.flatnonzero((state.vms.lease != NOT_LEASED) & (state.vms.cores > 0))
        drains = state.vms.lease[vm] == DRAINING
        run = np.flatnonzero(state.runs.is_live[: clock.runs])
        task = self._waiting()
        saved = state.tasks.saved[task]
        jobs, seen = slice(0, int(clock.next_job)), slice(0, int(clock.changes))
        knows = "runtimes" in self.knows
        return Observation(
            now_ms=now,
            is_epoch=is_epoch,
            vm=locked(vm),
            cores=locked(state.vms.cores[vm]),
            free=locked(np.where(drains, 0, state.vms.cores[vm] - state.vms.used[vm])),
            memory=locked(state.vms.memory[vm]),
            free_memory=locked(np.where(drains, 0, state.vms.memory[vm] - state.vms.used_memory[vm])),
            min_cores=locked(state.vms.min_cores[vm]),
            changed_ms=locked(state.vms.changed[vm]),
            grew=locked(state.vms.direction[vm] == GREW),
            drains=locked(drains),
            run_task=locked(state.runs.task[run]),
            run_vm=locked(state.runs.vm[run]),
            run_start_ms=locked(state.runs.start[run]),
            run_end_ms=locked(state.runs.guess[run]),
            run_every_ms=locked(state.runs.every[run]),
            task=locked(task),
            task_job=locked(state.tasks.job[task]),
            left_ms=locked(np.maximum(state.tasks.estimate[task] - saved, 1)),
            saved_ms=locked(saved),
            kills=locked(state.tasks.kills[task]),
            true_left_ms=locked(state.tasks.runtime[task] - saved) if knows else None,
            job_arrival_ms=locked(state.jobs.arrival[jobs].copy()),
            job_cores=locked(state.jobs.cores[jobs].copy()),
            job_memory=locked(state.jobs.memory[jobs].copy()),
            job_tasks=locked(self.num_tasks[jobs].copy()),
            job_checkpoint_ms=locked(state.jobs.checkpoint[jobs].copy()),
            job_restore_ms=locked(state.jobs.restore[jobs].copy()),
            log_ms=locked(state.log.ms[seen].copy()),
            log_vm=locked(state.log.vm[seen].copy()),
            log_gap_ms=locked(state.log.gap[seen].copy()),
            log_cores=locked(state.log.cores[seen].copy()),
            log_grew_before=locked(state.log.before[seen] == GREW),
            log_grew=locked(state.log.after[seen] == GREW),
            memory_of_policy=self.memory,
        )

    def _waiting(self) -> IntArray:
        """Return the waiting tasks in order; O(T of the jobs that have arrived)."""
        state = self.simulator.state
        arrived = int(state.jobs.first_task[state.clock[0].next_job])
        return np.flatnonzero(state.tasks.stage[:arrived] == WAITS)


FORMS = "a list of (task, vm) or (task, vm, checkpoint_every_ms), a Decision, or None"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy answers that does more than to place tasks.

    place : (task, vm) or (task, vm, checkpoint_every_ms) each. decommission : VMs to give back: at once, or when their last
    run ends. request : so many VMs are asked of the provider, after that. Both only if the policy is its own acquirer.
    ask_again_ms : ask the policy again after so many ms even if nothing happens until then; 0 for not.
    """

    place: Sequence[Sequence[int]] = ()
    decommission: Sequence[int] = ()
    request: int = 0
    ask_again_ms: int = 0


class DecisionDocument(msgspec.Struct, forbid_unknown_fields=True):
    """A decision as a program answers it: `Decision` in lists."""

    place: list[list[Whole]] = []
    decommission: list[Whole] = []
    request: Whole = 0
    ask_again_ms: Whole = 0

    def decision(self) -> Decision:
        """Return the decision."""
        return Decision(self.place, self.decommission, self.request, self.ask_again_ms)


class Actions:
    """The actions of a policy in a simulation.

    may_acquire : whether the policy looks after the pool of VMs. asked_ms : when it answered last, None if it never did.
    """

    def __init__(self, simulator: Simulator, *, may_acquire: bool) -> None:
        self.simulator = simulator
        self.may_acquire = may_acquire
        self.asked_ms: int | None = None

    def carry_out(self, answer: object) -> bool:
        """Do what a policy answers, and return whether VMs came that it requested.

        Raises `MethodError` if it cannot be done.
        """
        self.asked_ms = self.simulator.now_ms
        decision = answer if isinstance(answer, Decision) else Decision()
        placed: set[int] = set()
        for entry in self._sequence(answer.place if isinstance(answer, Decision) else answer, FORMS):
            self._place(entry, placed)
        for vm in self._sequence(decision.decommission, "as Decision.decommission a list of VMs"):
            self._decommission(self._number(vm, "as Decision.decommission a list of VMs"))
        again = self._amount(decision.ask_again_ms, "ask_again_ms", MAX_TOTAL_MS)
        if again:
            self.simulator.state.clock[0].wake = self.simulator.now_ms + again
        number = self._amount(decision.request, "request", MAX_TOTAL_MS)
        if number and not self.may_acquire:
            raise MethodError(f"{self._where} requested {number} VMs, {self._keeper}.")
        return number > 0 and int(request(self.simulator.state, number)) > 0

    def task_name(self, task: int) -> str:
        """Return how messages call a task."""
        return f"task {task} (job {self.simulator.instance.job_name(int(self.simulator.state.tasks.job[task]))})"

    @property
    def _where(self) -> str:
        return f"at {self.simulator.now_ms / SECOND_MS:.12g} s the policy"

    @property
    def _keeper(self) -> str:
        if self.simulator.instance.is_fixed:
            return "and the pool of VMs is fixed; leave it as it is"
        return "and its acquirer looks after the pool; register the policy with acquirer=None"

    def _sequence(self, values: object, form: str) -> list[object]:
        if values is None:
            return []
        if isinstance(values, str | bytes | dict) or not hasattr(values, "__iter__"):
            raise MethodError(f"{self._where} returned {type(values).__name__}; return {form}.")
        return list(values)

    def _number(self, value: object, form: str) -> int:
        try:
            # True is 1 to Python; here it is a mistake.
            return operator.index(None if isinstance(value, bool | np.bool_) else value)  # type: ignore[arg-type]
        except TypeError:
            raise MethodError(f"{self._where} returned {type(value).__name__}; return {form}.") from None

    def _amount(self, value: object, name: str, most: int) -> int:
        amount = self._number(value, f"as Decision.{name} a whole number")
        if not 0 <= amount <= most:
            raise MethodError(f"{self._where} returned {name} {amount}; give 0 to {most}.")
        return amount

    def _place(self, entry: object, placed: set[int]) -> None:
        numbers = [self._number(number, FORMS) for number in self._sequence(entry, FORMS)]
        if len(numbers) not in (2, 3):
            raise MethodError(f"{self._where} returned an entry of {len(numbers)} numbers; return {FORMS}.")
        task, vm = numbers[:2]
        self._check_task(task, placed)
        job = int(self.simulator.state.tasks.job[task])
        self._check_vm(task, job, vm)
        self.simulator.place(task, vm, self._checked_every(task, job, numbers[2:]))
        placed.add(task)

    def _check_task(self, task: int, placed: set[int]) -> None:
        state = self.simulator.state
        if not 0 <= task < state.jobs.first_task[state.clock[0].next_job]:
            raise MethodError(f"{self._where} starts task {task}, which is not there; start one of observation.task.")
        if state.tasks.stage[task] != WAITS:
            why = "runs already" if state.tasks.stage[task] == RUNS_NOW else "is complete"
            why = "it has just started" if task in placed else f"which {why}"
            raise MethodError(
                f"{self._where} starts {self.task_name(task)}, {why}; start one of observation.task, once."
            )

    def _check_vm(self, task: int, job: int, vm: int) -> None:
        state, instance = self.simulator.state, self.simulator.instance
        who = f"{self._where} starts {self.task_name(task)} on"
        if not 0 <= vm < instance.num_vms:
            raise MethodError(f"{who} VM {vm}, which there is not; choose one of observation.vm.")
        who = f"{who} VM {instance.vm_name(vm)}"
        if state.vms.cores[vm] == 0 or state.vms.lease[vm] == NOT_LEASED:
            raise MethodError(f"{who}, which is not there now; choose one of observation.vm.")
        if state.vms.lease[vm] == DRAINING:
            raise MethodError(f"{who}, which was given back and gets no new tasks; choose one that does not drain.")
        cores, memory, vms = state.jobs.cores[job], state.jobs.memory[job], state.vms
        free, free_memory = vms.cores[vm] - vms.used[vm], vms.memory[vm] - vms.used_memory[vm]
        if cores > free or memory > free_memory:
            raise MethodError(
                f"{who}: it needs {cores} cores and {memory} MiB, and {free} cores and {free_memory} MiB "
                "are free there by then; choose another VM, or let it wait."
            )

    def _checked_every(self, task: int, job: int, given: list[int]) -> int:
        """Return after how many ms of work the task takes checkpoints: once a minute if it says nothing and they cost nothing."""
        cost = int(self.simulator.state.jobs.checkpoint[job])
        if not given:
            return MINUTE_MS if cost == 0 else 0
        every = given[0]
        if not 0 <= every <= MAX_TOTAL_MS:
            raise MethodError(
                f"{self._where} starts {self.task_name(task)} with checkpoint_every_ms {every}; give 1 to {MAX_TOTAL_MS}, or 0 "
                "for no checkpoints."
            )
        if every and cost == NO_CHECKPOINTS:
            raise MethodError(
                f"{self._where} starts {self.task_name(task)} with checkpoints, which tasks of that job cannot take; give 0."
            )
        return every

    def _decommission(self, vm: int) -> None:
        state, instance = self.simulator.state, self.simulator.instance
        if not 0 <= vm < instance.num_vms:
            raise MethodError(f"{self._where} gives back VM {vm}, which there is not; choose one of observation.vm.")
        who = f"{self._where} gives back VM {instance.vm_name(vm)}"
        if not self.may_acquire:
            raise MethodError(f"{who}, {self._keeper}.")
        if state.vms.lease[vm] != LEASED:
            why = "is not leased" if state.vms.lease[vm] == NOT_LEASED else "was given back already"
            raise MethodError(f"{who}, which {why}; choose one of observation.vm that does not drain.")
        if state.leases.start[state.vms.current_lease[vm]] == self.simulator.now_ms and state.vms.oldest[vm] == NOBODY:
            raise MethodError(f"{who}, which came at this very moment; keep it for a while.")
        decommission(state, vm)


class Player:
    """One policy on one instance.

    knowledge : `runtimes` of the tasks that wait, beside their estimates. acquirer, scaling : who looks after a pool that is
    not fixed, as `acquisition` has it; acquirer None if the policy itself does, by `Decision`.
    """

    family: ClassVar[str] = FAMILY
    knowledge: ClassVar[tuple[str, ...]] = ("runtimes",)
    options: ClassVar[Mapping[str, tuple[str | None, ...]]] = {
        "acquirer": (*ACQUIRERS, None),
        "scaling": tuple(SCALINGS),
    }
    document: ClassVar[Any] = DecisionDocument | None

    def __init__(
        self, instance: HarvestInstance, knows: frozenset[str], acquirer: str | None = "keep", scaling: str = "none"
    ) -> None:
        self.unsupported = None if acquirer is None else fixed_pool_reason(instance, acquirer, scaling)
        self.simulator = Simulator(instance)
        self.observer = Observer(self.simulator, knows)
        self.memory = self.observer.memory
        self.actions = Actions(self.simulator, may_acquire=acquirer is None and not instance.is_fixed)
        self.acquire = None
        if acquirer is not None and not instance.is_fixed:
            self.acquire = acquisition(instance, acquirer, scaling)
        self.has_new_vms = False

    def observe(self) -> Observation | None:
        """Return what the policy sees the next time that there is something to decide; None after the last."""
        if self.unsupported is not None:
            return None
        goes_on = self.has_new_vms or self._advance()
        while goes_on and not self.observer.has_question():
            goes_on = self._advance()
        return self.observer.observe() if goes_on else None

    @staticmethod
    def read(document: Any) -> Any:
        """Return the actions that a document means."""
        return None if document is None else document.decision()

    def act(self, actions: Any) -> None:
        """Check what the policy answered, and carry it out. Raises `MethodError` if it cannot be done."""
        self.has_new_vms = self.actions.carry_out(actions)

    def outcome(self) -> Outcome:
        """Return the schedule. Raises `MethodError` if the policy left tasks waiting for ever."""
        if self.unsupported is not None:
            return Outcome(status=Status.UNSUPPORTED, details={"reason": self.unsupported})
        if not self.simulator.is_complete:
            asked_ms = self.actions.asked_ms
            last = "never" if asked_ms is None else f"for the last time at {asked_ms / SECOND_MS:.12g} s"
            raise MethodError(
                f"{self.actions.task_name(self.simulator.first_waiting())} waits for ever: the policy was asked {last}; have it "
                "start some task whenever nothing else runs, and keep VMs that tasks fit on."
            )
        kills = int(self.simulator.state.tasks.kills.sum())
        return Outcome(self.simulator.schedule(), details={"kills": kills})

    def _advance(self) -> bool:
        goes_on, clock = self.simulator.advance(), self.simulator.state.clock[0]
        if goes_on and self.acquire is not None and clock.epoch == clock.now:
            self.acquire.look_after(self.simulator.state)
        return goes_on


policy = policy_decorator(Player)
