"""A score of nodes, with an expression to search for: a pod goes to the node of the highest score."""

import numpy as np

from schedgap.heuristics.placement import policy
from schedgap.instances.expressions import expression

SEARCH = {"score": {"cpu", "memory", "gpus", "split", "asked", "busy"}}


@policy("candidate")
def candidate(observation, score: str = "-cpu - gpus"):
    """Take the node of the highest score, of equal ones the first.

    cpu, memory, gpus : what would be left of them, as shares of the largest node's. split : of GPUs in use, what would be left.
    asked : the GPUs of the pod. busy : whether the node runs anything.
    """
    nodes, most = observation.nodes, observation.nodes.capacity.max(axis=0).clip(1)
    free = observation.free[observation.fitting] - observation.demand
    milli = observation.free_milli[observation.fitting]
    asked = observation.gpus * observation.gpu_milli / 1000
    left = milli.sum(axis=1) / 1000 - asked
    scores = expression(score, SEARCH["score"])(
        cpu=free[:, 0] / most[0],
        memory=free[:, 1] / most[1],
        gpus=left / max(nodes.num_gpus.max(), 1),
        split=np.where(milli < 1000, milli, 0).sum(axis=1) / 1000,
        asked=asked,
        busy=(observation.free[observation.fitting] < nodes.capacity[nodes.node2type[observation.fitting]]).any(axis=1),
    )
    return observation.fitting[scores.argmax()]
