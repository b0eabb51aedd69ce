"""Other task classes in an instance's place: some of them, and equal ones merged, with the way back for solutions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import IntArray, grouped
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import Provisioning


def with_classes(
    instance: ProvisioningInstance, demand: IntArray, counts: IntArray, **changes: object
) -> ProvisioningInstance:
    """Return the instance with other task classes; names, workloads, jobs and running machines of the old ones are gone.

    demand : (F, C, R). counts : (C,). changes : other fields, those of the new classes too.
    """
    gone = dict.fromkeys(
        (
            "class_names",
            "class2workload",
            "class2job",
            "tasks_per_job",
            "task2class",
            "task_names",
            "running",
            "per_machine",
            "disruption",
        )
    )
    return instance.replace(**{**gone, "job_names": (), "demand": demand, "counts": counts, **changes})


def part_of(
    instance: ProvisioningInstance, classes: IntArray, counts: IntArray, rented: IntArray | None = None
) -> ProvisioningInstance:
    """Return the instance of some tasks only: of classes (P,) so many (P,).

    rented : (M,) types of machines that the others are on, which its stocks are without; none if left out.
    """
    limits = None if instance.per_machine is None else instance.per_machine[classes]
    name = f"{instance.name}, part"
    stock = instance.stock
    if stock is not None and rented is not None:
        stock = np.where(stock == ANY_NUMBER, ANY_NUMBER, stock - np.bincount(rented, minlength=stock.size))
    return with_classes(instance, instance.demand[:, classes], counts, name=name, per_machine=limits, stock=stock)


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """An instance whose equal classes are one, and the way back.

    class2merged : (C,) int64, the merged class of each class of the source.
    """

    source: ProvisioningInstance
    instance: ProvisioningInstance
    class2merged: IntArray

    def restore(self, solution: Provisioning) -> Provisioning:
        """Return a solution of the source with the same machines; classes fill the merged places in order.

        Groups are cut where the classes behind a merged class change, so their number grows by at most C.
        O((N + C) log C), never by the number of tasks.
        """
        if self.source is self.instance:
            return solution
        members = [np.flatnonzero(self.class2merged == g) for g in range(self.instance.num_classes)]
        place = [0] * len(members)
        left = [int(self.source.counts[m[0]]) for m in members]
        types: list[int] = []
        times: list[int] = []
        rows: list[dict[int, int]] = []
        for p in range(solution.machine_type.shape[0]):
            span = slice(int(solution.indptr[p]), int(solution.indptr[p + 1]))
            content = list(zip(solution.task_class[span].tolist(), solution.count[span].tolist(), strict=True))
            remaining = int(solution.repeat[p])
            while remaining:
                whole = min([remaining, *(left[g] // number for g, number in content)])
                repeat = max(whole, 1)
                row: dict[int, int] = {}
                for g, number in content:
                    need = number * repeat
                    while need:
                        taken = min(need, left[g])
                        c = int(members[g][place[g]])
                        row[c] = row.get(c, 0) + taken // repeat
                        need -= taken
                        left[g] -= taken
                        if left[g] == 0 and place[g] + 1 < len(members[g]):
                            place[g] += 1
                            left[g] = int(self.source.counts[members[g][place[g]]])
                types.append(int(solution.machine_type[p]))
                times.append(repeat)
                rows.append(row)
                remaining -= repeat
        indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        classes = [c for row in rows for c in row]
        counts = [n for row in rows for n in row.values()]
        return Provisioning(np.array(types), np.array(times), indptr, np.array(classes, np.int64), np.array(counts))


def merge_equal_classes(instance: ProvisioningInstance) -> Merged:
    """Merge classes of equal demand (and, with interference, of equal workload and job value), each free to share machines.

    The merged instance keeps neither task order nor names: its classes are the distinct demands, in order of first
    appearance, and no running machines. Where disruption is limited nothing is merged: tasks of equal demand then differ by
    the machine that they are on. O(C log C).
    """
    if instance.max_disruption is not None:
        return Merged(instance, instance, np.arange(instance.num_classes))
    num_classes = instance.num_classes
    parts = [np.moveaxis(instance.demand, 0, 1).reshape(num_classes, -1)]
    if instance.throughput is not None:
        parts += [instance.class2workload[:, None], instance.job_value[:, None]]
    if instance.per_machine is not None:
        # Two classes of which one task each may be on a machine are no class of which two may.
        own = np.where(instance.per_machine == ANY_NUMBER, ANY_NUMBER, np.arange(num_classes))
        parts.append(own[:, None])
    class2merged, kept = grouped(np.hstack(parts))
    if kept.shape[0] == num_classes:
        return Merged(instance, instance, np.arange(num_classes))
    counts = np.zeros(kept.shape[0], np.int64)
    np.add.at(counts, class2merged, instance.counts)
    merged = with_classes(
        instance,
        instance.demand[:, kept],
        counts,
        class2workload=instance.class2workload[kept],
        job_value=instance.job_value[kept],
        per_machine=None if instance.per_machine is None else instance.per_machine[kept],
    )
    return Merged(instance, merged, class2merged)
