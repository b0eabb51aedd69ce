"""Suites and gaps from Python; the command line is a thin layer over these two functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from schedgap.bench.audit import audit_of
from schedgap.bench.executors.execute import Executor, Performed, ProcessExecutor, open_executor
from schedgap.bench.forecast import RETRIED, Retry, matching, to_do
from schedgap.bench.isolation.runexec import require_runexec
from schedgap.bench.plan import Plan, plan_gap, plan_suite, setting
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.plugins.files import earlier_rows
from schedgap.bench.programs.program import Program, resolved
from schedgap.bench.records.contradictions import contradictions, judged, judged_together
from schedgap.bench.records.host import host_id, write_host
from schedgap.bench.records.journal import Journal
from schedgap.bench.records.pictures import append_picture
from schedgap.bench.records.runs import PROCESS_GROUP, RUNEXEC, Record, file_names
from schedgap.bench.result import GapResult, SuiteResult
from schedgap.bench.statistics.summary import best_of
from schedgap.bench.suites.results import Shard, command_of, refuse_other_suite, write_plan
from schedgap.bench.suites.source import family_of, given_instance
from schedgap.bench.suites.suite import given_limits, read_suite
from schedgap.instances.documents.json_files import write_whole
from schedgap.instances.errors import SolutionError, SuiteError, about_file, one_of
from schedgap.instances.family import find_family


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a suite is: `done` of `total` runs of this call, after `record` (None at the start, with the `notes`).

    to_do : at the start, how many runs there are of each label. left_s : the rest takes no longer; None where limits do not tell.
    """

    done: int
    total: int
    record: Record | None
    notes: tuple[str, ...] = ()
    left_s: float | None = None
    to_do: Mapping[str, int] = field(default_factory=dict)


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
    solutions: str | Path | None = None,
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
    runs (see `suites.shard`), which alone are done and returned. solutions : directory for the verified solutions and the
    certificates of the runs that are done now, as `INSTANCE.METHOD.json` and `INSTANCE.METHOD.certificate.json`; where
    several runs of the suite would have one name, as `records.runs.file_names` tells them apart.

    Raises
    ------
    SchedgapError
        for anything wrong with the suite, its methods or the journal; never for a run that fails.
    """
    one_of("retry", retry, RETRIED, SuiteError)
    part = None if shard is None else Shard.parse(shard)
    given, folder = read_suite(suite)
    chosen, files = given.with_programs(folder, plugins)
    load_families()
    find_family(chosen.family)
    directory = Path(out) if out is not None else Path("runs") / chosen.name
    refuse_other_suite(directory, chosen.name)
    if isolation == RUNEXEC and executor == "process":
        require_runexec()
    with ExitStack() as stack:
        # Before the instances are built: processes start meanwhile, and a cluster that is not there is known at once.
        needed = setting(chosen.family, files, chosen.limits.threads or 1, isolation)
        place = stack.enter_context(open_executor(executor, needed, jobs, address))
        plan = plan_suite(chosen, folder, plugins=files, trace=trace, audit=audit, isolation=isolation)
        # Before anything is written.
        chosen_runs = matching(plan, only)
        journal = stack.enter_context(Journal(directory))
        write_plan(directory, chosen, command_of(suite, plugins, trace, audit, isolation, only), plan.runs, part)
        # Of the whole suite: a shard's files are named as if it had done all.
        names = {} if solutions is None else file_names(plan.runs, lambda run: run.file_name)
        notes = (*plan.notes, *plan.keep(part), *earlier_rows(plan.runs, journal.records, files))
        known = judged_together({key: journal.records[key] for key in plan.runs if key in journal.records})
        missing = to_do(plan, chosen_runs, known, retry=retry, fresh=fresh)
        tell = on_progress or _ignored
        tell(Progress(0, len(missing), None, notes, to_do=Counter(plan.runs[key].label for key in missing)))
        keep = None if solutions is None else _made_folder(Path(solutions))
        _told(_ended(plan, missing, place, keep, names, journal), len(missing), tell)
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


def _ended(
    plan: Plan,
    keys: Collection[str],
    executor: Executor,
    keep: Path | None,
    names: Mapping[str, str],
    journal: Journal | None = None,
) -> Generator[Record, None, None]:
    """Do runs of a plan, write each down as soon as it has ended, and yield it.

    keep : directory for solutions, which have these `names`, by key.
    """
    with closing(executor.execute(plan.task(key, keep=keep is not None) for key in keys)) as ends:
        # A cluster has the plug-ins as they were when it got them.
        for performed in plan.unchanged(ends) if isinstance(executor, ProcessExecutor) else ends:
            if keep is not None:
                _keep(performed, keep, names[performed.run.key])
            if journal is None:
                yield recorded(performed, host_id(performed.host))
                continue
            # What a row refers to is there before it, whenever this process is killed.
            record = recorded(performed, write_host(journal.directory, performed.host))
            if performed.answer.picture is not None:
                append_picture(journal.directory, record.key, performed.answer.picture)
            journal.append(record)
            yield record


def gap(
    instance: Any,
    methods: Iterable[str | Callable[..., Any]],
    *,
    family: str | None = None,
    bound: str | None = None,
    time_limit_s: float = 60.0,
    seed: int = 0,
    jobs: int | None = None,
    plugins: Sequence[str | Path | Program] = (),
    memory_mib: int | None = None,
    solutions: str | Path | None = None,
    audit: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> GapResult:
    """Run methods on one instance and return their objectives against the best proven bound.

        def mine(instance):
            types = instance.reservation_type[instance.task_classes()]
            return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))

        gap(table3(), [mine, "full-reconfiguration"])

    instance : an object, or the path of its file. methods : `NAME`, `NAME[parameter=value,...]`, or functions from instance
    to solution, of a notebook as of a module, lambdas and closures too. These run as all methods do, in a limited process
    of their own, where they are sent by value with what they use (`catalogue.transported`), and are called by their name in
    kebab-case; their answers are verified alike. family : by default the instance's own. bound : a method to prove the bound
    with; by default one is chosen when none of the methods proves bounds. plugins : Python files with methods, and programs,
    which are run too. solutions : directory for the verified solutions and certificates, one file a method; made if need
    be. audit : as in `run_suite`.

    Raises
    ------
    SchedgapError
        for an unknown method or parameter, a function that is no method or cannot be sent, an instance of another family,
        and limits out of range.
    """
    if isinstance(methods, str) or callable(methods) or not isinstance(methods, Iterable):
        methods = [methods]
    load_families()
    instance = given_instance(instance)
    chosen_family = family_of([instance], family)
    files = resolved(plugins)
    limits = given_limits(time_limit_s=time_limit_s, memory_mib=memory_mib)
    with ExitStack() as stack:
        # Its processes start while methods are imported here.
        executor = stack.enter_context(open_executor("process", setting(chosen_family, files, limits.threads), jobs))
        plan = stack.enter_context(
            plan_gap(instance, chosen_family, methods, files, limits, bound=bound, seed=seed, audit=audit)
        )
        # Only now: whoever misspells a method finds no new folder.
        keep = None if solutions is None else _made_folder(Path(solutions))
        tell, names = on_progress or _ignored, file_names(plan.runs, lambda run: run.label)
        tell(Progress(0, len(plan.runs), None, to_do=Counter(run.label for run in plan.runs.values())))
        records = _told(_ended(plan, plan.runs, executor, keep, names), len(plan.runs), tell)
    opinion = audit_of(plan.second_opinions, records) if audit else None
    records = judged_together(records)
    best = best_of(records.values())[instance.digest]
    in_order = tuple(records[key] for key in plan.runs)
    known = find_family(chosen_family)
    given = known.assumptions(instance) if known.assumptions else ()
    left_out = getattr(instance, "left_out", ())
    unit = known.unit_of(instance)
    return GapResult(instance.name, instance.digest, chosen_family, best, in_order, opinion, unit, left_out, given)


def _told(ends: Generator[Record, None, None], total: int, tell: Callable[[Progress], None]) -> dict[str, Record]:
    """Return the records of runs that end, by key, and tell of each."""
    records: dict[str, Record] = {}
    with closing(ends):
        for record in ends:
            records[record.key] = record
            tell(Progress(len(records), total, record))
    return records


def _keep(performed: Performed, folder: Path, name: str) -> None:
    """Write what a run was to keep: its verified solution and its certificate, each whole or not at all."""
    kept = {".json": performed.answer.solution, ".certificate.json": performed.answer.certificate}
    for ending, content in kept.items():
        if content is not None:
            write_whole(folder / f"{name}{ending}", content, SolutionError)


def recorded(performed: Performed, host: str) -> Record:
    """Return the record of a run that has just ended. host : its ID (see `host.host_id`)."""
    ended_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    measurement = performed.answer.measurement
    return Record(performed.run.key, performed.run, measurement, host, ended_at, performed.isolation)


def _ignored(progress: Progress) -> None:
    """Stand for somebody who wants to know how far a suite is."""


def _made_folder(folder: Path) -> Path:
    with about_file(folder, "made", SolutionError, "give another directory"):
        folder.mkdir(parents=True, exist_ok=True)
    return folder
