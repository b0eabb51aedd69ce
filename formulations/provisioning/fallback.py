"""The bound that a method gives where its own program could not be built, or not solved: cheap, and proven in integers."""

from __future__ import annotations

import math
import time

from schedgap.formulations.provisioning.bounds import bound_dual_feasible, bound_resource
from schedgap.instances.method import find_method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance


def cheap_bound(instance: ProvisioningInstance, deadline: float = math.inf) -> int:
    """Return the better of `bound-resource` and, if there is time and room for it, `bound-dual-feasible`, micro-dollars.

    deadline : of `time.perf_counter()`.
    """
    best = bound_resource(instance).bound
    left = deadline - time.perf_counter()
    if left > 0 and find_method(FAMILY, "bound-dual-feasible").supports(instance) is None:
        best = max(best, bound_dual_feasible(instance, time_limit_s=None if math.isinf(left) else left).bound)
    return int(best)
