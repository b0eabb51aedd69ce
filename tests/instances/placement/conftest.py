import json

import numpy as np
import pytest

from schedgap.instances.placement import PlacementInstance, kubernetes


@pytest.fixture
def two_nodes():
    """Node 0 and 1 have 8 cores, 16 GiB and 2 GPUs each. Classes: 0.5 GPU, 2 GPUs, no GPU; all take 4 cores and 4 GiB.

    Pods: 0.5, 0.5, 2, none. Values are GPUs: 0.5, 0.5, 2 and 0.
    """
    gib = 1024
    fields = {
        "name": "two-nodes",
        "unit": "GPUs",
        "resources": ("cpu", "ram_gib"),
        "type_names": ("big",),
        "capacity": [[8000, 16 * gib]],
        "num_gpus": [2],
        "gpu_model": ("G2",),
        "node2type": [0, 0],
        "class_names": ("half", "two", "none"),
        "demand": [[4000, 4 * gib]] * 3,
        "gpus": [1, 2, 0],
        "gpu_milli": [500, 1000, 0],
        "value": [500, 2000, 0],
        "admits": np.ones((3, 1), np.bool_),
        "expected": [0, 0, 0],
        "pod2class": [0, 0, 1, 2],
        "gang": [-1] * 4,
        "running_node": [-1] * 4,
        "running_gpus": [0] * 4,
        "movable": [True] * 4,
    }
    return lambda **changes: PlacementInstance(**{**fields, **changes})


@pytest.fixture
def read(tmp_path):
    """Return what reads objects as an instance."""

    def read_items(*items, **parameters):
        path = tmp_path / "state.json"
        path.write_text(json.dumps({"kind": "List", "items": list(items)}))
        return kubernetes(path, **parameters)

    return read_items
