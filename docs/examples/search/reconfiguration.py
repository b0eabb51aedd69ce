"""A rule that rents and moves, with four parameters to search for."""

import numpy as np

from schedgap.heuristics.reconfiguration import policy
from schedgap.instances.expressions import expression

SEARCH = {
    "fits": {"left", "price", "tasks"},
    "size": (0.0, 1.0),
    "least": (0.0, 1.5),
    "most_tasks": (1, 8),
}


@policy("candidate")
def candidate(observation, fits: str = "-left", size: float = 0.0, least: float = 0.0, most_tasks: int = 4):
    """Send a new task to the machine of the highest `fits` with room, else to a new one, cheap for its `size`.

    Tasks leave a machine for others with room if alone they would pay less than `least` times its price. left : what would be
    free of its fullest resource, as a share. price : dollars per hour. most_tasks : on a machine.
    """
    draft, market = observation.draft(), observation.market
    score, alone = expression(fits, SEARCH["fits"]), market.price[observation.reservation_type[observation.task_class]]
    tasks = [set(np.flatnonzero(observation.task_machine == machine)) for machine in range(len(draft.types))]
    free = market.capacity[draft.types].astype(float)

    def demand(task, kinds):
        return observation.demand[market.type2family[kinds], observation.task_class[task]]

    def put(task, machine):
        draft.put(task, machine)
        tasks[machine].add(task)
        free[machine] -= demand(task, draft.types[machine])

    def best(task, machines):
        roomy = [m for m in machines if len(tasks[m]) < most_tasks and draft.fits(task, m)]
        if not roomy:
            return None
        kinds = np.array(draft.types)[roomy]
        left = ((free[roomy] - demand(task, kinds)) / market.capacity[kinds].clip(1)).min(axis=1)
        held = np.array([len(tasks[m]) for m in roomy])
        return roomy[score(left=left, price=market.price[kinds] / 1e6, tasks=held).argmax()]

    for machine, here in enumerate(tasks):
        for task in here:
            free[machine] -= demand(task, draft.types[machine])
    for task in np.flatnonzero(observation.task_machine < 0):
        machine = best(task, range(len(tasks)))
        if machine is None:
            needs = demand(task, np.arange(market.price.size))
            fit = (needs >= 0).all(axis=1) & (needs <= market.capacity).all(axis=1)
            worth = market.price / (market.capacity / market.capacity.max(axis=0).clip(1)).sum(axis=1) ** size
            machine = draft.rent(int(np.where(fit, worth, np.inf).argmin()))
            tasks.append(set())
            free = np.vstack((free, market.capacity[draft.types[machine]]))
        put(task, machine)
    moving = observation.job_phase[observation.task_job] == 1
    for machine in range(observation.machine.size):
        here = sorted(tasks[machine])
        if here and not moving[here].any() and alone[here].sum() < least * market.price[draft.types[machine]]:
            for task in here:
                other = best(task, [m for m in range(len(tasks)) if m != machine and tasks[m]])
                if other is not None:
                    tasks[machine].discard(task)
                    free[machine] += demand(task, draft.types[machine])
                    put(task, other)
    return draft.plan()
