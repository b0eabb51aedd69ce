import numpy as np
import pytest

from schedgap.formulations.provisioning.arc_flow.flow_graph import build_flow_graphs
from schedgap.formulations.provisioning.arc_flow.kernels_flow import follow, longest_paths, subset_sums


def arc_paths(graph, node):
    """Yield the arcs of all paths from a node to the end."""
    if node == 0:
        yield []
        return
    for e in range(graph.nodes.ptr[node], graph.nodes.ptr[node + 1]):
        for rest in arc_paths(graph, int(graph.nodes.head[e])):
            yield [e, *rest]


@pytest.mark.parametrize("seed", range(20))
def test_longest_paths_equal_trying_all_paths(varied_instance, seed):
    instance = varied_instance(seed)
    instance = instance.replace(counts=np.minimum(instance.counts, 3))
    rng = np.random.default_rng(seed)
    for graph in build_flow_graphs(instance):
        value = rng.integers(0, 50, graph.classes.size)
        worth = value[graph.nodes.layer[graph.tail]] * graph.tasks if graph.num_arcs else np.zeros(0, np.int64)
        best, choice = np.empty(graph.num_nodes, np.int64), np.empty(graph.num_nodes, np.int64)
        # A path takes no more than `most` of a class; three are all there are.
        for most in (1, 3):
            limit = np.full(graph.classes.size, most)
            longest_paths(value, limit, graph.nodes, best, choice)
            for root in graph.root.tolist():
                paths = [path for path in arc_paths(graph, root) if (graph.tasks[path] <= most).all()]
                assert best[root] == max(int(worth[path].sum()) for path in paths)
        for root in graph.root.tolist():
            pattern = np.zeros(graph.classes.size, np.int64)
            follow(root, graph.nodes, choice, pattern)
            assert pattern @ value == best[root]


def test_subset_sums_count_copies():
    # At most two of 4 and one of 3 within 0..12: 3 4 7 8 11; later only the 3; then nothing.
    demand, most, box = np.array([[4], [3]]), np.array([2, 1]), np.array([12])
    sums = np.empty(39, np.int32)
    subset_sums(demand, most, box, np.array([[0], [13], [26]]), sums)
    assert sums[:13].tolist() == [0, 0, 0, 3, 4, 4, 4, 7, 8, 8, 8, 11, 11]
    assert sums[13:26].tolist() == [0, 0, 0] + [3] * 10
    assert sums[26:].tolist() == [0] * 13
