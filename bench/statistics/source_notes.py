"""What to read beside a paper's figures: where they come from, and whether the runs have the paper's setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.bench.statistics.headlines.headline import by_group_and_label, is_same_method
from schedgap.bench.statistics.measure_rows import figure
from schedgap.bench.statistics.suite_names import unknown_measures
from schedgap.bench.statistics.summary import mean
from schedgap.bench.statistics.tables import measured, readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.suites.published import Setting
    from schedgap.bench.suites.suite import Suite


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
