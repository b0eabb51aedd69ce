"""One moment of Eunomia's macro-benchmark: 100 machines of ten speeds, and jobs with constraints that share them."""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import generator
from schedgap.instances.fairness.macro_draws import draw_macro
from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance


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

    reading : of Figure 5b, see `schedgap.instances.fairness.constraints`. limited : jobs have the numbers of tasks that
    they are drawn with, which together may be fewer than fit; without, more than fit.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    # The very draws of the generator `macro` of `sharing`.
    rng = generator("sharing", "macro", users, -1, machines, seed)
    fields, sizes = draw_macro(rng, reading=reading, jobs=users, tasks=-1, machines=machines)
    parts = [f"datacentre-{users}-{machines}-{reading}"] + ["limited"] * limited
    parts += [notion] * (notion != "eunomia") + [f"s{seed}"]
    return FairnessInstance(
        name="-".join(parts),
        notion=notion,
        **fields,
        tasks=sizes if limited else np.full(users, UNLIMITED),
        user_names=tuple(f"job-{j}" for j in range(users)),
    )
