"""What `schedgap capacity` prints for people."""

from __future__ import annotations

from collections.abc import Iterable

from schedgap.bench.capacity.search import Capacity, Question, Shape
from schedgap.bench.statistics.tables import NOTHING, Head, folded, table_lines, terminal_width
from schedgap.instances.placement.model import ONE
from schedgap.instances.placement.stranded import GPUS, Idle
from schedgap.instances.units import GIB_MIB

# Rows of nodes and shapes, resources, notes and steps that are shown; `capacity.json` and --json have all.
MOST_ROWS, MOST_RESOURCES, MOST_NOTES, MOST_STEPS, MOST_NAMES = 8, 2, 12, 6, 4


def first_lines(known: Capacity) -> list[str]:
    """Return what arithmetic knows: how nodes are used, what is stranded, what fits as it is."""
    instance = known.instance
    waits = int((~instance.is_running).sum())
    title = f"{instance.name}: {instance.num_nodes} nodes, {instance.num_pods - waits} pods run, {waits} wait"
    return [*_said([title, ""]), *_use(known), "", *_shapes(known), *_stranded(known)]


def capacity_lines(known: Capacity) -> list[str]:
    """Return all that is known; sentences and tables fit the terminal."""
    answers = [answer(question, known) for question in known.questions]
    notes = known.instance.notes
    more = [f"{len(notes) - MOST_NOTES} more notes are in --json."] if len(notes) > MOST_NOTES else []
    return [
        *first_lines(known),
        *_said(["", *answers]),
        *_by_moves(known),
        *_steps(known),
        *_said(["", *notes[:MOST_NOTES], *more, *known.remarks, *known.problems]),
    ]


def _said(sentences: Iterable[str]) -> list[str]:
    return [line for text in sentences for line in folded(text, terminal_width())]


def _use(known: Capacity) -> list[str]:
    resources = known.instance.resources[:MOST_RESOURCES]
    rows = []
    for group in known.groups[:MOST_ROWS]:
        gpus = f"{group.used[GPUS] / ONE:g} of {group.total[GPUS] / ONE:g}" if GPUS in group.total else NOTHING
        shares = (_share(group.used[name], group.total[name]) for name in resources)
        rows.append((str(group.nodes), gpus, *shares, group.name))
    heads = [Head("nodes"), Head("GPUs used"), *(Head(f"{_stem(name)} (%)", 1) for name in resources)]
    left_out = len(known.groups) - len(rows)
    more = [f"{left_out} more groups are in --json."] if left_out else []
    return [*table_lines("Use", [*heads, Head("of each", is_text=True)], rows), *more]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else NOTHING


def _stem(resource: str) -> str:
    stem, _, unit = resource.rpartition("_")
    return stem if unit in ("mib", "gib", "kib", "bytes") else resource


def _shapes(known: Capacity) -> list[str]:
    heads = [
        *(Head("run"), Head("wait"), Head("fit now"), Head("at most")),
        *(Head("a pod asks for", is_text=True), Head("most is stranded by", is_text=True)),
    ]
    rows = []
    for shape in known.shapes[:MOST_ROWS]:
        counts = (shape.runs, shape.waits, shape.fits, shape.at_most)
        rows.append((*map(str, counts), shape.name, _worst(shape)))
    left_out = len(known.shapes) - len(rows)
    more = [f"{left_out} more shapes are in --json."] if left_out else []
    return [*table_lines("More pods of each shape", heads, rows), *more]


def _worst(shape: Shape) -> str:
    """Return why the most of what a shape asks for first is idle and of no use to it."""
    if not shape.idle or not shape.idle[0].causes:
        return NOTHING
    return max(shape.idle[0].causes.items(), key=lambda item: item[1])[0]


def _stranded(known: Capacity) -> list[str]:
    """Say what is idle for the first shape, and why."""
    if not known.shapes or not known.shapes[0].idle:
        return []
    shape = known.shapes[0]
    return _said(
        ["", f"For a pod of {shape.name}:", *(f"- {_idle(each)}" for each in shape.idle if each.what != "pods")]
    )


def _idle(each: Idle) -> str:
    causes = sorted(each.causes.items(), key=lambda item: -item[1])
    parts = [f"{_amount(each.what, amount)} {why}" for why, amount in causes]
    said = f"{each.what}: {_amount(each.what, each.idle)} idle, {_amount(each.what, each.usable)} of use to it"
    return said + (f": {', '.join(parts)}" if parts else "")


def _amount(what: str, amount: int) -> str:
    mib = {"gib": 1.0, "mib": 1.0, "kib": 2.0**-10, "bytes": 2.0**-20}.get(what.rpartition("_")[2])
    value = amount / ONE
    return (
        (f"{value:,.0f}" if value >= ONE else f"{value:.4g}") if mib is None else f"{amount * mib / GIB_MIB:,.0f} GiB"
    )


def answer(question: Question, known: Capacity) -> str:
    """Return the answer to a question as a sentence."""
    if question is known.pending:
        return _pending(question, known.max_moves)
    best, is_least = question.least()
    now = question.point(0).found
    within = "with any number of moves" if known.max_moves is None else f"with at most {_moves(known.max_moves)}"
    most = "no more" if best.is_closed else f"{best.at_most} at most"
    if best.found > now:
        fewest = "; fewer moves are not enough (proven)" if is_least else ""
        then = f"{best.found} after {_moves(best.moves)}, {most} {within} (proven){fewest}"
    else:
        then = f"{most} {within} (proven)"
    if question is known.cleared:
        return f"{now} {question.name} are {'free' if known.wide else 'empty'} now; {then}."
    return f"More {question.name}: {now} fit now; {then}."


def _pending(question: Question, limit: int | None) -> str:
    best, is_least = question.least()
    within = "" if limit is None else f" with at most {_moves(limit)}"
    after = f"after {_moves(best.moves)}" if best.moves else "as it is"
    fewest = "; fewer moves are not enough (proven)" if best.moves and is_least else ""
    if best.found == question.asked:
        return f"{_capital(question.name)}: all fit {after}{fewest}."
    others = f"the others never{within} (proven)" if best.is_closed else f"at most {best.at_most} fit{within} (proven)"
    none = f"{best.found} fit {after}" if best.found else "none fits" if best.is_closed else "none was found to fit"
    return f"{_capital(question.name)}: {none}, {others}{fewest if best.found else ''}."


def _moves(number: int) -> str:
    return f"{number} move{'s' * (number != 1)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _by_moves(known: Capacity) -> list[str]:
    """Return a table of what fits by how many pods that run may move."""
    asked = [
        (q, title) for q, title in ((known.pending, "pending"), (known.more, "more"), (known.cleared, "free")) if q
    ]
    limits = sorted({most for q, _ in asked for most in q.points}, key=lambda most: (most is None, most or 0))
    if len(limits) < 2:
        return []
    heads = [Head("may move"), *(Head(text) for _, title in asked for text in (title, "at most"))]
    rows = []
    for most in limits:
        points = [q.point(most) for q, _ in asked]
        rows.append(
            ("any" if most is None else str(most), *(str(value) for p in points for value in (p.found, p.at_most)))
        )
    titles = ", ".join(f"{title}: {q.name}" for q, title in asked)
    return ["", *table_lines("By moves", heads, rows), *_said([f"{_capital(titles)}."])]


def _steps(known: Capacity) -> list[str]:
    planned = known.plan()
    if planned is None:
        return []
    question, _, done = planned
    lines = []
    for number, step in enumerate(done[:MOST_STEPS], 1):
        if step.get("evict"):
            lines.append(f"{number}. evict {step['pod']} from {step['from']}, which is started later")
            continue
        gpus = f", GPU {', '.join(map(str, step['gpus']))}" if step.get("gpus") else ""
        origin = f" from {step['from']}" if "from" in step else ""
        lines.append(f"{number}. {step['pod']}{origin} to {step['node']}{gpus}")
    more = len(done) - len(lines)
    left_out = [f"{more} more steps are in capacity.json (--out)."] if more > 0 else []
    without = known.refused()
    if without:
        others = f" and {len(without) - MOST_NAMES} more" if len(without) > MOST_NAMES else ""
        left_out.append(f"Without a place in this plan: {', '.join(without[:MOST_NAMES])}{others}.")
    return _said(["", f"Steps for {question.name}, each of which fits when it is done", *lines, *left_out])
