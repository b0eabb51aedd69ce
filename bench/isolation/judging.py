"""Judging a run's answer in a process that never ran a plug-in's code, and within limits of its own."""

from __future__ import annotations

import resource
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedgap.bench.isolation.child import shrunk
from schedgap.bench.isolation.judge import invalid, judge
from schedgap.bench.isolation.request import Answer
from schedgap.bench.isolation.supervise import MIB
from schedgap.bench.records.measurement import Measurement
from schedgap.instances.family import find_family
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedgap.bench.isolation.request import Request
    from schedgap.bench.isolation.supervise import Ending
    from schedgap.instances.family import Family

# An answer of a few bytes may stand for machines without end; honest ones of a million tasks need less than half.
JUDGE_S = 300.0
JUDGE_MIB = 4096


def judged(request: Request, instance: Any, ending: Ending, scratch: Path) -> Answer:
    """Return what a run gave, from how its process ended. scratch : for temporary files."""
    memory_mib = max(JUDGE_MIB, request.limits.memory_mib)
    try:
        with _address_space(memory_mib):
            return _answer(request, instance, ending, scratch)
    except MemoryError:
        return unjudged(f"within {memory_mib} MiB of memory", ending)


def unjudged(limit: str, ending: Ending) -> Answer:
    """Return the end of a run whose answer is too much to judge."""
    return Answer(invalid(f"its answer could not be judged {limit}", ending))


@contextmanager
def _address_space(memory_mib: int) -> Iterator[None]:
    """Let this process map no more than so much beside what it has."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = mapped + memory_mib * MIB
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _answer(request: Request, instance: Any, ending: Ending, scratch: Path) -> Answer:
    family = find_family(request.family)
    if request.shrunk:
        instance = shrunk(family, instance)
    measurement, solution = judge(family, instance, ending, request.limits)
    if solution is None or request.shrunk:
        return Answer(measurement)
    try:
        if family.measures is not None:
            measurement = replace(measurement, measures=family.measures(instance, solution))
        picture = None if family.picture is None else family.picture(instance, solution)
        content = _file_content(family, instance, solution, scratch) if request.keep else None
    except MemoryError:
        raise
    except Exception as error:
        return Answer(Measurement(Status.ERROR, reason=f"its verified solution cannot be measured: {error!r:.300}"))
    return Answer(measurement, picture, content)


def _file_content(family: Family, instance: Any, solution: Any, scratch: Path) -> bytes:
    with tempfile.TemporaryDirectory(prefix="solution-", dir=scratch) as folder:
        path = Path(folder) / "solution.json"
        family.write_solution(instance, solution, path)
        return path.read_bytes()
