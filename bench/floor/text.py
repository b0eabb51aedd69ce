"""What `schedgap floor` prints for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest

from schedgap.bench.floor.over import ABOVE, Bill, Paid, over_of
from schedgap.bench.floor.search import HOURLY, MONTH_H, Floor, Point
from schedgap.bench.statistics.tables import (
    NOTHING,
    Head,
    folded,
    in_percent,
    measured,
    percent,
    table_lines,
    terminal_width,
)
from schedgap.instances.units import DAY_S, HOUR_S

# Rows of machines, notes of the import and steps of the plan that are shown; `floor.json` and `plan.json` have all.
MOST_ROWS, MOST_NOTES, MOST_STEPS, MOST_PLACES = 20, 12, 3, 2


def floor_lines(found: Floor) -> list[str]:
    """Return what a cluster pays, what nobody can pay less than, the plan, its machines, and price against disruption.

    Sentences and tables fit the terminal.
    """
    lines = _said(_lines(found))
    before, after = found.by_type()
    if found.chosen.plan is not None:
        lines += _machines(before, after)
    if len(found.front) > 1:
        lines += _front(found)
    notes = found.instance.notes
    left_out = len(notes) - MOST_NOTES
    more = [f"{left_out} more notes are in floor.json (--out) and --json."] if left_out > 0 else []
    further = [
        *_steps(found),
        *found.plan_remarks,
        *_whys(found),
        *_some(notes),
        *more,
        *found.remarks,
        *found.problems,
    ]
    return [*lines, *_said(["", *further])]


def over_lines(found: Bill) -> list[str]:
    """Return what a cluster cost over days, the floor below that, what others would have paid, and where it went."""
    ran, days = over_of(found.family).ran(found.instance), found.seconds / DAY_S
    lines = [f"{found.instance.name}: {days:.1f} days from {found.begins:%Y-%m-%d %H:%M} UTC, {ran}"]
    lines += [_over_line(found, "paid", found.paid)] if found.paid is not None else []
    gap = "" if found.gap is None else f", gap {percent(found.gap)}"
    lines.append(_over_line(found, "floor (proven)", found.floor))
    lines.append(_over_line(found, "best plan", found.plan.price, f", {found.plan.method}{gap}"))
    if found.paid is not None and found.floor is not None:
        lines.append(_over_line(found, "saves at most", found.paid - found.floor, ", proven"))
    lines = [*_said(lines), "", *_rivals(found)]
    if found.losses is not None:
        lines += [*_lost(found), *_dear(found)]
    notes = found.instance.notes
    whys = [f"{each.method}: {each.why}" for each in found.rivals if each.why]
    return [*lines, *_said(["", *whys, *_some(notes), *([ABOVE] if ABOVE in found.problems else [])])]


def _over_line(found: Bill, what: str, value: int | None, more: str = "") -> str:
    if value is None:
        return f"{what:<16}{NOTHING}"
    return f"{what:<16}{found.shown(value):,.2f} $, {found.a_month(value):,.0f} $ a month{more}"


def _rivals(found: Bill) -> list[str]:
    """Return a table of what the same tasks would have cost."""
    heads = [
        Head("method", is_text=True),
        Head("cost ($)"),
        Head("$ a month"),
        Head("above the floor (%)", 1),
        Head("moves a task", 2),
    ]
    truth = [] if found.paid is None else [Paid("paid", found.paid)]
    rows = [
        (
            each.method,
            NOTHING if each.price is None else f"{found.shown(each.price):,.2f}",
            NOTHING if each.price is None else f"{found.a_month(each.price):,.0f}",
            in_percent(found.above(each.price)),
            measured(each.moves),
        )
        for each in (*truth, *found.rivals)
    ]
    return table_lines("The same tasks at the same times", heads, rows)


def _lost(found: Bill) -> list[str]:
    """Return a table of why more was paid than the floor."""
    assert found.losses is not None
    whole = sum(float(each.sum()) for each in found.losses.lost.values())
    month = MONTH_H * HOUR_S / found.seconds
    rows = [
        (
            reason,
            f"{each.sum():,.2f}",
            f"{each.sum() * month:,.0f}",
            in_percent(float(each.sum()) / whole if whole else 0.0),
        )
        for reason, each in found.losses.lost.items()
    ]
    heads = [Head("paid above the floor for", is_text=True), Head("$"), Head("$ a month", 1), Head("share (%)")]
    return ["", *table_lines("Where it went", heads, rows)]


def _dear(found: Bill) -> list[str]:
    rows = [
        (
            f"{hour.begins:%Y-%m-%d %H:%M}",
            f"{hour.paid:,.2f}",
            f"{hour.floor:,.2f}",
            f"{hour.paid - hour.floor:,.2f}",
            hour.reason,
        )
        for hour in found.dear_hours()
    ]
    heads = [
        Head("from (UTC)"),
        Head("paid ($)", 1),
        Head("floor ($)", 1),
        Head("lost ($)"),
        Head("most of it", is_text=True),
    ]
    return ["", *table_lines("The hours at which most was lost", heads, rows)] if rows else []


def _said(sentences: Iterable[str]) -> list[str]:
    """Return sentences, folded between words."""
    return [line for text in sentences for line in folded(text, terminal_width())]


def _title(found: Floor) -> str:
    return f"{found.instance.name}: {found.instance.num_tasks} tasks, {found.pending} of them on no machine"


def _price(found: Floor, value: int | None) -> str:
    return NOTHING if value is None else f"{value / found.family.objective_scale:,.4f}"


def _line(found: Floor, what: str, value: int | None, more: str = "") -> str:
    return f"{what:<16}{_price(found, value)}" + ("" if value is None else f" {found.unit}{more}")


def _now(found: Floor) -> list[str]:
    return [] if found.price_now is None else [_line(found, "now", found.price_now)]


def _lines(found: Floor) -> list[str]:
    if found.shortage is not None:
        return [_title(found), *_now(found), *found.shortage.sentences[: 1 + MOST_NOTES]]
    chosen = found.chosen
    limit = "" if chosen.max_disruption is None else f" of at most {_limit(found, chosen)}"
    moved = "" if chosen.moves is None else f", {chosen.moves}{limit} tasks move"
    if chosen.moves is not None and not found.counts_moves:
        what = "task moves" if chosen.moves == 1 else "tasks move"
        moved = f", {chosen.moves} {what}, disruption {_tasks(found, chosen.disruption)}{limit}"
    lines = [
        _title(found),
        *_now(found),
        _line(found, "floor (proven)", chosen.floor),
        _line(found, "best plan", chosen.price, f", gap {percent(chosen.gap)}{moved}"),
    ]
    if found.saves is not None:
        what, saved = ("saves", found.saves) if found.saves >= 0 else ("costs more", -found.saves)
        lines.append(_line(found, what, saved, _a_month(found, saved)))
    if found.saves_at_most is not None and found.saves_at_most > max(0, found.saves or 0):
        lines.append(
            _line(found, "saves at most", found.saves_at_most, f"{_a_month(found, found.saves_at_most)}, proven")
        )
    if found.price_now is not None and found.pending:
        lines.append("What is on no machine costs nothing now, and is placed in every plan and in the floor.")
    return lines


def _a_month(found: Floor, value: int) -> str:
    return f", {value / found.family.objective_scale * MONTH_H:,.0f} $ a month" if found.unit == HOURLY else ""


def _machines(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Return a table of how many machines of each type there are."""
    sides = [*([before] if before else []), after]
    names = list(dict.fromkeys((*after, *before)))
    # A last row for two types or more.
    shown = names if len(names) <= MOST_ROWS else names[: MOST_ROWS - 1]
    rows = [(*(str(side.get(name, 0)) for side in sides), name) for name in shown]
    if rest := names[len(shown) :]:
        sums = (str(sum(side.get(name, 0) for name in rest)) for side in sides)
        rows.append((*sums, f"of {len(rest)} more types, which are in floor.json (--out)"))
    # The names last: they may be long.
    heads = [*([Head("now")] if before else []), Head("plan"), Head("type", is_text=True)]
    return ["", *table_lines("Machines", heads, rows)]


def _front(found: Floor) -> list[str]:
    heads = [
        Head("disruption up to"),
        Head(f"best plan ({found.unit})"),
        Head(f"floor ({found.unit})"),
        Head("gap (%)", 1),
        Head("disruption", 2),
        Head("moves", 2),
    ]
    rows = [
        (
            _limit(found, point),
            *(_price(found, point.price), _price(found, point.floor), in_percent(point.gap)),
            _tasks(found, point.disruption),
            NOTHING if point.moves is None else str(point.moves),
        )
        for point in found.front
    ]
    return ["", *table_lines("Price against disruption, in tasks", heads, rows)]


def _limit(found: Floor, point: Point) -> str:
    return "any" if point.max_disruption is None else _tasks(found, point.max_disruption)


def _tasks(found: Floor, disruption: int | None) -> str:
    tasks = found.in_tasks(disruption)
    return NOTHING if tasks is None else f"{tasks:,.10g}"


def _steps(found: Floor) -> list[str]:
    """Return the first steps to the plan, a line each."""
    lines = []
    for number, step in enumerate(found.drain[:MOST_STEPS], 1):
        tasks = sum(move["count"] for move in step["moves"])
        marks = [mark for key, mark in (("stays", "stays"), ("evicts_first", "evicts first")) if step.get(key)]
        places = list(dict.fromkeys(move["to"] for move in step["moves"]))
        more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
        what = f"{tasks} task{'s' * (tasks != 1)} to {', '.join(places[:MOST_PLACES])}{more}" if tasks else "empty"
        said = f" ({', '.join(marks)})" if marks else ""
        lines.append(f"{number}. {step['machine']}{said}: {what}")
    more_steps = len(found.drain) - len(lines)
    last = [f"{more_steps} more steps are in plan.json (--out)."] if more_steps else []
    return ["Drain first", *lines, *last, ""] if lines else []


def _whys(found: Floor) -> list[str]:
    """Return why points have no plan, those with one reason together; a shortage has said so already."""
    none = [] if found.shortage else [point for point in found.front if point.plan is None and point.why]
    told = []
    for why, points in groupby(none, key=lambda point: point.why):
        told.append(f"No plan with a disruption up to {' or '.join(_limit(found, p) for p in points)}: {why}.")
    return told


def _some(notes: Sequence[str]) -> Iterable[str]:
    """Return at most `MOST_NOTES` notes in their order, of each kind, by how they begin, about as many."""
    kinds: dict[str, list[int]] = {}
    for i, note in enumerate(notes):
        kinds.setdefault(note.partition(":")[0] if ":" in note else "", []).append(i)
    turns = [i for row in zip_longest(*kinds.values()) for i in row if i is not None]
    return [notes[i] for i in sorted(turns[:MOST_NOTES])]
