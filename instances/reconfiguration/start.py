"""Machines that run at second 0, with tasks of jobs on them: what contradicts an instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import IntArray, first_true
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.running import Running, check_running
from schedgap.instances.units import shown_amount

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance


def check_start(
    name: str,
    running: Running,
    catalogue: ProvisioningInstance,
    arrival_s: IntArray,
    num_tasks: IntArray,
    job2class: IntArray,
) -> None:
    """Refuse running machines with what cannot be there: jobs that come later or in part, and more than a machine holds.

    arrival_s, num_tasks, job2class : (J,), of the jobs, which `running.task_class` numbers.

    Raises
    ------
    InstanceError
        naming the job or machine, the values, and the way out.
    """
    check_running(name, running, None, catalogue.type_names, catalogue.stock, num_tasks, "job {}".format, "job")
    late = running.task_class[arrival_s[running.task_class] > 0]
    if late.size:
        raise InstanceError(
            f"{name}: job {late[0]} is on a running machine and arrives at {arrival_s[late[0]]} s; only jobs that arrive at "
            "second 0 can run then."
        )
    placed = running.placed(num_tasks.shape[0])
    if (j := first_true((placed > 0) & (placed < num_tasks))) is not None:
        raise InstanceError(
            f"{name}: {placed[j]} of the {num_tasks[j]} tasks of job {j} are on running machines; put all there, or none."
        )
    _check_room(name, running, catalogue, job2class)


def _check_room(name: str, running: Running, catalogue: ProvisioningInstance, job2class: IntArray) -> None:
    kind = catalogue.type2family[running.machine_type]
    demand = catalogue.demand[kind[running.machine], job2class[running.task_class]]
    if (barred := first_true((demand < 0).any(axis=1))) is not None:
        e, j = int(running.machine[barred]), int(running.task_class[barred])
        raise InstanceError(
            f"{name}: running machine {running.names[e]} holds tasks of job {j}, whose class "
            f"{catalogue.class_name(job2class[j])} may not run on family {catalogue.families[kind[e]]}; put them elsewhere."
        )
    used = np.zeros((running.size, len(catalogue.resources)), np.int64)
    np.add.at(used, running.machine, demand * running.count[:, None])
    over = np.argwhere(used > catalogue.capacity[running.machine_type])
    if over.size:
        e, r = over[0].tolist()
        k, what = int(running.machine_type[e]), catalogue.resources[r]
        raise InstanceError(
            f"{name}: running machine {running.names[e]} ({catalogue.type_names[k]}) holds {shown_amount(used[e, r], what)}, "
            f"it has {shown_amount(catalogue.capacity[k, r], what)}; take tasks off it."
        )
