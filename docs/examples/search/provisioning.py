"""A rule that rents machines task by task, with three parameters to search for."""

import numpy as np

from schedgap.instances import method
from schedgap.instances.expressions import expression
from schedgap.instances.provisioning import Provisioning

TASK, MACHINE = {"cpu", "memory", "largest", "price"}, {"left", "fullest", "price"}
SEARCH = {
    "first": {"cpu", "memory", "largest", "price"},
    "fits": {"left", "fullest", "price"},
    "size": (0.0, 2.0),
}


@method("candidate", family="provisioning")
def candidate(instance, first: str = "largest", fits: str = "-left", size: float = 0.5):
    """Place the task of the highest `first` on the machine of the highest `fits`, else on a new one, cheap for its `size`."""
    scale = 1 / instance.capacity.max(axis=0)
    demand = instance.demand[instance.type2family][:, instance.task_classes()]
    share = np.where(demand >= 0, demand * scale, np.inf).min(axis=0)
    price = instance.price[instance.reservation_type[instance.task_classes()]] / instance.price.max()
    rank = expression(first, TASK)(cpu=share[:, -2], memory=share[:, -1], largest=share.max(axis=1), price=price)
    score = expression(fits, MACHINE)
    worth = instance.price / (instance.capacity * scale).sum(axis=1) ** size
    types, free, task2machine = [], np.empty((0, scale.size)), np.empty(instance.num_tasks, np.int64)
    for task in np.argsort(-rank, kind="stable"):
        left = (free - demand[types, task]) * scale
        fitting = np.flatnonzero((left >= 0).all(axis=1) & (demand[types, task] >= 0).all(axis=1))
        if fitting.size:
            room = left[fitting]
            prices = instance.price[np.array(types)[fitting]] / instance.price.max()
            scores = score(left=room.sum(axis=1), fullest=room.min(axis=1), price=prices)
            machine = int(fitting[scores.argmax()])
        else:
            roomy = (demand[:, task] >= 0).all(axis=1) & (demand[:, task] <= instance.capacity).all(axis=1)
            machine_type = int(np.where(roomy, worth, np.inf).argmin())
            machine = len(types)
            types.append(machine_type)
            free = np.vstack((free, instance.capacity[machine_type]))
        free[machine] -= demand[types[machine], task]
        task2machine[task] = machine
    return Provisioning.from_tasks(instance, np.array(types), task2machine)
