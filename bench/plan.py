"""From a suite to its runs, checked before the first one starts: a misspelt method must not surface hours later."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schedgap.bench.discover import load_methods
from schedgap.bench.execute import Setting, Task
from schedgap.bench.host import package_version
from schedgap.bench.pool import compiled_kind, pickled
from schedgap.bench.runs import Run
from schedgap.instances.errors import SchedgapError, SuiteError
from schedgap.instances.method import find_method, method_label, parse_method
from schedgap.instances.seeds import derived_seed

if TYPE_CHECKING:
    from pathlib import Path

    from schedgap.bench.runs import Limits, Scalar
    from schedgap.bench.suite import Suite
    from schedgap.instances.method import Method


@dataclass(slots=True)
class Plan:
    """All runs of a suite, by key, in the order in which they are started; instances are kept as bytes."""

    setting: Setting
    runs: dict[str, Run] = field(default_factory=dict)
    instances: dict[str, tuple[bytes, str]] = field(default_factory=dict)

    def add(self, instance: Any, run: Run) -> None:
        """Add a run; one of the same key is already the same run."""
        if run.digest not in self.instances:
            self.instances[run.digest] = pickled(instance), compiled_kind(instance)
        self.runs.setdefault(run.key, run)

    def task(self, key: str, *, keep: bool = False) -> Task:
        """Return what a worker needs to do a run."""
        run = self.runs[key]
        return Task(run, *self.instances[run.digest], self.setting, keep)


def plan_suite(suite: Suite, folder: Path, *, plugins: tuple[str, ...] = (), trace: Path | None = None) -> Plan:
    """Return the suite's runs; builds every instance, since their contents are part of the keys.

    Raises
    ------
    SuiteError
        naming the field, for an unknown method or maker, a wrong parameter, or two equal instances.
    """
    if trace is not None and all(block.trace is None for block in suite.instances):
        raise SuiteError(f"{suite.name}: no instances of this suite can come from a trace; leave --trace out.")
    load_methods([suite.family], plugins)
    plan = Plan(setting(suite.family, plugins, suite.limits.threads or 1))
    texts = {text for block in suite.instances for text in block.methods or suite.methods} | set(suite.methods)
    methods = {text: _checked(suite, text) for text in texts}
    for reference in suite.reference:
        _checked(suite, reference.method)
    seen: dict[str, str] = {}
    for number, block in enumerate(suite.instances):
        limits = suite.limits_of(block)
        for source in suite.sources(block, trace, folder):
            try:
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
                    )
                    plan.add(instance, run)
    return plan


def setting(family: str, plugins: tuple[str, ...], threads: int) -> Setting:
    """Return what a pool for these runs must know."""
    return Setting((family,), plugins, threads)


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
) -> Run:
    """Return the run of a method on an instance.

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


def _checked(suite: Suite, text: str) -> tuple[Method, dict[str, Scalar]]:
    try:
        return chosen_method(suite.family, text)
    except SchedgapError as error:
        raise SuiteError(f"{suite.name}: methods: {error}") from error


def _backend_version(name: str) -> str | None:
    """Return the version of the package behind a back end, without importing a solver."""
    backends = importlib.import_module("schedgap.formulations.backends.dispatch")
    return package_version(backends.find_backend(name).package)
