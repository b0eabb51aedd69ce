"""Trees against what their places say: every class has one, boxes and ranks are those of the live classes below."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.full_reconfiguration import kernels_tree
from schedgap.heuristics.provisioning.full_reconfiguration.kernels_tree import FANOUT

SIZES = (5, 40, 600)


def check(tree, demand, kind, place, live):
    """Compare leaves, boxes and the least demands with the classes that are live."""
    for which in range(2):
        here = [c for c in np.flatnonzero(live) if kind[c] == which]
        height, leaf = tree.layout[which, :2]
        for c in here:
            row, j = leaf + place[c] // FANOUT, place[c] % FANOUT
            assert tree.points[row, :, j].tolist() == demand[c].tolist()
            assert tree.slots[row, j] == c
            for h in range(1, height + 1):
                i = place[c] // FANOUT**h
                parent, k = tree.layout[which, h + 1] + i // FANOUT, i % FANOUT
                below = [d for d in here if place[d] // FANOUT**h == i]
                assert tree.boxes[parent, 0, :, k].tolist() == demand[below].min(axis=0).tolist()
                assert tree.boxes[parent, 1, :, k].tolist() == demand[below].max(axis=0).tolist()
        if here:
            assert tree.least[which].tolist() == demand[here].min(axis=0).tolist()
        else:
            assert (tree.least[which] == tree.limits[0]).all()


@pytest.mark.parametrize("number", SIZES)
def test_boxes_are_tight_after_building_and_after_changes(grown, number):
    tree, demand, kind, _, place, _ = grown(number, number, False)
    live = place >= 0
    check(tree, demand, kind, place, live)
    parts = (tree.points, tree.boxes, tree.layout, tree.least, tree.limits)
    rng = np.random.default_rng(number)
    gone = rng.choice(np.flatnonzero(live), min(20, live.sum()), replace=False)
    for c in gone:
        kernels_tree.remove_point(*parts, kind[c], place[c])
        row, j = tree.layout[kind[c], 1] + place[c] // FANOUT, place[c] % FANOUT
        assert (tree.points[row, :, j] == tree.limits[0]).all()
    for c in gone:
        kernels_tree.write_point(*parts, kind[c], place[c], demand[c])
    check(tree, demand, kind, place, live)


@pytest.mark.parametrize("number", SIZES)
def test_the_first_rank_below_every_node(grown, number):
    tree, _, kind, _, place, _ = grown(number, number, True)
    rng = np.random.default_rng(number)
    live = np.flatnonzero(place >= 0)
    rank = {c: int(tree.ranks[tree.layout[kind[c], 1] + place[c] // FANOUT, place[c] % FANOUT]) for c in live}
    for c in rng.choice(live, min(20, live.size), replace=False):
        rank[c] = int(rng.integers(-1, 1000))
        kernels_tree.write_rank(tree.ranks, tree.box_ranks, tree.layout, kind[c], place[c], rank[c])
    for which in range(2):
        for h in range(1, tree.layout[which, 0] + 1):
            for c in (c for c in live if kind[c] == which):
                i = place[c] // FANOUT**h
                below = [rank[d] for d in live if kind[d] == which and place[d] // FANOUT**h == i]
                assert tree.box_ranks[tree.layout[which, h + 1] + i // FANOUT, i % FANOUT] == max(below)
