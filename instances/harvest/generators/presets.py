"""The eight clusters of the paper's Figure 1, as parameters of a replayed data centre (see `datacentre`).

Of the sizes of changes the paper says only that their means are 5 to 13 cores, and of servers not how far they differ. Where that
decides, a cluster has further presets, which fit what is published as well: C2-9, C2-13 and C8-10 with changes of so many cores
(VMs of two and four times the cores), C2-servers with servers whose VMs change very unevenly. They were fitted after results with
the first ones had been seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from schedgap.instances.errors import InstanceError, did_you_mean


@dataclass(frozen=True, slots=True)
class Preset:
    """How on-demand VMs come to a cluster, and where they are placed.

    batches : of VMs that are asked for on a day, per server. most_vms : larger batches are cut to that many.
    doubled : share of the batches whose VMs have twice the cores (VMs have grown since Azure's data of 2017).
    lifetime_scale : times the lifetimes of 2017. longest_days : none lives longer.
    spread : share of the starts, and of the ends, that come some seconds after those of the rest of their batch.
    same_server : the chance that the next VM of a batch goes where the one before went, if it fits.
    choices : else so many servers with room are drawn, and the fullest is taken.
    server_sigma : servers are drawn in proportion to weights that are lognormal with this sigma.
    base_mean, base_alpha : what VMs use that never end, as a share of a server: Beta, with alpha + beta = 2 base_alpha.
    quiet : the share of servers, beside the buffer, that hold as little as it does and seldom get VMs.
    larger : all VMs have so many times the cores, up to `most_cores`.
    """

    batches: float
    most_vms: int
    doubled: float
    lifetime_scale: float
    longest_days: float
    spread: float
    same_server: float
    choices: int
    server_sigma: float
    base_mean: float
    base_alpha: float
    quiet: float = 0.0
    larger: int = 1
    most_cores: int = 40


PRESETS = {
    "C1": Preset(10.6, 21, 1.0, 0.5, 0.4, 0.0149, 0.85, 2, 3.0, 0.4, 2.0, 0.08),
    "C2": Preset(4.44, 69, 1.0, 1.2, 0.634, 0.392, 0.556, 1, 0.654, 0.386, 3.0, 0.0478),
    "C2-servers": Preset(3.27, 67, 1.0, 2.66, 0.54, 0.4, 0.392, 1, 2.5, 0.386, 2.27),
    "C2-9": Preset(3.29, 225, 1.0, 0.868, 0.643, 0.37, 0.805, 3, 0.461, 0.334, 3.49, 0.0228, 2, 20),
    "C2-13": Preset(3.86, 164, 1.0, 1.024, 0.444, 1.0, 0.812, 1, 0.36, 0.257, 2.27, 0.2, 4, 40),
    "C2h": Preset(5.11, 159, 1.0, 0.25, 6.88, 0.105, 0.952, 3, 0.472, 0.466, 1.01),
    "C3": Preset(2.85, 17, 1.0, 2.43, 0.335, 0.46, 0.349, 1, 3.5, 0.54, 3.0, 0.04),
    "C4": Preset(1.49, 14, 0.978, 0.798, 0.475, 0.285, 0.646, 1, 3.44, 0.578, 2.63, 0.0456),
    "C5": Preset(1.0, 18, 0.779, 0.706, 0.3, 0.173, 0.922, 1, 2.85, 0.648, 2.96, 0.0937),
    "C6": Preset(0.305, 16, 0.947, 0.65, 0.407, 0.261, 0.956, 1, 3.4, 0.66, 2.2, 0.12),
    "C7": Preset(0.064, 66, 0.4, 0.4, 1.46, 0.036, 1.0, 3, 3.07, 0.567, 1.08),
    "C8": Preset(0.248, 40, 0.944, 0.309, 5.81, 0.254, 0.98, 1, 1.08, 0.623, 1.1),
    "C8-10": Preset(0.165, 71, 0.944, 0.132, 9.09, 0.131, 0.999, 1, 1.43, 0.623, 1.9, 0.041, 2, 20),
}


def find_preset(name: str) -> Preset:
    """Return the parameters of a cluster.

    Raises
    ------
    InstanceError
        naming the known clusters.
    """
    if name not in PRESETS:
        raise InstanceError(
            f"there is no cluster '{name}'; {did_you_mean(name, PRESETS)}known are {', '.join(PRESETS)}."
        )
    return PRESETS[name]
