"""Policies as methods: what the players of all families that decide over time have in common."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from schedgap.instances.errors import MethodError
from schedgap.instances.method import OFFERED, method

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from schedgap.instances.method import Outcome


def check_knowledge(name: str, knows: Collection[str], known: Collection[str]) -> None:
    """Refuse a policy that is to be told what there is not.

    Raises
    ------
    MethodError
        naming what a policy may know.
    """
    for what in knows:
        if what not in known:
            raise MethodError(f"policy {name} knows '{what}'; a policy may know {', '.join(known)}.")


def register_played(
    decide: Callable[..., Any], play: Callable[[Any, Callable[..., Any]], Outcome], name: str, **registration: Any
) -> None:
    """Register the method that lets a player ask a policy.

    decide : the policy; every keyword of it is a parameter of the method. play : the player, of an instance and the policy
    with its parameters set. registration : what `schedgap.instances.method.method` takes.

    Raises
    ------
    MethodError
        as `method` does, or for a keyword that the harness offers to methods, but not to policies.
    """

    @functools.wraps(decide)
    def played(instance: Any, **keywords: Any) -> Outcome:
        return play(instance, functools.partial(decide, **keywords))

    given = inspect.signature(decide).parameters
    first = inspect.Parameter("instance", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    rest = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in list(given.values())[1:]]
    played.__signature__ = inspect.Signature([first, *rest])  # type: ignore[attr-defined]
    unknown = [p.name for p in rest if p.name in OFFERED and p.name != "rng"]
    if unknown:
        raise MethodError(f"policy {name}: '{unknown[0]}' is not offered to policies; leave it out.")
    method(name, **registration)(played)
