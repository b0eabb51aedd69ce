"""Generators, what moves, and a policy of one's own."""

import numpy as np

from schedgap.heuristics.placement import policy
from schedgap.instances import placement as p

assert p.openb_like(nodes=3, seed=1).num_nodes == 3
instance = p.random_pods(pods=5, running=0.5, seed=1)
everybody_stays = p.Placement(instance.running_node, instance.running_gpus, np.zeros(instance.num_pods, np.int64))
assert p.moves(instance, everybody_stays) == 0


@policy("refuse")
def refuse(observation):
    """Refuse every pod; a real policy returns the node and the GPUs that it is to have."""
