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

from collections.abc import Mapping
from typing import Any, ClassVar

from schedgap.heuristics.harvest.acquisition import ACQUIRERS, SCALINGS, acquisition
from schedgap.heuristics.harvest.actions import Actions, DecisionDocument
from schedgap.heuristics.harvest.observation import Observation, Observer
from schedgap.heuristics.harvest.pool import fixed_pool_reason
from schedgap.heuristics.player import policy_decorator
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.method import Outcome, Status
from schedgap.instances.units import SECOND_MS


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
        self,
        instance: HarvestInstance,
        knows: frozenset[str],
        acquirer: str | None = "keep",
        scaling: str = "none",
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
