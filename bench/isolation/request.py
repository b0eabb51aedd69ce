"""What a warm server is asked to do, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.bench.records.record import PROCESS_GROUP

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from schedgap.bench.records.measurement import Measurement
    from schedgap.bench.records.runs import Limits, Scalar
    from schedgap.instances.picture import Picture


@dataclass(frozen=True, slots=True)
class Request:
    """One run for a server.

    given : the parameters that were given. instance_path : a pickle of the instance. keep : answer with the verified
    solution as a file's content, too. warm : the child warms up by itself before the timed call.
    shrunk : run on the family's small version of the instance instead, for its effects on compiled code only.
    before : pickles of instances on which the method is called first, in the same process, untimed.
    isolation : how the run is kept apart. plugins : files with methods, for a run that starts its own interpreter.
    """

    family: str
    method: str
    given: Mapping[str, Scalar]
    seed: int
    limits: Limits
    digest: str
    instance_path: Path
    keep: bool = False
    warm: bool = False
    shrunk: bool = False
    before: tuple[Path, ...] = ()
    isolation: str = PROCESS_GROUP
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run gave.

    picture : of the verified solution, None where the family has none. solution : the verified solution as its file's
    content, if it was to be kept.
    """

    measurement: Measurement
    picture: Picture | None = None
    solution: bytes | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Answer to a request that cannot be done here at all; no run is recorded for it."""

    reason: str


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Ask a server to warm itself up for a method, so that the children that it forks are warm from the start."""

    request: Request


@dataclass(frozen=True, slots=True)
class WarmedUp:
    """Answer to `WarmUp`.

    warm_s : how long it took. again_s : how long the same call took once more. threads : of the server now; with one
    it may fork safely.
    """

    warm_s: float
    again_s: float
    threads: int
