"""What is known of a run once it has ended: verified figures, the method's claims beside them, and what it used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedgap.bench.records.runs import Scalar

# Ends that give no figure of the method; they make `schedgap run` exit with 3. What a run had found before such an end is
# of use all the same for what is known of its instance, unless it is invalid.
FAILED = frozenset({Status.TIMEOUT, Status.MEMORY, Status.CRASHED, Status.INVALID, Status.ERROR})
# Of these, the ends that the next `schedgap run` tries again by itself: they say nothing about the method's quality.
ERRORS = frozenset({Status.CRASHED, Status.ERROR})


@dataclass(frozen=True, slots=True)
class Measurement:
    """How one run ended.

    status : judged by the harness. claimed_status : the method's own word, None if it gave none.
    objective : verified, in the family's integer units; None without a feasible solution. bound : the method's proven
    bound, None if it gave none or contradicted itself. Of a run that failed, both are what it had told of before (see
    `Found`), and so are `measures` and `solution_hash`. reason : why the status is what it is, for people.
    wall_s : the method call alone. build_s, solve_s, extract_s : parts of it, as the method reports them.
    warm : where compiled code was warmed up before: `parent`, `child`, `repeat` (the call was timed a second time,
    because something was compiled in the first) or `none`; warm_s : how long that took. compile_s : compilation left
    inside wall_s. cpu_s : processor seconds of the call, child processes included. reference_s : what a fixed piece of
    work took in the same process just before (see `reference`).
    peak_memory_mib : the most resident memory of the whole tree. output : what the run printed, if it failed.
    details : facts, as the method reports them. measures : what the family reads off the verified solution.
    solution_hash : of the verified solution, so that two verifications of it can be held against each other.
    trajectory : (seconds, objective, bound) as the method reports them: claims, not verified.
    confined : what the kernel held for the run: `landlock`, `scopes`, `seccomp`, `mounts` (see `isolation/confinement.py`), and
    `cpu` where no process of it could take processor time uncounted.
    """

    status: Status
    claimed_status: str | None = None
    objective: int | None = None
    bound: int | None = None
    reason: str | None = None
    wall_s: float | None = None
    build_s: float | None = None
    solve_s: float | None = None
    extract_s: float | None = None
    warm: str = "none"
    warm_s: float | None = None
    compile_s: float | None = None
    cpu_s: float | None = None
    reference_s: float | None = None
    peak_memory_mib: float | None = None
    output: str = ""
    solver: str | None = None
    trajectory: tuple[tuple[float, int | None, int | None], ...] = ()
    details: Mapping[str, Scalar] = field(default_factory=dict)
    measures: Mapping[str, float] = field(default_factory=dict)
    solution_hash: str | None = None
    confined: tuple[str, ...] = ()

    @property
    def had_found(self) -> bool:
        """Whether the run failed, and had told of a solution or a bound before that counts for what is known of its instance."""
        has_any = self.objective is not None or self.bound is not None
        return has_any and self.status in FAILED and self.status is not Status.INVALID
