"""Machine types of which several hold and cost as much as one larger type of the same family."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance


def type_multiples(instance: ProvisioningInstance) -> list[tuple[int, int, int]]:
    """Return (small, large, number): `number` machines of the small type cost and hold as much as one large; by size."""
    merges = []
    for small in range(instance.num_types):
        for large in range(instance.num_types):
            number, rest = divmod(int(instance.price[large]), int(instance.price[small]))
            if (
                number >= 2
                and rest == 0
                and instance.type2family[small] == instance.type2family[large]
                and (instance.capacity[large] >= number * instance.capacity[small]).all()
            ):
                merges.append((small, large, number))
    return sorted(merges, key=lambda merge: (int(instance.price[merge[0]]), merge[2]))
