"""Carrying out what a policy answers, if it can be done."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.harvest.view import Decision
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest import kernels_pool
from schedgap.instances.harvest import kernels_state as ks
from schedgap.instances.harvest.cluster import MINUTE_MS
from schedgap.instances.harvest.model import MAX_TOTAL_MS, NO_CHECKPOINTS, SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.harvest.cluster import Cluster

FORMS = "a list of (task, vm) or (task, vm, checkpoint_every_ms), a Decision, or None"


class Answers:
    """The answers of a policy to what it sees of a cluster.

    may_acquire : whether the policy looks after the pool of VMs. asked_ms : when it answered last, None if it never did.
    """

    def __init__(self, cluster: Cluster, *, may_acquire: bool) -> None:
        self.cluster = cluster
        self.may_acquire = may_acquire
        self.asked_ms: int | None = None

    def carry_out(self, answer: object) -> bool:
        """Do what a policy answers, and return whether VMs came that it requested.

        Raises
        ------
        MethodError
            if it cannot be done.
        """
        self.asked_ms = self.cluster.now_ms
        decision = answer if isinstance(answer, Decision) else Decision()
        placed: set[int] = set()
        for entry in self._sequence(answer.place if isinstance(answer, Decision) else answer, FORMS):
            self._place(entry, placed)
        for vm in self._sequence(decision.decommission, "as Decision.decommission a list of VMs"):
            self._decommission(self._number(vm, "as Decision.decommission a list of VMs"))
        again = self._amount(decision.ask_again_ms, "ask_again_ms", MAX_TOTAL_MS)
        if again:
            self.cluster.state.clock[ks.WAKE] = self.cluster.now_ms + again
        request = self._amount(decision.request, "request", MAX_TOTAL_MS)
        if request and not self.may_acquire:
            raise MethodError(f"{self._where} requested {request} VMs, {self._keeper}.")
        return request > 0 and int(kernels_pool.request(self.cluster.state, request)) > 0

    def task_name(self, task: int) -> str:
        """Return how messages call a task."""
        return f"task {task} (job {self.cluster.instance.job_name(int(self.cluster.state.task2job[task]))})"

    @property
    def _where(self) -> str:
        return f"at {self.cluster.now_ms / SECOND_MS:.12g} s the policy"

    @property
    def _keeper(self) -> str:
        if self.cluster.instance.is_fixed:
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
            # A truth is a whole number to Python; here it is a slip.
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
        job = int(self.cluster.state.task2job[task])
        self._check_vm(task, job, vm)
        self.cluster.place(task, vm, self._checked_every(task, job, numbers[2:]))
        placed.add(task)

    def _check_task(self, task: int, placed: set[int]) -> None:
        state = self.cluster.state
        if not 0 <= task < state.first_task[state.clock[ks.JOB]]:
            raise MethodError(f"{self._where} starts task {task}, which is not there; start one of view.task.")
        if state.stage[task] != ks.WAITS:
            why = "runs already" if state.stage[task] == ks.RUNS_NOW else "is complete"
            why = "it has just started" if task in placed else f"which {why}"
            raise MethodError(f"{self._where} starts {self.task_name(task)}, {why}; start one of view.task, once.")

    def _check_vm(self, task: int, job: int, vm: int) -> None:
        state, instance = self.cluster.state, self.cluster.instance
        who = f"{self._where} starts {self.task_name(task)} on"
        if not 0 <= vm < instance.num_vms:
            raise MethodError(f"{who} VM {vm}, which there is not; choose one of view.vm.")
        who = f"{who} VM {instance.vm_name(vm)}"
        if state.size[vm] == 0 or state.lease[vm] == ks.NOT_LEASED:
            raise MethodError(f"{who}, which is not there now; choose one of view.vm.")
        if state.lease[vm] == ks.DRAINING:
            raise MethodError(f"{who}, which was given back and gets no new tasks; choose one that does not drain.")
        free, free_memory = state.size[vm] - state.used[vm], state.vm_memory[vm] - state.used_memory[vm]
        if state.cores[job] > free or state.memory[job] > free_memory:
            raise MethodError(
                f"{who}: it needs {state.cores[job]} cores and {state.memory[job]} MiB, and {free} cores and {free_memory} MiB "
                "are free there by then; choose another VM, or let it wait."
            )

    def _checked_every(self, task: int, job: int, given: list[int]) -> int:
        """Return after how many ms of work the task takes checkpoints: once a minute if it says nothing and they cost nothing."""
        cost = int(self.cluster.state.checkpoint[job])
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
        state, instance = self.cluster.state, self.cluster.instance
        if not 0 <= vm < instance.num_vms:
            raise MethodError(f"{self._where} gives back VM {vm}, which there is not; choose one of view.vm.")
        who = f"{self._where} gives back VM {instance.vm_name(vm)}"
        if not self.may_acquire:
            raise MethodError(f"{who}, {self._keeper}.")
        if state.lease[vm] != ks.LEASED:
            why = "is not leased" if state.lease[vm] == ks.NOT_LEASED else "was given back already"
            raise MethodError(f"{who}, which {why}; choose one of view.vm that does not drain.")
        if state.lease_start[state.vm_lease[vm]] == self.cluster.now_ms and state.oldest[vm] == ks.NOBODY:
            raise MethodError(f"{who}, which came at this very moment; keep it for a while.")
        kernels_pool.decommission(state, vm)
