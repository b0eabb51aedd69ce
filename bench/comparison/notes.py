"""What a reader of a comparison should know besides: what is on one side only, and what differed in how it was run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedgap.bench.comparison.methods import MethodComparison
    from schedgap.bench.comparison.pairs import Pair
    from schedgap.bench.records.results import Results

# Of a list of names, this many are told.
SHOWN = 5


def notes(base: Results, new: Results, pairs: Sequence[Pair], methods: Sequence[MethodComparison]) -> Iterator[str]:
    """Yield one sentence for each thing worth knowing."""
    for name, results in (("BASE", base), ("NEW", new)):
        left = results.planned - len(results.records)
        if left:
            yield f"{name} is not complete: {left} of its {results.planned} runs are not done."
    yield from _one_sided(pairs)
    versions: dict[str, None] = {}
    limits = 0
    for old, now in ((pair.base.run, pair.new.run) for pair in pairs if pair.base is not None and pair.new is not None):
        if old.version != now.version:
            versions[f"{old.label}: version {old.version} -> {now.version}"] = None
        if old.backend_version != now.backend_version or old.backend != now.backend:
            versions[f"{old.label}: {old.backend} {old.backend_version} -> {now.backend} {now.backend_version}"] = None
        if old.plugin != now.plugin and None not in (old.plugin, now.plugin):
            versions[f"{old.label}: its plug-in's files"] = None
        limits += old.limits is not now.limits and old.limits != now.limits
    if versions:
        yield f"Changed versions: {_listed(versions)}."
    if limits:
        yield f"{limits} pairs ran under other limits."
    clock = sum(method.clock for method in methods)
    if clock:
        yield f"{clock} pairs may have been stopped by the clock; only changes of gap beyond the minimum effect count there."
    failed = sum(method.failed for method in methods)
    if failed:
        yield f"{failed} pairs failed on both sides; nothing is compared there."
    timeless = [method.label for method in methods if method.pairs and method.time is None]
    if timeless:
        yield f"No times to compare, for want of a reference time or of a result on both sides: {_listed(timeless)}."


def _one_sided(pairs: Sequence[Pair]) -> Iterator[str]:
    alone = [pair for pair in pairs if pair.base is None or pair.new is None]
    if not alone:
        return
    labels: tuple[dict[str, None], dict[str, None]] = {}, {}
    instances: tuple[dict[str, str], dict[str, str]] = {}, {}
    for pair in pairs:
        run = pair.run
        for side, record in enumerate((pair.base, pair.new)):
            if record is not None:
                labels[side][run.label] = None
                instances[side][run.digest] = run.instance
    for name, here, there in (("BASE", 0, 1), ("NEW", 1, 0)):
        methods = [label for label in labels[here] if label not in labels[there]]
        if methods:
            yield f"Methods in {name} only: {_listed(methods)}."
        names = [instance for digest, instance in instances[here].items() if digest not in instances[there]]
        if names:
            yield f"Instances in {name} only: {_listed(names)}."
    added = sum(pair.base is None for pair in alone)
    if added:
        yield f"{added} runs are in NEW only; refresh the baseline to have them compared."


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return ", ".join(known[:SHOWN]) + more
