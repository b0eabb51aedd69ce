"""Asking a program in the process of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedgap.bench.programs.exchange import solve
from schedgap.bench.programs.policies import play_program
from schedgap.bench.programs.program import Kind, Program

if TYPE_CHECKING:
    from schedgap.bench.programs.process import Terms
    from schedgap.instances.family import Family
    from schedgap.instances.method import Outcome


def ask(program: Program, family: Family, instance: Any, terms: Terms) -> Outcome:
    """Return what a program gives for an instance.

    Raises
    ------
    ProgramFailure
        naming what it did wrong.
    """
    if program.kind is Kind.POLICY:
        return play_program(program, family.name, instance, terms)
    return solve(program, family, instance, terms)
