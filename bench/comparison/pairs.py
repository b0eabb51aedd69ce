"""What a comparison compares: one run of the baseline with the same run now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

from schedgap.bench.records.contradictions import contradictions, suspicious, verified_twice
from schedgap.bench.records.runs import Record, Run
from schedgap.bench.statistics.summary import Best, best_of, verified_objective
from schedgap.instances.method import Status

# What makes two runs a pair: family, digest of the instance, method with the parameters given, seed.
PairKey = tuple[str, str, str, int]
_PAIR_KEY = attrgetter("family", "digest", "label", "seed")
# A run that is not proven optimal and used this share of its time limit may have been stopped by the clock: methods
# that search in phases give each a part of the limit.
CLOCK_SHARE = 0.5
# Gaps to a bound below this share of the best objective are near 1 whatever was found, and would hide every change.
BOUND_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Pair:
    """The same run on both sides; None where a side does not have it."""

    base: Record | None
    new: Record | None

    @property
    def run(self) -> Run:
        """Return the run, as the newer side describes it."""
        record = self.new or self.base
        assert record is not None
        return record.run

    @property
    def stochastic(self) -> bool:
        """Whether the answer of the baseline depends on the seed: a method that begins to draw must not get worse by it."""
        record = self.base or self.new
        assert record is not None
        return record.run.stochastic

    @property
    def used_clock(self) -> bool:
        """Whether the clock may have stopped one of the two, so that not even the same code repeats its answer."""
        sides = [side for side in (self.base, self.new) if side is not None]
        # Where the row of one side does not say whether the method takes a limit, that of the other does.
        told = next((side.run.takes_limit for side in sides[::-1] if side.run.takes_limit is not None), None)
        return any(used_clock(side, told) for side in sides)


def pair_up(base: Iterable[Record], new: Iterable[Record]) -> list[Pair]:
    """Return every run of both sides, those of the baseline first, each side in its own order.

    Of several runs of one key on one side (a journal without a plan may hold other limits and versions), the one that
    ended last counts.
    """
    left, right = _latest(base), _latest(new)
    pairs = [Pair(record, right.get(key)) for key, record in left.items()]
    pairs += [Pair(None, record) for key, record in right.items() if key not in left]
    return pairs


def judge_together(pairs: list[Pair]) -> tuple[list[Pair], dict[str, Best], list[tuple[Run, str]]]:
    """Return the pairs, what is known of each instance over both sides, and which runs are contradicted and by what.

    A bound of one side above a verified objective of the other is false, as it is within a suite: its run becomes
    `invalid`. So do runs of both sides with one solution that was verified with two objectives.
    """
    records = list(_sides(pairs))
    disputed = {key for contradiction in verified_twice(records) for key in contradiction.keys}
    best = best_of(records)
    suspects = suspicious(records) | {record.run.digest for record in records if record.key in disputed}
    if not suspects:
        return pairs, best, []
    # Both sides use the same keys and labels for the same runs; here they must be told apart.
    told = {
        f"{side} {index}": record.renamed(f"{side} {index}", f"{record.run.label} ({side})")
        for index, pair in enumerate(pairs)
        if pair.run.digest in suspects
        for side, record in (("BASE", pair.base), ("NEW", pair.new))
        if record is not None
    }
    found = contradictions(told.values())
    judged = list(pairs)
    for contradiction in found:
        for key in contradiction.keys:
            side, _, index = key.partition(" ")
            judged[int(index)] = _invalidated(judged[int(index)], side, contradiction.reason)
    best = best_of(_sides(judged))
    accused = [pairs[int(contradiction.keys[0].partition(" ")[2])].run for contradiction in found]
    return judged, best, [(run, each.reason) for run, each in zip(accused, found, strict=True)]


def used_clock(record: Record, takes_limit: bool | None = None) -> bool:
    """Whether the clock may have stopped a run; a proven optimum is the same at any time.

    takes_limit : whether its method has a limit to keep to, where its row does not say.
    """
    measurement = record.measurement
    if (takes_limit if record.run.takes_limit is None else record.run.takes_limit) is False:
        return False
    wall_s = measurement.wall_s
    if wall_s is None or wall_s < CLOCK_SHARE * record.run.limits.time_limit_s:
        return False
    return measurement.status not in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNSUPPORTED)


def distance(record: Record, best: Mapping[str, Best]) -> float | None:
    """Return the gap of a run to the best proven bound of both sides, None without a solution.

    Where nobody proved a bound of at least BOUND_SHARE of the best verified objective of both sides, to that objective.
    """
    return measure(best[record.run.digest]).gap(verified_objective(record))


def measure(known: Best) -> Best:
    """Return what gaps on an instance are to, see `distance`."""
    objective = known.objective
    if objective is None or (known.bound is not None and known.bound >= BOUND_SHARE * objective):
        return known
    return Best(objective, objective)


def _latest(records: Iterable[Record]) -> dict[PairKey, Record]:
    found: dict[PairKey, Record] = {}
    for record in records:
        key = _PAIR_KEY(record.run)
        known = found.setdefault(key, record)
        if known is not record and known.ended_at <= record.ended_at:
            found[key] = record
    return found


def _invalidated(pair: Pair, side: str, reason: str) -> Pair:
    if side == "BASE":
        assert pair.base is not None
        return Pair(pair.base.invalidated(reason), pair.new)
    assert pair.new is not None
    return Pair(pair.base, pair.new.invalidated(reason))


def _sides(pairs: Iterable[Pair]) -> Iterator[Record]:
    for pair in pairs:
        if pair.base is not None:
            yield pair.base
        if pair.new is not None:
            yield pair.new
