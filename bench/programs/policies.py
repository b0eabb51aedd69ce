"""A program as an online policy: the simulator stays here, and of the future nothing crosses the pipe."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from schedgap.bench.programs.conversation import STARTING_S, Conversation
from schedgap.bench.programs.failure import ProgramFailure
from schedgap.bench.programs.protocol import END, Greeting, Teller, hello, read_answer, read_greeting
from schedgap.heuristics.player import Player, check_policy, play
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status

if TYPE_CHECKING:
    from schedgap.bench.programs.process import Terms
    from schedgap.bench.programs.program import Program


def find_player(family: str) -> tuple[type[Player], type[Any]]:
    """Return a family's player, and the class of its observations.

    Raises
    ------
    MethodError
        if nothing is decided online in the family.
    """
    name = f"schedgap.heuristics.{family}"
    try:
        player = importlib.import_module(f"{name}.player").Player
        observation = importlib.import_module(f"{name}.observation").Observation
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(name):
            raise
        raise MethodError(
            f"in family {family} nothing is decided over time, so it has no policies; give the program as a method, by "
            "--program, or another family."
        ) from None
    return player, observation


def play_program(program: Program, family: str, instance: Any, terms: Terms) -> Outcome:
    """Play a program over an instance.

    Raises
    ------
    ProgramFailure
        if it does not answer, or with what is no answer, or with actions that cannot be carried out.
    """
    player, observation = find_player(family)
    with Conversation(program, terms) as conversation:
        greeting = read_greeting(
            conversation.ask(hello(player, observation, terms), "greeting", least_s=STARTING_S), observation
        )
        teller = Teller(observation, greeting.fields, changes=greeting.observations == "changes")
        policy = _Remote(conversation, teller, player)
        try:
            check_policy(program.name, player, greeting.knows, greeting.options)
            playing = player(instance, frozenset(greeting.knows), **greeting.options)
            outcome = play(playing, policy.decide)
        except MethodError as error:
            raise ProgramFailure(Status.ERROR, str(error)) from None
        conversation.tell(END)
        return replace(outcome, details={**outcome.details, **_facts(conversation, greeting)})


def _facts(conversation: Conversation, greeting: Greeting) -> dict[str, float | str]:
    return {
        "knows": " ".join(sorted(greeting.knows)),
        "told_bytes": conversation.told,
        "heard_bytes": conversation.heard,
        "program_s": conversation.waited_s,
    }


class _Remote:
    """A policy at the other end of a pipe."""

    def __init__(self, conversation: Conversation, teller: Teller, player: type[Player]) -> None:
        self._conversation, self._teller, self._player = conversation, teller, player
        self._decision = 0

    def decide(self, observation: Any) -> Any:
        """Ask the program."""
        self._decision += 1
        line = self._teller.line(self._decision, observation)
        answer = self._conversation.ask(line, f"decision {self._decision}")
        return self._player.read(read_answer(answer, self._decision, self._player.document))
