"""Answers of other solvers to exported models, as their programs write them, and what they mean as a solution.

A method that solves the model is given a back end that knows the answer, so that it reads the variables as it always does.
What the file says of itself is a claim: the solution is to be verified, and no bound is taken from it.

    HiGHS    highs --solution_file FILE, style raw
    CBC      cbc ... solve solution FILE
    SCIP     write solution FILE
    GLPK     glpsol --output FILE
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from schedgap.formulations.backends import BACKENDS, Backend
from schedgap.formulations.backends.contract import SolveLimits, objective_of, whole
from schedgap.formulations.export import FORMATS, column_names, find_model_builder
from schedgap.formulations.linear_model import LinearModel, ModelResult
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import BackendError, SolutionError, about_file
from schedgap.instances.family import Family
from schedgap.instances.method import Status, find_method

NAME = "file"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a file says. solver : whose form it has. objective : in the model's unit. values : of variables that are not 0."""

    solver: str
    objective: float | None
    values: Mapping[str, float]


def _place(lines: list[str], pattern: str) -> int:
    """Return the number of the first line that begins like that, or raise `ValueError`."""
    return [re.match(pattern, line) is not None for line in lines].index(True)


def _highs(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines[_place(lines, r"# Columns") + 1 :]:
        if line.startswith("#"):
            return
        name, _, value = line.strip().rpartition(" ")
        yield name, value


def _cbc(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines[1:]:
        _, name, value, *_ = line.replace("**", "").split()
        yield name, value


def _scip(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if "(obj:" in line:
            name, value, *_ = line.split()
            yield name, value


def _glpk(lines: list[str]) -> Iterator[tuple[str, str]]:
    begin = _place(lines, r"\s*No\.\s+Column name")
    # A name of more than 12 characters has a line of its own; then `*`, for whole variables, or an LP's status.
    entry = re.compile(r"^ *\d+ (\S+)\s+(?:\*|B|N[LUFS])?\s+(\S+)", re.MULTILINE)
    for found in entry.finditer("\n".join(lines[begin + 2 :]).partition("\n\n")[0]):
        yield found[1], found[2]


# Of each solver: how the file begins, what says that there is a solution, where its objective is, and its columns.
FORMS: tuple[tuple[str, str, str, str, Callable[[list[str]], Iterator[tuple[str, str]]]], ...] = (
    ("HiGHS", r"Model status\n", r"# Primal solution values\nFeasible\n", r"^Objective (\S+)", _highs),
    (
        "CBC",
        r"(?:Optimal|Stopped|Infeasible|Integer inf|Unbounded)",
        r"\A(?:Opt|Sto)(?!.*no integer)",
        r"value (\S+)",
        _cbc,
    ),
    (
        "SCIP",
        r"(?:solution status|objective value|no solution)",
        r"objective value",
        r"^objective value:\s*(\S+)",
        _scip,
    ),
    ("GLPK", r"Problem:", r"^Status: +(?:INTEGER )?(?:OPTIMAL|NON-OPTIMAL)$", r"^Objective: .* = (\S+)", _glpk),
)


def read_answer(path: Path) -> Answer:
    """Read what a solver's program wrote.

    Raises
    ------
    SolutionError
        if it has none of the forms that are known, holds no solution, or is damaged.
    """
    with about_file(path, "read", SolutionError, "give what HiGHS, CBC, SCIP or GLPK wrote"):
        text = read_given(path).decode(errors="replace").replace("\r\n", "\n")
    for solver, begins, has, objective, values in FORMS:
        if re.match(begins, text) is None:
            continue
        if re.search(has, text, re.MULTILINE) is None:
            raise SolutionError(f"{path.name}: {solver} found no solution; give it more time, or mend the instance.")
        try:
            found = {name: float(value) for name, value in values(text.splitlines())}
            said = re.search(objective, text, re.MULTILINE)
            return Answer(solver, None if said is None else float(said[1]), found)
        except ValueError:
            raise SolutionError(
                f"{path.name}: the values of variables are damaged; let {solver} write it anew."
            ) from None
    first = text.partition("\n")[0]
    raise SolutionError(
        f"{path.name} begins with '{first:.60}': no answer of HiGHS (raw style), CBC, SCIP or GLPK (--output); write one of "
        "these."
    )


def imported(family: Family, formulation: str, instance: Any, answer: Answer) -> Any:
    """Return the solution of the instance that an answer to its exported model means; whoever uses it verifies it.

    Raises
    ------
    SolutionError
        if the answer is to another model, or its values mean no solution.
    """
    model = find_model_builder(family.name, formulation)(instance)
    places = [{name: j for j, name in enumerate(column_names(model, kind))} for kind in FORMATS]
    place = next((each for each in places if answer.values.keys() <= each.keys()), places[0])
    if (strange := next((name for name in answer.values if name not in place), None)) is not None:
        raise SolutionError(
            f"the answer has a variable '{strange:.60}', and {formulation} of {instance.name} has none of that name; "
            "give the instance and the formulation that were exported."
        )
    x = np.zeros(model.cost.size)
    for name, value in answer.values.items():
        x[place[name]] = value
    backend = Backend(NAME, answer.solver, "", partial(_known, model, x, answer.solver), str, lp=True, mip=True)
    as_exported = {"interchangeable": False} if formulation == "arc-flow" else {}
    method = find_method(family.name, formulation)
    if "backend" not in method.parameters:
        raise SolutionError(f"{formulation} is a bound of family {family.name}: its variables are no solution.")
    BACKENDS[NAME] = backend
    try:
        outcome = method.func(instance, backend=NAME, **as_exported)
    except BackendError as error:
        raise SolutionError(f"{formulation} of {instance.name} cannot be read back: {error}") from None
    finally:
        del BACKENDS[NAME]
    if outcome.solution is None:
        raise SolutionError(
            f"the values of {formulation} mean no solution of {instance.name}: they break a rule of the family."
        )
    return outcome.solution


def _known(model: LinearModel, x: Any, solver: str, given: LinearModel, limits: SolveLimits) -> ModelResult:
    """Answer a model with what is known, if it is the one that was exported."""
    if given.cost.shape != model.cost.shape:
        raise BackendError(f"the method asks for another model of {given.cost.size} variables than {model.cost.size}.")
    values = whole(given, x, solver)
    return ModelResult(Status.FEASIBLE, values, objective_of(given, values), None, 0.0, NAME, "")
