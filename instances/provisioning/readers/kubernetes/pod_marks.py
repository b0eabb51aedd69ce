"""What single pods say of their nodes to controllers that give nodes back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedgap.instances.provisioning.disruption.model import HELD, NO_SCALE_DOWN

if TYPE_CHECKING:
    from schedgap.instances.provisioning.readers.kubernetes.objects import Owner, Pod

# For as long a pod is left alone, as Go writes it; how old the pod is, an export of now does not say.
DURATION = re.compile(r"([0-9]+(\.[0-9]*)?(ns|us|ms|s|m|h))+")
TRUE = "true"


def marks_of(pod: Pod, owner: Owner | None) -> int:
    """Return what a pod that runs says of its node: to cluster-autoscaler nothing, if it comes and goes with the node."""
    notes = pod.metadata.annotations
    asked, safe = (notes.do_not_disrupt, notes.safe_to_evict) if notes is not None else ("", "")
    held = HELD if asked == TRUE or DURATION.fullmatch(asked) else 0
    is_static = notes is not None and notes.mirror is not None
    if is_static or (owner is not None and owner.kind in ("DaemonSet", "Node")):
        return held
    return held | (NO_SCALE_DOWN if safe == "false" or (owner is None and safe != TRUE) else 0)
