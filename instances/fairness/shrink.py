"""A small version of an instance, of the same kind in every respect that compiled code can tell."""

from __future__ import annotations

import numpy as np

from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance

MAX_USERS = 4
MAX_MACHINES = 2
MAX_TASKS = 8


def shrink(instance: FairnessInstance) -> FairnessInstance:
    """Return an instance of the first four users, on a machine class that serves each: to warm up, not to measure."""
    users = np.arange(min(instance.num_users, MAX_USERS))
    serves = instance.allowed[users] & (instance.fitting()[users] > 0) & (instance.performance[users] > 0)
    classes = np.unique(np.append(serves.argmax(axis=1), [0, instance.num_machine_classes - 1]))
    tasks = instance.tasks[users]
    return instance.replace(
        name=f"{instance.name}-shrunk",
        machine_names=tuple(instance.machine_names[k] for k in classes.tolist()),
        machine_count=np.minimum(instance.machine_count[classes], MAX_MACHINES),
        capacity=instance.capacity[classes],
        demand=instance.demand[users],
        weight=instance.weight[users],
        performance=instance.performance[np.ix_(users, classes)],
        allowed=instance.allowed[np.ix_(users, classes)],
        tasks=np.where(tasks == UNLIMITED, UNLIMITED, np.minimum(tasks, MAX_TASKS)),
        user_names=None if instance.user_names is None else instance.user_names[: users.shape[0]],
        notes=(),
    )
