"""One moment of Eunomia's macro-benchmark: 100 machines of ten speeds, and jobs with constraints that share them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.fairness.model import UNLIMITED

if TYPE_CHECKING:
    from schedgap.instances.fairness.model import FairnessInstance


def datacentre(
    users: int = 100,
    *,
    machines: int = 100,
    reading: str = "upper",
    limited: bool = False,
    notion: str = "eunomia",
    seed: int = 0,
) -> FairnessInstance:
    """Draw as many jobs as there are users, as the family `sharing` draws them for section IV-C, all present at once.

    reading : of Figure 5b, see `schedgap.instances.sharing.constraints`. limited : jobs have the numbers of tasks that
    they are drawn with, which together may be fewer than fit; without, more than fit.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    # Here, since the family `sharing` is built on this one.
    from schedgap.instances.sharing.generate_macro import macro
    from schedgap.instances.sharing.snapshot import as_users

    drawn = macro(seed=seed, reading=reading, jobs=users, machines=machines, warm_up_jobs=0, notion=notion)
    tasks = np.diff(drawn.first_task) if limited else np.full(users, UNLIMITED)
    parts = [f"datacentre-{users}-{machines}-{reading}"] + ["limited"] * limited
    parts += [notion] * (notion != "eunomia") + [f"s{seed}"]
    return as_users(drawn, np.arange(users), tasks, name="-".join(parts))
