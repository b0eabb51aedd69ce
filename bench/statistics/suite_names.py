"""Names in what a suite shows of its runs: methods, groups and parameters are known beforehand, measures afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.headlines.headline import is_same_method
from schedgap.bench.statistics.measure_rows import figure
from schedgap.bench.statistics.ratios import with_ratios
from schedgap.instances.errors import SuiteError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.suites.suite import Suite

# Parts of an instance's source that its file need not name.
_SOURCE = ("kind", "name", "path", "seed")


def check_names(suite: Suite, methods: Mapping[str, str]) -> None:
    """Raise `SuiteError` for a method, a group or a parameter that a suite shows and does not have.

    methods : their names, by label.
    """
    for where, what, name, known in _asked(suite, methods):
        if name not in known:
            near, has = did_you_mean(name, known), ", ".join(known) or "none"
            said = f"there is no {what} '{name:.60}' in this suite"
            raise SuiteError(f"{suite.name}: {where}: {said}; {near}it has: {has:.300}.")


def _asked(suite: Suite, methods: Mapping[str, str]) -> Iterator[tuple[str, str, str, Iterable[str]]]:
    """Yield each name: where it stands, what it is of, and those that there are."""
    groups = list(dict.fromkeys(block.group for block in suite.blocks))
    given = [maker.parameters for block in suite.blocks for maker in (block, block.trace) if maker is not None]
    parameters = list(dict.fromkeys([*(name for names in given for name in names), *_SOURCE]))
    for setting in suite.setting:
        same = [setting.method] if any(is_same_method(setting.method, label) for label in methods) else list(methods)
        yield "setting", "method", setting.method, same
        yield from (("setting", "group", group, groups) for group in setting.groups)
    yield from (("reference", "group", each.group, groups) for each in suite.reference if each.group is not None)
    for sweep in suite.sweep:
        yield from (("sweep: methods", "method", name, list(methods.values())) for name in sweep.methods)
        yield from (("sweep: price", "parameter of instances", name, parameters) for name in [sweep.price] if name)
    for each in suite.map:
        yield from (("map: methods", "method", label, list(methods)) for label in each.methods)
        yield from (("map", "parameter of instances", axis, parameters) for axis in (each.x, each.y))


def unknown_measures(suite: Suite, records: Sequence[Record]) -> list[str]:
    """Return a sentence for each measure that a suite shows and no run has."""
    names = [*suite.measures, *(each.measure for each in suite.setting), *(each.measure for each in suite.map)]
    for sweep in suite.sweep:
        names += filter(None, [sweep.x, sweep.y, sweep.worth])
    names = list(dict.fromkeys(names))
    ended = with_ratios([record for record in records if record.status not in FAILED], names)
    if not any(record.measurement.measures for record in ended):
        return []
    parameters = {key for record in records for given in (record.run.given, record.run.source) for key in given}
    sentences = []
    for name in names:
        if name not in parameters and all(figure(record, name) is None for record in ended):
            known = {key for record in ended for key in record.measurement.measures}
            near = did_you_mean(name, known).strip()
            sentences.append(f"No run has the measure '{name:.60}'" + (f"; {near}" if near else "."))
    return sentences
