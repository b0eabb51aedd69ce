"""Ctrl-C and SIGTERM as an exception of the command line, from its first moment on: this imports nothing large."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

# Until an interruption within an import is tried again.
_LATER_S = 0.02


class Interrupted(BaseException):
    """Not a KeyboardInterrupt, which click would turn into exit code 1."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def watch() -> None:
    """Have both signals raise `Interrupted` from now on."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)


def leave(interruption: Interrupted) -> NoReturn:
    """Say that the command was interrupted, and exit."""
    # Only suites have a journal.
    rest = "; what was recorded stays, the same command finishes the rest" if sys.argv[1:2] == ["run"] else ""
    sys.stderr.write(f"interrupted{rest}.\n")
    sys.exit(128 + interruption.number)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _is_importing(frame):
        # Some modules catch whatever is raised while they are imported.
        signal.signal(signal.SIGALRM, lambda _, now: _interrupt(number, now))
        signal.setitimer(signal.ITIMER_REAL, _LATER_S)
        return
    # Ending the servers takes a moment; a second Ctrl-C must not leave some behind.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted(number)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
