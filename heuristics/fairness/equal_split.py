"""Every machine class split among those who may use it: what any fair scheduler must beat."""

from __future__ import annotations

import numpy as np

from schedgap.instances.fairness.model import FAMILY, FairnessInstance
from schedgap.instances.fairness.solution import FairnessAllocation, allocation_of
from schedgap.instances.method import method


@method("equal-split", family=FAMILY)
def equal_split(instance: FairnessInstance) -> FairnessAllocation:
    """Give each user its weight's part of every machine class that it may use. O(N K)."""
    fits = instance.fitting()
    weight = np.where(instance.allowed & (fits > 0), instance.weight[:, None], 0)
    total = np.maximum(weight.sum(axis=0), 1)
    return allocation_of(instance, weight / total * fits * instance.machine_count)
