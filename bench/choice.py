"""Which runs of a plan are to be done: those that are missing, failed or asked for again, and match `-k`."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from schedgap.bench.records.measurement import ERRORS, FAILED
from schedgap.instances.errors import SuiteError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.bench.plan import Plan
    from schedgap.bench.records.record import Record
    from schedgap.bench.records.runs import Run

Retry = Literal["none", "errors", "failed"]
RETRIED = {"none": frozenset(), "errors": ERRORS, "failed": FAILED}


def matching(plan: Plan, only: Sequence[str]) -> frozenset[str]:
    """Return the keys of the runs that match all of `only`, see `api.run_suite`.

    Raises
    ------
    SuiteError
        if there are none.
    """
    chosen = frozenset(key for key, run in plan.runs.items() if all(_matches(run, each) for each in only))
    if not chosen:
        words = {word for run in plan.runs.values() for word in (run.label, run.method, run.instance, run.group)}
        asked = " -k ".join(only)
        raise SuiteError(
            f"no run matches -k {asked}; {did_you_mean(only[-1], words)}give a part of a method's, an instance's or a "
            "group's name, or a pattern of it with * and ?."
        )
    return chosen


def to_do(
    plan: Plan, chosen: frozenset[str], known: Mapping[str, Record], *, retry: Retry = "errors", fresh: bool = False
) -> list[str]:
    """Return the keys of the plan's runs that are to be done, in its order.

    chosen : those that match, of which a shard may have none. known : what is recorded. retry, fresh : as in `api.run_suite`.
    """
    return [
        key for key in plan.runs if key in chosen and (fresh or key not in known or known[key].status in RETRIED[retry])
    ]


def _matches(run: Run, expression: str) -> bool:
    """Whether one of the alternatives `A|B` is part of a name of the run, or with * and ? describes all of it."""
    names = (run.label, run.method, run.instance, run.group)
    return any(_is_name(name, each.strip()) for each in expression.split("|") for name in names)


def _is_name(name: str, pattern: str) -> bool:
    if "*" in pattern or "?" in pattern:
        return fnmatchcase(name, pattern.replace("[", "[[]"))
    return pattern in name
