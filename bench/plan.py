"""From a suite to its runs, checked before the first one starts: a misspelt method must not surface hours later."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from schedgap.bench.audit import second_opinion
from schedgap.bench.catalogue import backend_version, chosen_method, default_bound, load_catalogue, transported
from schedgap.bench.executors.execute import Performed, Setting, Task
from schedgap.bench.isolation.messages import compiled_kind, pickled
from schedgap.bench.isolation.pool import doing
from schedgap.bench.plugins.discover import home_of
from schedgap.bench.plugins.files import Seen, plugin_hash, refuse_changed, with_family
from schedgap.bench.programs.program import MODULE, Program, programs_among
from schedgap.bench.records.runs import ISOLATIONS, PROCESS_GROUP, Limits, Run, Scalar
from schedgap.bench.statistics.headlines.registry import check_headline, check_names
from schedgap.bench.suites.results import Shard
from schedgap.bench.suites.suite import Suite
from schedgap.instances.errors import ExecutorError, SchedgapError, SuiteError, one_of
from schedgap.instances.method import REGISTRY, Method, derived_seed, method_label


@dataclass(slots=True)
class Plan:
    """All runs of a suite, by key, in the order in which they are started; instances are kept as bytes.

    second_opinions : run to the same run by another back end, keys of `runs`. notes : what instances have to say. methods : all
    that were known when the plan was made; later plans of this process may know others by the same names.
    """

    setting: Setting
    runs: dict[str, Run] = field(default_factory=dict)
    instances: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    second_opinions: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    methods: dict[tuple[str, str], Method] = field(default_factory=lambda: dict(REGISTRY))

    def add(self, instance: Any, run: Run) -> None:
        """Add a run; one of the same key is already the same run, and called by the shorter label of the two."""
        if run.digest not in self.instances:
            self.instances[run.digest] = pickled(instance), compiled_kind(instance)
            self.notes |= dict.fromkeys(getattr(instance, "notes", ()))
        known = self.runs.get(run.key)
        if known is None or len(run.given) < len(known.given):
            self.runs[run.key] = run

    def add_second_opinions(self) -> None:
        """Add, to each run whose method has several back ends, the same run by another one, and by its twin."""
        for key, run in list(self.runs.items()):
            opinion = second_opinion(run)
            if opinion is None:
                continue
            second = _solved_by(run, *opinion)
            self.runs.setdefault(second.key, second)
            if self.second_opinions.get(second.key) != key:
                self.second_opinions[key] = second.key

    def keep(self, shard: Shard | None) -> tuple[str, ...]:
        """Keep the runs of a shard only, and say so; all for None. Second opinions are compared where both runs are kept."""
        if shard is None:
            return ()
        planned = len(self.runs)
        self.runs = {key: self.runs[key] for key in shard.keys(self.runs)}
        kept = {run.digest for run in self.runs.values()}
        self.instances = {digest: made for digest, made in self.instances.items() if digest in kept}
        self.second_opinions = {
            key: other for key, other in self.second_opinions.items() if key in self.runs and other in self.runs
        }
        return (f"shard {shard}: {len(self.runs)} of the suite's {planned} runs; `schedgap merge` joins the shards.",)

    def task(self, key: str, *, keep: bool = False) -> Task:
        """Return what a worker needs to do a run."""
        run = self.runs[key]
        # A block's own threads need processes of their own: libraries read their number when they start.
        method = self.methods[run.family, run.method]
        place = replace(self.setting, threads=run.limits.threads, plugins=self._imported(method))
        # A program declares nothing.
        proves = method.bounds or method.module == MODULE
        return Task(run, *self.instances[run.digest], place, not method.is_shipped, keep, proves=proves)

    def unchanged(self, ends: Iterable[Performed]) -> Iterator[Performed]:
        """Yield runs that have ended, as long as the plug-ins are what they were when the runs were planned.

        Raises
        ------
        MethodError
            naming the file that was edited meanwhile.
        """
        seen: Seen = {}
        for performed in ends:
            run = performed.run
            refuse_changed(self.methods[run.family, run.method], run, self.setting.plugins, seen)
            yield performed

    def _imported(self, method: Method) -> tuple[str | Program, ...]:
        """Return the plug-ins without those that register other methods only: a run imports none of these."""
        others = {each.plugin for each in self.methods.values()} - {method.plugin}
        return tuple(each for each in self.setting.plugins if each not in others)


def plan_suite(
    suite: Suite,
    folder: Path,
    *,
    plugins: tuple[str | Program, ...] = (),
    trace: str | Path | None = None,
    audit: bool = False,
    isolation: str = PROCESS_GROUP,
) -> Plan:
    """Return the suite's runs; builds every instance, since their contents are part of the keys.

    audit : add second opinions. isolation : how the runs are kept apart.

    Raises
    ------
    SuiteError
        naming the field, for an unknown method or maker, a wrong parameter, or two equal instances.
    """
    check_headline(suite)
    if suite.collection and trace is None:
        wanted = "; ".join(dict.fromkeys(each.origin for each in suite.collection))
        raise SuiteError(f"{suite.name}: its instances are public files that are not shipped; give --trace: {wanted}.")
    if trace is not None and all(block.trace is None for block in suite.blocks):
        raise SuiteError(f"{suite.name}: no instances of this suite can come from a trace; leave --trace out.")
    load_catalogue([suite.family], plugins)
    plan = Plan(setting(suite.family, plugins, suite.limits.threads or 1, isolation))
    texts = {text for block in suite.blocks for text in block.methods or suite.methods} | set(suite.methods)
    methods = {text: _checked(suite, text) for text in texts}
    hashes = {text: plugin_hash(method, plugins) for text, (method, _) in methods.items()}
    for text in {reference.method for reference in suite.reference} - {""}:
        _checked(suite, text)
    check_names(suite, {method_label(method.name, given): method.name for method, given in methods.values()})
    seen: dict[str, str] = {}
    for number, block in enumerate(suite.blocks):
        limits = suite.limits_of(block)
        for source in suite.sources(block, None if trace is None else Path(trace), folder):
            try:
                with doing(f"making instance {len(seen) + 1}"):
                    instance = source.build()
            except SchedgapError as error:
                raise SuiteError(f"{suite.name}: instances[{number}]: {error}") from error
            if instance.digest in seen:
                raise SuiteError(
                    f"{suite.name}: instances {seen[instance.digest]} and {instance.name} are the same; "
                    "give other seeds or parameters."
                )
            seen[instance.digest] = instance.name
            for text in block.methods or suite.methods:
                method, given = methods[text]
                for repetition in range(suite.repetitions if method.stochastic else 1):
                    run = make_run(
                        instance,
                        method,
                        given,
                        limits,
                        group=block.group,
                        source=source.described(),
                        base_seed=suite.seed,
                        repetition=repetition,
                        plugin=hashes[text],
                    )
                    plan.add(instance, run)
    if audit:
        plan.add_second_opinions()
    return plan


@contextmanager
def plan_gap(
    instance: Any,
    family: str,
    methods: Iterable[str | Callable[..., Any]],
    plugins: tuple[str | Program, ...],
    limits: Limits,
    *,
    bound: str | None = None,
    seed: int = 0,
    audit: bool = False,
) -> Iterator[Plan]:
    """Yield the runs of methods and programs on one instance, with a bound; functions are known until the context is left.

    bound : a method; by default one is chosen where none of the methods proves bounds. audit : add second opinions.

    Raises
    ------
    MethodError
        for an unknown method or parameter, and a function that is no method or cannot be sent.
    """
    load_catalogue([family], plugins)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="schedgap-transport-")))
        labels: dict[str, None] = {}
        carriers: dict[str, None] = {}
        for each in methods:
            label, files = (
                (each, ()) if isinstance(each, str) else stack.enter_context(transported(each, family, scratch))
            )
            labels[label] = None
            carriers |= dict.fromkeys(files)
        labels |= dict.fromkeys(program.name for program in programs_among(plugins))
        chosen = [chosen_method(family, text) for text in labels]
        if bound is not None or not any(method.bounds for method, _ in chosen):
            chosen.append(chosen_method(family, bound or default_bound(family, instance)))
        plan = Plan(setting(family, (*plugins, *carriers), limits.threads))
        for method, given in chosen:
            plugin = plugin_hash(method, plugins)
            plan.add(instance, make_run(instance, method, given, limits, base_seed=seed, plugin=plugin))
        if audit:
            plan.add_second_opinions()
        yield plan


def setting(family: str, plugins: tuple[str | Program, ...], threads: int, isolation: str = PROCESS_GROUP) -> Setting:
    """Return what a pool for these runs must know.

    Raises
    ------
    ExecutorError
        for an unknown isolation.
    """
    one_of("isolation", isolation, ISOLATIONS, ExecutorError)
    return Setting((home_of(family),), plugins, threads, isolation)


def make_run(
    instance: Any,
    method: Method,
    given: dict[str, Scalar],
    limits: Limits,
    *,
    group: str = "",
    source: dict[str, Scalar] | None = None,
    base_seed: int = 0,
    repetition: int = 0,
    plugin: str | None = None,
) -> Run:
    """Return the run of a method on an instance. plugin : see `files.plugin_hash`.

    Raises
    ------
    MethodError
        for a parameter that the method does not have, or one of the wrong type.
    """
    chosen = method.checked(given)
    parameters = method.recorded(chosen)
    backend = parameters.get("backend")
    return Run(
        family=method.family,
        instance=instance.name,
        digest=instance.digest,
        group=group,
        source=source or {},
        method=method.name,
        label=method_label(method.name, chosen),
        version=method.version,
        parameters=parameters,
        given=chosen,
        backend=None if backend is None else str(backend),
        backend_version=None if backend is None else backend_version(str(backend)),
        seed=derived_seed(base_seed, instance.digest, repetition),
        repetition=repetition,
        limits=limits,
        stochastic=method.stochastic,
        plugin=with_family(method.family, plugin),
        takes_limit=method.takes_limit,
    )


def _solved_by(run: Run, method: Method, backend: str) -> Run:
    given = {**run.given, "backend": backend}
    return structs.replace(
        run,
        method=method.name,
        version=method.version,
        takes_limit=method.takes_limit,
        given=given,
        parameters={**run.parameters, "backend": backend},
        label=method_label(method.name, given),
        backend=backend,
        backend_version=backend_version(backend),
    )


def _checked(suite: Suite, text: str) -> tuple[Method, dict[str, Scalar]]:
    try:
        return chosen_method(suite.family, text)
    except SchedgapError as error:
        raise SuiteError(f"{suite.name}: methods: {error}") from error
