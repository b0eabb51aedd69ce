"""The machine types of an instance as compiled code takes them."""

from __future__ import annotations

import numpy as np

from schedgap.formulations.provisioning.kernels_types import Catalogue
from schedgap.instances.provisioning.model import ProvisioningInstance


def catalogue_of(instance: ProvisioningInstance) -> Catalogue:
    """Return the machine types of an instance, and what its classes demand of them."""
    by_price = np.argsort(instance.price, kind="stable")
    most = instance.most_together
    return Catalogue(instance.type2family, instance.capacity, instance.price, by_price, instance.demand, most)
