"""First fit as Python that schedgap imports: a method for provisioning, and a policy for reconfiguration.

Run: `schedgap gap instance.json --plugin first_fit_plugin.py --method first-fit`.
"""

import numpy as np

from schedgap.heuristics.reconfiguration import policy
from schedgap.instances import method
from schedgap.instances.provisioning import Provisioning


@method("first-fit", family="provisioning")
def first_fit_method(instance):
    """Put each task on the first machine with room, else on a new one of the cheapest type that fits it."""
    types, free, content = [], [], []
    for c in range(instance.num_classes):
        m = 0  # Where one task of a class has no room, the next has none.
        for _ in range(instance.counts[c]):
            while m < len(types) and not _fits(instance.demand[instance.type2family[types[m]], c], free[m]):
                m += 1
            if m == len(types):
                types.append(int(instance.reservation_type[c]))
                free.append(instance.capacity[types[m]].copy())
                content.append(np.zeros(instance.num_classes, np.int64))
            free[m] -= instance.demand[instance.type2family[types[m]], c]
            content[m][c] += 1
    return Provisioning.from_patterns(types, np.ones(len(types), np.int64), content)


@policy("first-fit")
def first_fit_policy(observation):
    """Put each task that has no machine on the first one with room; all others stay."""
    draft = observation.draft()
    for task in np.flatnonzero(observation.task_machine < 0):
        room = (m for m in range(len(draft.types)) if draft.fits(task, m))
        machine = next(room, None)
        if machine is None:
            machine = draft.rent(observation.reservation_type[observation.task_class[task]])
        draft.put(task, machine)
    return draft.plan()


def _fits(demand, free):
    """Return whether a task has room; a demand of -1 says that it may not run there."""
    return bool(((demand >= 0) & (demand <= free)).all())
