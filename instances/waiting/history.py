"""What is known and what is to be scheduled: the first jobs of a trace become the history of an instance of the others."""

from __future__ import annotations

from schedgap.instances.errors import InstanceError
from schedgap.instances.waiting.model import HISTORY_FIELDS, WaitingInstance


def with_history(instance: WaitingInstance, split: float) -> WaitingInstance:
    """Return the instance of a trace's last jobs, whose history are the first ones; the trace as it is for a split of 0.

    split : the share of the jobs, in order of submission, that are history. By jobs and not by time, so that neither part
    is empty where a log pauses. The first job left is submitted at time 0, to machines that are empty: what still ran or
    waited then belongs to the history.

    Raises
    ------
    InstanceError
        for a share outside 0 to 1, or one that leaves no job on one of the sides.
    """
    if split == 0:
        return instance
    first = round(split * instance.num_jobs) if 0 < split < 1 else 0
    if not 0 < first < instance.num_jobs:
        raise InstanceError(
            f"{instance.name}: split is {split:g} of {instance.num_jobs} jobs; give a share between 0 and 1 that leaves "
            "jobs on both sides, or 0 for no history."
        )
    begin_us = int(instance.submit_us[first])
    return instance.replace(
        name=f"{instance.name}-after-{first}",
        submit_us=instance.submit_us[first:] - begin_us,
        runtime_us=instance.runtime_us[first:],
        cores=instance.cores[first:],
        memory_mib=instance.memory_mib[first:],
        horizon_us=max(1, instance.horizon_us - begin_us),
        history_before_us=begin_us - instance.submit_us[:first],
        **{key: getattr(instance, key.removeprefix("history_"))[:first] for key in HISTORY_FIELDS[1:]},
    )
