"""A search without a model: mutants of the best so far, and a new start where these no longer help ((1 + 4) local search).

It is what a search by a model has to beat, and a test of evaluators. Everything that is random comes from the seed, and each
score is written down before the next candidate is made: a search that was stopped reads what it knows and goes on as if it never
had been.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from schedgap.bench.search.program import Declared, Parameters, changed, drawn, read_program
from schedgap.bench.testing.evaluator import Evaluation
from schedgap.instances.documents.json_files import write_whole
from schedgap.instances.documents.openings import read_given
from schedgap.instances.draws import generator
from schedgap.instances.errors import JournalError, SuiteError, about_file

Judge: TypeAlias = Callable[[Path], Evaluation]

SCHEMA = "schedgap/search/1"
JOURNAL, CANDIDATE, BEST = "evaluations.jsonl", "candidate.py", "best.py"
CHILDREN = 4
# So many generations in a row without a better one, and the search starts anew.
PATIENCE = 6
# So often is a candidate drawn that was not there before; where there is none, the search ends.
TRIES = 100
# So many of the best on `train` are scored on `validation`, and the program as it was written.
FINALISTS = 5


@dataclass(frozen=True)
class Tried:
    """A candidate and its score. number : from 0, the program as it was written."""

    number: int
    parameters: Parameters
    score: float
    measures: Mapping[str, float]
    failed: int

    @property
    def shown(self) -> str:
        """Return the parameters, for people."""
        return ", ".join(f"{key} = {value}" for key, value in self.parameters.items())


@dataclass(frozen=True)
class Found:
    """What a search has found.

    tried : all candidates, in order. best : the chosen one. scores : of the first and of the best, by part.
    """

    program: Declared
    tried: tuple[Tried, ...]
    best: Tried
    scores: Mapping[str, tuple[float, float]]


class Diary:
    """The file of all evaluations, a line each, only ever added to. The first line says of what search."""

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        """Read what is known.

        Raises
        ------
        JournalError
            for a file of another search, or a line that is none but the last, which may be cut off.
        """
        self.path = path
        self.known: dict[tuple[str, int], Tried] = {}
        lines = read_given(str(path)).decode("utf-8", "replace").splitlines(keepends=True) if path.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        if whole != lines:
            # Cut off by whatever stopped the search.
            with about_file(path, "written", JournalError, "make the directory writable"):
                write_whole(path, "".join(whole).encode(), JournalError)
        if not whole:
            self._append({"schema": SCHEMA, **head})
        for number, line in enumerate(whole, 1):
            try:
                content = json.loads(line)
                if number == 1:
                    self._require_same(content, {"schema": SCHEMA, **head})
                else:
                    part = content.pop("part")
                    self.known[part, content["number"]] = Tried(**content)
            except (ValueError, TypeError, KeyError, AttributeError):
                raise JournalError(f"{path} line {number} is no evaluation; remove the file to search anew.") from None

    def _require_same(self, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
        for key, value in here.items():
            if there.get(key) != value:
                other = f"{key} {there.get(key)!s:.40} and not {value!s:.40}"
                raise JournalError(f"{self.path} is of another search, with {other}; give another --out.")

    def score(self, part: str, number: int, program: Declared, parameters: Parameters, judge: Judge) -> Tried:
        """Return the score of a candidate on a part of the suite, the one that is written down if there is one."""
        known = self.known.get((part, number))
        if known is not None:
            if known.parameters != parameters:
                raise JournalError(
                    f"{self.path}: candidate {number} was {known.parameters}, and is {parameters} now; give another --out."
                )
            return known
        path = self.path.with_name(CANDIDATE)
        write_whole(path, program.written(parameters).encode(), JournalError)
        found = judge(path)
        tried = Tried(number, parameters, found.score, found.measures, found.failed)
        self._append({"part": part, **asdict(tried)})
        self.known[part, number] = tried
        return tried

    def _append(self, content: Mapping[str, Any]) -> None:
        with (
            about_file(self.path, "written", JournalError, "make the directory writable"),
            self.path.open("a", encoding="utf-8") as file,
        ):
            file.write(json.dumps(content) + "\n")


def local_search(
    program: Path,
    judges: Mapping[str, Judge],
    out: Path,
    *,
    suite: str,
    evaluations: int,
    seed: int,
    told: Callable[[Tried, bool], object],
) -> Found:
    """Search for the parameters of a program that score best, and write the best as a program.

    judges : by part of the suite: `train`, which the search sees, and what else there is of `validation`, by which the best of
    the best is chosen, and `test`, of which nothing is chosen. evaluations : candidates on `train`. told : called after each,
    with whether it is the best so far.

    Raises
    ------
    SchedgapError
        for a program that declares nothing, the journal of another search, and what judges raise.
    """
    declared = read_program(program)
    out.mkdir(parents=True, exist_ok=True)
    diary = Diary(out / JOURNAL, {"suite": suite, "program": declared.digest, "seed": seed})
    proposals = _proposals(declared, generator("search", declared.digest, seed))
    tried: list[Tried] = []
    parameters = next(proposals)
    while len(tried) < evaluations:
        one = diary.score("train", len(tried), declared, parameters, judges["train"])
        told(one, all(one.score > other.score for other in tried))
        tried.append(one)
        try:
            parameters = proposals.send(one.score)
        except StopIteration:
            break
    # Of equal ones the first. On validation, what was found may be worse than what was there.
    ranked = sorted(tried, key=lambda each: -each.score)
    finalists = [*ranked[:FINALISTS], tried[0]] if "validation" in judges else ranked[:1]

    def on(part: str, one: Tried) -> float:
        return (
            one.score
            if part == "train"
            else diary.score(part, one.number, declared, one.parameters, judges[part]).score
        )

    chooses = "validation" if "validation" in judges else "train"
    best = max(finalists, key=lambda each: on(chooses, each))
    scores = {part: (on(part, tried[0]), on(part, best)) for part in judges}
    write_whole(out / BEST, declared.written(best.parameters).encode(), SuiteError)
    return Found(declared, tuple(tried), best, scores)


def _proposals(program: Declared, rng: np.random.Generator) -> Generator[Parameters, float, None]:
    """Yield candidates, none twice, and take the score of each; end where no more are found."""
    seen: set[str] = set()

    def fresh(make: Callable[[], Parameters]) -> Parameters | None:
        for _ in range(TRIES):
            made = make()
            if (text := program.label(made)) not in seen:
                seen.add(text)
                return made
        return None

    start: Parameters | None = fresh(lambda: program.first)
    while start is not None:
        score, stale = (yield start), 0
        while stale < PATIENCE:
            parent, before = start, score
            for _ in range(CHILDREN):
                child = fresh(partial(changed, program.space, parent, rng))
                if child is None:
                    break
                given = yield child
                # An equal one is a step, too: it may lead to a better one.
                if given >= score:
                    score, start = given, child
            stale = 0 if score > before else stale + 1
        start = fresh(partial(drawn, program.space, rng))
