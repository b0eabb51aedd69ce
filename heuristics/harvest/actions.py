"""What a policy may answer, and carrying it out if it can be done."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from schedgap.heuristics.player import Whole
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import MAX_TOTAL_MS, NO_CHECKPOINTS
from schedgap.instances.harvest.simulator.leases import decommission, request
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import DRAINING, LEASED, NOBODY, NOT_LEASED, RUNS_NOW, WAITS
from schedgap.instances.units import MINUTE_MS, SECOND_MS

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
