"""A packing as a picture: machines as bars, the demands of their tasks stacked on each resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.picture import MAX_BARS, Bar, Part, Picture
from schedgap.instances.units import resource_scale

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance
    from schedgap.instances.provisioning.solution import Provisioning

# Groups looked at for equal ones: a solution of a million tasks may have a group for each machine.
MAX_GROUPS = 2000


def picture(instance: ProvisioningInstance, solution: Provisioning) -> Picture:
    """Return the machines of a verified solution, those of the dearest types first, equal ones as one bar."""
    scale = np.array([resource_scale(resource) for resource in instance.resources])
    repeats: dict[tuple[int, bytes, bytes], int] = {}
    for group in np.argsort(-instance.price[solution.machine_type], kind="stable")[:MAX_GROUPS].tolist():
        entries = slice(int(solution.indptr[group]), int(solution.indptr[group + 1]))
        content = solution.task_class[entries].tobytes(), solution.count[entries].tobytes()
        key = (int(solution.machine_type[group]), *content)
        repeats[key] = repeats.get(key, 0) + int(solution.repeat[group])
    bars = []
    for (machine_type, classes, counts), repeat in list(repeats.items())[:MAX_BARS]:
        family = int(instance.type2family[machine_type])
        parts = tuple(
            Part(instance.class_name(c), count, _shown(instance.demand[family, c], scale))
            for c, count in zip(
                np.frombuffer(classes, np.int64).tolist(), np.frombuffer(counts, np.int64).tolist(), strict=True
            )
        )
        capacity = _shown(instance.capacity[machine_type], scale)
        bars.append(Bar(instance.type_names[machine_type], repeat, capacity, parts))
    return Picture(instance.resources, tuple(bars), solution.num_machines - sum(bar.repeat for bar in bars))


def _shown(amounts: IntArray, scale: IntArray) -> tuple[float, ...]:
    return tuple((amounts / scale).tolist())
