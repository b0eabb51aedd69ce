"""The oracle of placements on cases worked out by hand."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from schedgap.instances.placement import PlacementInstance

_SPEC = importlib.util.spec_from_file_location("placement_oracle", Path(__file__).with_name("placement.py"))
ORACLE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(ORACLE)


def instance(milli, nodes=1, gpus=2, gang=(), running=(), moves=-1):
    """Return pods that each take so many thousandths of one GPU, more than 1000 of whole ones, on equal nodes."""
    pods = len(milli)
    node = np.full(pods, -1)
    held = np.zeros(pods, np.int64)
    for pod, place, mask in running:
        node[pod], held[pod] = place, mask
    return PlacementInstance(
        name="by-hand", unit="GPUs", resources=("cpu",), type_names=("t",), capacity=[[8000]], num_gpus=[gpus],
        gpu_model=("A",), node2type=np.zeros(nodes, np.int64), class_names=tuple(f"c{p}" for p in range(pods)),
        demand=np.full((pods, 1), 1000), gpus=[max(1, m // 1000) for m in milli],
        gpu_milli=[min(m, 1000) for m in milli], value=milli, admits=np.ones((pods, 1), np.bool_),
        expected=np.zeros(pods, np.int64), pod2class=np.arange(pods), gang=list(gang) or np.full(pods, -1),
        running_node=node, running_gpus=held, movable=np.ones(pods, np.bool_), max_moves=moves,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        # Shares of 700 pair with none of 400, and no share straddles two GPUs.
        ({"milli": [700, 700, 400]}, 400),
        ({"milli": [700, 700, 300, 300]}, 0),
        # A pod of two GPUs takes both of one node.
        ({"milli": [2000, 100]}, 100),
        ({"milli": [2000, 100], "nodes": 2, "gpus": 1}, 2000),
        # Of the gang of 600 and 600 none is placed where 1000 is worth more beside 700.
        ({"milli": [600, 600, 1000, 700], "gang": [0, 0, -1, -1]}, 1200),
        # One move makes room for the pod of two GPUs; none does not.
        ({"milli": [500, 500, 2000], "nodes": 2, "running": [(0, 0, 1), (1, 1, 1)], "moves": 1}, 0),
        ({"milli": [500, 500, 2000], "nodes": 2, "running": [(0, 0, 1), (1, 1, 1)], "moves": 0}, 2000),
    ],
)
def test_the_least_value_of_refused_pods(given, refused):
    assert ORACLE.optimum(instance(**given)) == refused
