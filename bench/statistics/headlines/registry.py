"""All headlines, by name; a new one is stated beside this module, and an entry here.

Names in what a suite shows of its runs: methods, groups and parameters are known beforehand, measures afterwards.

What to read beside a paper's figures: where they come from, and whether the runs have the paper's setting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.headlines.gap import CLOSED, GAP, NORMALISED_COST, OBJECTIVE, rows_of
from schedgap.bench.statistics.headlines.headline import Headline, Row, by_group_and_label, is_same_method
from schedgap.bench.statistics.headlines.measures import MEASURES, RUNTIME, SCORES
from schedgap.bench.statistics.measure_rows import figure
from schedgap.bench.statistics.profiles import build_maps, with_ratios
from schedgap.bench.statistics.summary import mean, summarise, told_apart
from schedgap.bench.statistics.tables import measured, readable
from schedgap.bench.suites.collection import Setting
from schedgap.bench.suites.suite import Suite
from schedgap.instances.errors import SuiteError, did_you_mean
from schedgap.instances.family import find_family

HEADLINES = {each.name: each for each in (GAP, NORMALISED_COST, RUNTIME, OBJECTIVE, MEASURES, CLOSED, SCORES)}


def find_headline(suite: Suite | None) -> Headline:
    """Return the headline of a suite; that of runs without a suite is `gap`.

    Raises
    ------
    SuiteError
        naming the known headlines.
    """
    name = GAP.name if suite is None else suite.headline
    if name not in HEADLINES:
        near = did_you_mean(name, HEADLINES)
        raise SuiteError(f"headline: there is no '{name:.60}'; {near}known are {', '.join(HEADLINES)}.")
    return HEADLINES[name]


def check_headline(suite: Suite) -> None:
    """Raise `SuiteError` unless the suite's headline is known and has the measures that it needs."""
    try:
        headline = find_headline(suite)
    except SuiteError as error:
        raise SuiteError(f"{suite.name}: {error}") from None
    if headline.of_measures != bool(suite.measures):
        raise SuiteError(
            f"{suite.name}: the headline 'measures' and a list of 'measures' go together; give both or neither."
        )
    if headline is SCORES and find_family(suite.family).native_score is None:
        raise SuiteError(f"{suite.name}: family {suite.family} has no native_score, which the headline 'scores' shows.")
    if headline is not SCORES and any(not reference.method for reference in suite.reference):
        raise SuiteError(
            f"{suite.name}: a reference names no method; only the headline 'scores' shows those of others."
        )


def headline_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return the rows of the suite's own table."""
    return find_headline(suite).rows(suite, records)


def table_rows(suite: Suite | None, records: Sequence[Record]) -> list[Row]:
    """Return the rows of the table of a suite, or of runs without one."""
    return rows_of(summarise(told_apart(records))) if suite is None else headline_rows(suite, records)


def suite_json(suite: Suite | None, records: Sequence[Record]) -> dict[str, Any]:
    """Return what `--json` says of a suite's runs; of runs without a suite, its table has a row for each method."""
    summaries = summarise(told_apart(records) if suite is None else records)
    methods = [asdict(summary) for summary in summaries]
    if suite is not None and find_headline(suite) is GAP:
        table = rows_of(summaries)
    else:
        table = methods if suite is None else headline_rows(suite, records)
    return {
        "suite": None if suite is None else suite.name,
        "instances": len({record.run.digest for record in records}),
        "runs": len(records),
        "failed": sum(record.status in FAILED for record in records),
        "methods": methods,
        "table": table,
        "maps": [] if suite is None else [shown.to_json() for shown in build_maps(suite.map, records)],
    }


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


def source_notes(suite: Suite | None, records: Sequence[Record]) -> list[str]:
    """Return sentences: the source of published figures, settings that do not hold, measures that no run has."""
    if suite is None:
        return []
    source = [f"The paper's figures: {suite.source}."] if suite.source else []
    settings = (note for setting in suite.setting for note in _notes(setting, records))
    return [*source, *settings, *unknown_measures(suite, records)]


def _notes(setting: Setting, records: Sequence[Record]) -> Iterator[str]:
    """Yield a sentence for the groups that have a setting, which names those without a figure, and for each that has not."""
    what = f"{readable(setting.measure)} of {setting.method}"
    held, unknown = [], []
    for row, own in by_group_and_label(records):
        if not is_same_method(setting.method, row["method"]) or (setting.groups and row["group"] not in setting.groups):
            continue
        value = mean([found for record in own if (found := figure(record, setting.measure)) is not None])
        if value is None:
            unknown.append(row["group"] or "no group")
            continue
        if setting.holds(value):
            held.append(value)
            continue
        is_above = setting.most is not None and value > setting.most
        bound = f"above {measured(setting.most)}" if is_above else f"below {measured(setting.least)}"
        group = f" on {row['group']}" if row["group"] else ""
        yield f"Not the paper's setting{group}, so no reproduction of it: {what} is {measured(value)}, {bound} ({setting.why})."
    if held:
        span = measured(held[0]) if len(held) == 1 else f"{measured(min(held))} to {measured(max(held))}"
        beside = f"; of {', '.join(unknown)} nobody knows" if unknown else ""
        yield f"As in the paper ({setting.why}): {what} is {span}{beside}."
