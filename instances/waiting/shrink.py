"""A small version of an instance, of the same kind in every respect that compiled code can tell."""

from __future__ import annotations

from schedgap.instances.waiting.model import HISTORY_FIELDS, WaitingInstance

MAX_JOBS = 8


def shrink(instance: WaitingInstance) -> WaitingInstance:
    """Return an instance with the first eight jobs, and the last of its history: to warm up compiled methods, not to measure."""
    kept = slice(0, MAX_JOBS)
    return instance.replace(
        name=f"{instance.name}-shrunk",
        submit_us=instance.submit_us[kept],
        runtime_us=instance.runtime_us[kept],
        cores=instance.cores[kept],
        memory_mib=instance.memory_mib[kept],
        horizon_us=max(1, int(instance.submit_us[kept].max(initial=1))),
        notes=(),
        **{key: getattr(instance, key)[-MAX_JOBS:] for key in HISTORY_FIELDS},
    )
