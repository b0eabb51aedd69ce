"""Can a user gain by false placement constraints? All false reports of a user, each with the fair point it leads to.

A report names some of the machine classes that the user can use, and not the others: section IV-B of Eunomia, where Job 4
asks for the fastest machines only. What the user then gets it can use, all of it. A share under the report is exact, a number
of tasks, and so another measure of it, is that of one fair point of several.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations

import numpy as np

import schedgap.formulations.fairness.fair_point  # noqa: F401 - finds the fair point
from schedgap.instances.arrays import FloatArray
from schedgap.instances.errors import BackendError, MethodError, VerifyError
from schedgap.instances.fairness.model import FAMILY, NOTIONS, FairnessInstance
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.verify import FAIR, fair_point, shares_of, verify
from schedgap.instances.method import Outcome, Status, method

# The part of its share by which a user has to gain for a false report to pay: ten times what a certificate leaves open.
PAYS = 1e-6


@method("false-constraints", family=FAMILY, exact=True, choices={"measure": ("", *NOTIONS)})
def false_constraints(
    instance: FairnessInstance,
    *,
    time_limit_s: float | None = None,
    user: int = 0,
    measure: str = "",
    max_reports: int = 1000,
) -> Outcome:
    """Find the fair point, and the most that a user could gain by claiming false placement constraints.

    user : who reports, by number; -1 for each user in turn. measure : another notion in which gains count. max_reports :
    the most reports tried of a user, those that claim the fewest classes first.

    Details: `reports` tried, how many `paid`, and the `best_gain`, as a part of the truthful share, with the
    user (`liar`) and what it reports (`lie`). Only reports count whose fair point is proven; `reports_not_proven` says of
    how many it was not.
    """
    start = time.perf_counter()
    if not -1 <= user < instance.num_users:
        raise MethodError(
            f"{instance.name}: there is no user {user} to lie; give 0 to {instance.num_users - 1}, or -1 for all in turn."
        )
    if time_limit_s is not None and time_limit_s <= 0:
        return Outcome()
    try:
        truth, _ = fair_point(instance)
    except (BackendError, VerifyError) as error:
        return Outcome(status=Status.NO_SOLUTION, details={"reason": str(error)})
    tally = _Tally(instance, shares_of(instance, truth, share_of_a_task(instance, measure)), measure)
    for i in [user] if user >= 0 else range(instance.num_users):
        for tried, report in enumerate(_reports(instance, i)):
            if tried == max_reports or (time_limit_s is not None and time.perf_counter() - start > time_limit_s):
                tally.unfinished += 1
                break
            tally.count(i, report)
    return Outcome(
        truth,
        FAIR,
        Status.OPTIMAL if verify(instance, truth) == FAIR else Status.FEASIBLE,
        solve_s=time.perf_counter() - start,
        details=tally.details(),
    )


class _Tally:
    """What false reports bring. honest : (N,) float64, the shares of truthful users. unfinished : users not tried out."""

    def __init__(self, instance: FairnessInstance, honest: FloatArray, measure: str) -> None:
        self.instance, self.honest, self.measure = instance, honest, measure
        self.reports = self.paid = self.unfinished = self.unproven = 0
        self.best_gain = 0.0
        self.best: tuple[int, tuple[int, ...]] | None = None

    def count(self, user: int, report: tuple[int, ...]) -> None:
        """Find out what a user gains by a report."""
        try:
            gain = _share_under(self.instance, user, report, self.measure) / self.honest[user] - 1
        except (BackendError, VerifyError):
            self.unproven += 1
            return
        self.reports += 1
        if gain > PAYS:
            self.paid += 1
            if gain > self.best_gain:
                self.best_gain, self.best = float(gain), (user, report)

    def details(self) -> dict[str, bool | int | float | str]:
        """Return the numbers, and the report that gains most."""
        instance = self.instance
        user, classes = "", ""
        if self.best is not None:
            user = instance.user_name(self.best[0])
            classes = " ".join(instance.machine_names[k] for k in self.best[1])
        return {
            "reports": self.reports,
            "paid": self.paid,
            "best_gain": self.best_gain,
            "liar": user,
            "lie": classes,
            "users_not_finished": self.unfinished,
            "reports_not_proven": self.unproven,
        }


def _reports(instance: FairnessInstance, user: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of classes that a user might name, where it can use them, without the true one."""
    fitting = instance.fitting()[user]
    usable = instance.allowed[user] & (fitting > 0) & (instance.performance[user] > 0)
    classes = np.flatnonzero(usable).tolist()
    for size in range(1, len(classes)):
        # A user whose tasks fit on none of the machines that it names is sent away.
        yield from (report for report in combinations(classes, size) if fitting[list(report)].max() >= 1)


def _share_under(instance: FairnessInstance, user: int, report: tuple[int, ...], measure: str) -> float:
    """Return what a user really has, in a measure, at the fair point of what it reports."""
    allowed = instance.allowed.copy()
    allowed[user] = False
    allowed[user, list(report)] = True
    lied = instance.replace(name=f"{instance.name}, user {user} lies", allowed=allowed)
    found, _ = fair_point(lied)
    return float(shares_of(instance, found, share_of_a_task(instance, measure))[user])
