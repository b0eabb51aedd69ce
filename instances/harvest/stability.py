"""How stable the VMs of an instance are, in the figures that the paper gives of its clusters (section 2.1)."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from schedgap.instances.harvest.calibration import statistics
from schedgap.instances.harvest.model import HOUR_MS

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance

# With more there would be too much to look at for the sake of a few figures, and moments would not fit into 64 bits.
MOST_VM_HOURS = 5_000_000
NAMES = {
    "vm_change_min": "mean_min",
    "vm_within_minute": "within_1_min",
    "vm_within_10_minutes": "within_10_min",
    "vm_within_hour": "within_1_h",
    "vm_change_p95_h": "p95_h",
    "vm_change_cores": "mean_change",
    "vm_cores": "mean_cores",
    "vm_top_tenth": "top_tenth",
    "vm_bottom_tenth": "bottom_tenth",
    "vm_stable_for": "stable_for",
}


def vm_figures(instance: HarvestInstance) -> dict[str, float]:
    """Return the `statistics` of all VMs until the last event, leased or not, under the names of `NAMES`.

    Those that do not exist, such as a mean of no changes, are left out, and so are all of more than five million VM-hours, or
    less than an hour.
    """
    end_ms = int(instance.event_ms.max())
    if not HOUR_MS <= end_ms <= MOST_VM_HOURS * HOUR_MS // instance.num_vms:
        return {}
    found = statistics(instance.first_event, instance.event_ms, instance.event_cores, end_ms=end_ms)
    return {name: found[key] for name, key in NAMES.items() if isfinite(found[key])}
