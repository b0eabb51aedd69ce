"""How programs fail."""

from __future__ import annotations

import signal

from schedgap.instances.errors import SchedgapError
from schedgap.instances.method import Status


class ProgramFailure(SchedgapError):
    """A program did not answer as it was asked: the end of its run, and no mistake of ours. status : of the run."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def ended(code: int, where: str = "") -> ProgramFailure:
    """Return the failure of a program that ended. code : as `subprocess` has it. where : the start of the sentence."""
    if code >= 0:
        return ProgramFailure(Status.CRASHED, f"{where}the program exited with code {code}")
    return ProgramFailure(Status.CRASHED, f"{where}the program was ended by {signal_name(-code)}")


def signal_name(number: int) -> str:
    """Return what a signal is called; real-time ones have a number only."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
