"""Playing online policies over instances: what all families that decide over time have in common.

A family has a player, and its `policy` is the decorator that `policy_decorator` makes for it:

    @policy("longest-queue", knows=("durations",))
    def longest_queue(observation):
        ...
        return actions
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Protocol

import msgspec

from schedgap.instances.errors import MethodError
from schedgap.instances.method import OFFERED, Outcome, method

# A number of a document; what it may be is the player's to check.
Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Player(Protocol):
    """One policy on one instance, made anew for each run. The simulator behind it owns the future.

    family : name of the family. knowledge : what a policy may be told beside the present. options : what else a policy
    may ask of its player, each with the values that it may have; the first is the default. document : the type, for
    `msgspec`, of the actions of a policy that is no Python function. memory : what observations show as the policy's own.
    """

    family: ClassVar[str]
    knowledge: ClassVar[tuple[str, ...]]
    options: ClassVar[Mapping[str, tuple[str | None, ...]]]
    document: ClassVar[Any]
    memory: dict[str, Any]

    def __init__(self, instance: Any, knows: frozenset[str], **options: Any) -> None:
        """Begin before the first decision."""

    def observe(self) -> Any | None:
        """Return what the policy sees at its next decision, in copies that nobody can write; None after the last."""

    @staticmethod
    def read(document: Any) -> Any:
        """Return the actions that a document of the player's type means; `act` checks them."""

    def act(self, actions: Any) -> None:
        """Check what the policy answered, and carry it out.

        Raises
        ------
        MethodError
            for actions that cannot be carried out, naming decision, action and the way out.
        """

    def outcome(self) -> Outcome:
        """Return the schedule, or why there is none.

        Raises
        ------
        MethodError
            if the policy left tasks that never complete.
        """


def play(player: Player, decide: Callable[[Any], Any]) -> Outcome:
    """Ask a policy at every decision until nothing is left to decide.

    What it leaves under `details` in its memory is recorded with the run, beside what the player says.

    Raises
    ------
    MethodError
        for details that cannot be recorded.
    """
    decisions = 0
    while (observation := player.observe()) is not None:
        decisions += 1
        player.act(decide(observation))
    outcome = player.outcome()
    return replace(outcome, details={**_told(player.memory), "decisions": decisions, **outcome.details})


def _told(memory: Mapping[str, Any]) -> Mapping[str, bool | int | float | str]:
    """Return what a policy tells of itself."""
    told: Any = memory.get("details", {})
    if not isinstance(told, dict) or not all(
        isinstance(key, str) and isinstance(value, bool | int | float | str) for key, value in told.items()
    ):
        raise MethodError(
            f"the policy's memory has {told!r:.60} under 'details', which is recorded with the run; keep numbers and texts by "
            "name there, or use another name."
        )
    return told


def policy_decorator(
    player: type[Player], shown: Sequence[str] = ()
) -> Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """Return the decorator that registers policies of a family as its methods.

    shown : features of instances that every policy takes into account by what the player shows.
    """

    def policy(
        name: str,
        *,
        knows: Sequence[str] = (),
        version: int = 1,
        stochastic: bool = False,
        choices: Mapping[str, Sequence[str]] | None = None,
        handles: Sequence[str] = (),
        **options: str | None,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function from an observation to actions as a method; the function itself is returned unchanged.

        Every keyword of the function is a parameter of the method and needs a default; `rng` is a seeded generator.

        knows, options : as the player has them. version, stochastic, choices, handles : as for a method.

        Raises
        ------
        MethodError
            as `schedgap.instances.method.method` does, for knowledge or an option that there is none of, and for a keyword
            that methods are offered, but policies are not.
        """
        check_policy(name, player, knows, options)

        def register(decide: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(decide)
            def played(instance: Any, **keywords: Any) -> Outcome:
                return play(player(instance, frozenset(knows), **options), functools.partial(decide, **keywords))

            first = inspect.Parameter("instance", inspect.Parameter.POSITIONAL_OR_KEYWORD)
            given = list(inspect.signature(decide).parameters.values())[1:]
            rest = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in given]
            played.__signature__ = inspect.Signature([first, *rest])  # type: ignore[attr-defined]
            for parameter in rest:
                if parameter.name in OFFERED and parameter.name != "rng":
                    raise MethodError(f"policy {name}: '{parameter.name}' is not offered to policies; leave it out.")
            method(
                name,
                family=player.family,
                version=version,
                stochastic=stochastic,
                choices=choices,
                handles=(*shown, *handles),
            )(played)
            return decide

        return register

    return policy


def check_policy(name: str, player: type[Player], knows: Sequence[str], options: Mapping[str, str | None]) -> None:
    """Refuse what a policy cannot have.

    Raises
    ------
    MethodError
        naming the knowledge, the option or its value, and those that there are.
    """
    for what in knows:
        if what not in player.knowledge:
            raise MethodError(f"policy {name} knows '{what}'; a policy may know {', '.join(player.knowledge)}.")
    for option, value in options.items():
        if option not in player.options:
            known = ", ".join(player.options) or "none"
            raise MethodError(f"policy {name}: there is no option '{option}'; options are {known}.")
        if value not in player.options[option]:
            known = ", ".join(map(str, player.options[option]))
            raise MethodError(f"policy {name}: {option} is '{value}'; choose one of {known}.")
