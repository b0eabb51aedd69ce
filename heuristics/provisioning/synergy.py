"""Synergy on one snapshot, as Eva's evaluation implements it (section 6.1)."""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration_tnrp import throughput_table
from schedgap.heuristics.provisioning.kernels_fit import Beside, Placed, synergy_place
from schedgap.instances.method import method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.solution import Provisioning


@method("synergy", family=FAMILY)
def synergy(instance: ProvisioningInstance) -> Provisioning:
    """Best fit in list order: each task goes where the machine's tasks are worth the most per price, or to its own.

    Worth is the summed throughput-normalised reservation price RP(t) f(t), the new task included and job sizes left
    out; it must reach the machine's price. Ties go to the larger alignment, then to the older machine. Where no
    machine will do, the task gets a new one of its reservation-price type. It never looks back, so it sees no large
    machine unless some task needs one. O(T M (R + E)) for M machines of up to E tasks.
    """
    throughput, workload = throughput_table(instance)
    num_tasks = instance.num_tasks
    machine_type, task2machine, last, before = (np.empty(num_tasks, np.int64) for _ in range(4))
    placed = Placed(machine_type, np.empty((num_tasks, len(instance.resources)), np.int64), task2machine)
    number = synergy_place(
        instance.demand,
        instance.task_classes(),
        instance.type2family,
        instance.capacity,
        instance.price,
        instance.reservation_type,
        Beside(workload, throughput, np.empty(num_tasks), last, before),
        placed,
    )
    return Provisioning.from_tasks(instance, machine_type[:number], task2machine)
