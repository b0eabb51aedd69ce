"""`schedgap check` from Python: try a method on small instances of its family and judge what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedgap.bench.catalogue import load_catalogue
from schedgap.bench.checks.contract import Checked, judge_trial
from schedgap.bench.checks.instances import default_instances, large_instances, small_instances
from schedgap.bench.checks.trials import try_methods
from schedgap.bench.plan import chosen_method
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs.program import Program, resolved
from schedgap.bench.records.runs import Limits
from schedgap.bench.suites.source import family_of
from schedgap.bench.suites.suite import given_limits
from schedgap.instances.family import DEFAULT_FAMILY, find_family
from schedgap.instances.method import REGISTRY, Method

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from schedgap.bench.checks.trials import Chosen

TIME_LIMIT_S = 10.0
SHORT_LIMIT_S, STOPPED_AFTER_S = 1.0, 60.0


def check_methods(
    texts: Sequence[str],
    *,
    family: str = DEFAULT_FAMILY,
    plugins: Sequence[str | Path | Program] = (),
    instances: Sequence[Any] | None = None,
    time_limit_s: float = TIME_LIMIT_S,
    jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Checked]:
    """Return what each method keeps of its promises.

    texts : `NAME` or `NAME[parameter=value,...]`. instances : small ones; by default those of the family's shipped
    smoke suites and of its generators. jobs : runs at a time; None for one a processor.

    Raises
    ------
    SchedgapError
        for an unknown family, method or parameter; never for what a method does.
    """
    files = resolved(plugins)
    load_families()
    find_family(family)
    load_catalogue([family], files)
    chosen = [chosen_method(family, text) for text in texts]
    tried = small_instances(family) if instances is None else list(instances)
    family_of(tried, family)
    takes_limit = any(method.takes_limit for method, _ in chosen)
    large = large_instances(family) if takes_limit else []
    beside: list[Chosen] = [
        (method, {}) for method in _references(family, tried, [method.name for method, _ in chosen])
    ]
    limits = given_limits(time_limit_s=time_limit_s)
    trials = try_methods(
        family,
        chosen,
        tried,
        large,
        limits,
        # What is late shall be told by its time.
        Limits.from_time_limit(SHORT_LIMIT_S, wall_s=STOPPED_AFTER_S),
        ordinary=default_instances(family),
        beside=beside,
        plugins=files,
        jobs=jobs,
        on_progress=on_progress,
    )
    shipped = [trial for trial in trials if trial.method.is_shipped]
    ours = trials[: len(chosen)]
    return [judge_trial(trial, [other for other in shipped if other is not trial]) for trial in ours]


def _references(family: str, instances: Sequence[Any], checked: Sequence[str]) -> list[Method]:
    """Return other shipped methods that prove optima, or else bounds: for each instance the first that takes it."""
    shipped = [
        method
        for (of, name), method in sorted(REGISTRY.items())
        if of == family and method.bounds and name not in checked and method.is_shipped
    ]
    usual = find_family(family).bound_methods
    shipped.sort(key=lambda method: (not method.exact, method.name not in usual))
    found = [next((m for m in shipped if m.supports(each) is None), None) for each in instances]
    return list({method.name: method for method in found if method is not None}.values())
