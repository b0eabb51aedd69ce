"""The process of a program: its command, and what its environment tells it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedgap.bench.programs.failure import ProgramFailure
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.programs.program import Program

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Terms:
    """What a program is told of its run, and how much of what it says is read. time_limit_s : None for no limit."""

    seed: int
    time_limit_s: float | None
    threads: int
    memory_mib: int = 4096

    @property
    def most_bytes(self) -> int:
        """Length of the longest answer that is read: what is made of it takes up to 16 times as much."""
        return self.memory_mib * MIB // 16

    def environment(self) -> dict[str, str]:
        """Return the variables that a program finds."""
        # Twelve digits: no limit that may be given is shown as a power of ten.
        limit = {} if self.time_limit_s is None else {"SCHEDGAP_TIME_LIMIT_S": f"{self.time_limit_s:.12g}"}
        return {**os.environ, **limit, "SCHEDGAP_THREADS": str(self.threads), "SCHEDGAP_SEED": str(self.seed)}


def start(program: Program, words: Sequence[str], terms: Terms, **streams: Any) -> subprocess.Popen[bytes]:
    """Start a program in its folder. words : of its command, filled in. streams : as `subprocess.Popen` has them.

    Raises
    ------
    ProgramFailure
        if it cannot be started.
    """
    try:
        return subprocess.Popen(words, cwd=program.folder, env=terms.environment(), bufsize=0, **streams)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ProgramFailure(Status.CRASHED, f"{words[0]} cannot be started: {why}") from None
