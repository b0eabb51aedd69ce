"""Figures as text, and tables that fit a terminal: no name is split, and what there is no room for is named."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from rich.cells import cell_len

from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.summary import by_ending, reason_of
from schedgap.instances.family import find_family
from schedgap.instances.method import Status

# Of a file or a pipe, which wrap nothing; COLUMNS goes before it.
PLAIN_WIDTH = 320
NOTHING = "-"
# Of a failed run's reason, this much is printed; the journal and `--json` have all of it.
SHOWN_REASON = 160
# Of what a failed run printed, so many lines.
SHOWN_OUTPUT = 3
# Sentences in a cell are not folded narrower than this.
PROSE_WIDTH = 24
GAP = "  "
INDENT = "    "
# Where a line may end: behind a blank, and in `name[a=1,b=2]` at the parameters.
_ENDS = re.compile(r"(?<=\s)(?=\S)|(?<=,)(?=[a-z_])|(?<=\S)(?=\[)")


def percent(value: float | None) -> str:
    """Return a share with as many digits as tell it from 0: `0.0008%`."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0%"
    shown = 100 * value
    digits = 2
    while digits < 6 and abs(shown) < 2 * 10.0 ** (1 - digits):
        digits += 1
    return f"{shown:.{digits}f}%"


def seconds(value: float | None) -> str:
    """Return a time in the unit that fits."""
    if value is None:
        return NOTHING
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.2f} s" if value < 100 else f"{value:.0f} s"


def in_seconds(value: float | None) -> str:
    """Return a time without its unit, with three digits that count down to a microsecond."""
    if value is None:
        return NOTHING
    if value < 1:
        return f"{value:.6f}" if value < 1e-3 else f"{value:#.3g}"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def in_percent(value: float | None) -> str:
    """Return a share as `percent` does, without the sign."""
    return percent(value).removesuffix("%")


def number(value: float | None) -> str:
    """Return an amount with thousands separated."""
    return NOTHING if value is None else f"{value:,.4f}".rstrip("0").rstrip(".")


# How names of measures and parameters end that have a unit.
UNITS = ("s", "h")


def readable(name: str) -> str:
    """Return a measure's or a parameter's name as a title: `mean_wait_s` is `mean wait (s)`."""
    stem, _, unit = name.rpartition("_")
    return f"{stem} ({unit})".replace("_", " ") if stem and unit in UNITS else name.replace("_", " ")


def measured(value: float | None) -> str:
    """Return a measure with four digits that count."""
    return NOTHING if value is None else f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def verified_note(records: Iterable[Record]) -> str:
    """Return what figures of these runs rest on."""
    proven = any(record.status is not Status.INVALID and record.measurement.bound is not None for record in records)
    gaps = "gaps are against the best proven bound" if proven else "no bound was proven, so there are no gaps"
    return f"Every solution was verified; {gaps}."


def failures(records: Iterable[Record]) -> list[str]:
    """Return a line for each method and kind of failure: how often, and the reason of the first, with what it printed last."""
    lines = []
    for first, *others in by_ending(record for record in records if record.status in FAILED):
        reason = reason_of(first)
        told = f"{first.run.label}: {first.status} ({1 + len(others)} of its runs), on {first.run.instance}: "
        lines.append(told + short(reason, SHOWN_REASON) + (f"; {_found(first)}" if first.measurement.had_found else ""))
        output = first.measurement.output
        # Where Python itself printed a traceback, the reason says why.
        is_traceback = first.status is Status.ERROR or "Fatal Python error" in output
        printed = [] if is_traceback else [line.strip() for line in output.splitlines()]
        printed = [line for line in printed if line and line not in reason]
        lines += [f"  | {short(line, SHOWN_REASON)}" for line in printed[-SHOWN_OUTPUT:]]
    return lines


def _found(record: Record) -> str:
    """Return what a run that failed had found before."""
    family = find_family(record.run.family)
    figures = {"a solution of": record.measurement.objective, "a bound of": record.measurement.bound}
    shown = [f"{what} {number(v / family.objective_scale)}" for what, v in figures.items() if v is not None]
    return f"before, it had found {' and '.join(shown)} {family.objective_unit}"


def without_solution(records: Iterable[Record]) -> list[str]:
    """Return a line for each run that did not fail and still has no solution, if it gave a reason."""
    return [
        f"{record.run.label}: {record.status}: {short(record.measurement.reason, SHOWN_REASON)}"
        for record in records
        if record.status not in FAILED and record.measurement.objective is None and record.measurement.reason
    ]


def short(reason: str, most: int) -> str:
    """Return a reason in one line of at most so many characters, which moves no cursor."""
    line = _harmless(" ".join(reason.split()))
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _harmless(text: str) -> str:
    """Return text that moves no cursor but to the next line."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)


def terminal_width() -> int:
    """Return how many columns there are: COLUMNS, else the terminal's, else PLAIN_WIDTH."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 0)).columns


def folded(text: str, width: int) -> list[str]:
    """Return text in lines of at most so many columns; a name that is longer has a line of its own."""
    lines = []
    for paragraph in _harmless(text).split("\n"):
        line = ""
        for piece in _ENDS.split(paragraph):
            if line and cell_len((line + piece).rstrip()) > width:
                lines.append(line.rstrip())
                line = ""
            line += piece
        lines.append(line.rstrip())
    return lines


@dataclass(frozen=True, slots=True)
class Head:
    """A column of a table on a terminal.

    rank : columns of rank 0 stay, of the others the highest rank is left out first where there is no room. is_text : to
    the left, and folded between words and parameters; figures are on the right and whole. is_prose : text that is no name.
    """

    title: str
    rank: int = 0
    is_text: bool = False
    is_prose: bool = False

    def least(self, cells: Iterable[str]) -> int:
        """Return the width that the column needs."""
        cells = list(cells)
        whole = max(map(cell_len, cells), default=0)
        if self.is_text:
            longest = max((cell_len(piece.rstrip()) for cell in cells for piece in _ENDS.split(cell)), default=0)
            whole = max(longest, min(whole, PROSE_WIDTH))
        return max(whole, *map(cell_len, self.title.split()))

    def most(self, cells: Iterable[str]) -> int:
        """Return the width in which nothing is folded."""
        return max(cell_len(self.title), *map(cell_len, cells), 0)


def table_lines(
    title: str,
    heads: Sequence[Head],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    groups: Sequence[object] = (),
) -> list[str]:
    """Return a table in lines of at most `width` columns, that of the terminal by default.

    Where not even the columns of rank 0 have room, each row is a block of lines. groups : one for each row; an empty line
    is between those that differ.
    """
    width = width or terminal_width()
    rows = [[_harmless(cell) for cell in row] for row in rows]
    columns = [[line for row in rows for line in row[place].split("\n")] for place in range(len(heads))]
    least = [head.least(cells) for head, cells in zip(heads, columns, strict=True)]
    kept = list(range(len(heads)))

    def needed(places: Sequence[int]) -> int:
        return sum(least[place] for place in places) + len(GAP) * (len(places) - 1)

    while needed(kept) > width and any(heads[place].rank for place in kept):
        kept.remove(max(kept, key=lambda place: (heads[place].rank, place)))
    lines = folded(title, width) if title else []
    if needed(kept) > width:
        return lines + _blocks(heads, rows, width)
    left = width - needed(kept)
    widths = dict(zip(range(len(heads)), least, strict=True))
    for place in sorted(kept, key=lambda place: not heads[place].is_text):
        more = min(left, heads[place].most(columns[place]) - least[place])
        widths[place] += more
        left -= more
    drawn = [_row([folded(heads[place].title, widths[place]) for place in kept], kept, heads, widths, bottom=True)]
    drawn.append([GAP.join("-" * widths[place] for place in kept)])
    for number, row in enumerate(rows):
        if groups and number and groups[number] != groups[number - 1]:
            drawn.append([""])
        cells = [folded(row[p], widths[p]) if heads[p].is_text else row[p].split("\n") for p in kept]
        drawn.append(_row(cells, kept, heads, widths))
    lines += [line for block in drawn for line in block]
    dropped = [heads[place].title for place in range(len(heads)) if place not in kept]
    if dropped:
        lines += folded(f"Not shown: {', '.join(dropped)}; COLUMNS={needed(range(len(heads)))} shows all.", width)
    return lines


def table_html(title: str, heads: Sequence[Head], rows: Sequence[Sequence[str]], notes: Iterable[str] = ()) -> str:
    """Return a table as HTML, whole, as a notebook shows it. notes : sentences below it."""

    def line(tag: str, cells: Iterable[str]) -> str:
        sides = ("left" if head.is_text else "right" for head in heads)
        drawn = (
            f'<{tag} style="text-align: {side}">{escape(_harmless(cell)).replace(chr(10), "<br>")}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(drawn)}</tr>"

    body = "\n".join(line("td", row) for row in rows)
    head = line("th", (head.title for head in heads))
    below = "".join(f"\n<p>{escape(_harmless(note))}</p>" for note in notes)
    caption = escape(_harmless(title))
    return f"<table><caption>{caption}</caption>\n<thead>{head}</thead>\n<tbody>{body}</tbody></table>{below}"


def _row(
    cells: Sequence[list[str]],
    kept: Sequence[int],
    heads: Sequence[Head],
    widths: dict[int, int],
    *,
    bottom: bool = False,
) -> list[str]:
    """Return the lines of a row; with `bottom`, cells of fewer lines stand at its end."""
    height = max(map(len, cells), default=1)
    lines = []
    for number in range(height):
        parts = []
        for place, texts in zip(kept, cells, strict=True):
            at = number - (height - len(texts)) if bottom else number
            text = texts[at] if 0 <= at < len(texts) else ""
            blank = " " * (widths[place] - cell_len(text))
            parts.append(text + blank if heads[place].is_text else blank + text)
        lines.append(GAP.join(parts).rstrip())
    return lines


def _blocks(heads: Sequence[Head], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return each row as lines: its names, and below them its figures, each behind its title."""
    lines = []
    room = width - len(INDENT)
    for row in rows:
        cells = [(head, " ".join(cell.split("\n"))) for head, cell in zip(heads, row, strict=True)]
        lines += folded(GAP.join(cell for head, cell in cells if head.is_text and not head.is_prose), width)
        below = [""]
        for head, cell in cells:
            if (head.is_text and not head.is_prose) or cell in ("", NOTHING):
                continue
            pair = f"{head.title}: {cell}"
            if not below[-1]:
                below[-1] = pair
            elif cell_len(f"{below[-1]}, {pair}") <= room:
                below[-1] += f", {pair}"
            else:
                below.append(pair)
        lines += [INDENT + text for line in below if line for text in folded(line, room)]
    return lines
