"""What stays where it runs."""

from schedgap.heuristics.provisioning.kubernetes.cluster import Cluster
from schedgap.heuristics.provisioning.kubernetes.kernels_claims import settle


def test_tasks_stay_in_queue_order_while_they_fit(make):
    # 3 + 3 + 2 on 7: in queue order 2, 1, 0 the tasks of 2 and 3 stay, the other 3 waits.
    instance = make({"t": (1, [7])}, [([3], 2), ([2], 1)], [("t", [2, 1])], resources=("cpu",))
    cluster = Cluster.of(instance, [2, 1, 0])
    assert cluster.tasks.place.tolist() == [-1, 0, 0]
    assert cluster.nodes.left.tolist() == [[2]]
    cluster.nodes.left[:] = 100
    settle(cluster.tasks, cluster.catalogue(), cluster.nodes)
    assert cluster.tasks.place.tolist() == [0, 0, 0]
    assert cluster.nodes.left.tolist() == [[92]]
