"""A judge for programs that search for schedulers: a candidate is scored against what others have proven.

from schedgap.bench import evaluator

judge = evaluator("ci", seeds=range(5), held_out=range(100, 120))
judge("candidate.py").score
judge.final("candidate.py").score
"""

from __future__ import annotations

import statistics
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedgap.bench.catalogue import load_catalogue
from schedgap.bench.programs.program import Kind, Program
from schedgap.bench.statistics.summary import verified_objective
from schedgap.bench.suites.suite import InstanceBlock, Suite, read_suite
from schedgap.bench.testing.gap_figures import Gaps, gaps_of, printed
from schedgap.bench.testing.measure import measure_gap
from schedgap.instances.errors import MethodError, SuiteError
from schedgap.instances.method import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.bench.records.runs import Record

# Of what went wrong, and of the worst gaps, this many are told.
TOLD = 5
# Methods are known by their names to a whole process: candidates, which mostly share one, take turns.
_TURN = threading.Lock()


@dataclass(frozen=True)
class Evaluation:
    """What a candidate is worth.

    score : the mean over all runs of proven bound / objective, 1 where it is proven optimal and 0 for a run that failed.
    measures : means of the family's measures over the runs that gave a solution, and of their seconds. gaps : run by run; None
    where the candidate could not even be loaded. feedback : what went wrong and where the gaps are, as text.
    """

    score: float
    measures: dict[str, float]
    gaps: Gaps | None
    feedback: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as searches take it: `combined_score`, further metrics by name, and `text_feedback`."""
        gaps = self.gaps
        return {
            "combined_score": self.score,
            "runs": gaps.runs if gaps else 0,
            "failed": sum(each.gap is None for each in gaps.details) if gaps else 0,
            "proven_optimal": gaps.proven_optimal if gaps else 0,
            **{f"mean_{name}": value for name, value in self.measures.items()},
            "text_feedback": self.feedback,
        }


class Evaluator:
    """Scores candidates on the instances of a suite, each run in a limited process of its own.

    Threads may share it: one candidate is scored at a time, its runs `jobs` at a time.
    """

    def __init__(self, suite: Suite, folder: Path, held_out: Suite | None, bound: str | None, **how: Any) -> None:
        self._suite, self._folder, self._held_out = suite, folder, held_out
        self._bound, self._how = bound, how

    def __call__(self, candidate: str | Path | Program) -> Evaluation:
        """Return what a candidate is worth on the instances that the search may see.

        candidate : a Python file with one method or policy of the suite's family, an executable file, or a program.

        Raises
        ------
        SchedgapError
            if there is no such file, or for an instance no bound; never for what a candidate does.
        """
        with _TURN:
            return self._evaluate(self._suite, candidate)

    def final(self, candidate: str | Path | Program) -> Evaluation:
        """Return what a candidate is worth on the instances that were held out.

        Raises
        ------
        MethodError
            if none were; otherwise as for a call.
        """
        if self._held_out is None:
            raise MethodError("no seeds were held out; give evaluator(..., held_out=...).")
        with _TURN:
            return self._evaluate(self._held_out, candidate)

    def _evaluate(self, suite: Suite, candidate: str | Path | Program) -> Evaluation:
        try:
            method, plugins = _candidate(candidate, suite.family)
        except MethodError as error:
            if not isinstance(candidate, Program) and not Path(candidate).is_file():
                raise
            return Evaluation(0.0, {}, None, str(error))
        own, others = measure_gap(
            method, suite=(suite, self._folder), bound=self._bound, plugins=plugins, trusts=False, **self._how
        )
        gaps = gaps_of(suite.name, own, others)
        for each in gaps.details:
            if each.objective is not None and each.bound is None:
                raise MethodError(f"{each.instance}: {each.problem}; name a method that proves one, by bound=.")
        score = sum(1.0 - each.gap for each in gaps.details if each.gap is not None) / gaps.runs
        return Evaluation(score, _measures(own), gaps, _feedback(gaps, own))


def evaluator(
    suite: str | Path,
    *,
    seeds: Iterable[int] | None = None,
    held_out: Iterable[int] | None = None,
    bound: str | None = None,
    time_limit_s: float | None = None,
    jobs: int | None = None,
    directory: str | Path | None = None,
) -> Evaluator:
    """Return a judge of candidates on a suite's instances.

    suite : name of a shipped one or path of a TOML file; of its own methods those run that prove bounds. seeds : of all
    instances that have seeds, instead of the suite's. held_out : further seeds, for `Evaluator.final`. bound : method to prove
    the bounds with, instead of the suite's. time_limit_s, jobs : as for the fixture `gap`. directory : where the proven bounds
    are kept, by default runs/evaluator-SUITE; each is proven once.

    Raises
    ------
    SuiteError
        for a suite that is not there, none of whose instances has seeds if some are given, or seeds in both sets.
    """
    chosen, folder = read_suite(suite)
    searched = None if seeds is None else list(seeds)
    kept = None if held_out is None else list(held_out)
    both = set(searched or ()) & set(kept or ())
    if both:
        raise SuiteError(f"seed {min(both)} is in seeds and in held_out; hold out seeds that the search does not see.")
    if searched is None and kept is not None and set(kept) & _own_seeds(chosen):
        both = set(kept) & _own_seeds(chosen)
        raise SuiteError(
            f"seed {min(both)} is one of suite {chosen.name}; hold out seeds that the search does not see."
        )
    kept_bounds = Path("runs") / f"evaluator-{chosen.name}" if directory is None else Path(directory)
    kept_bounds.mkdir(parents=True, exist_ok=True)
    return Evaluator(
        chosen if searched is None else _seeded(chosen, searched),
        folder,
        None if kept is None else _seeded(chosen, kept),
        bound,
        directory=kept_bounds,
        time_limit_s=time_limit_s,
        jobs=jobs,
    )


def _own_seeds(suite: Suite) -> set[int]:
    given = [block.seeds for block in suite.instances if block.seeds is not None]
    return {seed for seeds in given for seed in (range(seeds) if isinstance(seeds, int) else seeds)}


def _seeded(suite: Suite, seeds: Sequence[int]) -> Suite:
    """Return those instances of a suite that have seeds, with these."""

    def seeded(block: InstanceBlock) -> InstanceBlock:
        return block.model_copy(update={"seeds": list(seeds)})

    blocks = [seeded(block) for block in suite.instances if block.seeds is not None]
    if not blocks or not seeds:
        raise SuiteError(
            f"{suite.name}: {len(blocks)} instances have seeds, and {len(seeds)} are given; both are needed."
        )
    return suite.model_copy(update={"instances": blocks})


def _candidate(candidate: str | Path | Program, family: str) -> tuple[str | Program, list[Path]]:
    """Return a candidate as a method, and the plug-ins that it needs."""
    if isinstance(candidate, Program):
        return candidate, []
    path = Path(candidate).resolve()
    if not path.is_file():
        raise MethodError(f"candidate {path} is no file; give a Python file with a method, or an executable.")
    if path.suffix != ".py":
        return Program.make("candidate", (str(path),), kind=Kind.METHOD), []
    load_catalogue([family], [str(path)])
    found = [name for (of, name), method in REGISTRY.items() if of == family and method.plugin == str(path)]
    if len(found) != 1:
        raise MethodError(
            f"candidate {path} registers {len(found)} methods of family {family} ({', '.join(found) or 'none'}); register one."
        )
    return found[0], [path]


def _measures(own: Sequence[Record]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for record in own:
        measurement = record.measurement
        if verified_objective(record) is not None:
            figures = {**measurement.measures, "wall_s": measurement.wall_s}
            for name, value in figures.items():
                if value is not None:
                    found.setdefault(name, []).append(value)
    return {name: statistics.fmean(values) for name, values in found.items()}


def _feedback(gaps: Gaps, own: Sequence[Record]) -> str:
    problems = list(gaps.problems)
    more = [f"and {len(problems) - TOLD} more without a gap"] if len(problems) > TOLD else []
    lines = [*problems[:TOLD], *more, *filter(None, [printed(own)])]
    if len(problems) < gaps.runs:
        lines += gaps.lines()
    return "\n".join(lines)
