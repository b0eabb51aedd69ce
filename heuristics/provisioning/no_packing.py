"""No-Packing (Eva, section 6.1): every task alone on the cheapest machine type that fits it."""

from __future__ import annotations

import numpy as np

from schedgap.instances.method import method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.offer import PER_MACHINE
from schedgap.instances.provisioning.solution import Provisioning


@method("no-packing", family=FAMILY, handles=(PER_MACHINE,))
def no_packing(instance: ProvisioningInstance) -> Provisioning:
    """Rent one machine a task, of the task's reservation-price type. Its cost is the sum of reservation prices. O(T)."""
    num_classes = instance.num_classes
    machines = np.empty(instance.num_tasks, np.int64)
    machines[np.argsort(instance.task_classes(), kind="stable")] = np.arange(instance.num_tasks)
    ones = np.ones(num_classes, np.int64)
    classes = np.arange(num_classes)
    return Provisioning(instance.reservation_type, instance.counts, np.arange(num_classes + 1), classes, ones, machines)
