"""The worked examples of Eunomia (Zhou et al.): its introduction's Alice and Bob, and its micro-benchmark."""

from __future__ import annotations

import numpy as np

from schedgap.instances.fairness.model import ONE, UNLIMITED, FairnessInstance
from schedgap.instances.units import GIB_MIB


def alice_bob(*, notion: str = "eunomia") -> FairnessInstance:
    """Return Figure 1's three machines of two CPUs, the third twice as fast; Alice may use the first two, Bob the last two."""
    return FairnessInstance(
        name=_named("alice-bob", notion),
        notion=notion,
        resources=("cpu", "ram_gib"),
        machine_names=("machine-1", "machine-2", "machine-3"),
        machine_count=np.ones(3, np.int64),
        capacity=np.tile([2 * ONE, 2 * GIB_MIB], (3, 1)),
        demand=np.tile([ONE, GIB_MIB], (2, 1)),
        weight=np.full(2, ONE),
        performance=np.tile([ONE, ONE, 2 * ONE], (2, 1)),
        allowed=np.array([[True, True, False], [False, True, True]]),
        tasks=np.full(2, UNLIMITED),
        user_names=("alice", "bob"),
    )


def micro(*, lie: bool = True, notion: str = "eunomia") -> FairnessInstance:
    """Return Tables III and IV at one moment: four types of five nodes, four jobs that have more tasks than fit.

    lie : job 4 asks for type-4 nodes alone, the fastest, as in the paper; otherwise for all of them.
    """
    allowed = np.ones((4, 4), np.bool_)
    allowed[3] = [not lie, not lie, not lie, True]
    return FairnessInstance(
        name=_named("micro" if lie else "micro-honest", notion),
        notion=notion,
        resources=("cpu", "ram_gib"),
        machine_names=("type-1", "type-2", "type-3", "type-4"),
        machine_count=np.full(4, 5),
        capacity=np.tile([4 * ONE, 4 * GIB_MIB], (4, 1)),
        demand=np.tile([ONE, GIB_MIB], (4, 1)),
        weight=np.full(4, ONE),
        performance=np.tile([1000, 1500, 2000, 3000], (4, 1)),
        allowed=allowed,
        tasks=np.full(4, UNLIMITED),
        user_names=("job-1", "job-2", "job-3", "job-4"),
    )


def _named(name: str, notion: str) -> str:
    """Return the name of an instance: the notion is the paper's unless it says another."""
    return name if notion == "eunomia" else f"{name}-{notion}"
