"""How far the work is, on stderr: a bar and what is going on where that is a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.text import Text

from schedgap.bench.isolation.pool import activities, is_compiling
from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.summary import counted_time
from schedgap.bench.statistics.tables import in_seconds

if TYPE_CHECKING:
    from schedgap.bench.api import Progress

# Without a terminal: a line so often, and at each tenth of the runs, unless the last line is this young.
PERIOD_S = 30.0
LEAST_S = 10.0
# Of what goes on at a time, this many are shown.
SHOWN = 4


class Pace:
    """How long runs take, by method, and how long those take that are still to be done.

    to_do : how many runs there are of each label. working_s : seconds so far in which nothing was compiled.
    """

    def __init__(self, to_do: Counter[str] | None = None) -> None:
        self._to_do = Counter[str]() if to_do is None else to_do
        self._done: Counter[str] = Counter()
        self._took_s: defaultdict[str, float] = defaultdict(float)
        self.working_s = 0.0

    def ended(self, record: Record | None) -> None:
        """Count what has ended: a run, or a step that has no record."""
        label = "" if record is None else record.run.label
        self._done[label] += 1
        self._took_s[label] += 0.0 if record is None else counted_time(record) or 0.0

    def left_s(self, number: int) -> float:
        """Return the seconds that so many runs still take, of which those of `to_do` are known by method.

        A run takes what those of its method took, or else all, and as much beside that as they did. Where they took longer
        in sum than the clock says, several ran at a time.
        """
        done, took_s = self._done.total(), sum(self._took_s.values())
        mean_s = took_s / done
        rest = self._to_do - self._done
        known = sum(
            n * (self._took_s[label] / self._done[label] if self._done[label] else mean_s) for label, n in rest.items()
        )
        expected_s = known + mean_s * max(0, number - rest.total())
        if took_s > self.working_s:
            return expected_s * self.working_s / took_s
        return expected_s + number * (self.working_s - took_s) / done


class ProgressBar:
    """Context manager; `show` is what `run_suite` and `gap` take as `on_progress`.

    quiet : show nothing. verbose : tell of each run that has ended. step : what is done one after another, such as a point,
    in place of runs.
    """

    def __init__(self, what: str, *, quiet: bool = False, verbose: bool = False, step: str = "") -> None:
        self._what, self._quiet, self._verbose, self._step = what, quiet, verbose, step
        self._done = self._total = self._failed = 0
        self._start = self._last = self._seen = time.monotonic()
        self._pace = Pace()
        self._tenth = 0
        self._latest: float | None = None
        self._ended = threading.Event()
        self._ticks = threading.Thread(target=self._tick, daemon=True)
        is_terminal = sys.stderr.isatty() and not quiet
        self._bars = _Bars(self) if is_terminal else None

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        elif not self._quiet:
            self._ticks.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        if self._bars is not None:
            self._bars.stop()

    def show(self, progress: Progress) -> None:
        """Show how far the work is."""
        for note in progress.notes:
            self._say(note)
        self._look()
        if not progress.done:
            self._pace = Pace(Counter(progress.to_do))
        else:
            self._pace.ended(progress.record)
        if progress.record is not None:
            self._failed += progress.record.status in FAILED
            if self._verbose:
                self._say(_ending(progress.record))
        self._done, self._total = progress.done, progress.total
        self._latest = None if progress.left_s is None else time.monotonic() + progress.left_s
        if self._bars is not None:
            title = f"{self._what}, {self._counted()}" if self._step else self._what
            self._bars.update(self._bars.task, description=title, total=progress.total, completed=progress.done)
        elif not self._quiet and progress.total:
            tenth = 10 * progress.done // progress.total
            if tenth > self._tenth and time.monotonic() - self._last >= LEAST_S:
                self._tenth = tenth
                self._tell()

    def state(self) -> str:
        """Return how far the work is, how long it took and may still take, and what goes on."""
        parts = [self._counted()] if self._total else ["preparing"]
        parts += [f"{self._failed} failed"] if self._failed else []
        parts.append(f"{duration(time.monotonic() - self._start)} elapsed")
        parts += [f"about {left} left"] if (left := self.left()) else []
        now = list(shown_activities())
        return f"{self._what}: {', '.join(parts)}" + (f"; now {', '.join(now)}" if now else "")

    def left(self) -> str:
        """Return how long the rest takes if it goes on like this; empty where nothing tells."""
        self._look()
        if self._latest is not None:
            return duration(max(0.0, self._latest - time.monotonic()))
        if is_compiling() or not 0 < self._done < self._total:
            return ""
        return duration(self._pace.left_s(self._total - self._done))

    def _look(self) -> None:
        """Count the time since the last look as that of runs, unless kernels are compiled."""
        seen, self._seen = self._seen, time.monotonic()
        if not is_compiling():
            self._pace.working_s += self._seen - seen

    def _counted(self) -> str:
        if not self._step:
            return f"{self._done} of {self._total} runs"
        return f"{self._step} {min(self._done + 1, self._total)} of {self._total}"

    def _say(self, line: str) -> None:
        if self._bars is not None:
            self._bars.console.print(line, soft_wrap=True, markup=False, highlight=False)
        elif not self._quiet:
            typer.echo(line, err=True)

    def _tell(self) -> None:
        self._last = time.monotonic()
        self._say(self.state())

    def _tick(self) -> None:
        while not self._ended.wait(1.0):
            self._look()
            if time.monotonic() - self._last >= PERIOD_S:
                self._tell()


class _Bars(Bars):
    """A bar, and below it what goes on."""

    def __init__(self, owner: ProgressBar) -> None:
        self._owner = owner
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=4,
        )
        self.task = self.add_task(owner._what, total=None)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield what is drawn."""
        yield self.make_tasks_table(self.tasks)
        left = self._owner.left()
        for line in ([f"about {left} left"] if left else []) + list(shown_activities()):
            yield Text(f"  {line}", no_wrap=True, overflow="ellipsis")


def shown_activities() -> Iterable[str]:
    """Yield what goes on, equal things once, and how much more there is."""
    now = list(dict.fromkeys(activities()))
    yield from now[:SHOWN]
    if len(now) > SHOWN:
        yield f"{len(now) - SHOWN} more"


def duration(seconds: float) -> str:
    """Return a time in words, with as much precision as a forecast has: `45 s`, `4 min`, `2.5 h`."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 99.5 * 60 else f"{seconds / 3600:.1f} h"


def _ending(record: Record) -> str:
    """Return how a run ended, in a line."""
    wall_s = record.measurement.wall_s
    took = "" if wall_s is None else f", {in_seconds(wall_s)} s"
    return f"{record.run.label} on {record.run.instance}: {record.status}{took}"
