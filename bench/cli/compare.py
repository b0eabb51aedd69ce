"""`schedgap compare`."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated

import typer

from schedgap.bench.comparison import comparison as comparisons
from schedgap.bench.comparison.comparison import read_accepted
from schedgap.bench.comparison.output import Format, render
from schedgap.bench.comparison.wording import verdict
from schedgap.bench.records.journal import gc_paused
from schedgap.bench.suites.results import read_plan
from schedgap.instances.errors import one_line

REGRESSION = 1
NOT_COMPARABLE = 4
FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        metavar="quality|time:1.5x|none",
        help="What makes the exit code 1: worse quality (the default); also a method 1.5 times as slow, for sure; nothing.",
    ),
]
MinEffect = Annotated[
    float | None,
    typer.Option(
        "--min-effect",
        min=0,
        max=1,
        help="Change of gap that counts where chance or the clock decides; 0.001 (the default) is 0.1 percentage points.",
    ),
]
WrittenAs = Annotated[Format, typer.Option("--format", help="How the comparison is written.")]
AcceptedFile = Annotated[
    Path | None, typer.Option("--accepted", help="Regressions that were accepted; gate-accepted.toml, if it is there.")
]


# Nothing that it makes is in a cycle, and it ends soon: looking for cycles would take a quarter of the time.
@gc_paused()
def compare(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="Directory of the results to compare with.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Directory of the results in question.")],
    fail_on: FailOn = None,
    min_effect: MinEffect = None,
    accepted: AcceptedFile = None,
    form: WrittenAs = "table",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write it to, over an older one; the table is printed.")
    ] = None,
) -> None:
    """Tell whether NEW is worse than BASE, run by run: 0 it is not, 1 it is, 4 nothing can be compared."""
    tell(base, new, fail_on, min_effect, accepted, form, out)


def tell(
    base: Path,
    new: Path,
    fail_on: str | None,
    min_effect: float | None,
    accepted: Path | None,
    form: Format,
    out: Path | None = None,
) -> None:
    """Compare two folders of results, print or write what is found, and end with the code that says it."""
    plan = read_plan(new) if fail_on is None else None
    gates, factor = gated(fail_on or (plan and plan.suite.gate.fail_on) or "quality")
    known = read_accepted(accepted)
    comparison = comparisons.compare(base, new, min_effect=min_effect, time_factor=factor, accepted=known)
    printed: Format = form if out is None else "table"
    if out is not None:
        out.write_text(render(comparison, form), encoding="utf-8", errors="replace")
    typer.echo(render(comparison, printed), nl=False)
    if printed != "table" or comparison.verdict is comparisons.Verdict.NOT_COMPARABLE:
        typer.echo(verdict(comparison), err=True)
    if comparison.verdict is comparisons.Verdict.NOT_COMPARABLE:
        raise typer.Exit(NOT_COMPARABLE)
    if gates and comparison.verdict is comparisons.Verdict.REGRESSION:
        raise typer.Exit(REGRESSION)


def gated(text: str) -> tuple[bool, float | None]:
    """Return whether a regression makes the exit code 1, and the factor by which a time is one."""
    if text in ("quality", "none"):
        return text == "quality", None
    match = re.fullmatch(r"time:(\d+(?:\.\d*)?|\.\d+)x?", text)
    factor = math.nan if match is None else float(match[1])
    if not 1 <= factor < math.inf:
        raise typer.BadParameter(
            one_line(
                f"'{text}' is none of quality, none and time:FACTOR with a factor of at least 1, as in time:1.5x."
            ),
            param_hint="'--fail-on'",
        )
    return True, factor
