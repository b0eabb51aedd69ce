"""A greedy scheduler with parameters to search for."""

import numpy as np

from schedgap.instances import method
from schedgap.instances.provisioning import Provisioning

# How much each resource counts, and how much the size of a new machine counts beside its price.
WEIGHTS = (1.0, 1.0, 1.0)
SIZE = 0.0


@method("candidate", family="provisioning")
def candidate(instance):
    """Largest task first, to the machine that it fills best; where none has room, to a new one."""
    scale = np.array(WEIGHTS) / instance.capacity.max(axis=0)
    demand = instance.demand[instance.type2family][:, instance.task_classes()]
    size = np.where((demand >= 0).all(axis=2), (demand * scale).sum(axis=2), np.inf)
    types, free, task2machine = [], np.empty((0, demand.shape[2]), np.int64), np.empty(instance.num_tasks, np.int64)
    for task in np.argsort(-size.min(axis=0), kind="stable"):
        needs = demand[types, task]
        left = free - needs
        fits = (needs >= 0).all(axis=1) & (left >= 0).all(axis=1) if types else np.zeros(0, bool)
        if fits.any():
            machine = int(np.argmin(np.where(fits, (left * scale).sum(axis=1), np.inf)))
        else:
            roomy = (demand[:, task] >= 0).all(axis=1) & (demand[:, task] <= instance.capacity).all(axis=1)
            worth = (instance.capacity * scale).sum(axis=1) ** SIZE
            machine_type = int(np.argmin(np.where(roomy, instance.price / worth, np.inf)))
            machine = len(types)
            types.append(machine_type)
            free = np.vstack((free, instance.capacity[machine_type]))
        free[machine] -= demand[types[machine], task]
        task2machine[task] = machine
    return Provisioning.from_tasks(instance, np.array(types), task2machine)
