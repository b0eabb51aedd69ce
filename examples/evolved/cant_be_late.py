"""Can't be late: a job with a deadline, on spot machines that come and go, or on demand. A family of one's own, in one file.

Given       ticks of 600 s;  where spot is there;  a job of W s of work and a deadline;  a start that eats D s of its tick
Decide      for each tick: nothing, spot (only where it is there), or on demand
Work        a tick that goes on does 600 s; a start, from nothing or from the other kind, 600 - D. Work is never lost
Minimise    what is paid: each tick that is on, whole, until the work is done
The rule    of the task's simulator: with L ticks and R s of work left, and ceil((R + D) / 600) >= L, a job on spot stays there,
            or does nothing for a tick if spot is gone; any other is on demand. So it ends one tick after the deadline at most

The task is `cant_be_late` of the ADRS leaderboard (LB, commit f856497): docs/evolved/cant-be-late.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from cant_be_late_rules import ANY, NOTHING, ON_DEMAND, SPOT, TICK_S, Job, Observation, cheapest, table_shape

from schedgap.heuristics.player import Whole, policy_decorator
from schedgap.instances.arrays import IntArray, content_hash, first_true, lock
from schedgap.instances.csv_table import read_rows, whole_number
from schedgap.instances.documents import Columns, Field, Index, InstanceDocument, SolutionDocument, Value
from schedgap.instances.draws import generator
from schedgap.instances.errors import InstanceError, MethodError, SolutionError, VerifyError
from schedgap.instances.family import Family, Scored, register_family
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.model import InstanceModel, check_shapes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FAMILY, SCHEMA = "cant-be-late", "schedgap/cant-be-late/1"
HOUR_TICKS, MAX_TICKS, DOLLAR = 6, 100_000, 60_000
# LB's score is 0 at $146.88, all on demand, and 100 at $46.7088, all on spot.
WORST, BEST = 146.88, 46.7088


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LateInstance(InstanceModel):
    """spot : (ticks,) int64, 1 where spot is there, up to the last tick that the job may use.

    work_s, overhead_s : W and D. deadline : in ticks. forced : whether the simulator's rule holds, 1 or 0.
    """

    name: str
    work_s: int
    deadline: int
    overhead_s: int
    forced: int
    spot: IntArray
    digest: str = ""

    def __post_init__(self) -> None:
        scalars = ("work_s", "deadline", "overhead_s", "forced")
        self._lock(("spot",), scalars)
        for key, most in (("forced", 1), ("overhead_s", TICK_S - 1), ("deadline", MAX_TICKS)):
            if not 0 <= getattr(self, key) <= most:
                raise InstanceError(f"{self.name}: {key} is {getattr(self, key)}; give 0 to {most}.")
        most = self.deadline * TICK_S - self.overhead_s
        if not 1 <= self.work_s <= most:
            raise InstanceError(f"{self.name}: {self.work_s} s of work; give 1 to {most}, what is done on demand.")
        check_shapes(self, {"spot": (self.ticks,)})
        if (bad := first_true((self.spot != 0) & (self.spot != 1))) is not None:
            raise InstanceError(f"{self.name}: spot is {self.spot[bad]} at tick {bad}; give 0 or 1.")
        # Two traces may be equal in what a job can use of them; they are two scenarios still, and both count in the mean.
        parts = [SCHEMA, self.name, *(getattr(self, key) for key in scalars), self.spot]
        object.__setattr__(self, "digest", content_hash(parts))

    @property
    def ticks(self) -> int:
        """Ticks that the job may use: under the rule one more than its deadline has."""
        return self.deadline + self.forced


@dataclass(frozen=True, slots=True, eq=False)
class LateSolution:
    """kind : (ticks,) int64, `NOTHING`, `SPOT` or `ON_DEMAND`. It says what was chosen only: work and cost are computed."""

    kind: IntArray

    def __post_init__(self) -> None:
        lock(self, ("kind",), error=SolutionError)


def verify(instance: LateInstance, solution: LateSolution) -> int:
    """Play what was chosen, and return what it costs in 1/60000 dollars.

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    if solution.kind.shape != (instance.ticks,):
        raise VerifyError(f"kind has shape {solution.kind.shape}; give one for each of {instance.ticks} ticks.")
    job = Job(instance)
    for kind in solution.kind.tolist():
        if (reason := job.refusal(kind)) is not None:
            raise VerifyError(reason)
        job.go_on(kind)
    if job.left_s:
        raise VerifyError(f"{job.left_s} s of {instance.work_s} s of work are left at the end; do all of it.")
    return job.cost


INSTANCE = InstanceDocument(
    SCHEMA,
    LateInstance,
    *(Value(key, Index) for key in ("work_s", "deadline", "overhead_s", "forced")),
    Columns("", Field("spot", Index)),
)
SOLUTION: SolutionDocument[LateInstance, LateSolution] = SolutionDocument(
    "schedgap/cant-be-late-solution/1", LateSolution, Columns("", Field("kind", Index))
)


def late(name: str, spot: IntArray, work_h: int, deadline_h: int, overhead_s: int, rule: bool) -> LateInstance:
    """Return an instance from a trace, cut to what the job may use of it."""
    name, deadline = f"{name}-{deadline_h}h-{overhead_s}s{'' if rule else '-free'}", deadline_h * HOUR_TICKS
    return LateInstance(name, work_h * HOUR_TICKS * TICK_S, deadline, overhead_s, int(rule), spot[: deadline + rule])


def random_spot(
    deadline_h: int = 6, work_h: int = 4, overhead_s: int = 180, rule: bool = True, share: float = 0.5, *, seed: int = 0
) -> LateInstance:
    """Draw where spot is there: a share of the time on the mean, in runs of about two hours where that is a half."""
    if not 0 < share < 1:
        raise InstanceError(f"generator random-spot: share is {share:g}; give one between 0 and 1.")
    draws = generator(FAMILY, "random-spot", deadline_h, work_h, overhead_s, rule, share, seed).random(
        max(deadline_h * HOUR_TICKS, 0) + 2
    )
    spot = [int(draws[0] < share)]
    for draw in draws[1:]:
        ends = draw * HOUR_TICKS < (1 - share if spot[-1] else share)
        spot.append(1 - spot[-1] if ends else spot[-1])
    return late(f"random-spot-s{seed}", np.array(spot), work_h, deadline_h, overhead_s, rule)


def traces(
    path: Path, environment: str = "", trace: int = 0, deadline_h: int = 52, overhead_s: int = 72, rule: bool = True
) -> LateInstance:
    """Read a trace from a table: environment, trace, and lengths of runs of ticks, in turn with spot and without.

    environment : the first one's if empty. The job has 48 hours of work.
    """
    for line, row in read_rows(path, ("environment", "trace"), "table of traces"):
        *_, lengths = row.values()
        if row["environment"] == (environment or row["environment"]) and row["trace"] == str(trace):
            runs = [whole_number(path, line, "a run of ticks", length) for length in lengths.split()]
            spot = np.repeat(1 - np.arange(len(runs)) % 2, runs)
            return late(f"{row['environment']}-{trace}", spot, 48, deadline_h, overhead_s, rule)
    raise InstanceError(f"{path.name}: there is no trace {trace} of '{environment:.60}'; name one of its rows.")


def shrink(instance: LateInstance) -> LateInstance:
    """Return an instance of at most two hours, with half of that to do."""
    few = min(instance.deadline, 2 * HOUR_TICKS)
    work_s = min(instance.work_s, max(few * TICK_S // 2, 1))
    spot = instance.spot[: few + instance.forced]
    return instance.replace(name=f"{instance.name}-shrunk", deadline=few, work_s=work_s, spot=spot)


def measures(_: LateInstance, solution: LateSolution) -> dict[str, float]:
    """Return hours of either kind."""
    hours = np.bincount(solution.kind, minlength=3) / HOUR_TICKS
    return {"spot_hours": float(hours[SPOT]), "on_demand_hours": float(hours[ON_DEMAND])}


def native_score(runs: Sequence[Scored]) -> dict[str, float]:
    """Return the mean cost and LB's score of it. With a failed run all of it is worth nothing, as there."""
    costs = [run.objective for run in runs if run.objective is not None]
    dollars = sum(costs) / len(costs) / DOLLAR if costs and len(costs) == len(runs) else WORST
    return {"dollars": dollars, "leaderboard": min(max(100 * (WORST - dollars) / (WORST - BEST), 0.0), 100.0)}


LATE = register_family(
    Family(
        name=FAMILY,
        instance=LateInstance,
        solution=LateSolution,
        verify=verify,
        read_instance=INSTANCE.read,
        write_instance=INSTANCE.write,
        read_solution=SOLUTION.read,
        write_solution=SOLUTION.write,
        objective_scale=DOLLAR,
        objective_unit="$",
        generators={"random-spot": random_spot},
        importers={"traces": traces},
        shrink=shrink,
        measures=measures,
        native_score=native_score,
        bound_methods=("clairvoyant",),
        size="deadline_h",
    )
)


def too_many(instance: LateInstance) -> str | None:
    """Return None, or why the table is not built."""
    entries = np.prod(table_shape(instance))
    return None if entries <= 2**28 else f"the table has {entries} entries, more than {2**28}"


@method("clairvoyant", family=FAMILY, exact=True, supports=too_many)
def clairvoyant(instance: LateInstance) -> Outcome:
    """Find the least cost of all who know the whole trace, by dynamic programming over tick, kind and work left."""
    kind, cost = cheapest(instance)
    return Outcome(LateSolution(kind), cost, Status.OPTIMAL)


class Player:
    """One policy on one instance. Where the rule decides, no policy is asked."""

    family: ClassVar[str] = FAMILY
    knowledge: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, tuple[str | None, ...]]] = {}
    document: ClassVar[Any] = Whole

    def __init__(self, instance: LateInstance, knows: frozenset[str] = frozenset()) -> None:
        """Begin before the first tick."""
        self.job, self.memory = Job(instance), dict[str, Any]()

    def observe(self) -> Observation | None:
        """Return what is seen at the next tick that the rule leaves open; None after the last, or when the work is done."""
        while self.job.left_s and self.job.tick < self.job.instance.ticks:
            if (rule := self.job.rule()) == ANY:
                return self.job.seen(self.memory)
            self.job.go_on(rule)
        return None

    @staticmethod
    def read(document: Any) -> Any:
        """Return the kind that a program answers."""
        return document

    def act(self, actions: object) -> None:
        """Do what the policy answered: a kind.

        Raises
        ------
        MethodError
            for anything else, and for spot where it is not there.
        """
        kind = ANY if isinstance(actions, bool) or not isinstance(actions, int | np.integer) else int(actions)
        if (reason := self.job.refusal(kind)) is not None:
            raise MethodError(f"the policy answers {actions!r:.60}: {reason}")
        self.job.go_on(kind)

    def outcome(self) -> Outcome:
        """Return the solution; `verify` plays it again from nothing but its kinds.

        Raises
        ------
        MethodError
            if there is work left at the deadline.
        """
        if self.job.left_s:
            raise MethodError(
                f"{self.job.left_s} s of work are left at the deadline; go on demand while there is time."
            )
        kinds, ticks = self.job.kinds[1:], self.job.instance.ticks
        return Outcome(LateSolution(np.array(kinds + [NOTHING] * (ticks - len(kinds)))))


policy = policy_decorator(Player)


@policy("on-demand")
def on_demand(observation: Observation) -> int:
    """Never take spot."""
    return ON_DEMAND


def in_time(observation: Observation, kind: int) -> int:
    """Return a kind, or on demand where nothing else is sure to be in time: as the rule does, where there is none."""
    must = observation.left_s + observation.overhead_s > (observation.ticks_left - 1) * TICK_S
    return ON_DEMAND if must else kind


@policy("spot-or-wait")
def spot_or_wait(observation: Observation) -> int:
    """Take spot where it is there, else wait for it while there is time."""
    return in_time(observation, SPOT if observation.spot else NOTHING)


@policy("uniform-progress")
def uniform_progress(observation: Observation) -> int:
    """Keep up with the mean pace that the deadline asks for (Wu et al., Can't Be Late, NSDI 2024).

    Behind it the job is on demand, and stays there until it is ahead by two starts; otherwise it is on spot, or waits.
    """
    ticks = observation.tick + observation.ticks_left
    ahead_s = observation.work_s - observation.left_s - observation.work_s * observation.tick / ticks
    if observation.kind == ON_DEMAND and ahead_s < 2 * observation.overhead_s:
        return ON_DEMAND
    return in_time(observation, SPOT if observation.spot else ON_DEMAND if ahead_s < 0 else NOTHING)
