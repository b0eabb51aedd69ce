"""Eva's Full Reconfiguration with throughput-normalised reservation prices (sections 4.3 and 4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.heuristics.provisioning.full_reconfiguration.kernels_tnrp import pack_tnrp
from schedgap.heuristics.provisioning.full_reconfiguration.packing import (
    TIE_BREAKS,
    group_tasks,
    is_by_list,
)
from schedgap.instances.method import method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.provisioning.solution import Provisioning


@method("full-reconfiguration-tnrp", family=FAMILY, choices={"tie_break": TIE_BREAKS})
def full_reconfiguration_tnrp(
    instance: ProvisioningInstance, tie_break: str = "alignment", downsizing: bool = True
) -> Provisioning:
    """Fill machines as Full Reconfiguration does, with each task worth less beside tasks that slow it down.

    A machine takes the task with which the summed TNRP of its tasks is the largest, until nothing fits or every choice
    would lower the sum, and is rented if the sum reaches its price. TNRP(t) = max(0, RP(t) - J(t) (1 - f(t))): f(t) is
    the product of t's pairwise throughputs beside the other tasks, J(t) the reservation price of its whole job
    (section 4.4; the cut at 0 is in Eva's code). Alone, f = 1, and a choice never lowers the sum: a machine of the
    reservation-price type of any task left pays, so every task is placed, and the rule of Eva's code that places the
    tasks of a rejected type one by one has nothing to do.

    tie_break, downsizing : as in `full-reconfiguration`, the alignment deciding among equal sums.

    Sums are float64, added up in the order in which classes came to the machine. O(contents C E), C distinct classes
    and E on a machine: quadratic in T if all tasks differ.
    """
    by_list = is_by_list(tie_break)
    grouped = group_tasks(instance, _labels(instance))
    first, classes = grouped.first, grouped.classes
    throughput, workload = throughput_table(instance)
    jobs = (
        throughput,
        workload[first],
        classes.value[classes.kind].astype(np.float64),
        instance.job_value[first].astype(np.float64),
    )
    groups, num_classes, num_resources = classes.demand.shape
    work: tuple[NDArray[Any], ...] = (
        np.empty(num_resources, classes.demand.dtype),
        np.empty(num_resources),
        np.empty(num_classes),
        np.empty((groups, num_resources), np.int64),
    )
    pack_tnrp(grouped.types, classes, jobs, grouped.plan, work, np.array([by_list, downsizing]))
    return grouped.solution(instance)


def throughput_table(instance: ProvisioningInstance) -> tuple[FloatArray, IntArray]:
    """Return (W + 1, W + 1) float64 throughputs whose last row and column are 1, and (C,) each class's index there.

    Classes without a workload, and all classes of an instance without interference, get the last index.
    """
    size = 0 if instance.throughput is None else instance.throughput.shape[0]
    table = np.ones((size + 1, size + 1))
    if instance.throughput is not None:
        table[:size, :size] = instance.throughput / 1000
    known = (instance.class2workload >= 0) & (size > 0)
    return table, np.where(known, instance.class2workload, size)


def _labels(instance: ProvisioningInstance) -> IntArray | None:
    """(2, C, R): workload and job value, which keep classes of equal demand apart; None without interference."""
    if instance.throughput is None:
        return None
    labels = np.zeros((2, instance.num_classes, len(instance.resources)), np.int64)
    labels[0, :, 0] = instance.class2workload
    labels[1, :, 0] = instance.job_value
    return labels
