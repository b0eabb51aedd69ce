"""Generators, and a policy of one's own."""

from schedgap.heuristics.reconfiguration import policy
from schedgap.instances import reconfiguration as r

assert r.eva_synthetic(4, seed=1).num_jobs == 4
assert r.alibaba_like(4, seed=1).num_jobs == 4
# A day of a cluster, as a look at it every five minutes shows it.
assert r.cluster_week(nodes=4, pods=20, days=0.1, seed=1).num_jobs > 0


@policy("nothing")
def nothing(observation):
    """Leave all as it is; a real policy returns which machines to rent and where tasks go."""
