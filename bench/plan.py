"""From a suite to its runs, checked before the first one starts: a misspelt method must not surface hours later.

The methods that a harness can ask for: this package's by import, those of plug-ins by what they say of themselves.

A plug-in's code never runs in the harness, nor in any process that judges or records.
"""

from __future__ import annotations

import importlib
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from schedgap.bench.audit import second_opinion
from schedgap.bench.executors.execute import Performed, Setting, Task
from schedgap.bench.isolation.activity import doing
from schedgap.bench.isolation.messages import compiled_kind, pickled
from schedgap.bench.isolation.pool import Pool
from schedgap.bench.plugins.discover import has_plugins, load_methods
from schedgap.bench.plugins.files import Seen, plugin_hash, refuse_changed
from schedgap.bench.programs.program import MODULE, Kind, Program, files_among, programs_among
from schedgap.bench.programs.run import find_player
from schedgap.bench.records.host import package_version
from schedgap.bench.records.runs import ISOLATIONS, PROCESS_GROUP, Limits, Run, Scalar
from schedgap.bench.statistics.headlines.registry import check_headline
from schedgap.bench.statistics.suite_names import check_names
from schedgap.instances.draws import derived_seed
from schedgap.instances.errors import ExecutorError, MethodError, SchedgapError, SuiteError, one_of
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, Method, find_method, method_label, parse_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedgap.bench.suites.results import Shard
    from schedgap.bench.suites.suite import Suite


def load_catalogue(families: Sequence[str], plugins: Sequence[str | Program] = ()) -> None:
    """Have `REGISTRY` hold the methods of the families: this package's and the plug-ins'.

    plugins : paths of Python files, and programs.

    Raises
    ------
    MethodError
        if a plug-in cannot be imported, or a method is registered by the name of one of this package.
    """
    files, described = files_among(plugins), set()
    if has_plugins(files):
        # Its process starts while the methods of this package are imported here.
        with closing(Pool(families)) as pool:
            load_methods(families)
            methods = pool.describe(files)
        # A file that is written anew may register other names.
        for key in [key for key, method in REGISTRY.items() if method.plugin in files]:
            del REGISTRY[key]
        for method in methods:
            REGISTRY[method.family, method.name] = method
            described.add((method.family, method.name))
    else:
        load_methods(families)
    for family in families:
        for program in programs_among(plugins):
            known = REGISTRY.get((family, program.name))
            if (known is not None and known.is_shipped) or (family, program.name) in described:
                raise MethodError(
                    f"family {family} has a method '{program.name}' already; give the {program.kind} another name, by "
                    f"NAME={program.command[0]}."
                )
            if program.kind is Kind.POLICY:
                find_player(family)
            REGISTRY[family, program.name] = program.as_method(family)


@dataclass(slots=True)
class Plan:
    """All runs of a suite, by key, in the order in which they are started; instances are kept as bytes.

    second_opinions : run to the same run by another back end, keys of `runs`. notes : what instances have to say.
    """

    setting: Setting
    runs: dict[str, Run] = field(default_factory=dict)
    instances: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    second_opinions: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

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
        method = find_method(run.family, run.method)
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
            refuse_changed(find_method(run.family, run.method), run, self.setting.plugins, seen)
            yield performed

    def _imported(self, method: Method) -> tuple[str | Program, ...]:
        """Return the plug-ins without those that register other methods only: a run imports none of these."""
        others = {each.plugin for each in REGISTRY.values()} - {method.plugin}
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
    for reference in suite.reference:
        _checked(suite, reference.method)
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


def setting(family: str, plugins: tuple[str | Program, ...], threads: int, isolation: str = PROCESS_GROUP) -> Setting:
    """Return what a pool for these runs must know.

    Raises
    ------
    ExecutorError
        for an unknown isolation.
    """
    one_of("isolation", isolation, ISOLATIONS, ExecutorError)
    return Setting((family,), plugins, threads, isolation)


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
    parameters = {**method.parameters, **chosen}
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
        backend_version=None if backend is None else _backend_version(str(backend)),
        seed=derived_seed(base_seed, instance.digest, repetition),
        repetition=repetition,
        limits=limits,
        stochastic=method.stochastic,
        plugin=plugin,
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
        backend_version=_backend_version(backend),
    )


def chosen_method(family: str, text: str) -> tuple[Method, dict[str, Scalar]]:
    """Return the method that `NAME[parameter=value,...]` means, and its parameters, checked.

    Raises
    ------
    MethodError
        naming the nearest methods, or the parameters that it has.
    """
    name, parameters = parse_method(text)
    method = find_method(family, name)
    chosen = method.checked(parameters)
    if "backend" in chosen:
        _backend_version(str(chosen["backend"]))
    return method, chosen


def default_bound(family: str, instance: Any) -> str:
    """Return the name of the method that proves a bound where none was chosen.

    Raises
    ------
    MethodError
        if none of those known takes the instance.
    """
    for name in find_family(family).bound_methods:
        method = REGISTRY.get((family, name))
        if method is not None and method.supports(instance) is None:
            return name
    raise MethodError(
        f"no method of family {family} is known to prove a bound on {instance.name}; name one with --bound."
    )


def _checked(suite: Suite, text: str) -> tuple[Method, dict[str, Scalar]]:
    try:
        return chosen_method(suite.family, text)
    except SchedgapError as error:
        raise SuiteError(f"{suite.name}: methods: {error}") from error


def _backend_version(name: str) -> str | None:
    """Return the version of the package behind a back end, without importing a solver."""
    backends = importlib.import_module("schedgap.formulations.backends.dispatch")
    return package_version(backends.find_backend(name).package)
