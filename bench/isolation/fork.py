"""Work in a forked process of its own: confined, supervised, and answered for whatever happens in it."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from schedgap.bench.isolation.answer import Failure, plain_text
from schedgap.bench.isolation.confine import confine
from schedgap.bench.isolation.messages import Message, send
from schedgap.bench.isolation.supervise import supervise

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from schedgap.bench.isolation.clocks import Allowance
    from schedgap.bench.isolation.supervise import Ending
    from schedgap.bench.records.runs import Limits


def supervised(
    work: Callable[[int], bytes],
    failed: Callable[[Failure], bytes],
    limits: Limits,
    harness: int,
    scratch: Path,
    allowance: Allowance,
) -> Ending:
    """Fork a process that does the work, and return how it ended.

    work : takes the pipe for messages and returns the answer. failed : makes the answer where `work` raised.
    harness : see `supervise`. scratch : for temporary files.
    """
    answers, answers_in = os.pipe()
    output, output_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            answer(work, failed, limits, answers_in, output_in, scratch)
        finally:
            os._exit(1)
    os.close(answers_in)
    os.close(output_in)
    return supervise(pid, answers, output, harness, limits, allowance)


def answer(
    work: Callable[[int], bytes],
    failed: Callable[[Failure], bytes],
    limits: Limits,
    answers: int,
    output: int,
    scratch: Path,
) -> NoReturn:
    """Confine this process, do the work, send the answer on the pipe `answers`, and exit."""
    try:
        confine(limits, answers, output, scratch)
        body = work(answers)
    except MemoryError:
        body = failed(Failure(status="memory", reason="MemoryError"))
    except BaseException as error:
        traceback.print_exc()
        body = failed(Failure(status="error", reason=_one_line(error)))
    try:
        for stream in (sys.stdout, sys.stderr):
            # The method may have closed or replaced it, which is no reason to lose its answer.
            with suppress(Exception):
                stream.flush()
        send(answers, Message.ANSWER, body)
    finally:
        os._exit(0)


def _one_line(error: BaseException) -> str:
    return f"{plain_text(type(error).__name__)}: {' '.join(plain_text(error).split())}"[:500]
