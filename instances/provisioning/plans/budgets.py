"""Tasks of which only so many should move at once, or none, and that a solution moves all the same; in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.provisioning.moves import staying

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedgap.instances.provisioning.model import ProvisioningInstance
    from schedgap.instances.provisioning.running import Budget
    from schedgap.instances.provisioning.solution import Provisioning

MOST_NAMES = 5


def exceeded(instance: ProvisioningInstance, solution: Provisioning) -> Iterator[str]:
    """Yield a sentence for each budget of which a solution moves more tasks than may go at once.

    Tasks of a class are interchangeable: of those on a machine the ones outside of the budget are taken to move first, so that
    no plan of these numbers moves fewer. O(N log N) for N entries.
    """
    running = instance.running
    if running is None or not running.budgets:
        return
    stay = staying(instance, solution)
    entries = zip(running.machine.tolist(), running.task_class.tolist(), stay.tolist(), strict=True)
    left = {(e, c): number for e, c, number in entries}
    for budget in running.budgets:
        taken: dict[str, int] = {}
        for e, c, number in budget.tasks:
            if (moved := number - left[e, c]) > 0:
                taken[instance.class_name(c)] = taken.get(instance.class_name(c), 0) + moved
        if (total := sum(taken.values())) > (budget.at_once or 0):
            yield _sentence(budget, total, taken)


def _sentence(budget: Budget, total: int, taken: dict[str, int]) -> str:
    names = [f"{name} ({number})" for name, number in sorted(taken.items())]
    listed = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
    tasks = f"{total} task{'s' * (total != 1)}"
    if budget.at_once is None:
        return f"The plan moves {tasks} that say {budget.name}: {listed}."
    lets = f"{budget.at_once} go at once" if budget.at_once else "none go now"
    return f"The plan moves {tasks} of budget {budget.name}, which lets {lets}: {listed}."
