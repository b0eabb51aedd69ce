"""A progress bar with the time left, on stderr, where that is a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

if TYPE_CHECKING:
    from types import TracebackType

    from schedgap.bench.api import Progress


class ProgressBar:
    """Context manager; `show` is what `run_suite` and `gap` take as `on_progress`."""

    def __init__(self, what: str) -> None:
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bars.add_task(f"{what}: preparing", total=None)
        self._what = what

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def show(self, progress: Progress) -> None:
        """Show how far the work is."""
        for note in progress.notes:
            self._bars.console.print(note, soft_wrap=True, markup=False, highlight=False)
        last = "" if progress.record is None else f": {progress.record.run.label}"
        self._bars.update(self._task, total=progress.total, completed=progress.done, description=f"{self._what}{last}")
