"""The basic performance workload of Karpenter's own test suite, on the machine types of its KWOK provider.

Source: kubernetes-sigs/karpenter at 2266468104f36373ed002241afaee2d3bbc26078: test/suites/performance/basic_test.go and
suite_test.go (deployments and node pool), kwok/tools/gen_instance_types.go (sizes and prices), kwok/cloudprovider/helpers.go
(overhead). Spot and zones of equal prices are no part of the node pool's choice, or make none, and neither is Windows in the
test itself.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import generator
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.generators.kubernetes_parts import check_size, deployments
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.units import GIB_MIB

SIZES = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256)
GIB_PER_CPU = {"c": 2, "m": 8, "s": 4}
ARCHITECTURES = ("amd64", "arm64")
# Taken from every machine: thousandths of a CPU, MiB.
OVERHEAD = (100, 10)
# Thousandths of a CPU, MiB, and a thousand for one pod, of the two deployments.
SMALL, LARGE = (900, 3100, 1000), (3500, 28_672, 1000)


def karpenter_basic(
    tasks: int = 1000, *, sizes_below: int = 32, kinds: int = 0, windows: bool = False, seed: int = 0
) -> ProvisioningInstance:
    """Two deployments of equally many pods, one small, one large, on the types of fewer CPUs than `sizes_below`.

    kinds : 0 for these two; else so many are drawn by `seed`, as for `kubernetes-like`. windows : whether the catalogue's
    types for Windows, which hold and cost the same, are there too: all its 144 types then, at sizes below 257.

    With the defaults these are 30 types, and the optimum is 74.093344 $/h: prices are rounded down to micro-dollars, which
    is less than 0.001 $/h off for a thousand machines. Types that differ in their architecture alone are kept, as in the
    source.
    """
    if tasks < 2:
        raise InstanceError(f"generator karpenter-basic: tasks is {tasks}; there are two deployments, give at least 2.")
    if sizes_below < 5:
        raise InstanceError(
            f"generator karpenter-basic: sizes_below is {sizes_below}; a large pod takes four CPUs: give at least 5."
        )
    types = [
        (f"{series}-{cpus}x-{architecture}-{system}", cpus, cpus * gib)
        for system in (("linux", "windows") if windows else ("linux",))
        for architecture in ARCHITECTURES
        for series, gib in GIB_PER_CPU.items()
        for cpus in SIZES
        if cpus < sizes_below
    ]
    capacity = np.array(
        [
            (cpus * 1000 - OVERHEAD[0], gib * GIB_MIB - OVERHEAD[1], min(16 * cpus, 1024) * 1000)
            for _, cpus, gib in types
        ]
    )
    demand, counts = np.array([SMALL, LARGE]), np.array([tasks - tasks // 2, tasks // 2])
    names: tuple[str, ...] = ("small-resource-app", "large-resource-app")
    drawn = ""
    if kinds:
        check_size("karpenter-basic", tasks, kinds, len(types), 1)
        demand, counts = deployments(tasks, kinds, generator("provisioning", "karpenter-basic", tasks, kinds, seed))
        names, drawn = tuple(f"app-{c}" for c in range(kinds)), f"-{kinds}kinds-s{seed}"
    return ProvisioningInstance(
        name=f"karpenter-basic-{tasks}-below{sizes_below}{'-windows' if windows else ''}{drawn}",
        resources=("cpu", "ram_mib", "pods"),
        families=("kwok",),
        type_names=tuple(name for name, _, _ in types),
        type2family=np.zeros(len(types), np.int64),
        capacity=capacity,
        # 0.025 $ for a CPU and 0.001 $ for 10^9 bytes.
        price=np.array([25_000 * cpus + gib * 2**30 // 10**6 for _, cpus, gib in types]),
        demand=demand[None],
        counts=counts,
        class_names=names,
    )
