"""A judge for programs that search for schedulers: a candidate is scored against what others have proven.

from schedgap.bench import evaluator

judge = evaluator("ci", seeds=range(5), held_out=range(100, 120))
judge("candidate.py").score
judge.final("candidate.py").score

Candidates of a search: described and run without anything of them becoming known to this process.

The plan of each carries its own method, so that any number may be of one name; threads and servers are shared by all.
"""

from __future__ import annotations

import math
import os
import statistics
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from schedgap.bench.api import recorded
from schedgap.bench.executors.execute import Performed, Setting, Task, close_pools, perform, pool_of
from schedgap.bench.plan import Plan, make_run, setting
from schedgap.bench.plugins.files import plugin_hash
from schedgap.bench.programs.program import Kind, Program
from schedgap.bench.records.contradictions import contradictions, judged
from schedgap.bench.records.host import host_id
from schedgap.bench.records.runs import Measurement, Record, Run
from schedgap.bench.statistics.headlines.measures import native_scores
from schedgap.bench.statistics.summary import verified_objective
from schedgap.bench.suites.bounds import Bounds
from schedgap.bench.suites.suite import Suite, read_suite
from schedgap.bench.testing.gap_figures import Gaps, gaps_of, printed, why
from schedgap.bench.testing.measure import Case, Part, Ready, Terms, refuse_shared, with_time_limit
from schedgap.instances.errors import MethodError, SuiteError
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, Method, Status

# Of what went wrong, and of the worst gaps, this many are told.
TOLD = 5


@dataclass(frozen=True)
class Evaluation:
    """What a candidate is worth.

    score : the mean over all runs of proven bound / objective, 1 where it is proven optimal and 0 for a run that failed.
    measures : means of the family's measures over the runs that gave a solution, and of their seconds. native : the family's own
    scores of all runs, by name. Both are 0 without a solution. gaps : run by run; None where nothing was run on instances with a
    bound. feedback : what went wrong and where the gaps are, as text. runs, failed : their numbers. contradictions : runs whose
    verified objective is below the bound, so that one of the two is wrong; they count as 0.
    """

    score: float
    measures: Mapping[str, float]
    gaps: Gaps | None
    feedback: str
    runs: int = 0
    failed: int = 0
    native: Mapping[str, float] = field(default_factory=dict)
    contradictions: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as searches take it: `combined_score`, further metrics by name, always the same, and `text_feedback`."""
        return {
            "combined_score": self.score,
            "runs": self.runs,
            "failed": self.failed,
            "proven_optimal": self.gaps.proven_optimal if self.gaps else 0,
            "contradictions": self.contradictions,
            **{f"mean_{name}": value for name, value in self.measures.items()},
            # JSON has no other numbers.
            **{name: value if math.isfinite(value) else 0.0 for name, value in self.native.items()},
            "text_feedback": self.feedback,
        }


class Evaluator:
    """Scores candidates on the instances of a suite, each run in a limited process of its own.

    Threads and processes may share it, and what it keeps: candidates are scored at once, `jobs` runs at a time of all of them.
    """

    def __init__(self, part: Part, held_out: Part | None, desk: Desk) -> None:
        self._part, self._held_out, self._desk = part, held_out, desk

    @property
    def stages(self) -> tuple[Callable[[str | Path | Program], Evaluation], ...]:
        """Return three judges, each of which asks more: `tiny`, `sample`, and the evaluator itself."""
        return self.tiny, self.sample, self

    def __call__(self, candidate: str | Path | Program) -> Evaluation:
        """Return what a candidate is worth on the instances that the search may see.

        candidate : a Python file with one method or policy of the suite's family, an executable file, or a program.

        Raises
        ------
        SchedgapError
            if there is no such file, or for an instance no bound; never for what a candidate does.
        """
        return self._evaluation(self._part, self._part.ready().cases, candidate)

    def tiny(self, candidate: str | Path | Program) -> Evaluation:
        """Return 1 if a candidate registers one method, and that solves a tiny instance, which is none of the suite; else 0.

        Raises
        ------
        SchedgapError
            as a call.
        """
        return self._evaluation(self._part, [self._part.ready().tiny], candidate)

    def sample(self, candidate: str | Path | Program) -> Evaluation:
        """Return what a candidate is worth on some of the instances, the root of their number, evenly spread.

        Raises
        ------
        SchedgapError
            as a call.
        """
        cases = self._part.ready().cases
        size = math.isqrt(len(cases))
        return self._evaluation(self._part, [cases[i * len(cases) // size] for i in range(size)], candidate)

    def one(self, candidate: str | Path | Program, instance: str) -> Evaluation:
        """Return what a candidate is worth on the instance of a name, one of `instances`.

        Raises
        ------
        SchedgapError
            as a call, and where no instance is called so.
        """
        cases = [case for case in self._part.ready().cases if case.like.instance == instance]
        if not cases:
            raise SuiteError(
                f"suite {self._part.suite.name} has no instance '{instance:.60}'; see Evaluator.instances."
            )
        return self._evaluation(self._part, cases, candidate)

    @property
    def instances(self) -> list[str]:
        """Return the names of the instances that the search may see."""
        return [case.like.instance for case in self._part.ready().cases]

    def final(self, candidate: str | Path | Program) -> Evaluation:
        """Return what a candidate is worth on the instances that were held out.

        Raises
        ------
        MethodError
            if none were; otherwise as for a call.
        """
        if self._held_out is None:
            raise MethodError("no seeds were held out; give evaluator(..., held_out=...).")
        refuse_shared(self._part.ready(), self._held_out.ready())
        return self._evaluation(self._held_out, self._held_out.ready().cases, candidate)

    def prepared(self) -> Bounds:
        """Return the bounds of all instances, those that are held out too; what is not proven yet is proven now.

        Raises
        ------
        SchedgapError
            for an instance of which nobody proves one.
        """
        bounds = self._part.ready().bounds
        if self._held_out is None:
            return bounds
        refuse_shared(self._part.ready(), self._held_out.ready())
        more = self._held_out.ready().bounds
        return bounds.model_copy(update={"instances": [*bounds.instances, *more.instances]})

    def _evaluation(self, part: Part, cases: Sequence[Case], candidate: str | Path | Program) -> Evaluation:
        ready = part.ready()
        if not isinstance(candidate, Program) and not Path(candidate).is_file():
            raise MethodError(f"candidate {candidate} is no file; give a Python file with a method, or an executable.")
        try:
            own = self._desk.records(candidate, part.suite, cases)
        except MethodError as error:
            return _evaluation(ready, [case.unsolved for case in cases], 0.0, None, str(error))
        if cases[0] is ready.tiny:
            solved = verified_objective(own[0]) is not None
            return _evaluation(ready, own, float(solved), None, "" if solved else why(own[0]))
        return _against(ready, part.suite.name, own)


def evaluator(
    suite: str | Path,
    *,
    seeds: Iterable[int] | None = None,
    held_out: Iterable[int] | str | Path | None = None,
    bound: str | None = None,
    bounds: str | Path | None = None,
    trace: str | Path | None = None,
    time_limit_s: float | None = None,
    budget_s: float | None = None,
    jobs: int | None = None,
    directory: str | Path | None = None,
) -> Evaluator:
    """Return a judge of candidates on a suite's instances.

    suite : name of a shipped one or path of a TOML file; of its own methods those run that prove bounds. seeds : of all
    instances that have seeds, instead of the suite's. held_out : further seeds, or another suite, for `Evaluator.final`; without
    seeds the suite's own of `[search] test`.
    bound : method to prove the bounds with, instead of the suite's. bounds : file of `schedgap search prepare`, whose bounds
    are used and no others. trace : as for `run_suite`. time_limit_s : what candidates are told instead of the suite's limit,
    the hard wall follows. budget_s : what all runs of a candidate may take together, in seconds; without it, the sum of their
    hard walls. jobs : runs at a time, of all candidates. directory : where the proven bounds are kept, by default
    runs/evaluator-SUITE; each is proven once.

    Raises
    ------
    SuiteError
        for a suite that is not there, none of whose instances has seeds if some are given, or seeds in both sets.
    """
    chosen, folder = read_suite(suite)
    if seeds is None and held_out is None:
        held_out = chosen.search.test
    kept_bounds = Path("runs") / f"evaluator-{chosen.name}" if directory is None else Path(directory)
    frozen = None if bounds is None else Path(bounds)
    if frozen is None:
        kept_bounds.mkdir(parents=True, exist_ok=True)
    terms = Terms(bound, frozen, trace, kept_bounds, jobs)
    searched = None if seeds is None else list(seeds)
    part = Part(chosen if searched is None else _seeded(chosen, searched), folder, terms)
    other = None
    if isinstance(held_out, str | Path):
        other = Part(*read_suite(held_out), terms)
    elif held_out is not None:
        kept = list(held_out)
        if both := set(kept) & set(searched or ()):
            raise SuiteError(
                f"seed {min(both)} is in seeds and in held_out; hold out seeds that the search does not see."
            )
        if searched is None and (both := set(kept) & _own_seeds(chosen)):
            raise SuiteError(
                f"seed {min(both)} is one of suite {chosen.name}; hold out seeds that the search does not see."
            )
        other = Part(_seeded(chosen, kept), folder, terms)
    return Evaluator(part, other, Desk(jobs, time_limit_s, budget_s))


def _own_seeds(suite: Suite) -> set[int]:
    given = [block.seeds for block in suite.instances if block.seeds is not None]
    return {seed for seeds in given for seed in (range(seeds) if isinstance(seeds, int) else seeds)}


def _seeded(suite: Suite, seeds: Sequence[int]) -> Suite:
    """Return those instances of a suite that have seeds, with these."""
    blocks = [block.model_copy(update={"seeds": list(seeds)}) for block in suite.instances if block.seeds is not None]
    if not blocks or not seeds:
        raise SuiteError(
            f"{suite.name}: {len(blocks)} instances have seeds, and {len(seeds)} are given; both are needed."
        )
    return suite.model_copy(update={"instances": blocks})


def _against(ready: Ready, suite: str, own: Sequence[Record]) -> Evaluation:
    """Return what runs are worth against what is proven of their instances."""
    bounds = ready.bounds.rows({record.run.digest: record.run.instance for record in own})
    rows = {record.key: record for record in (*bounds.values(), *own)}
    found = contradictions(rows.values())
    rows = judged(rows, found)
    own = [rows[record.key] for record in own]
    gaps = gaps_of(suite, own, [rows[record.key] for record in bounds.values()])
    score = math.fsum(1.0 - each.gap for each in gaps.details if each.gap is not None) / gaps.runs
    problems = [*(contradiction.reason for contradiction in found), *gaps.problems]
    more = [f"and {len(problems) - TOLD} more without a gap"] if len(problems) > TOLD else []
    lines = [*problems[:TOLD], *more, *filter(None, [printed(own)])]
    if len(gaps.problems) < gaps.runs:
        lines += gaps.lines()
    evaluation = _evaluation(ready, own, score, gaps, "\n".join(lines))
    return replace(evaluation, contradictions=len(found))


def _evaluation(ready: Ready, own: Sequence[Record], score: float, gaps: Gaps | None, feedback: str) -> Evaluation:
    """Return what runs are worth, with all measures that there can be."""
    found: dict[str, list[float]] = {name: [] for name in (*ready.bounds.measures, "wall_s")}
    solved = [record.measurement for record in own if verified_objective(record) is not None]
    for measured in solved:
        for name, value in {**measured.measures, "wall_s": measured.wall_s}.items():
            if value is not None:
                found.setdefault(name, []).append(value)
    scores = native_scores(find_family(ready.bounds.family), own)
    return Evaluation(
        score,
        {name: statistics.fmean(values) if values else 0.0 for name, values in found.items()},
        gaps,
        feedback,
        runs=len(own),
        failed=sum(each.gap is None for each in gaps.details) if gaps else len(own) - len(solved),
        native={**dict.fromkeys(ready.bounds.scores, 0.0), **scores},
    )


# What importing a candidate may take, in seconds.
IMPORT_S = 20.0


class Desk:
    """Where candidates are run: `jobs` runs at a time, whoever asks, by threads and servers that are kept.

    A process that is forked from this one has its own. time_limit_s, budget_s : see `evaluator`.
    """

    def __init__(self, jobs: int | None, time_limit_s: float | None, budget_s: float | None) -> None:
        self._jobs, self._time_limit_s, self._budget_s = jobs or os.cpu_count() or 1, time_limit_s, budget_s
        self._lock = threading.Lock()
        self._process = 0

    def records(self, candidate: str | Path | Program, suite: Suite, cases: Sequence[Case]) -> list[Record]:
        """Run a candidate on instances and return its runs, in their order, without what it says of its own answers.

        Raises
        ------
        MethodError
            if it cannot be loaded, is not one method of the suite's family, or is changed meanwhile.
        """
        threads, session = self._opened()
        place = replace(setting(suite.family, (), cases[0].like.limits.threads), session=session)
        plugins = _plugins(candidate)
        try:
            method = _known(plugins[0], suite.family, place)
            plan = Plan(replace(place, plugins=plugins), methods={(method.family, method.name): method})
            code = plugin_hash(method, plugins)
            for case in cases:
                plan.instances[case.instance.digest] = case.made
                for repetition in range(suite.repetitions if method.stochastic else 1):
                    run = make_run(
                        case.instance,
                        method,
                        {},
                        case.like.limits,
                        group=case.like.group,
                        source=dict(case.like.source),
                        base_seed=suite.seed,
                        repetition=repetition,
                        plugin=code,
                    )
                    run = run if self._time_limit_s is None else with_time_limit(run, self._time_limit_s)
                    plan.runs[run.key] = run
            spent = _Spent(self._budget_s or sum(run.limits.wall_s for run in plan.runs.values()) + IMPORT_S)
            waiting = [threads.submit(spent.performed, plan.task(key)) for key in plan.runs]
            try:
                ends = [each.result() for each in waiting]
            finally:
                for each in waiting:
                    each.cancel()
            list(plan.unchanged(end for end in ends if end is not None))
        finally:
            pool_of(place).forget(plugins)
        return _in_order(list(plan.runs.values()), ends, spent)

    def _opened(self) -> tuple[ThreadPoolExecutor, str]:
        """Return the threads, and the name of the servers, of this process."""
        with self._lock:
            if self._process != os.getpid():
                self._process, self._session = os.getpid(), uuid.uuid4().hex
                self._threads = ThreadPoolExecutor(self._jobs, thread_name_prefix="schedgap-candidates")
                # At exit all pools are closed anyway.
                weakref.finalize(self, _close, self._session).atexit = False
            return self._threads, self._session


def _close(session: str) -> None:
    """End servers in a thread of its own: garbage is collected anywhere, also where a pool is held."""
    threading.Thread(target=close_pools, args=(session,), daemon=True).start()


class _Spent:
    """What the runs of one candidate took, all together; each may take what is left."""

    def __init__(self, budget_s: float) -> None:
        self.budget_s, self.left_s = budget_s, budget_s
        self.is_over = False
        self._lock = threading.Lock()

    def performed(self, task: Task) -> Performed | None:
        """Do a run; None if nothing is left for it, or one before it took its whole time."""
        if self.is_over or self.left_s <= 0:
            return None
        start = time.monotonic()
        performed = perform(replace(task, most_s=self.left_s))
        with self._lock:
            self.left_s -= time.monotonic() - start
            self.is_over |= performed.answer.measurement.status is Status.TIMEOUT
        return performed


def _plugins(candidate: str | Path | Program) -> tuple[str | Program]:
    """Return a candidate as the plug-in that runs of it need."""
    if isinstance(candidate, Program):
        return (candidate,)
    path = str(Path(candidate).resolve())
    return (path if path.endswith(".py") else Program.make("candidate", (path,), kind=Kind.METHOD),)


def _known(plugin: str | Program, family: str, place: Setting) -> Method:
    """Return the one method of a family that a plug-in is, or registers."""
    if isinstance(plugin, Program):
        if (family, plugin.name) in REGISTRY:
            raise MethodError(f"family {family} has a method '{plugin.name}' already; give the program another name.")
        return plugin.as_method(family)
    described = pool_of(place).describe((plugin,), IMPORT_S)
    # Others are of packages that are installed.
    own = [each for each in described if each.family == family and each.plugin == plugin]
    if len(own) != 1:
        names = ", ".join(method.name for method in own) or "none"
        raise MethodError(
            f"candidate {plugin} registers {len(own)} methods of family {family} ({names}); register one."
        )
    return own[0]


def _in_order(runs: Sequence[Run], ends: Sequence[Performed | None], spent: _Spent) -> list[Record]:
    """Return the runs as rows; after the first that took its whole time no other counts, however far it came beside it."""
    rows: list[Record] = []
    hung = ""
    for run, end in zip(runs, ends, strict=True):
        if end is None or hung:
            reason = f"not run: {hung}" if hung else f"not run: the candidate's {spent.budget_s:g} s were over"
            rows.append(Record(run.key, run, Measurement(Status.TIMEOUT, reason=reason), host="", ended_at=""))
            continue
        rows.append(_unclaimed(recorded(end, host_id(end.host))))
        if rows[-1].status is Status.TIMEOUT:
            hung = f"on {run.instance} the candidate took all its time"
    return rows


def _unclaimed(record: Record) -> Record:
    """Return the record without what the method said of its own answer."""
    measurement = record.measurement
    status = Status.FEASIBLE if measurement.status is Status.OPTIMAL else measurement.status
    return structs.replace(record, measurement=structs.replace(measurement, status=status, bound=None, trajectory=()))
