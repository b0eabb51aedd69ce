"""One method on a suite against bounds that are proven once: the method runs anew each time, the bounds are kept.

Bounds that are proven once and kept in a journal, for tools that measure one method again and again.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from schedgap.bench.api import recorded
from schedgap.bench.catalogue import chosen_method, default_bound, load_catalogue, transported
from schedgap.bench.executors.factory import open_executor
from schedgap.bench.plan import Plan, make_run, plan_suite, setting
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.plugins.files import plugin_hash
from schedgap.bench.programs.program import Program, resolved
from schedgap.bench.records.contradictions import judged_together
from schedgap.bench.records.host import host_id, write_host
from schedgap.bench.records.journal import FILE_NAME, Journal, read_journal
from schedgap.bench.records.runs import ERRORS, Limits, Record, Run
from schedgap.bench.statistics.summary import best_of
from schedgap.bench.suites.source import family_of, given_instance
from schedgap.bench.suites.suite import InstanceBlock, Suite, given_limits, read_suite
from schedgap.instances.documents.openings import open_own
from schedgap.instances.errors import JournalError, MethodError, about_file
from schedgap.instances.family import find_family
from schedgap.instances.method import find_method, method_label


def prove_bounds(plan: Plan, runs: Mapping[str, Run], directory: Path, jobs: int | None) -> dict[str, Record]:
    """Return the records of bound-proving runs of a plan, those of the journal in `directory` without doing them again.

    An instance whose optimum one of its runs proved needs no other: its remaining runs are left out. Processes that
    share the directory wait for each other, so that each bound is proven once.

    Raises
    ------
    JournalError
        if the directory cannot be read or written.
    """
    known = _usable(read_journal(directory), runs) if (directory / FILE_NAME).exists() else {}
    if next(_missing(runs, known), None) is None:
        return known
    with (
        _alone(directory),
        Journal(directory) as journal,
        open_executor("process", plan.setting, jobs) as executor,
    ):
        known = _usable(journal.records, runs)
        for performed in executor.execute(plan.task(key) for key in _missing(runs, known)):
            record = recorded(performed, write_host(directory, performed.host))
            journal.append(record)
            known[record.key] = record
    return known


def _usable(records: Mapping[str, Record], runs: Mapping[str, Run]) -> dict[str, Record]:
    return {key: records[key] for key in runs if key in records and records[key].status not in ERRORS}


def _missing(runs: Mapping[str, Run], known: Mapping[str, Record]) -> Iterator[str]:
    """Yield the keys of what is still to do: each method on all instances before the next one.

    `known` is looked at again before each, since it grows as runs end.
    """
    ranks: dict[str, int] = {}
    counts: dict[str, int] = {}
    for key, run in runs.items():
        ranks[key] = counts[run.digest] = counts.get(run.digest, -1) + 1
    for key in sorted((key for key in runs if key not in known), key=ranks.__getitem__):
        best = best_of(list(known.values())).get(runs[key].digest)
        if best is None or not best.is_proven:
            yield key


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Wait until no other process proves bounds for this directory; a process that ends lets go of it."""
    path = directory / "lock"
    with about_file(path, "written", JournalError, "make the directory writable"):
        directory.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(open_own(path, os.O_WRONLY), "wb")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def measure_gap(
    method: str | Callable[..., Any] | Program,
    *,
    directory: Path,
    suite: str | Path | None = None,
    instances: Sequence[Any] | None = None,
    bound: str | None = None,
    plugins: Sequence[str | Path | Program] = (),
    trace: str | Path | None = None,
    time_limit_s: float | None = None,
    jobs: int | None = None,
    by_value: Iterable[ModuleType] = (),
) -> tuple[list[Record], list[Record]]:
    """Run a method on the instances of a suite and return its records and those of the methods that prove bounds.

    All are judged against each other. Of the suite's own methods those run that are declared to prove bounds, where it
    has none, the usual one of the family; their records are kept in `directory`.

    method : a name with parameters, a callable (see `transported`), or a program. suite : name of a shipped one, or path of a
    TOML file.
    instances : objects, or paths of files; give them or a suite. bound : method to prove bounds with, instead of the
    suite's. time_limit_s : what the method is told instead of the suite's limit, the hard wall follows. plugins, trace,
    jobs : as for `run_suite`. by_value : see `transported`.

    Raises
    ------
    SchedgapError
        for anything wrong with what was given; never for a run that fails.
    """
    if isinstance(method, Program):
        plugins, method = [*plugins, method], method.name
    files = resolved(plugins)
    load_families()
    if suite is not None:
        chosen, folder = read_suite(suite)
        files = resolved([*plugins, *chosen.own_programs(folder)])
        family = find_family(chosen.family).name
    else:
        built = [given_instance(each) for each in instances or ()]
        family = family_of(built)
    load_catalogue([family], files)
    if bound is not None and not chosen_method(family, bound)[0].bounds:
        raise MethodError(f"method {bound} is not declared to prove bounds; name one that is, or leave 'bound' out.")
    with (
        tempfile.TemporaryDirectory(prefix="schedgap-transport-") as scratch,
        transported(method, family, Path(scratch), by_value) as (label, carriers),
    ):
        if suite is not None:
            own_suite = reduced(chosen, label, bound)
            plan = plan_suite(own_suite, folder, plugins=files, trace=trace)
        else:
            plan = _plan_of(built, family, [label] if bound is None else [label, bound], files)
        own = {key: run for key, run in plan.runs.items() if run.label == label}
        cover(plan, own)
        others = {key: run for key, run in plan.runs.items() if key not in own}
        if time_limit_s is not None:
            own = {run.key: run for run in (with_time_limit(run, time_limit_s) for run in own.values())}
        proofs = prove_bounds(plan, others, directory, jobs)
        place = setting(family, (*files, *carriers), plan.setting.threads)
        records = _records_of(Plan(place, own, plan.instances, methods=plan.methods), jobs)
    everything = judged_together({**proofs, **records})
    return [everything[key] for key in own], [everything[key] for key in proofs]


def _records_of(plan: Plan, jobs: int | None) -> dict[str, Record]:
    with open_executor("process", plan.setting, jobs) as executor:
        ends = executor.execute(map(plan.task, plan.runs))
        return {each.run.key: recorded(each, host_id(each.host)) for each in plan.unchanged(ends)}


def reduced(suite: Suite, label: str, bound: str | None) -> Suite:
    """Return the suite with the method under test, and of its own methods those that prove bounds."""

    def methods(block: InstanceBlock) -> list[str]:
        texts = block.methods or suite.methods if bound is None else [bound]
        return [label, *(text for text in texts if _proves(suite.family, text, label))]

    blocks = [block.model_copy(update={"methods": methods(block)}) for block in suite.instances]
    # What is shown of other methods beside a paper is none of this one's matter.
    shown: dict[str, list[Any]] = {"reference": [], "setting": [], "sweep": [], "map": []}
    return suite.model_copy(update={"methods": [label], "instances": blocks, **shown})


def _proves(family: str, text: str, label: str) -> bool:
    method, given = chosen_method(family, text)
    return method.bounds and method_label(method.name, given) != label


def _plan_of(instances: Iterable[Any], family: str, texts: Iterable[str], files: tuple[str | Program, ...]) -> Plan:
    plan = Plan(setting(family, files, 1))
    for instance in instances:
        for text in texts:
            chosen, given = chosen_method(family, text)
            plugin = plugin_hash(chosen, files)
            plan.add(instance, make_run(instance, chosen, given, Limits.from_time_limit(60.0), plugin=plugin))
    return plan


def cover(plan: Plan, own: Mapping[str, Run]) -> None:
    """Add the usual method to the plan where none proves a bound. own : runs whose bounds do not count, of other methods."""
    covered = {run.digest for key, run in plan.runs.items() if key not in own}
    for run in own.values():
        if run.digest not in covered and not find_method(run.family, run.method).bounds:
            covered.add(run.digest)
            instance = pickle.loads(plan.instances[run.digest][0])
            prover = find_method(run.family, default_bound(run.family, instance))
            added = make_run(instance, prover, {}, run.limits, group=run.group)
            plan.add(instance, replace(added, source=run.source))


def with_time_limit(run: Run, time_limit_s: float) -> Run:
    """Return a run whose method is told another limit; the hard wall follows."""
    old = run.limits
    limits = given_limits(time_limit_s=time_limit_s, cpu_s=old.cpu_s, memory_mib=old.memory_mib, threads=old.threads)
    return replace(run, limits=limits)
