"""A freshly forked process on its own: its session, its streams, its limits."""

from __future__ import annotations

import faulthandler
import math
import os
import resource
import signal
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from schedgap.bench.isolation.supervise import MIB
from schedgap.bench.isolation.tree import die_with_parent

if TYPE_CHECKING:
    from pathlib import Path

    from schedgap.bench.records.runs import Limits

# Address space beyond the resident limit: thread stacks and arenas that nobody touches.
ADDRESS_SLACK_MIB = 2048


def confine(limits: Limits, answers: int, output: int, scratch: Path) -> None:
    """Give this process its own session, only the pipes `answers` and `output`, and limits that its children inherit.

    scratch : where temporary files go.
    """
    with suppress(PermissionError):
        # It leads a session already, if it has an interpreter of its own.
        os.setsid()
    die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, answers)
    os.closerange(answers + 1, 1024)
    faulthandler.enable(file=2)
    os.environ["TMPDIR"] = str(scratch)
    tempfile.tempdir = None
    # By plain system calls: a text file object would copy pages that the process shares with its parent.
    statm = os.open("/proc/self/statm", os.O_RDONLY)
    mapped = int(os.read(statm, 64).split()[0]) * resource.getpagesize()
    os.close(statm)
    _limit(resource.RLIMIT_AS, mapped + (limits.memory_mib + ADDRESS_SLACK_MIB) * MIB)
    _limit(resource.RLIMIT_CORE, 0)
    if limits.cpu_s is not None:
        _limit(resource.RLIMIT_CPU, math.ceil(limits.cpu_s) + 1)


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
