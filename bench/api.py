"""Suites and gaps from Python; the command line is a thin layer over these two functions."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedgap.bench.audit import Audit, audit_of
from schedgap.bench.catalogue import load_catalogue
from schedgap.bench.choice import matching, to_do
from schedgap.bench.executors.factory import open_executor
from schedgap.bench.isolation.runexec import require_runexec
from schedgap.bench.plan import Plan, chosen_method, default_bound, make_run, plan_suite, setting
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.plugins.files import earlier_rows, plugin_hash
from schedgap.bench.programs.program import programs_among, resolved
from schedgap.bench.records.contradictions import contradictions, judged, judged_together
from schedgap.bench.records.host import host_id, write_host
from schedgap.bench.records.journal import Journal
from schedgap.bench.records.measurement import FAILED
from schedgap.bench.records.pictures import append_picture
from schedgap.bench.records.record import PROCESS_GROUP, RUNEXEC, Record
from schedgap.bench.records.runs import Limits
from schedgap.bench.statistics.headlines import suite_json
from schedgap.bench.statistics.summary import Best, best_of
from schedgap.bench.suites.results import command_of, write_plan
from schedgap.bench.suites.shard import Shard
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import SolutionError
from schedgap.instances.family import DEFAULT_FAMILY, find_family

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from schedgap.bench.choice import Retry
    from schedgap.bench.executors.execute import Performed
    from schedgap.bench.executors.factory import Executor
    from schedgap.bench.programs.program import Program
    from schedgap.bench.suites.suite import Suite


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a suite is: `done` of `total` runs of this call, after `record` (None at the start, with the `notes`)."""

    done: int
    total: int
    record: Record | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What a suite gave.

    records : one for each run of the suite that is done, before or now. directory : of the journal.
    measured_now : runs done by this call. planned : runs of the suite, or of its shard, done or not. audit : what second
    opinions gave, None if nobody asked for them. notes : sentences about what the journal holds besides, such as rows of a
    plug-in that has changed. undone : a sentence for each run that the workers' queues kept from being done.
    """

    suite: Suite
    records: tuple[Record, ...]
    directory: Path
    measured_now: int
    planned: int
    audit: Audit | None = None
    notes: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        """Number of runs that failed."""
        return sum(record.status in FAILED for record in self.records)

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap run --json` prints."""
        return {
            **suite_json(self.suite, self.records),
            "measured_now": self.measured_now,
            "planned": self.planned,
            "directory": str(self.directory),
            "audit": None if self.audit is None else self.audit.to_json(),
            "notes": list(self.notes),
            "undone": list(self.undone),
        }


@dataclass(frozen=True, slots=True)
class GapResult:
    """What is known of one instance. best : over all runs. audit : what second opinions gave, None without any."""

    instance: str
    digest: str
    family: str
    best: Best
    records: tuple[Record, ...]
    audit: Audit | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap gap --json` prints; objectives and bounds in the family's shown unit."""
        scale = find_family(self.family).objective_scale
        results = []
        for record in self.records:
            measurement, failed = record.measurement, record.status in FAILED
            objective = None if failed else measurement.objective
            results.append(
                {
                    "method": record.run.label,
                    "status": str(record.status),
                    "objective": _shown(objective, scale),
                    "bound": None if failed else _shown(measurement.bound, scale),
                    "gap": self.best.gap(objective),
                    "wall_s": measurement.wall_s,
                    "reason": measurement.reason,
                }
            )
        return {
            "instance": self.instance,
            "digest": self.digest,
            "bound": _shown(self.best.bound, scale),
            "best_objective": _shown(self.best.objective, scale),
            "results": results,
            "audit": None if self.audit is None else self.audit.to_json(),
        }


def run_suite(
    suite: str | Path,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    plugins: Sequence[str | Path | Program] = (),
    trace: str | Path | None = None,
    retry: Retry = "errors",
    fresh: bool = False,
    only: Sequence[str] = (),
    executor: str = "process",
    address: str | None = None,
    audit: bool = False,
    isolation: str = PROCESS_GROUP,
    shard: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> SuiteResult:
    """Do the runs of a suite that its journal does not hold yet, and return all of them.

    suite : name of a shipped suite or path of a TOML file. out : directory of the journal, `runs/SUITE` by default.
    jobs : runs at a time, None for one a processor. plugins : Python files with methods, and programs, which are run
    beside the suite's own methods. trace : file for the instances that can come from one. retry : recorded runs to do
    again: `errors` (crashed, error), `failed` (also timeout, memory, invalid) or `none`. fresh : do all runs again; rows
    that are there stay in the journal, and are replaced by later ones of the same key. only : do but the runs whose method,
    instance or group has all of these in its name (`A|B` is either; * and ? as in file names); the plan stays whole, so
    that the others are seen to be missing. executor : `process` for this machine, `dask`, `ray` or `slurm` for the cluster at
    `address`. audit : solve each model that has several back ends by another one too, and compare. isolation :
    `process-group`, or `runexec` for BenchExec's, where it is installed. shard : `3/40` for the third of forty parts of the
    runs (see `suites.shard`), which alone are done and returned.

    Raises
    ------
    SchedgapError
        for anything wrong with the suite, its methods or the journal; never for a run that fails.
    """
    part = None if shard is None else Shard.parse(shard)
    given, folder = read_suite(suite)
    chosen, files = given.with_programs(folder, plugins)
    load_families()
    find_family(chosen.family)
    directory = Path(out) if out is not None else Path("runs") / chosen.name
    if isolation == RUNEXEC and executor == "process":
        require_runexec()
    with ExitStack() as stack:
        # Before the instances are built: processes start meanwhile, and a cluster that is not there is known at once.
        needed = setting(chosen.family, files, chosen.limits.threads or 1, isolation)
        place = stack.enter_context(open_executor(executor, needed, jobs, address))
        plan = plan_suite(chosen, folder, plugins=files, trace=trace, audit=audit, isolation=isolation)
        # Before anything is written.
        matching(plan, only)
        journal = stack.enter_context(Journal(directory))
        write_plan(directory, chosen, command_of(suite, plugins, trace, audit, isolation, only), plan.runs, part)
        notes = (*plan.keep(part), *earlier_rows(plan.runs, journal.records, files))
        known = judged_together({key: journal.records[key] for key in plan.runs if key in journal.records})
        missing = to_do(plan, known, retry=retry, fresh=fresh, only=only)
        tell = on_progress or _ignored
        tell(Progress(0, len(missing), None, notes))
        ends = stack.enter_context(closing(_journalled(plan, missing, place, journal)))
        for done, record in enumerate(ends, start=1):
            tell(Progress(done, len(missing), record))
        known = {key: journal.records[key] for key in plan.runs if key in journal.records}
        undone = tuple(f"{end.run.label} on {end.run.instance}: not done: {end.reason}" for end in place.undone)
        found = contradictions(known.values())
        for contradiction in found:
            journal.append_verdict(contradiction)
    # The names and groups of the suite as it is now; the key says that it is the same run.
    records = tuple(replace(record, run=plan.runs[key]) for key, record in judged(known, found).items())
    pairs = {key: second for key, second in plan.second_opinions.items() if key in known and second in known}
    opinion = audit_of(pairs, known) if audit else None
    return SuiteResult(chosen, records, directory, len(missing) - len(undone), len(plan.runs), opinion, notes, undone)


def _journalled(
    plan: Plan, missing: Sequence[str], executor: Executor, journal: Journal
) -> Generator[Record, None, None]:
    """Do runs of a plan, write each down as soon as it has ended, and yield it."""
    with closing(executor.execute(plan.task(key) for key in missing)) as ends:
        for performed in ends:
            if performed.answer.picture is not None:
                append_picture(journal.directory, performed.run.key, performed.answer.picture)
            record = recorded(performed, write_host(journal.directory, performed.host))
            journal.append(record)
            yield record


def gap(
    instance: Any,
    methods: Iterable[str],
    *,
    family: str = DEFAULT_FAMILY,
    bound: str | None = None,
    time_limit_s: float = 60.0,
    seed: int = 0,
    jobs: int | None = None,
    plugins: Sequence[str | Path | Program] = (),
    memory_mib: int | None = None,
    solutions: Path | None = None,
    audit: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> GapResult:
    """Run methods on one instance and return their objectives against the best proven bound.

    methods : `NAME` or `NAME[parameter=value,...]`. bound : a method to prove the bound with; by default one is chosen
    when none of the methods proves bounds. plugins : Python files with methods, and programs, which are run too.
    solutions : directory for the verified solutions, one file a method; made if need be. audit : as in `run_suite`.

    Raises
    ------
    MethodError
        for an unknown method or parameter.
    """
    files = resolved(plugins)
    load_catalogue([family], files)
    limits = Limits.from_time_limit(time_limit_s, memory_mib=memory_mib)
    plan = Plan(setting(family, files, limits.threads))
    own = [program.name for program in programs_among(files)]
    chosen = [chosen_method(family, text) for text in dict.fromkeys([*methods, *own])]
    if bound is not None:
        chosen.append(chosen_method(family, bound))
    elif not any(method.bounds for method, _ in chosen):
        chosen.append(chosen_method(family, default_bound(family, instance)))
    for method, given in chosen:
        plugin = plugin_hash(method, files)
        plan.add(instance, make_run(instance, method, given, limits, base_seed=seed, plugin=plugin))
    if audit:
        plan.add_second_opinions()
    if solutions is not None:
        _make_folder(solutions)
    tell = on_progress or _ignored
    tell(Progress(0, len(plan.runs), None))
    records: dict[str, Record] = {}
    tasks = (plan.task(key, keep=solutions is not None) for key in plan.runs)
    with open_executor("process", plan.setting, jobs) as executor, closing(executor.execute(tasks)) as ends:
        for done, performed in enumerate(ends, start=1):
            record = recorded(performed, host_id(performed.host))
            records[record.key] = record
            if solutions is not None and performed.answer.solution is not None:
                (solutions / f"{performed.run.label}.json").write_bytes(performed.answer.solution)
            tell(Progress(done, len(plan.runs), record))
    opinion = audit_of(plan.second_opinions, records) if audit else None
    records = judged_together(records)
    best = best_of(records.values())[instance.digest]
    in_order = tuple(records[key] for key in plan.runs)
    return GapResult(instance.name, instance.digest, family, best, in_order, opinion)


def recorded(performed: Performed, host: str) -> Record:
    """Return the record of a run that has just ended. host : its ID (see `host.host_id`)."""
    ended_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    measurement = performed.answer.measurement
    return Record(performed.run.key, performed.run, measurement, host, ended_at, performed.isolation)


def _ignored(progress: Progress) -> None:
    """Stand for somebody who wants to know how far a suite is."""


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SolutionError(f"{folder}: cannot be made ({error.strerror}); give another directory.") from None


def _shown(value: int | None, scale: int) -> float | None:
    return None if value is None else value / scale
