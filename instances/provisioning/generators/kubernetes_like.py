"""A Kubernetes cluster of deployments, most of small pods, on types in three zones, spot and on demand."""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import generator
from schedgap.instances.provisioning.generators.kubernetes_parts import (
    RESOURCES,
    ZONES,
    check_share,
    check_size,
    deployments,
    machine_shapes,
)
from schedgap.instances.provisioning.model import NOT_ALLOWED, ProvisioningInstance

# Each zone's machines on demand, then each zone's spot machines.
FAMILIES = tuple(f"{purchase}-{zone}" for purchase in ("on-demand", "spot") for zone in ZONES)
SPOT_PERCENT = (30, 60)


def kubernetes_like(
    tasks: int = 1000,
    *,
    kinds: int = 50,
    types: int = 144,
    zone_bound: float = 0.2,
    on_demand_only: float = 0.5,
    seed: int = 0,
) -> ProvisioningInstance:
    """Draw deployments (`kinds`) with many small and few large pods, `tasks` in all, and machines of so many types.

    zone_bound : share of the deployments bound to one zone, as volumes bind them. on_demand_only : share of those that
    must not run on spot machines, which cost 30 to 60% of the price on demand, different in each zone. Capacities are
    what is left for pods: less what the kubelet reserves and DaemonSets take (see `kubernetes_parts`).

    Raises
    ------
    InstanceError
        for parameters out of range.
    """
    check_size("kubernetes-like", tasks, kinds, types, len(FAMILIES))
    for name, share in (("zone_bound", zone_bound), ("on_demand_only", on_demand_only)):
        check_share("kubernetes-like", name, share)
    rng = generator("provisioning", "kubernetes-like", tasks, kinds, types, seed)
    # Where the number does not divide evenly, the last families have a type less.
    shape, family = np.divmod(np.arange(types), len(FAMILIES))
    shapes = machine_shapes(int(shape.max()) + 1, rng)
    percent = np.where(
        family < len(ZONES), 100, SPOT_PERCENT[0] + rng.integers(0, SPOT_PERCENT[1] - SPOT_PERCENT[0] + 1, types)
    )
    demand, counts = deployments(tasks, kinds, rng)
    zone = rng.integers(0, len(ZONES), kinds)
    bound, no_spot = rng.random(kinds) < zone_bound, rng.random(kinds) < on_demand_only
    purchase_of, zone_of = np.divmod(np.arange(len(FAMILIES)), len(ZONES))
    allowed = (~bound | (zone_of[:, None] == zone)) & (~no_spot | (purchase_of[:, None] == 0))
    return ProvisioningInstance(
        name=f"kubernetes-like-{tasks}-{kinds}-{types}-z{zone_bound:g}-d{on_demand_only:g}-s{seed}",
        resources=RESOURCES,
        families=FAMILIES,
        type_names=tuple(f"{shapes.names[s]}-{FAMILIES[f]}" for s, f in zip(shape, family, strict=True)),
        type2family=family,
        capacity=shapes.capacity[shape],
        price=shapes.price[shape] * percent // 100,
        demand=np.where(allowed[:, :, None], demand, NOT_ALLOWED),
        counts=counts,
        class_names=tuple(f"app-{c}" for c in range(kinds)),
    )
